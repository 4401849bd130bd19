// SPDX-License-Identifier: Apache-2.0
// Register accesses that a test expects, in order; for firmware compiled for the host.
//
// Firmware reaches devices only through two functions, which on the host are these:
//   extern "C" uint64_t mock_mmio_read(uint64_t address, unsigned bytes);
//   extern "C" void mock_mmio_write(uint64_t address, unsigned bytes, uint64_t value);
// so its mmio header declares them under STRETTO_HOST_TEST and wraps volatile accesses otherwise.
// Include this header in exactly one file of a test executable: it defines both.
//
//   TEST_CASE("arming writes the threshold before the enable bit") {
//     MockMmio mmio;
//     mmio.expect_write(kBase + TRACKER_THRESHOLD_OFFSET, 32);
//     mmio.expect_read(kBase + TRACKER_STATUS_OFFSET, 0);
//     mmio.expect_write(kBase + TRACKER_CONTROL_OFFSET, 1);
//     CHECK(tracker_arm(&tracker) == kFwOk);
//   }  // An access that is missing, extra, out of order or different has failed the test by here.
//
// Invariants: (1) at most one MockMmio lives at a time; (2) after the first difference further
// accesses are recorded and not judged, reads return 0: one mistake, one message.
#ifndef STRETTO_TESTS_SUPPORT_MOCK_MMIO_H_
#define STRETTO_TESTS_SUPPORT_MOCK_MMIO_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

namespace stretto::test {

class MockMmio {
 public:
  MockMmio() {
    if (current() != nullptr) FAIL("two MockMmio at one time");
    current() = this;
  }
  MockMmio(const MockMmio&) = delete;
  MockMmio& operator=(const MockMmio&) = delete;

  ~MockMmio() {
    current() = nullptr;
    verify();
  }

  // The firmware reads `bytes` at `address` next and gets `value`.
  void expect_read(uint64_t address, uint64_t value, unsigned bytes = 8) {
    expected_.push_back({false, address, bytes, value});
  }

  // The firmware writes `value` to `address` next.
  void expect_write(uint64_t address, uint64_t value, unsigned bytes = 8) {
    expected_.push_back({true, address, bytes, value});
  }

  // Every access has been as expected and none is missing. Called by the destructor too.
  void verify() {
    if (difference_) {
      FAIL_CHECK(*difference_);
    } else if (!expected_.empty()) {
      FAIL_CHECK(expected_.size() << " expected accesses did not happen; the first: "
                                  << text(expected_.front()));
    } else {
      SUCCEED();
    }
    difference_.reset();
    expected_.clear();
  }

  // The first difference so far, in words; nothing if there is none. For tests of this class.
  std::optional<std::string> take_difference() {
    std::optional<std::string> result = difference_;
    difference_.reset();
    expected_.clear();
    return result;
  }

  // The live mock; written by constructor and destructor.
  static MockMmio*& current() {
    static MockMmio* mock = nullptr;
    return mock;
  }

  uint64_t read(uint64_t address, unsigned bytes) { return access({false, address, bytes, 0}); }
  void write(uint64_t address, unsigned bytes, uint64_t value) {
    access({true, address, bytes, value});
  }

 private:
  struct Access {
    bool is_write;
    uint64_t address;
    unsigned bytes;
    uint64_t value;
  };

  static std::string text(const Access& access) {
    std::ostringstream out;
    out << (access.is_write ? "write of " : "read of ") << access.bytes << " bytes at 0x"
        << std::hex << access.address;
    if (access.is_write) out << ", value 0x" << access.value;
    return out.str();
  }

  uint64_t access(const Access& actual) {
    ++count_;
    if (difference_) return 0;
    if (expected_.empty()) {
      difference_ = "access " + std::to_string(count_) + ": unexpected " + text(actual);
      return 0;
    }
    const Access next = expected_.front();
    expected_.pop_front();
    const bool same = next.is_write == actual.is_write && next.address == actual.address &&
                      next.bytes == actual.bytes && (!next.is_write || next.value == actual.value);
    if (!same) {
      difference_ =
          "access " + std::to_string(count_) + ": expected " + text(next) + ", got " + text(actual);
      return 0;
    }
    return next.value;
  }

  std::deque<Access> expected_;            // Pushed by expect_*, popped by access.
  std::optional<std::string> difference_;  // Set once, by access.
  unsigned count_ = 0;
};

}  // namespace stretto::test

extern "C" uint64_t mock_mmio_read(uint64_t address, unsigned bytes) {
  auto* mock = stretto::test::MockMmio::current();
  if (mock == nullptr) FAIL("register read at " << address << " without a MockMmio");
  return mock->read(address, bytes);
}

extern "C" void mock_mmio_write(uint64_t address, unsigned bytes, uint64_t value) {
  auto* mock = stretto::test::MockMmio::current();
  if (mock == nullptr) FAIL("register write at " << address << " without a MockMmio");
  mock->write(address, bytes, value);
}

#endif  // STRETTO_TESTS_SUPPORT_MOCK_MMIO_H_
