// SPDX-License-Identifier: Apache-2.0
// Question: does the ELF reader take what it should and refuse the rest in one clear line?
// State space: kinds of damage to a minimal file that is built here, byte by byte, from <elf.h>.
#include <catch2/catch.hpp>

#include <elf.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "models/common/elf_image.h"
#include "models/common/error.h"
#include "tests/support/seeded_rng.h"

using namespace stretto;

namespace {

// Two segments (code with an address-holding word, data with zero-filled tail), symbols, a dynamic
// section with one relative relocation.
struct ElfFile {
  Elf64_Ehdr header{};
  Elf64_Phdr segments[3]{};
  struct Payload {
    uint64_t code[4] = {0x13, 0x13, 0, 0};
    uint64_t data[2] = {7, 8};
    Elf64_Dyn dynamic[4]{};
    Elf64_Rela rela[1]{};
    Elf64_Sym symbols[4]{};
    char strings[40] = "\0_start\0table\0$x\0.symtab\0.strtab\0.code";
    Elf64_Shdr sections[4]{};
  } payload;

  static constexpr uint64_t kPayload = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
  template <class Member>
  static uint64_t offset_of(Member Payload::*member) {
    const Payload p;
    return kPayload + static_cast<uint64_t>(reinterpret_cast<const char*>(&(p.*member)) -
                                            reinterpret_cast<const char*>(&p));
  }

  ElfFile() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_RISCV;
    header.e_version = EV_CURRENT;
    header.e_entry = 0x1000;
    header.e_phoff = sizeof header;
    header.e_shoff = offset_of(&Payload::sections);
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 3;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 4;
    header.e_shstrndx = 2;
    segments[0] = {PT_LOAD, PF_R | PF_X, offset_of(&Payload::code), 0x1000, 0x1000, 32, 32, 8};
    // Data, dynamic section and relocations are one segment of the file.
    segments[1] = {
        PT_LOAD, PF_R | PF_W, offset_of(&Payload::data), 0x2000, 0x2000, 16 + 64 + 24, 0x200, 8};
    segments[2] = {PT_DYNAMIC, PF_R, offset_of(&Payload::dynamic), 0x2010, 0x2010, 64, 64, 8};
    payload.dynamic[0] = {DT_RELA, {0x2050}};
    payload.dynamic[1] = {DT_RELASZ, {24}};
    payload.dynamic[2] = {DT_RELAENT, {24}};
    payload.rela[0] = {0x1010, R_RISCV_RELATIVE, 0x2008};
    payload.symbols[1] = {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1000, 16};
    payload.symbols[2] = {8, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 1, 0x2000, 16};
    payload.symbols[3] = {14, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), 0, 1, 0x1000, 0};
    payload.sections[1] = {
        17, SHT_SYMTAB,       0, 0, offset_of(&Payload::symbols), sizeof payload.symbols, 2, 1,
        8,  sizeof(Elf64_Sym)};
    payload.sections[2] = {
        25, SHT_STRTAB, 0, 0, offset_of(&Payload::strings), sizeof payload.strings, 0, 0, 1, 0};
    payload.sections[3] = {
        33, SHT_PROGBITS, SHF_ALLOC, 0x1000, offset_of(&Payload::code), 32, 0, 0, 8, 0};
  }

  std::string bytes() const {
    std::string out(kPayload + sizeof payload, '\0');
    std::memcpy(&out[0], &header, sizeof header);
    std::memcpy(&out[sizeof header], segments, sizeof segments);
    std::memcpy(&out[kPayload], &payload, sizeof payload);
    return out;
  }
};

struct TemporaryFile {
  std::string path =
      std::string(STRETTO_BUILD_DIR) + "/elf_image_test." + std::to_string(getpid()) + ".elf";
  explicit TemporaryFile(const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ~TemporaryFile() { std::remove(path.c_str()); }
};

void expect_refused(const std::string& bytes, const std::string& reason) {
  const TemporaryFile file(bytes);
  try {
    ElfImage::load(file.path);
    FAIL("accepted, but expected: " << reason);
  } catch (const UserError& error) {
    const std::string text = error.what();
    INFO(text);
    CHECK(text.find(file.path) == 0);
    CHECK(text.find(reason) != std::string::npos);
    CHECK(text.find('\n') == std::string::npos);
  }
}

void expect_refused(const std::function<void(ElfFile&)>& damage, const std::string& reason) {
  ElfFile file;
  damage(file);
  expect_refused(file.bytes(), reason);
}

}  // namespace

TEST_CASE("a static PIE is read with segments, symbols and sections") {
  const TemporaryFile file(ElfFile{}.bytes());
  const ElfImage image = ElfImage::load(file.path);
  CHECK(image.position_independent());
  CHECK(image.entry() == 0x1000);
  REQUIRE(image.segments().size() == 2);
  CHECK(image.segments()[0].executable);
  CHECK_FALSE(image.segments()[0].writable);
  CHECK(image.segments()[1].memory_bytes == 0x200);
  CHECK(image.segments()[1].data.size() == 104);
  CHECK(image.low_address() == 0x1000);
  CHECK(image.high_address() == 0x2200);
  CHECK(image.symbol("table") == 0x2000u);
  CHECK_FALSE(image.symbol("$x").has_value());
  REQUIRE(image.section(".code") != nullptr);
  CHECK(image.section(".code")->data.size() == 32);
  CHECK(image.section(".nothing") == nullptr);
}

TEST_CASE("segments are counted as the program headers are") {
  ElfFile elf;
  std::swap(elf.segments[0], elf.segments[2]);
  const TemporaryFile file(elf.bytes());
  const ElfImage image = ElfImage::load(file.path);
  REQUIRE(image.segments().size() == 2);
  CHECK(image.segments()[0].number == 1);
  CHECK(image.segments()[1].number == 2);
}

TEST_CASE("relocation moves addresses and the words that hold them") {
  const TemporaryFile file(ElfFile{}.bytes());
  ElfImage image = ElfImage::load(file.path);
  image.relocate(0x100000);
  uint64_t word = 0;
  std::memcpy(&word, &image.segments()[0].data[0x10], 8);
  CHECK(word == 0x102008);
  CHECK(image.entry() == 0x101000);
  CHECK(image.segments()[1].address == 0x102000);
  CHECK(image.symbol("_start") == 0x101000u);
  CHECK(image.section(".code")->address == 0x101000);
}

TEST_CASE("addresses are named by the symbol that contains them") {
  const TemporaryFile file(ElfFile{}.bytes());
  const ElfImage image = ElfImage::load(file.path);
  CHECK(image.symbolize(0x1000) == "_start");
  CHECK(image.symbolize(0x100c) == "_start+0xc");
  CHECK(image.symbolize(0x1018) == "0x1018");
  CHECK(image.symbolize(0x2008) == "table+0x8");
  CHECK(image.symbolize(0x10) == "0x10");
}

TEST_CASE("the SHA-256 is that of the file") {
  const TemporaryFile file(ElfFile{}.bytes());
  const std::string command = "sha256sum " + file.path;
  std::FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char expected[65] = {};
  const size_t read = std::fread(expected, 1, 64, pipe);
  pclose(pipe);
  REQUIRE(read == 64);
  CHECK(ElfImage::load(file.path).sha256() == expected);
}

TEST_CASE("what is not a linked RISC-V ELF is refused with the reason") {
  expect_refused("", "not an ELF file");
  expect_refused("#!/bin/sh\n", "not an ELF file");
  expect_refused(ElfFile{}.bytes().substr(0, 10), "truncated inside the ELF header");
  expect_refused(ElfFile{}.bytes().substr(0, 40), "truncated inside the ELF header");
  expect_refused(ElfFile{}.bytes().substr(0, 100), "truncated: the program headers");
  expect_refused(ElfFile{}.bytes().substr(0, 250), "truncated: segment 0");
  expect_refused([](ElfFile& f) { f.header.e_ident[EI_CLASS] = ELFCLASS32; }, "wrong ELF class");
  expect_refused([](ElfFile& f) { f.header.e_ident[EI_DATA] = ELFDATA2MSB; }, "wrong byte order");
  expect_refused([](ElfFile& f) { f.header.e_machine = EM_X86_64; }, "wrong machine 62");
  expect_refused([](ElfFile& f) { f.header.e_type = ET_REL; }, "ELF type 1");
  expect_refused([](ElfFile& f) { f.header.e_type = ET_CORE; }, "ELF type 4");
}

TEST_CASE("damaged or unsupported contents are refused with the reason") {
  expect_refused([](ElfFile& f) { f.segments[0].p_type = f.segments[1].p_type = PT_NOTE; },
                 "no loadable segment");
  expect_refused([](ElfFile& f) { f.segments[1].p_vaddr = 0x1018; }, "overlapping segments");
  expect_refused([](ElfFile& f) { f.segments[1].p_paddr = f.segments[0].p_paddr + 8; },
                 "overlapping segments at their load addresses");
  expect_refused([](ElfFile& f) { f.segments[1].p_memsz = 16; }, "larger in the file");
  // Also where nothing would be loaded.
  expect_refused([](ElfFile& f) { f.segments[1].p_memsz = 0; }, "segment 1 at 0x2000 is larger");
  expect_refused([](ElfFile& f) { f.header.e_phentsize = 57; }, "program headers of 57 bytes");
  expect_refused([](ElfFile& f) { f.header.e_phentsize = 0; }, "program headers of 0 bytes");
  expect_refused([](ElfFile& f) { f.header.e_shentsize = 32; }, "section headers of 32 bytes");
  expect_refused([](ElfFile& f) { f.segments[1].p_vaddr = ~uint64_t{0} - 8; }, "wraps around");
  expect_refused([](ElfFile& f) { f.segments[0].p_offset = ~uint64_t{0} - 8; },
                 "truncated: segment 0");
  expect_refused([](ElfFile& f) { f.segments[2].p_type = PT_INTERP; }, "dynamic linker");
  expect_refused([](ElfFile& f) { f.payload.dynamic[3].d_tag = DT_NEEDED; }, "shared library");
  expect_refused([](ElfFile& f) { f.payload.rela[0].r_info = R_RISCV_64; }, "relocation type 2");
  expect_refused([](ElfFile& f) { f.payload.rela[0].r_offset = 0x5000; }, "relocation outside");
  expect_refused([](ElfFile& f) { f.payload.dynamic[0].d_un.d_val = 0x9000; },
                 "nothing is loaded at 0x9000");
}

TEST_CASE("a missing file is refused by name") {
  CHECK_THROWS_AS(ElfImage::load("/nonexistent/firmware.elf"), UserError);
}

TEST_CASE("random damage is refused or read, and nothing else") {
  test::Rng rng;
  const auto random = [&rng] { return rng.next(); };
  const std::string good = ElfFile{}.bytes();
  unsigned refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (round % 4 == 0) bytes.resize(random() % bytes.size());
    const TemporaryFile file(bytes);
    try {
      ElfImage image = ElfImage::load(file.path);
      image.symbolize(0x1004);
      if (image.position_independent()) image.relocate(0x1000);
    } catch (const UserError&) {
      ++refused;
    }
  }
  CHECK(refused > 100);
}
