// SPDX-License-Identifier: Apache-2.0
// Reading and checking ELF files through libelf.
#include "models/common/elf_image.h"

#include <gelf.h>
#include <libelf.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstring>
#include <memory>

#include "models/common/error.h"
#include "models/common/hex.h"
#include "models/common/read_file.h"

namespace stretto {
namespace {

std::string sha256_hex(const std::vector<char>& bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int digest_bytes = 0;
  const int ok =
      EVP_Digest(bytes.data(), bytes.size(), digest, &digest_bytes, EVP_sha256(), nullptr);
  assert(ok == 1);
  (void)ok;
  std::string text;
  for (unsigned i = 0; i < digest_bytes; ++i) {
    char pair[3];
    std::snprintf(pair, sizeof pair, "%02x", digest[i]);
    text += pair;
  }
  return text;
}

bool is_useful_symbol(const std::string& name) {
  return !name.empty() && name[0] != '$' && name.rfind(".L", 0) != 0;
}

}  // namespace

// One pass over a file; its functions fill the image in the order in which they can complain best.
class ElfImage::Reader {
 public:
  Reader(const std::string& path, const std::vector<uint8_t>& bytes, ElfImage& image)
      : path_(path), bytes_(bytes.begin(), bytes.end()), image_(image) {}

  void read() {
    image_.path_ = path_;
    image_.sha256_ = sha256_hex(bytes_);
    elf_version(EV_CURRENT);
    elf_.reset(elf_memory(bytes_.data(), bytes_.size()));
    check_header();
    read_segments();
    read_sections();
    read_relocations();
    std::sort(image_.symbols_.begin(), image_.symbols_.end(), [](const Symbol& a, const Symbol& b) {
      return a.address != b.address ? a.address < b.address : a.name < b.name;
    });
  }

 private:
  struct ElfEnd {
    void operator()(Elf* elf) const { elf_end(elf); }
  };

  [[noreturn]] void fail(const std::string& what) const { throw UserError(path_ + ": " + what); }

  void check_header() {
    if (bytes_.size() < SELFMAG || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0) {
      fail(std::string("not an ELF file") + (bytes_.empty() ? " (it is empty)" : "") +
           "; expected a RISC-V 64-bit little-endian ELF");
    }
    if (bytes_.size() < EI_NIDENT) fail("truncated inside the ELF header");
    if (bytes_[EI_CLASS] != ELFCLASS64) fail("wrong ELF class; only 64-bit is allowed");
    if (bytes_[EI_DATA] != ELFDATA2LSB) fail("wrong byte order; only little-endian is allowed");
    if (bytes_.size() < sizeof(Elf64_Ehdr)) fail("truncated inside the ELF header");
    if (!elf_ || gelf_getehdr(elf_.get(), &header_) == nullptr) fail("damaged ELF header");
    if (header_.e_machine != EM_RISCV) {
      fail("wrong machine " + std::to_string(header_.e_machine) + "; only RISC-V (243) is allowed");
    }
    if (header_.e_type != ET_EXEC && header_.e_type != ET_DYN) {
      fail("ELF type " + std::to_string(header_.e_type) +
           "; only a linked executable (2) or static PIE (3) is allowed");
    }
    if (header_.e_phnum != 0 && header_.e_phentsize != sizeof(Elf64_Phdr)) {
      fail("program headers of " + std::to_string(header_.e_phentsize) + " bytes; only " +
           std::to_string(sizeof(Elf64_Phdr)) + " is allowed");
    }
    if (header_.e_phnum != 0 &&
        !in_file(header_.e_phoff, uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr))) {
      fail("truncated: the program headers end beyond the file's " + std::to_string(bytes_.size()) +
           " bytes");
    }
    image_.position_independent_ = header_.e_type == ET_DYN;
    image_.entry_ = header_.e_entry;
  }

  bool in_file(uint64_t offset, uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }

  void read_segments() {
    for (unsigned i = 0; i < header_.e_phnum; ++i) {
      GElf_Phdr p;
      if (gelf_getphdr(elf_.get(), static_cast<int>(i), &p) == nullptr)
        fail("damaged program headers");
      const std::string name = "segment " + std::to_string(i) + " at " + hex(p.p_vaddr);
      if (p.p_type == PT_INTERP) fail("needs a dynamic linker; only static programs are allowed");
      if (p.p_type == PT_DYNAMIC) dynamic_ = p;
      if (p.p_type != PT_LOAD) continue;
      if (p.p_filesz > p.p_memsz) fail(name + " is larger in the file than in memory");
      if (p.p_memsz == 0) continue;
      if (!in_file(p.p_offset, p.p_filesz)) {
        fail("truncated: " + name + " ends beyond the file's " + std::to_string(bytes_.size()) +
             " bytes");
      }
      if (p.p_vaddr + p.p_memsz < p.p_vaddr || p.p_paddr + p.p_memsz < p.p_paddr) {
        fail(name + " wraps around the address space");
      }
      Segment segment;
      segment.number = i;
      segment.address = p.p_vaddr;
      segment.load_address = p.p_paddr;
      segment.memory_bytes = p.p_memsz;
      segment.readable = (p.p_flags & PF_R) != 0;
      segment.writable = (p.p_flags & PF_W) != 0;
      segment.executable = (p.p_flags & PF_X) != 0;
      const char* const begin = bytes_.data() + p.p_offset;
      segment.data.assign(begin, begin + p.p_filesz);
      image_.segments_.push_back(std::move(segment));
    }
    if (image_.segments_.empty()) fail("no loadable segment");
    check_overlap(&Segment::address, "");
    check_overlap(&Segment::load_address, " at their load addresses");
  }

  void check_overlap(uint64_t Segment::*where, const char* which) const {
    std::vector<const Segment*> order;
    for (const Segment& segment : image_.segments_) order.push_back(&segment);
    std::sort(order.begin(), order.end(),
              [&](const Segment* a, const Segment* b) { return a->*where < b->*where; });
    for (size_t i = 1; i < order.size(); ++i) {
      const uint64_t begin = order[i - 1]->*where, end = begin + order[i - 1]->memory_bytes;
      const uint64_t next = order[i]->*where;
      if (end > next) {
        fail(std::string("overlapping segments") + which + ": [" + hex(begin) + ", " + hex(end) +
             ") and " + hex(next));
      }
    }
  }

  void read_sections() {
    if (header_.e_shnum != 0 && header_.e_shentsize != sizeof(Elf64_Shdr)) {
      fail("section headers of " + std::to_string(header_.e_shentsize) + " bytes; only " +
           std::to_string(sizeof(Elf64_Shdr)) + " is allowed");
    }
    if (header_.e_shoff != 0 &&
        !in_file(header_.e_shoff, uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr))) {
      fail("truncated: the section headers end beyond the file's " + std::to_string(bytes_.size()) +
           " bytes");
    }
    size_t names = 0;
    if (elf_getshdrstrndx(elf_.get(), &names) != 0) return;  // stripped of its section table
    Elf_Scn* scn = nullptr;
    while ((scn = elf_nextscn(elf_.get(), scn)) != nullptr) {
      GElf_Shdr shdr;
      if (gelf_getshdr(scn, &shdr) == nullptr) fail("damaged section headers");
      const char* const name = elf_strptr(elf_.get(), names, shdr.sh_name);
      Section section;
      section.name = name != nullptr ? name : "";
      section.address = (shdr.sh_flags & SHF_ALLOC) != 0 ? shdr.sh_addr : 0;
      if (shdr.sh_type != SHT_NOBITS && shdr.sh_type != SHT_NULL) {
        if (!in_file(shdr.sh_offset, shdr.sh_size)) {
          fail("truncated: section " + section.name + " ends beyond the file's " +
               std::to_string(bytes_.size()) + " bytes");
        }
        const char* const begin = bytes_.data() + shdr.sh_offset;
        section.data.assign(begin, begin + shdr.sh_size);
      }
      if (shdr.sh_type == SHT_SYMTAB) read_symbols(scn, shdr);
      image_.sections_.push_back(std::move(section));
    }
  }

  void read_symbols(Elf_Scn* scn, const GElf_Shdr& shdr) {
    Elf_Data* const data = elf_getdata(scn, nullptr);
    if (data == nullptr || shdr.sh_entsize == 0) fail("damaged symbol table");
    const uint64_t count = shdr.sh_size / shdr.sh_entsize;
    for (uint64_t i = 0; i < count; ++i) {
      GElf_Sym sym;
      if (gelf_getsym(data, static_cast<int>(i), &sym) == nullptr) fail("damaged symbol table");
      const unsigned type = GELF_ST_TYPE(sym.st_info);
      if (sym.st_shndx == SHN_UNDEF || type == STT_SECTION || type == STT_FILE || type == STT_TLS)
        continue;
      const char* const name = elf_strptr(elf_.get(), shdr.sh_link, sym.st_name);
      if (name == nullptr || !is_useful_symbol(name)) continue;
      image_.symbols_.push_back({name, sym.st_value, sym.st_size, type == STT_FUNC});
    }
  }

  uint64_t word(uint64_t address) const {
    const uint8_t* const from = image_.at(address, 8);
    if (from == nullptr) fail("damaged dynamic section: nothing is loaded at " + hex(address));
    uint64_t value = 0;
    std::memcpy(&value, from, 8);
    return value;
  }

  // The dynamic section names the relocations that a loader applies; .rela.text and the like, left
  // by
  // --emit-relocs for tools, are not among them.
  void read_relocations() {
    if (dynamic_.p_type != PT_DYNAMIC) return;
    uint64_t table = 0, table_bytes = 0, entry_bytes = sizeof(Elf64_Rela);
    for (uint64_t offset = 0; offset + 16 <= dynamic_.p_filesz; offset += 16) {
      const uint64_t tag = word(dynamic_.p_vaddr + offset);
      const uint64_t value = word(dynamic_.p_vaddr + offset + 8);
      if (tag == DT_NULL) break;
      if (tag == DT_NEEDED) fail("needs a shared library; only static programs are allowed");
      if (tag == DT_RELA) table = value;
      if (tag == DT_RELASZ) table_bytes = value;
      if (tag == DT_RELAENT) entry_bytes = value;
    }
    if (entry_bytes != sizeof(Elf64_Rela)) fail("damaged dynamic section: wrong relocation size");
    for (uint64_t at = table; at + entry_bytes <= table + table_bytes; at += entry_bytes) {
      const uint64_t offset = word(at);
      const uint64_t type = word(at + 8) & 0xffffffffu;
      if (type == R_RISCV_NONE) continue;
      if (type != R_RISCV_RELATIVE) {
        fail("relocation type " + std::to_string(type) + " at " + hex(offset) +
             "; only R_RISCV_RELATIVE (3) is allowed in a static PIE");
      }
      if (image_.at(offset, 8) == nullptr)
        fail("relocation outside the loaded data at " + hex(offset));
      image_.relocations_.push_back({offset, word(at + 16)});
    }
  }

  const std::string& path_;
  std::vector<char> bytes_;
  ElfImage& image_;
  std::unique_ptr<Elf, ElfEnd> elf_;
  GElf_Ehdr header_{};
  GElf_Phdr dynamic_{};
};

ElfImage ElfImage::load(const std::string& path) {
  const std::string contents = read_file(path);
  return parse(path, {contents.begin(), contents.end()});
}

ElfImage ElfImage::parse(const std::string& name, const std::vector<uint8_t>& bytes) {
  ElfImage image;
  Reader(name, bytes, image).read();
  return image;
}

uint8_t* ElfImage::at(uint64_t address, uint64_t size_bytes) {
  for (Segment& segment : segments_) {
    const uint64_t offset = address - segment.address;
    if (offset < segment.data.size() && size_bytes <= segment.data.size() - offset)
      return &segment.data[offset];
  }
  return nullptr;
}

const uint8_t* ElfImage::data(uint64_t address, uint64_t size_bytes) const {
  return const_cast<ElfImage*>(this)->at(address, size_bytes);
}

void ElfImage::add_function(const std::string& name, uint64_t address) {
  const auto place = std::lower_bound(symbols_.begin(), symbols_.end(), address,
                                      [](const Symbol& s, uint64_t a) { return s.address < a; });
  if (place == symbols_.end() || place->address != address)
    symbols_.insert(place, {name, address, 0, true});
}

std::optional<uint64_t> ElfImage::symbol(const std::string& name) const {
  for (const Symbol& symbol : symbols_) {
    if (symbol.name == name) return symbol.address;
  }
  return std::nullopt;
}

const ElfImage::Section* ElfImage::section(const std::string& name) const {
  for (const Section& section : sections_) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

std::string ElfImage::symbolize(uint64_t address) const {
  const Symbol* best = nullptr;
  auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                [](uint64_t a, const Symbol& s) { return a < s.address; });
  // Assembler labels have no size: the nearest one below counts, but never against a function that
  // says it contains the address.
  while (after != symbols_.begin()) {
    const Symbol& candidate = *--after;
    const bool contains = address - candidate.address < candidate.size_bytes;
    if (contains && candidate.is_function) {
      best = &candidate;
      break;
    }
    if (best == nullptr && (contains || candidate.size_bytes == 0)) best = &candidate;
    if (candidate.is_function && candidate.size_bytes != 0) break;
  }
  if (best == nullptr || address < low_address() || address >= high_address()) return hex(address);
  return address == best->address ? best->name : best->name + "+" + hex(address - best->address);
}

uint64_t ElfImage::low_address() const {
  uint64_t low = ~uint64_t{0};
  for (const Segment& segment : segments_) low = std::min(low, segment.address);
  return low;
}

uint64_t ElfImage::high_address() const {
  uint64_t high = 0;
  for (const Segment& segment : segments_)
    high = std::max(high, segment.address + segment.memory_bytes);
  return high;
}

void ElfImage::relocate(uint64_t base) {
  assert(position_independent_ && !relocated_);
  for (const Relocation& relocation : relocations_) {
    const uint64_t value = base + relocation.addend;
    std::memcpy(at(relocation.offset, 8), &value, 8);
  }
  for (Segment& segment : segments_) {
    segment.address += base;
    segment.load_address += base;
  }
  for (Symbol& symbol : symbols_) symbol.address += base;
  for (Section& section : sections_) {
    if (section.address != 0) section.address += base;
  }
  entry_ += base;
  relocated_ = true;
}

}  // namespace stretto
