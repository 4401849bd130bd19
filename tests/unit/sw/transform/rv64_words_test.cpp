// SPDX-License-Identifier: Apache-2.0
// Question: does the decoder read words as binutils do? Of every instruction of RV64IMA
// (instructions.S) and of every word of shipped kernels: name, registers written and read, where
// branches and jumps go. objdump shows tile instructions as words; their registers are tile.h's.
#include <catch2/catch.hpp>

#include <cstdio>
#include <regex>
#include <set>
#include <string>

#include "sw/include/tile.h"
#include "sw/transform/instruction.h"

using namespace stretto::transform;

namespace {

struct Listed {
  uint64_t address;
  uint32_t word;
  std::string name, operands;
};

std::vector<Listed> disassemble(const std::string& file) {
  const std::string command =
      "riscv64-unknown-elf-objdump -d -M no-aliases,numeric " STRETTO_BUILD_DIR "/" + file;
  std::FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  const std::regex row(R"(^ *([0-9a-f]+):\t([0-9a-f]{8}) *\t(\S+)\t?([^<#\n]*))");
  std::vector<Listed> listed;
  char line[512];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    std::cmatch found;
    if (!std::regex_search(line, found, row)) continue;
    listed.push_back({std::stoull(found[1], nullptr, 16),
                      static_cast<uint32_t>(std::stoul(found[2], nullptr, 16)), found[3],
                      found[4]});
  }
  pclose(pipe);
  return listed;
}

std::string without_order(const std::string& name) {
  return std::regex_replace(name, std::regex(R"(\.(aqrl|aq|rl)$)"), "");
}

void require_equal(const Listed& listed) {
  const Instruction i = decode(listed.word);
  INFO(std::hex << listed.address << ": " << listed.word << " " << listed.name << " "
                << listed.operands);
  REQUIRE(i.name == without_order(listed.name));
  std::vector<unsigned> registers;
  const std::regex token(R"(\bx(\d+)\b)");
  for (std::sregex_iterator at(listed.operands.begin(), listed.operands.end(), token), end;
       at != end; ++at)
    registers.push_back(static_cast<unsigned>(std::stoul((*at)[1])));
  const bool writes = i.kind != Kind::store && i.kind != Kind::branch;
  uint32_t written = 0, read = 0;
  for (size_t k = 0; k < registers.size(); ++k)
    (writes && k == 0 ? written : read) |= uint32_t{1} << registers[k] & ~1u;
  REQUIRE(i.writes() == written);
  REQUIRE(i.reads() == read);
  if (i.kind == Kind::branch || i.kind == Kind::jump) {
    const std::string target = listed.operands.substr(listed.operands.rfind(',') + 1);
    REQUIRE(listed.address + static_cast<uint64_t>(i.immediate) ==
            std::stoull(target, nullptr, 16));
  }
  if (i.kind == Kind::load || i.kind == Kind::store || i.kind == Kind::jump_to)
    REQUIRE(i.immediate == std::stoll(listed.operands.substr(listed.operands.find(',') + 1)));
  if (i.kind == Kind::upper || i.kind == Kind::place)
    REQUIRE((static_cast<uint64_t>(i.immediate) >> 12 & 0xFFFFF) ==
            std::stoull(listed.operands.substr(listed.operands.find(',') + 1), nullptr, 16));
}

}  // namespace

TEST_CASE("every instruction of RV64IMA is decoded as objdump does") {
  std::set<std::string> names;
  for (const Listed& listed : disassemble("tests/unit/sw/transform/instructions.o")) {
    if (listed.word == 0) continue;
    require_equal(listed);
    names.insert(without_order(listed.name));
  }
  REQUIRE(names.size() == 94);  // 51 + 13 of M + 22 of A + 6 of Zicsr + fence.i + ebreak.
}

TEST_CASE("every word of shipped kernels is decoded as objdump does") {
  for (const char* name : {"gemm", "collective", "ops_rows_fp16", "ops_elementwise_fp16"}) {
    size_t tiles = 0, others = 0;
    for (const Listed& listed : disassemble(std::string("sw/kernels/") + name + ".elf")) {
      if (listed.name == ".4byte" || listed.name == ".word") {
        REQUIRE(decode(listed.word).kind == Kind::tile);
        ++tiles;
      } else {
        require_equal(listed);
        ++others;
      }
    }
    REQUIRE(tiles > 10);
    REQUIRE(others > 100);
  }
}

TEST_CASE("scalar registers of tile instructions are those of tile.h's table") {
  const auto tile = [](unsigned f3, unsigned f7) {
    return decode(f7 << 25 | 3u << 20 | 4u << 15 | f3 << 12 | 5u << 7 | 0x0B);
  };
  constexpr uint32_t kRs1 = 1u << 4, kRs2 = 1u << 3, kRd = 1u << 5;
  REQUIRE(tile(TILE_LOAD_F3, 0).reads() == (kRs1 | kRs2));
  REQUIRE(tile(TILE_STORE_F3, 0).reads() == (kRs1 | kRs2));
  REQUIRE(tile(TILE_MMA_F3, 0).reads() == 0);
  REQUIRE(tile(TILE_SIMT_F3, 0).reads() == 0);
  REQUIRE(tile(TILE_EPILOGUE_F3, 0).reads() == kRs2);
  REQUIRE(tile(TILE_CONTROL_F3, TILE_CONTROL_ZERO).reads() == kRs1);
  REQUIRE(tile(TILE_CONTROL_F3, TILE_CONTROL_WAIT).reads() == 0);
  REQUIRE(tile(TILE_CONTROL_F3, TILE_CONTROL_VOTE).reads() == kRs1);
  REQUIRE(tile(TILE_CONTROL_F3, TILE_CONTROL_VOTE).writes() == kRd);
  REQUIRE(tile(TILE_LOAD_F3, 0).writes() == 0);
  REQUIRE(tile(TILE_WAIT_UNTIL_F3, 0).reads() == (kRs1 | kRs2));
  REQUIRE(tile(TILE_LOCKED_STORE_F3, 1).reads() == (kRs1 | kRs2));
}

TEST_CASE("jumps that are encoded decode to where they go, up to 1 MiB") {
  for (const int64_t distance : {-1048576, -2048, -4, 4, 2046, 2048, 1048574}) {
    REQUIRE(encode::reaches(distance));
    REQUIRE(decode(encode::jal(0, distance)).immediate == distance);
  }
  REQUIRE_FALSE(encode::reaches(-1048578));
  REQUIRE_FALSE(encode::reaches(1048576));
  for (const int64_t distance : {-4096, -4, 4, 4094})
    REQUIRE(decode(encode::branch(encode::kBelow, 3, 4, distance)).immediate == distance);
}

TEST_CASE("compare-and-swap reads three registers and writes the first") {
  // Zacas 1.0: amocas.d a5, a3, (a2) and amocas.w, which binutils 2.40 has no names for.
  for (const auto& [word, name] : {std::pair{0x28D637AFu, "amocas.d"}, {0x28D627AFu, "amocas.w"}}) {
    const Instruction i = decode(word);
    CHECK(i.name == std::string(name));
    CHECK(i.reads() == (1u << 15 | 1u << 13 | 1u << 12));
    CHECK(i.writes() == 1u << 15);
  }
  CHECK(decode(0x08D637AF).reads() == (1u << 13 | 1u << 12));  // amoswap.d
}
