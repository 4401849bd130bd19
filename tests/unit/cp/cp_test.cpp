// SPDX-License-Identifier: Apache-2.0
// Question: do harts, bus, interrupts, timer, doorbells, console, loading and reporting work as the
// README says? Each test runs one guest program (guest/*.c, which numbers its own checks) against a
// scripted outside. Expected times come from the clock: edge k of 1500 MHz is at floor(k * 10^15 /
// 1.5 * 10^9) fs.
#include <catch2/catch.hpp>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "models/common/error.h"
#include "tests/unit/cp/cp_machine.h"

using namespace stretto;
using stretto::test::CpMachine;
using stretto::test::TestDevice;

namespace {

std::string guest(const std::string& name) {
  return std::string(STRETTO_GUEST_DIR) + "/" + name + ".elf";
}

void expect_isa_pass(const std::string& name) {
  CpSpec spec = CpMachine::quiet();
  spec.harts = 1;  // The programs know of one hart.
  CpMachine machine(spec);
  machine.load(std::string(STRETTO_ISA_DIR) + "/" + name + ".elf");
  machine.expect_pass(100000);
}

// The message of the error that `act` throws.
template <class Error, class Act>
std::string message_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  FAIL("nothing was thrown");
  return "";
}

}  // namespace

TEST_CASE("the integer program of the ISS tests passes on a CP hart") { expect_isa_pass("alu"); }
TEST_CASE("the control-flow program of the ISS tests passes on a CP hart") {
  expect_isa_pass("control");
}
TEST_CASE("the atomics program of the ISS tests passes on a CP hart") { expect_isa_pass("atomic"); }
TEST_CASE("the compressed program of the ISS tests passes on a CP hart") {
  expect_isa_pass("compressed");
}
TEST_CASE("the machine-mode program of the ISS tests passes on a CP hart") {
  expect_isa_pass("machine");
}

TEST_CASE("a hart that is started later has been idle until then") {
  CpSpec spec = CpMachine::quiet();
  spec.harts = 1;
  CpMachine machine(spec);
  machine.queue.run_until(10 * kMicrosecond);
  machine.load(std::string(STRETTO_ISA_DIR) + "/alu.elf");
  CHECK(machine.queue.next_time() >= 10 * kMicrosecond);
  machine.expect_pass(100000);
  CHECK(machine.statistic("hart0.wfi_cycles") >= 10 * spec.mhz);
}

TEST_CASE("a guest that fails check 42 reports 85 and the machine halts") {
  CpMachine machine;
  machine.load(guest("fail"));
  machine.run_us(100);
  REQUIRE(machine.tohost.has_value());
  CHECK(*machine.tohost == 85);
  machine.queue.run_until(kNever - 1);
  CHECK(machine.queue.empty());
  CHECK(machine.cp->waiting_on().empty());
}

TEST_CASE(
    "device registers are accessed in program order, and what is not there is a precise access "
    "fault") {
  CpMachine machine;
  machine.load(guest("bus"));
  machine.expect_pass();
  const std::vector<TestDevice::Entry> expected = {{0, true, 0x10, 1},
                                                   {0, true, 0x8, 2},
                                                   {0, false, 0x10, 0x1010},
                                                   {0, true, 0x0, 3},
                                                   {0, false, 0x18, 0x1018}};
  CHECK(machine.device.log == expected);
  // 20 ns in the device and 10 CP cycles of bus, at least.
  for (size_t i = 1; i < machine.device.log.size(); ++i) {
    CHECK(machine.device.log[i].at - machine.device.log[i - 1].at >=
          20 * kNanosecond + 10 * 666'666);
  }
  CHECK(machine.memory.host_word(0x40) == 77);
  CHECK(machine.statistic("hart0.access_faults") ==
        4);  // Two on the bus, one in the UART, one in memory.
}

TEST_CASE(
    "a timer interrupt ends WFI at the first clock edge at its time, and interrupts a running hart "
    "in time") {
  CpMachine machine;
  machine.load(guest("timer"));
  machine.expect_pass();
}

TEST_CASE("device lines reach the harts that enabled them, and claim and completion work") {
  CpMachine machine;
  machine.load(guest("interrupt"));
  machine.at(5 * kMicrosecond, [&] { machine.cp->set(STRETTO_IRQ_DMA, true); });
  machine.at(20 * kMicrosecond, [&] { machine.cp->set(STRETTO_IRQ_GRID_SCHEDULER, true); });
  machine.at(30 * kMicrosecond, [&] { machine.cp->set(STRETTO_IRQ_DMA, false); });
  machine.expect_pass();
}

TEST_CASE("a doorbell write from the links wakes hart 0, and the console writes what it is told") {
  const std::string file = "/tmp/stretto_cp_test_uart.txt";
  {
    CpSpec spec;
    spec.uart = file;
    CpMachine machine(spec);
    machine.load(guest("doorbell"));
    machine.at(5 * kMicrosecond, [&] { machine.links.ring(3, 41); });
    machine.at(10 * kMicrosecond, [&] { machine.links.ring(9, 7); });
    machine.expect_pass();
    CHECK(machine.links.status == tlm::TLM_OK_RESPONSE);
    CHECK(machine.statistic("doorbells") == 2);
  }
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  CHECK(text.str() == "two doorbells\nand a half line");
  std::remove(file.c_str());
}

TEST_CASE("a doorbell outside of the sixteen is answered with an error") {
  CpMachine machine;
  machine.load(guest("doorbell"));
  machine.at(1 * kMicrosecond, [&] { machine.links.ring(16, 1); });
  machine.run_us(3);
  CHECK(machine.links.status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(machine.statistic("doorbells") == 0);
}

TEST_CASE("a sleeping command processor has no events and says where its harts sleep") {
  CpMachine machine;
  machine.load(guest("doorbell"));
  machine.run_us(100);
  CHECK(machine.queue.empty());
  const std::vector<std::string> lines = machine.cp->waiting_on();
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("hart 0 in WFI at pc 0x8000") == 0);
  CHECK(lines[0].find("<guest_main+") != std::string::npos);
  CHECK(lines[1].find("hart 1 in WFI at pc 0x8000") == 0);
}

TEST_CASE("a trap without handler ends the run with hart, pc and symbol") {
  CpMachine machine;
  machine.load(guest("no_handler"));
  const std::string message = message_of<CheckError>([&] { machine.run_us(100); });
  CHECK(message.find("gpu0 cp hart 1: illegal instruction") == 0);
  CHECK(message.find("<stumble>") != std::string::npos);
  CHECK(message.find("mtvec = 0") != std::string::npos);
}

TEST_CASE("a trap handler that traps itself ends the run with both places") {
  CpMachine machine;
  machine.load(guest("bad_handler"));
  const std::string message = message_of<CheckError>([&] { machine.run_us(100); });
  CHECK(message.find("gpu0 cp hart 0: instruction access fault (mtval 0x1000) at pc 0x1000") == 0);
  CHECK(message.find("the trap before was at mepc 0x8000") != std::string::npos);
}

TEST_CASE("a program outside of the SRAM is refused with segment, address and what is allowed") {
  CpMachine machine;
  const std::string message = message_of<UserError>([&] { machine.load(guest("elsewhere")); });
  CHECK(message.find("elsewhere.elf: segment 1 at 0x40000000..0x") != std::string::npos);
  CHECK(message.find("allowed is the SRAM of the command processor, 0x80000000..0x80ffffff") !=
        std::string::npos);
}

TEST_CASE("a console file that cannot be written is the user's error") {
  CpSpec spec;
  spec.uart = "/nonexistent/console";
  const std::string message = message_of<UserError>([&] { CpMachine machine(spec); });
  CHECK(message.find("cp.uart: cannot write /nonexistent/console") == 0);
}

TEST_CASE("parameters that make no cache are refused") {
  CpSpec spec;
  CHECK(spec.check().empty());
  spec.l1d_ways = 3;
  CHECK(spec.check() ==
        "cp: an L1 of 32 KiB with 3 ways has no power of two of sets of 64-byte lines");
}

TEST_CASE("four harts start, each with its own id") {
  CpSpec spec = CpMachine::quiet();
  spec.harts = 4;
  CpMachine machine(spec);
  machine.load(guest("atomic"));
  machine.expect_pass();
  CHECK(machine.cp->hart(3).core().csrs().hart_id == 3);
  CHECK(machine.statistic("hart3.instructions") > 0);
}
