// SPDX-License-Identifier: Apache-2.0
// Question: is a kernel or file that the transformer cannot rewrite correctly refused, with one line
// that says why, and is every other word of a file left as it was? State space: one subject for
// each refusal (subjects.c, loops.c, far.c), damaged files, every shipped ELF (table in the README).
#include <catch2/catch.hpp>

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "sw/transform/assembler.h"
#include "sw/transform/transform.h"
#include "tests/support/seeded_rng.h"
#include "tests/system/process.h"

using namespace stretto::transform;
using stretto::test::Rng;

namespace {

using Bytes = std::vector<uint8_t>;

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return Bytes((std::istreambuf_iterator<char>(file)), {});
}
Bytes kernel_file(const std::string& name) {
  return read_file(STRETTO_BUILD_DIR "/sw/kernels/" + name + ".elf");
}

std::string refusal_of(const Bytes& file, const std::string& kernel = "",
                       Form form = Form::preempt) {
  Options options;
  options.form = form;
  options.kernel = kernel;
  try {
    transform(file, options);
    return "transformed";
  } catch (const Refused& refused) {
    REQUIRE(std::string(refused.what()).find('\n') == std::string::npos);
    return refused.what();
  }
}

template <class T>
void put(Bytes& file, size_t offset, T value) {
  std::memcpy(file.data() + offset, &value, sizeof value);
}

// File offset of the first program (section) header of a type.
size_t program_header(const Bytes& file, uint32_t type) {
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr p;
    const size_t at = header.e_phoff + i * sizeof p;
    std::memcpy(&p, file.data() + at, sizeof p);
    if (p.p_type == type) return at;
  }
  FAIL("no such program header");
  return 0;
}
size_t section_header(const Bytes& file, uint32_t type) {
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr s;
    const size_t at = header.e_shoff + i * sizeof s;
    std::memcpy(&s, file.data() + at, sizeof s);
    if (s.sh_type == type) return at;
  }
  FAIL("no such section header");
  return 0;
}

constexpr const char* kWaits = "work-groups may wait for each other: ";

}  // namespace

TEST_CASE("each kernel that cannot be rewritten is refused with its reason and place") {
  const Bytes file = kernel_file("transform_subjects");
  const std::string loop =
      std::string(kWaits) + "a loop reads the same memory until it changes at ";
  const std::string jump = "indirect jump that is not understood at ";
  const std::map<std::string, std::string> reasons = {
      {"spins", loop + "spins+"},
      {"spins_on_each", loop + "spins_on_each+"},
      {"takes_lock", loop + "takes_lock+"},
      {"spins_in_call", loop + "spins_in_call+"},
      {"goes_round", loop + "goes_round+"},
      {"goes_round_by_mask", loop + "goes_round_by_mask+"},
      {"goes_round_by_remainder", loop + "goes_round_by_remainder+"},
      {"goes_to_and_fro", loop + "goes_to_and_fro+"},
      {"steps_behind_flags", loop + "steps_behind_flags+"},
      {"leaves_behind_flag", loop + "leaves_behind_flag+"},
      {"waits_until", std::string(kWaits) + "tile.wait_until at waits_until+"},
      {"waits_for_lines", std::string(kWaits) + "lines are loaded at waits_for_lines+"},
      {"uses_scratch", "uses CSR 0x801, which is the transformed kernel's at uses_scratch"},
      {"calls_pointer", jump + "calls_pointer+"},
      {"jumps_by_offsets", jump + "jumps_by_offsets+"},
      {"jumps_to_label", jump + "jumps_to_label+"},
      {"jumps_by_words", jump + "jumps_by_words+"},
      {"adds_another_table", jump + "adds_another_table+"},
      {"adds_another_table_on_a_way", jump + "adds_another_table_on_a_way+"},
      {"loads_half_of_an_entry", jump + "loads_half_of_an_entry+"},
      {"adds_more_to_an_entry", jump + "adds_more_to_an_entry+"},
      {"loads_elsewhere", jump + "loads_elsewhere+"},
      {"goes_through_a_call", jump + "goes_through_a_call+"},
      {"turns_stack", "sp is not only the stack at turns_stack+"},
      {"has_float", "word 02000053 is not of RV64IMA at has_float"},
      {"returns", "returns without a call at returns"},
  };
  for (const auto& [kernel, reason] : reasons) {
    for (const Form form : {Form::slice, Form::preempt}) {
      const std::string found = refusal_of(file, kernel, form);
      INFO(kernel << ": " << found);
      REQUIRE(found.rfind(kernel + ": " + reason, 0) == 0);
    }
  }
}

// loops.c says what is with each.
TEST_CASE("a loop whose address or bound only seems to move is refused") {
  const Bytes file = kernel_file("transform_loops");
  for (const char* name : {"minus_itself",
                           "product_minus_itself",
                           "two_cancel",
                           "square",
                           "times_nothing",
                           "masked_by_shifts",
                           "masked_to_half",
                           "shifted_out",
                           "shifted_out_of_word",
                           "multiplied_out",
                           "shift_by_what_steps",
                           "shifted_down",
                           "word_shifted_down",
                           "unsigned_by_257",
                           "divided",
                           "with_bits_set",
                           "with_all_set",
                           "half_of_a_word",
                           "by_two_ways",
                           "adds_what_it_read",
                           "goes_back_to_the_first",
                           "adds_how_often_it_turned",
                           "through_memory",
                           "through_tile",
                           "through_tile_on_stack",
                           "through_stack",
                           "up_or_down",
                           "up_or_not",
                           "up_and_down_by_edges",
                           "by_stride_up_or_down",
                           "by_stride_and_way",
                           "by_way_and_stride",
                           "by_stride_of_two_ways",
                           "by_what_turns",
                           "by_what_steps_masked",
                           "by_nothing",
                           "by_8_and_back",
                           "by_the_clock",
                           "by_a_vote",
                           "by_what_it_stored",
                           "doubles",
                           "halves",
                           "turns_round",
                           "wraps_a_mask",
                           "by_a_shifted_one",
                           "by_itself_less_itself",
                           "by_a_copy_less_itself",
                           "by_a_masked_bit",
                           "by_a_stride_of_41_zeros",
                           "by_stride_and_back",
                           "times_2_to_the_64",
                           "times_2_to_the_41",
                           "times_what_is_shifted_by_41",
                           "bound_is_met_by_one_way",
                           "bound_of_each_way",
                           "bound_steps_too",
                           "comes_to_a_bound_by_what_it_read",
                           "bound_lies_behind",
                           "bound_lies_behind_downwards",
                           "bound_is_met",
                           "bound_is_met_downwards",
                           "bound_lies_behind_the_difference",
                           "bound_of_two",
                           "one_head_for_two",
                           "spins_on_data",
                           "word_in_arguments",
                           "by_distance",
                           "recurses",
                           "ends_in_call",
                           "ends_in_call_or_later",
                           "ends_in_call_or_never",
                           "ends_in_call_by_what_it_gives",
                           "ends_in_call_by_what_it_keeps",
                           "ends_in_call_by_how_often_it_turned",
                           "ends_in_tail_call",
                           "ends_in_call_of_call",
                           "by_an_argument_of_0",
                           "bound_is_one_place_wide",
                           "sign_comes_and_goes",
                           "kept_over_a_call",
                           "by_a_bit_of_ra",
                           "by_pitch_and_back"}) {
    INFO(name);
    const std::map<std::string, std::string> places = {{"recurses", "calls_itself"},
                                                       {"by_an_argument_of_0", "steps_by_a1"},
                                                       {"by_a_bit_of_ra", "steps_by_a_bit_of_ra"}};
    const std::string place = places.contains(name) ? places.at(name) : name;
    REQUIRE(refusal_of(file, name)
                .rfind(fmt::format("{}: {}a loop reads the same memory until it changes at {}+",
                                   name, kWaits, place),
                       0) == 0);
  }
}

TEST_CASE("a loop is taken whose address is another in each turn, or whose bound is ahead") {
  const Bytes file = kernel_file("transform_loops");
  for (const char* name : {"by_pointer",
                           "by_index",
                           "by_int",
                           "by_unsigned",
                           "by_unsigned_that_is_kept",
                           "by_word_of_rows",
                           "by_stride",
                           "by_stride_downwards",
                           "by_row",
                           "by_element_of_24_bytes",
                           "from_the_end",
                           "one_or_two",
                           "one_behind",
                           "words_of_bits",
                           "unsigned_by_256",
                           "to_a_bound",
                           "down_to_a_bound",
                           "by_a_stride_of_40_zeros",
                           "times_2_to_the_40",
                           "bound_is_ahead_on_each_way",
                           "same_bound_on_each_way",
                           "rows_of_a_sparse_matrix",
                           "ends_in_call_by_its_turn",
                           "by_two_pointers"}) {
    INFO(name);
    REQUIRE(refusal_of(file, name) == "transformed");
  }
}

TEST_CASE("a loop that reads other memory in each turn is no wait") {
  REQUIRE(refusal_of(kernel_file("transform_subjects"), "searches") == "transformed");
  REQUIRE(refusal_of(kernel_file("transform_subjects"), "walks") == "transformed");
}

TEST_CASE("a jump that switches share goes to the table whose entry each way to it has loaded") {
  REQUIRE(refusal_of(kernel_file("transform_subjects"), "shares_a_jump") == "transformed");
  REQUIRE(refusal_of(kernel_file("transform_subjects"), "shares_an_end") == "transformed");
}

TEST_CASE("a kernel whose text ends with a trap is rewritten") {
  REQUIRE(refusal_of(kernel_file("transform_subjects"), "traps") == "transformed");
}

TEST_CASE("text that no jump to the stubs reaches is refused") {
  REQUIRE(refusal_of(kernel_file("transform_far")) ==
          "text at far_kernel lies farther than 1 MiB from the stubs");
}

TEST_CASE("a kernel that is transformed already, or is not there, is refused") {
  Options options;
  const Bytes once = transform(kernel_file("gemm"), options).elf;
  REQUIRE(refusal_of(once) == "is transformed already");
  REQUIRE(refusal_of(kernel_file("gemm"), "gemm") ==
          "no kernel gemm; there are gemm_16x128, gemm_256x128, gemm_128x128");
}

TEST_CASE("a kernel with votes needs tile.vote") {
  Options options;
  options.isa = Isa::stock;
  options.kernel = "votes";
  REQUIRE_THROWS_WITH(transform(kernel_file("transform_subjects"), options),
                      "votes: uses tile.vote, which the stock ISA has not");
}

TEST_CASE("a kernel with barriers that keeps words below sp is not for the stock ISA") {
  for (const std::string kernel : {"stores_below_stack", "points_below_stack"}) {
    Options options;
    options.kernel = kernel;
    REQUIRE(transform(kernel_file("transform_subjects"), options).kernels.size() > 1);
    options.isa = Isa::stock;
    REQUIRE_THROWS_WITH(
        transform(kernel_file("transform_subjects"), options),
        kernel + ": keeps words below sp, where barriers of the stock ISA keep theirs");
  }
}

TEST_CASE("reading the cycle is a warning") {
  const Result result = transform(kernel_file("launch_probe"), {});
  REQUIRE(result.kernels.at(1).warnings.at(0) ==
          "reads the cycle at launch_move: equal to the original only up to time");
}

TEST_CASE("unfit files are refused with what they are") {
  const Bytes good = kernel_file("gemm");
  Bytes file = good;
  file[EI_CLASS] = ELFCLASS32;
  REQUIRE(refusal_of(file) == "not 64-bit: kernels are RV64IMA");
  file = good;
  put<uint32_t>(file, offsetof(Elf64_Ehdr, e_flags), 1);
  REQUIRE(refusal_of(file) == "has compressed instructions: kernels are RV64IMA");
  file = good;
  put<uint16_t>(file, offsetof(Elf64_Ehdr, e_machine), EM_X86_64);
  REQUIRE(refusal_of(file) == "not for RISC-V");
  file = good;
  put<uint16_t>(file, offsetof(Elf64_Ehdr, e_type), ET_EXEC);
  REQUIRE(refusal_of(file) == "not position-independent: kernels are static PIE");
  file = good;
  put<uint16_t>(file, offsetof(Elf64_Ehdr, e_shnum), 0);
  put<uint64_t>(file, offsetof(Elf64_Ehdr, e_shoff), 0);
  REQUIRE(refusal_of(file) == "no sections: they name the kernels");
  file = good;
  put<uint32_t>(file, section_header(good, SHT_SYMTAB) + offsetof(Elf64_Shdr, sh_type),
                SHT_PROGBITS);
  REQUIRE(refusal_of(file) == "stripped: no symbol names a kernel (NAME.kd)");
  file = good;
  put<uint32_t>(file, program_header(good, PT_GNU_STACK), PT_NOTE);
  REQUIRE(refusal_of(file) == "no room for another program header: no PT_GNU_STACK");
  REQUIRE(refusal_of({}) == "not an ELF file");
  REQUIRE(refusal_of({'h', 'e', 'l', 'l', 'o'}) == "not an ELF file");
}

TEST_CASE("a kernel with a compressed instruction is refused") {
  Bytes file = kernel_file("gemm");
  KernelElf elf(file);
  elf.patch(elf.kernels().front().fields.entry, 0x00010001);  // c.nop twice.
  REQUIRE(refusal_of(elf.bytes(), elf.kernels().front().name).find("compressed instruction at ") !=
          std::string::npos);
}

TEST_CASE(
    "a kernel whose descriptor no launch would take is refused, the rest of the file is not") {
  const Bytes good = kernel_file("gemm");
  const KernelElf elf(good);
  const Kernel kernel = elf.kernels().front();
  const auto damaged = [&](auto set) {
    KernelElf changed(good);
    Kernel to = kernel;
    set(to.fields);
    changed.describe(to);
    REQUIRE(refusal_of(changed.bytes(), elf.kernels().back().name) == "transformed");
    return refusal_of(changed.bytes(), kernel.name);
  };
  const std::string has = kernel.name + ": its descriptor has ";
  for (const uint32_t wavefronts : {0u, 9u})
    REQUIRE(damaged([&](auto& fields) { fields.wavefronts = wavefronts; }) ==
            has + fmt::format("{} wavefronts, not 1 to 8", wavefronts));
  for (const uint32_t bytes : {40000u, 131072u})
    REQUIRE(damaged([&](auto& fields) { fields.private_bytes = bytes; }) ==
            has + fmt::format("{} bytes of private memory, no power of two up to 64 KiB", bytes));
  REQUIRE(damaged([](auto& fields) { fields.private_bytes = 0; }) == "transformed");
  for (const uint32_t bytes : {0xFFFFFFFFu, 0xFFFFFFF9u, 0x10000u})
    REQUIRE(damaged([&](auto& fields) { fields.kernarg_bytes = bytes; }) ==
            has + fmt::format("{} bytes of arguments, which leave no room for more", bytes));
}

TEST_CASE("every truncation is refused") {
  const Bytes good = kernel_file("gemm");
  for (size_t bytes = 0; bytes < good.size(); bytes += 61)
    REQUIRE(refusal_of(Bytes(good.begin(), good.begin() + static_cast<long>(bytes))) !=
            "transformed");
}

TEST_CASE("files with random damage are transformed or refused") {
  const Bytes good = kernel_file("transform_subjects");
  Rng rng(23);
  unsigned refused = 0;
  for (unsigned trial = 0; trial < 500; ++trial) {
    Bytes file = good;
    for (unsigned i = 0; i < 4; ++i)
      file[rng.below(trial % 2 == 0 ? 1024 : file.size())] = static_cast<uint8_t>(rng.below(256));
    refused += refusal_of(file) != "transformed";
  }
  REQUIRE(refused > 20);
}

TEST_CASE("stubs have the address of a label at any distance, and branch to it within 4 KiB") {
  for (const unsigned words : {1u, 510u, 512u, 513u, 1023u, 1024u, 3000u}) {
    for (const bool forward : {false, true}) {
      CAPTURE(words, forward);
      Assembler out(0x10000);
      const auto label = out.label();
      if (!forward) out.bind(label);
      for (unsigned i = 0; !forward && i < words; ++i) out.emit(0, "");
      const uint64_t at = out.here();
      out.address(encode::kT0, label, "");
      for (unsigned i = 0; forward && i < words; ++i) out.emit(0, "");
      const uint64_t is = forward ? out.here() : 0x10000;
      if (forward) out.bind(label);
      out.resolve();
      const size_t index = (at - 0x10000) / 4;
      const int32_t pages = static_cast<int32_t>(out.lines()[index].word & ~0xFFFu);
      const int32_t rest = static_cast<int32_t>(out.lines()[index + 1].word) >> 20;
      CHECK(at + static_cast<uint64_t>(int64_t{pages} + rest) == is);

      Assembler near(0x10000);
      const auto end = near.label();
      near.branch(encode::kEqual, 0, 0, end, "");
      for (unsigned i = 1; i < words; ++i) near.emit(0, "");
      near.bind(end);
      if (words < 1024) {
        near.resolve();
      } else {
        CHECK_THROWS_AS(near.resolve(), Refused);
      }
    }
  }
}

// Immediates of J-type: The RISC-V Instruction Set Manual, volume I, section 2.3.
TEST_CASE("stubs jump back as far as jal reaches, and what is farther is refused") {
  constexpr uint64_t kStubs = 0x400000;
  for (const int64_t distance : {-1048576, -1048572, -4, 4, 1048572, -1048580, 1048576, -3}) {
    CAPTURE(distance);
    Assembler out(kStubs);
    if (distance < -1048576 || distance >= 1048576 || distance % 2 != 0) {
      CHECK_THROWS_AS(out.jump(kStubs + distance, ""), Refused);
      continue;
    }
    out.jump(kStubs + distance, "");
    const int64_t word = static_cast<int32_t>(out.lines()[0].word);
    CHECK((word & 0xFFF) == 0x6F);
    const int64_t found = word >> 31 << 20 | (word >> 12 & 255) << 12 | (word >> 20 & 1) << 11 |
                          (word >> 21 & 1023) << 1;
    CHECK(found == distance);
  }
}

TEST_CASE("nothing changes but rewritten words, descriptors and one program header") {
  const Bytes before = kernel_file("gemm");
  for (const Form form : {Form::slice, Form::preempt}) {
    const Result result = transform(before, {form, Isa::tile, "", false});
    std::set<size_t> may_change;
    const auto allow = [&](size_t offset, size_t bytes) {
      for (size_t i = 0; i < bytes; ++i) may_change.insert(offset + i);
    };
    allow(program_header(before, PT_GNU_STACK), sizeof(Elf64_Phdr));
    Elf64_Shdr text;
    std::memcpy(&text, before.data() + section_header(before, SHT_PROGBITS), sizeof text);
    REQUIRE((text.sh_flags & SHF_EXECINSTR) != 0);
    size_t patches = 0;
    for (const Outcome& outcome : result.kernels) {
      for (const Patch& patch : outcome.patches) {
        allow(text.sh_offset + patch.address - text.sh_addr, 4);
        ++patches;
      }
    }
    REQUIRE(patches == result.kernels.size() * (form == Form::slice ? 1 : 3));
    Elf64_Shdr relocations;  // The loader's; r_addend of each entry.
    std::memcpy(&relocations, before.data() + section_header(before, SHT_RELA), sizeof relocations);
    for (size_t at = 0; at < relocations.sh_size; at += sizeof(Elf64_Rela))
      allow(relocations.sh_offset + at + offsetof(Elf64_Rela, r_addend), 8);
    const KernelElf elf(before);
    for (const Kernel& kernel : elf.kernels()) {
      const size_t at = kernel.descriptor - 0x2000;  // gemm.elf's data segment.
      allow(at + offsetof(stretto_kernel_descriptor_t, kernarg_bytes), 4);
      allow(at + offsetof(stretto_kernel_descriptor_t, reserved), 8);
    }
    for (size_t i = 0; i < before.size(); ++i) {
      INFO(i);
      REQUIRE((before[i] == result.elf[i] || may_change.contains(i)));
    }
    REQUIRE(result.elf.size() <= before.size() + 4 * result.stubs.size() + 3);
  }
}

TEST_CASE("the README's table says what becomes of every shipped kernel") {
  const Bytes text = read_file("sw/transform/README.md");
  const std::string readme(text.begin(), text.end());
  std::vector<std::string> files;
  for (const char* name : {"gemm",
                           "gemm_split",
                           "ops",
                           "ops_gemm_fp16",
                           "ops_gemm_stream_fp16",
                           "ops_vector_fp16",
                           "ops_elementwise_fp16",
                           "ops_rows_fp16",
                           "ops_reduce_fp16",
                           "ops_index_fp16",
                           "ops_update",
                           "load",
                           "l2_probe",
                           "stream_probe",
                           "launch_probe",
                           "collective",
                           "ring",
                           "send",
                           "tile_queue",
                           "stages"})
    files.push_back(std::string("sw/kernels/") + name);
  for (const char* name : {"mlp", "bert-small", "bert-large-1", "pipeline"})
    files.push_back(std::string("sw/graphs/") + name);
  for (const std::string& file : files) {
    size_t transformed = 0, waits = 0, loops = 0, all = 0;
    const Bytes elf = read_file(STRETTO_BUILD_DIR "/" + file + ".elf");
    try {
      for (const Outcome& outcome : transform(elf, {}).kernels) {
        transformed += outcome.refusal.empty();
        waits += outcome.refusal.find("tile.wait_until") != std::string::npos;
        loops += outcome.refusal.find("a loop reads the same memory") != std::string::npos;
        ++all;
        REQUIRE_FALSE(outcome.faults);
      }
    } catch (const Refused& refused) {
      all = waits = KernelElf(elf).kernels().size();
      REQUIRE(std::string(refused.what()).find("tile.wait_until") != std::string::npos);
    }
    REQUIRE(transformed + waits + loops == all);
    const std::string row = fmt::format("| `{}` | {} | {} | {} |", file.substr(file.rfind('/') + 1),
                                        transformed, waits, loops);
    INFO(row);
    REQUIRE(readme.find(row) != std::string::npos);
  }
}

TEST_CASE("the tool says in one line which file is unfit and why, with exit status 2") {
  using stretto::test::run_command;
  const std::string good = STRETTO_BUILD_DIR "/sw/kernels/gemm.elf";
  const std::string far = STRETTO_BUILD_DIR "/sw/kernels/transform_far.elf";
  const stretto::test::Scratch scratch;
  const auto made = [&](const std::string& name, const std::string& command) {
    const std::string path = scratch.path + "/" + name;
    const auto finished = run_command(command + " " + path);
    INFO(command << ": " << finished.output);
    REQUIRE(finished.status == 0);
    return path;
  };
  const std::string source = scratch.file("one.c", "void _start(void) {}\n");
  const auto linked = [&](const std::string& name, const std::string& isa, const char* flags) {
    made(name + ".o",
         "riscv64-unknown-elf-gcc -c -fPIE -misa-spec=2.2 " + isa + " " + source + " -o");
    return made(name, "ld.lld -pie --no-dynamic-linker " + std::string(flags) + " " + scratch.path +
                          "/" + name + ".o -o");
  };
  const std::string bytes = "head -c 3000 " + good + " >";
  Bytes sectionless = read_file(good);
  put<uint16_t>(sectionless, offsetof(Elf64_Ehdr, e_shnum), 0);
  put<uint64_t>(sectionless, offsetof(Elf64_Ehdr, e_shoff), 0);
  const std::map<std::string, std::string> reasons = {
      {made("truncated", bytes), "truncated: section headers outside the file"},
      {linked("stripped", "-march=rv64ima -mabi=lp64", "-s"),
       "stripped: no symbol names a kernel (NAME.kd)"},
      {linked("rv32", "-march=rv32ima -mabi=ilp32", ""), "not 64-bit: kernels are RV64IMA"},
      {linked("compressed", "-march=rv64imac -mabi=lp64", ""),
       "has compressed instructions: kernels are RV64IMA"},
      {scratch.file("sectionless", {sectionless.begin(), sectionless.end()}),
       "no sections: they name the kernels"},
      {far, "text at far_kernel lies farther than 1 MiB from the stubs"},
      {"/dev/zero", "not an ELF file"},
      {"/dev/null", "not an ELF file"},
      {scratch.path, "is a folder"},
      {made("pipe", "mkfifo "), "is no regular file"},
  };
  for (const auto& [file, reason] : reasons) {
    for (const char* form : {"slice", "preempt"}) {
      const auto finished = run_command("timeout 20 " STRETTO_BUILD_DIR "/stretto-transform " +
                                        file + " --form " + form);
      INFO(finished.output);
      REQUIRE(finished.status == 2);
      REQUIRE(finished.output == file + ": " + reason + "\n");
    }
  }
}

TEST_CASE("the tool says in one line why it refuses, with exit status 2") {
  using stretto::test::run_command;
  const std::string tool = STRETTO_BUILD_DIR "/stretto-transform ";
  const std::string kernels = STRETTO_BUILD_DIR "/sw/kernels/";
  stretto::test::Scratch scratch;
  for (const std::string& arguments :
       {kernels + "jacobi.elf --form preempt",
        kernels + "ring.elf --form preempt --kernel ring_reduce_scatter",
        kernels + "gemm.elf --form other", kernels + "gemm.elf",
        kernels + "gemm.elf --form slice --kernel none", kernels + "none.elf --form slice",
        std::string("--form slice"), kernels + "gemm.elf --form slice --kernel ''",
        kernels + "gemm.elf --form slice -o ''", std::string("'' --form slice"),
        kernels + "gemm.elf --form slice -o " + scratch.path + "/none/out.elf",
        kernels + "gemm.elf --form slice --isa none", kernels + "gemm.elf --form slice --isa stock",
        kernels + "gemm.elf --form slice --zero-private", scratch.path + " --form slice"}) {
    const auto finished = run_command(tool + arguments);
    INFO(arguments << ": " << finished.output);
    REQUIRE(finished.status == 2);
    REQUIRE(finished.output.find("terminate") == std::string::npos);
    REQUIRE(finished.lines() <= 2);
  }
  REQUIRE(run_command(tool + "--help").status == 0);
  const auto done = run_command(tool + kernels + "gemm.elf --form slice --explain -o " +
                                scratch.path + "/out.elf");
  REQUIRE(done.status == 0);
  REQUIRE(done.says("cc002673 -> 80002673  id: the task"));
  REQUIRE(read_file(scratch.path + "/out.elf") ==
          transform(kernel_file("gemm"), {Form::slice, Isa::tile, "", false}).elf);
}

TEST_CASE("the tool leaves its output whole or as it was, and says why it cannot be written") {
  using stretto::test::run_command;
  const std::string tool =
      STRETTO_BUILD_DIR "/stretto-transform " STRETTO_BUILD_DIR "/sw/kernels/gemm.elf --form slice";
  const stretto::test::Scratch scratch;
  const std::string out = scratch.file("out.elf", "what was there"), link = scratch.path + "/link";
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(scratch.path), {});
  };
  std::filesystem::create_symlink("/dev/full", link);
  for (const std::string& full : {std::string("/dev/full"), link}) {
    const auto finished = run_command(tool + " -o " + full);
    REQUIRE(finished.status == 2);
    REQUIRE(finished.output == full + ": cannot be written (No space left on device)\n");
  }
  REQUIRE(std::filesystem::is_character_file("/dev/full"));
  // A file of at most 1 KiB.
  const auto cut = run_command("trap '' XFSZ; ulimit -f 1; " + tool + " -o " + out);
  REQUIRE(cut.status == 2);
  REQUIRE(cut.output == out + ": cannot be written (File too large)\n");
  const auto nowhere = run_command(tool + " -o " + scratch.path + "/none/out.elf");
  REQUIRE(nowhere.output ==
          scratch.path + "/none/out.elf: cannot be written (No such file or directory)\n");
  REQUIRE(run_command("(" + tool + " > /dev/full)").output ==
          "standard output: cannot be written (No space left on device)\n");
  REQUIRE(run_command("(" + tool + " --explain > /dev/full)").status == 2);
  const Bytes kept = read_file(out);
  REQUIRE(std::string(kept.begin(), kept.end()) == "what was there");
  REQUIRE(files() == 2);
  // A link stays one.
  std::filesystem::remove(link);
  std::filesystem::create_symlink(out, link);
  REQUIRE(run_command(tool + " -o " + link).status == 0);
  REQUIRE(std::filesystem::is_symlink(link));
  REQUIRE(read_file(out) ==
          transform(kernel_file("gemm"), {Form::slice, Isa::tile, "", false}).elf);
  REQUIRE(files() == 2);
}
