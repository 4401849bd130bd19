// SPDX-License-Identifier: Apache-2.0
#include "sw/transform/kernel_elf.h"

#include <elf.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <memory>

namespace stretto::transform {
namespace {

constexpr uint64_t kImageBytes = uint64_t{64} << 20;  // The loader's limit.
constexpr uint64_t kPage = 4096;
constexpr uint32_t kCompressed = 1;  // EF_RISCV_RVC

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};

}  // namespace

class KernelElf::Reader {
 public:
  explicit Reader(KernelElf& image) : image_(image), bytes_(image.bytes_) {}

  void read() {
    check_header();
    read_segments();
    read_sections();
    if (image_.kernels_.empty()) throw Refused("no kernel descriptor (NAME.kd)");
  }

 private:
  bool in_file(uint64_t offset, uint64_t count) const {
    return offset <= bytes_.size() && count <= bytes_.size() - offset;
  }

  void check_header() {
    if (bytes_.size() < SELFMAG || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0)
      throw Refused("not an ELF file");
    if (bytes_.size() > kMaxFileBytes) throw Refused("has more than 256 MiB");
    if (bytes_.size() < sizeof(Elf64_Ehdr)) throw Refused("truncated inside the ELF header");
    if (bytes_[EI_CLASS] != ELFCLASS64) throw Refused("not 64-bit: kernels are RV64IMA");
    if (bytes_[EI_DATA] != ELFDATA2LSB) throw Refused("not little-endian");
    elf_version(EV_CURRENT);
    elf_.reset(elf_memory(reinterpret_cast<char*>(image_.bytes_.data()), bytes_.size()));
    if (!elf_ || gelf_getehdr(elf_.get(), &header_) == nullptr) throw Refused("damaged ELF header");
    if (header_.e_machine != EM_RISCV) throw Refused("not for RISC-V");
    if (header_.e_type != ET_DYN) throw Refused("not position-independent: kernels are static PIE");
    if ((header_.e_flags & kCompressed) != 0)
      throw Refused("has compressed instructions: kernels are RV64IMA");
    if (header_.e_phentsize != sizeof(Elf64_Phdr) ||
        !in_file(header_.e_phoff, uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr)))
      throw Refused("truncated: program headers outside the file");
    if (header_.e_shnum == 0) throw Refused("no sections: they name the kernels");
    if (header_.e_shentsize != sizeof(Elf64_Shdr) ||
        !in_file(header_.e_shoff, uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr)))
      throw Refused("truncated: section headers outside the file");
  }

  void read_segments() {
    for (unsigned i = 0; i < header_.e_phnum; ++i) {
      GElf_Phdr p;
      if (gelf_getphdr(elf_.get(), static_cast<int>(i), &p) == nullptr)
        throw Refused("damaged program headers");
      if (p.p_type == PT_GNU_STACK && !image_.spare_header_)
        image_.spare_header_ = header_.e_phoff + i * sizeof(Elf64_Phdr);
      if (p.p_type == PT_DYNAMIC) read_dynamic_ = p;
      if (p.p_type != PT_LOAD) continue;
      if (p.p_filesz > p.p_memsz || !in_file(p.p_offset, p.p_filesz))
        throw Refused("truncated: segment outside the file");
      if (p.p_vaddr > kImageBytes || p.p_memsz > kImageBytes - p.p_vaddr)
        throw Refused("segment beyond 64 MiB");
      image_.segments_.push_back({p.p_vaddr, p.p_offset, p.p_filesz, p.p_memsz,
                                  (p.p_flags & PF_X) != 0, (p.p_flags & PF_W) != 0});
    }
    if (image_.segments_.empty()) throw Refused("no loadable segment");
    read_relative();
  }

  void read_relative() {
    uint64_t table = 0, table_bytes = 0;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= read_dynamic_.p_filesz;
         at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      read_at(read_dynamic_.p_vaddr + at, &entry, sizeof entry, "dynamic section");
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_RELA) table = entry.d_un.d_ptr;
      if (entry.d_tag == DT_RELASZ) table_bytes = entry.d_un.d_val;
    }
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= table_bytes; at += sizeof(Elf64_Rela)) {
      Elf64_Rela rela;
      read_at(table + at, &rela, sizeof rela, "relocations");
      if (ELF64_R_TYPE(rela.r_info) != R_RISCV_RELATIVE)
        throw Refused("relocation other than R_RISCV_RELATIVE");
      image_.relative_[rela.r_offset] =
          static_cast<uint64_t>(image_.at(table + at, sizeof rela) - image_.bytes_.data());
    }
  }

  void read_at(uint64_t address, void* to, uint64_t count, const char* what) const {
    const uint8_t* const from = image_.at(address, count);
    if (from == nullptr) throw Refused(fmt::format("truncated: {} outside the image", what));
    std::memcpy(to, from, count);
  }

  void read_sections() {
    bool symbols = false;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_.get(), section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr) throw Refused("damaged section headers");
      if (header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL &&
          !in_file(header.sh_offset, header.sh_size))
        throw Refused("truncated: section outside the file");
      if (header.sh_type == SHT_SYMTAB) {
        symbols = true;
        read_symbols(section, header);
      }
    }
    if (!symbols) throw Refused("stripped: no symbol names a kernel (NAME.kd)");
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_.get(), section)) != nullptr;) {
      GElf_Shdr header;
      gelf_getshdr(section, &header);
      GElf_Shdr target;
      // Those for tools (--emit-relocs), of what is loaded.
      if (header.sh_type == SHT_RELA && (header.sh_flags & SHF_ALLOC) == 0 &&
          gelf_getshdr(elf_getscn(elf_.get(), header.sh_info), &target) != nullptr &&
          (target.sh_flags & SHF_ALLOC) != 0)
        read_relocations(section, header);
    }
  }

  void read_symbols(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (data == nullptr || header.sh_entsize == 0) throw Refused("damaged symbol table");
    for (uint64_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr)
        throw Refused("damaged symbol table");
      symbols_.push_back(symbol.st_value);
      const char* const text = elf_strptr(elf_.get(), header.sh_link, symbol.st_name);
      const std::string name = text == nullptr ? "" : text;
      if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC) image_.functions_[symbol.st_value] = name;
      if (name.size() > 3 && name.ends_with(".kd"))
        add_kernel(name.substr(0, name.size() - 3), symbol.st_value);
    }
  }

  void add_kernel(const std::string& name, uint64_t address) {
    Kernel kernel{name, address, {}};
    read_at(address, &kernel.fields, sizeof kernel.fields, "kernel descriptor");
    if (kernel.fields.magic != STRETTO_KERNEL_MAGIC)
      throw Refused(name + ".kd: no kernel descriptor: wrong magic number");
    const uint64_t entry = address + offsetof(stretto_kernel_descriptor_t, entry);
    const auto relocation = image_.relative_.find(entry);
    if (relocation == image_.relative_.end())
      throw Refused(name + ".kd: its entry has no relocation");
    Elf64_Rela rela;
    std::memcpy(&rela, image_.bytes_.data() + relocation->second, sizeof rela);
    kernel.fields.entry = static_cast<uint64_t>(rela.r_addend);
    image_.kernels_.push_back(std::move(kernel));
  }

  // Jump tables: words of (target - table), each with a relocation that adds and one that subtracts.
  void read_relocations(Elf_Scn* section, const GElf_Shdr& header) {
    Elf_Data* const data = elf_getdata(section, nullptr);
    if (data == nullptr || header.sh_entsize == 0) throw Refused("damaged relocations");
    std::map<uint64_t, uint64_t> added, subtracted;
    for (uint64_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Rela rela;
      if (gelf_getrela(data, static_cast<int>(i), &rela) == nullptr ||
          GELF_R_SYM(rela.r_info) >= symbols_.size())
        throw Refused("damaged relocations");
      const uint64_t value =
          symbols_[GELF_R_SYM(rela.r_info)] + static_cast<uint64_t>(rela.r_addend);
      switch (GELF_R_TYPE(rela.r_info)) {
        case R_RISCV_ADD32: added[rela.r_offset] = value; break;
        case R_RISCV_SUB32: subtracted[rela.r_offset] = value; break;
        case R_RISCV_PCREL_HI20: image_.formed_[rela.r_offset] = value; break;
        default: break;
      }
    }
    std::map<uint64_t, uint64_t> ends;  // Of tables, by their begin.
    for (const auto& [address, base] : subtracted) {
      const auto target = added.find(address);
      int32_t distance = 0;
      if (target == added.end() || image_.at(address, 4) == nullptr) continue;
      read_at(address, &distance, 4, "jump table");
      if (base + static_cast<uint64_t>(int64_t{distance}) != target->second ||
          image_.is_writable(address))
        continue;
      // A switch's entries lie one behind the other from where they count from. Of other arrays of
      // labels some have no relocations.
      if (address != ends.try_emplace(base, base).first->second) continue;
      ends[base] += 4;
      image_.tables_[base].push_back(target->second);
      image_.entries_[address] = base;
    }
  }

  KernelElf& image_;
  const std::vector<uint8_t>& bytes_;
  std::unique_ptr<Elf, ElfEnd> elf_;
  GElf_Ehdr header_{};
  GElf_Phdr read_dynamic_{};
  std::vector<uint64_t> symbols_;
};

KernelElf::KernelElf(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {
  Reader(*this).read();
}

uint8_t* KernelElf::at(uint64_t address, uint64_t count) {
  for (const Segment& segment : segments_) {
    const uint64_t offset = address - segment.address;
    if (offset < segment.bytes && count <= segment.bytes - offset)
      return bytes_.data() + segment.offset + offset;
  }
  return nullptr;
}

std::optional<uint32_t> KernelElf::code(uint64_t address) const {
  if (address % 4 != 0) return std::nullopt;
  for (const Segment& segment : segments_) {
    const uint64_t offset = address - segment.address;
    if (!segment.executable || offset >= segment.bytes || segment.bytes - offset < 4) continue;
    uint32_t word;
    std::memcpy(&word, bytes_.data() + segment.offset + offset, sizeof word);
    return word;
  }
  return std::nullopt;
}

const std::vector<uint64_t>* KernelElf::table(uint64_t address) const {
  const auto found = tables_.find(address);
  return found == tables_.end() ? nullptr : &found->second;
}

std::optional<uint64_t> KernelElf::table_of_entry(uint64_t address) const {
  const auto found = entries_.find(address);
  return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<uint64_t> KernelElf::formed(uint64_t address) const {
  const auto found = formed_.find(address);
  return found == formed_.end() ? std::nullopt : std::optional(found->second);
}

bool KernelElf::is_writable(uint64_t address) const {
  return std::any_of(segments_.begin(), segments_.end(), [&](const Segment& segment) {
    return segment.writable && address - segment.address < segment.memory_bytes;
  });
}

std::string KernelElf::place(uint64_t address) const {
  const auto after = functions_.upper_bound(address);
  if (after == functions_.begin()) return fmt::format("{:#x}", address);
  const auto& [start, name] = *std::prev(after);
  return start == address ? name : fmt::format("{}+{:#x}", name, address - start);
}

uint64_t KernelElf::appendix() const {
  if (!spare_header_) throw Refused("no room for another program header: no PT_GNU_STACK");
  uint64_t end = 0;
  for (const Segment& segment : segments_)
    end = std::max(end, segment.address + segment.memory_bytes);
  // Address and file offset are equal modulo a page, as every segment's.
  return (end + kPage - 1) / kPage * kPage + (bytes_.size() + 3) / 4 * 4 % kPage;
}

std::vector<uint8_t> KernelElf::image() const {
  uint64_t end = 0;
  for (const Segment& segment : segments_)
    end = std::max(end, segment.address + segment.memory_bytes);
  std::vector<uint8_t> image((end + kPage - 1) / kPage * kPage);
  for (const Segment& segment : segments_)
    std::memcpy(image.data() + segment.address, bytes_.data() + segment.offset, segment.bytes);
  for (const auto& [address, relocation] : relative_) {
    Elf64_Rela rela;
    std::memcpy(&rela, bytes_.data() + relocation, sizeof rela);
    if (address <= image.size() - 8)
      std::memcpy(image.data() + address, &rela.r_addend, sizeof rela.r_addend);
  }
  return image;
}

void KernelElf::patch(uint64_t address, uint32_t word) {
  assert(code(address));
  std::memcpy(at(address, 4), &word, sizeof word);
}

void KernelElf::describe(const Kernel& kernel) {
  stretto_kernel_descriptor_t fields = kernel.fields;
  uint8_t* const to = at(kernel.descriptor, sizeof fields);
  // The entry comes from its relocation; the file's own bytes stay.
  std::memcpy(&fields.entry, to + offsetof(stretto_kernel_descriptor_t, entry), 8);
  std::memcpy(to, &fields, sizeof fields);
  const uint64_t entry = kernel.descriptor + offsetof(stretto_kernel_descriptor_t, entry);
  uint8_t* const relocation = bytes_.data() + relative_.at(entry);
  std::memcpy(relocation + offsetof(Elf64_Rela, r_addend), &kernel.fields.entry, 8);
}

void KernelElf::append(const std::vector<uint32_t>& words) {
  const uint64_t address = appendix();
  bytes_.resize((bytes_.size() + 3) / 4 * 4);
  Elf64_Phdr header{};
  header.p_type = PT_LOAD;
  header.p_flags = PF_R | PF_X;
  header.p_offset = bytes_.size();
  header.p_vaddr = header.p_paddr = address;
  header.p_filesz = header.p_memsz = 4 * words.size();
  header.p_align = kPage;
  std::memcpy(bytes_.data() + *spare_header_, &header, sizeof header);
  const auto* const from = reinterpret_cast<const uint8_t*>(words.data());
  bytes_.insert(bytes_.end(), from, from + header.p_filesz);
}

}  // namespace stretto::transform
