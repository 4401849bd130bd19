// SPDX-License-Identifier: Apache-2.0
// Reads kernel ELFs: RISC-V 64-bit static PIE, R_RISCV_RELATIVE relocations only, one descriptor a
// kernel under NAME.kd. Every offset is checked against the file: a damaged file ends in an error,
// never in an access outside it.
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/driver/internal.h"

#ifndef R_RISCV_RELATIVE
#define R_RISCV_RELATIVE 3
#endif
#define MAX_IMAGE_BYTES (64u << 20)

typedef struct reader {
  const uint8_t* file;
  size_t bytes;
  char* error;
  size_t error_bytes;
} reader_t;

static stretto_status_t bad(const reader_t* r, const char* why) {
  snprintf(r->error, r->error_bytes, "kernel ELF: %s", why);
  return STRETTO_ERROR_KERNEL;
}

static stretto_status_t bad_kernel(const reader_t* r, const char* name, size_t name_bytes,
                                   const char* why) {
  snprintf(r->error, r->error_bytes, "kernel ELF: %.*s: %s", name_bytes < 60 ? (int)name_bytes : 60,
           name, why);
  return STRETTO_ERROR_KERNEL;
}

static int inside(uint64_t offset, uint64_t count, uint64_t limit) {
  return offset <= limit && count <= limit - offset;
}

static stretto_status_t read_header(const reader_t* r, Elf64_Ehdr* header) {
  if (r->bytes < sizeof *header) return bad(r, "truncated header");
  memcpy(header, r->file, sizeof *header);
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return bad(r, "not an ELF file");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return bad(r, "not 64-bit little-endian");
  }
  if (header->e_machine != EM_RISCV) return bad(r, "not for RISC-V");
  if (header->e_type != ET_DYN) return bad(r, "not position-independent");
  if (header->e_phentsize != sizeof(Elf64_Phdr) ||
      !inside(header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr), r->bytes)) {
    return bad(r, "program headers outside the file");
  }
  return STRETTO_OK;
}

static Elf64_Phdr program_header(const reader_t* r, const Elf64_Ehdr* header, unsigned index) {
  Elf64_Phdr segment;
  memcpy(&segment, r->file + header->e_phoff + index * sizeof segment, sizeof segment);
  return segment;
}

stretto_status_t kernel_image_size(const void* elf, size_t bytes, uint64_t* image_bytes,
                                   char* error, size_t error_bytes) {
  const reader_t r = {elf, bytes, error, error_bytes};
  Elf64_Ehdr header;
  const stretto_status_t status = read_header(&r, &header);
  if (status != STRETTO_OK) return status;
  uint64_t end = 0;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const Elf64_Phdr segment = program_header(&r, &header, i);
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_filesz > segment.p_memsz || !inside(segment.p_offset, segment.p_filesz, bytes)) {
      return bad(&r, "segment outside the file");
    }
    if (!inside(segment.p_vaddr, segment.p_memsz, MAX_IMAGE_BYTES))
      return bad(&r, "segment beyond 64 MiB");
    if (segment.p_vaddr + segment.p_memsz > end) end = segment.p_vaddr + segment.p_memsz;
  }
  if (end == 0) return bad(&r, "no loadable segment");
  *image_bytes = (end + 4095) & ~4095ull;
  return STRETTO_OK;
}

static stretto_status_t relocate(const reader_t* r, const Elf64_Ehdr* header, uint64_t base,
                                 kernel_image_t* image) {
  uint64_t table = 0, table_bytes = 0;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const Elf64_Phdr segment = program_header(r, header, i);
    if (segment.p_type != PT_DYNAMIC) continue;
    if (!inside(segment.p_offset, segment.p_filesz, r->bytes))
      return bad(r, "dynamic segment outside the file");
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      memcpy(&entry, r->file + segment.p_offset + at, sizeof entry);
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_RELA) table = entry.d_un.d_ptr;
      if (entry.d_tag == DT_RELASZ) table_bytes = entry.d_un.d_val;
    }
  }
  if (!inside(table, table_bytes, image->bytes)) return bad(r, "relocations outside the image");
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= table_bytes; at += sizeof(Elf64_Rela)) {
    Elf64_Rela rela;
    memcpy(&rela, image->data + table + at, sizeof rela);
    if (ELF64_R_TYPE(rela.r_info) != R_RISCV_RELATIVE)
      return bad(r, "relocation other than R_RISCV_RELATIVE");
    if (!inside(rela.r_offset, 8, image->bytes)) return bad(r, "relocation outside the image");
    const uint64_t value = base + (uint64_t)rela.r_addend;
    memcpy(image->data + rela.r_offset, &value, sizeof value);
  }
  return STRETTO_OK;
}

static stretto_status_t add_kernel(const reader_t* r, uint64_t base, const char* name,
                                   size_t name_bytes, uint64_t offset, kernel_image_t* image) {
  stretto_kernel_descriptor_t descriptor;
  if (!inside(offset, sizeof descriptor, image->bytes))
    return bad_kernel(r, name, name_bytes, "descriptor outside the image");
  memcpy(&descriptor, image->data + offset, sizeof descriptor);
  if (descriptor.magic != STRETTO_KERNEL_MAGIC)
    return bad_kernel(r, name, name_bytes, "descriptor without its magic number");
  if (!inside(descriptor.entry - base, 4, image->bytes))
    return bad_kernel(r, name, name_bytes, "entry outside the image");
  if (descriptor.wavefronts < 1 || descriptor.wavefronts > 8) {
    char why[40];
    snprintf(why, sizeof why, "%u wavefronts; 1 to 8", descriptor.wavefronts);
    return bad_kernel(r, name, name_bytes, why);
  }
  descriptor.code_base = base;
  descriptor.code_bytes = (uint32_t)image->bytes;
  memcpy(image->data + offset, &descriptor, sizeof descriptor);
  module_symbol_t* grown = realloc(image->kernel, (image->kernels + 1) * sizeof *grown);
  if (grown == NULL) return bad(r, "no host memory");
  image->kernel = grown;
  char* copy = malloc(name_bytes + 1);
  if (copy == NULL) return bad(r, "no host memory");
  memcpy(copy, name, name_bytes);
  copy[name_bytes] = '\0';
  image->kernel[image->kernels++] =
      (module_symbol_t){.name = copy, .offset = offset, .descriptor = descriptor};
  return STRETTO_OK;
}

static stretto_status_t find_kernels(const reader_t* r, const Elf64_Ehdr* header, uint64_t base,
                                     kernel_image_t* image) {
  if (header->e_shentsize != sizeof(Elf64_Shdr) ||
      !inside(header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr), r->bytes)) {
    return bad(r, "section headers outside the file");
  }
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    Elf64_Shdr symbols, strings;
    memcpy(&symbols, r->file + header->e_shoff + i * sizeof symbols, sizeof symbols);
    if (symbols.sh_type != SHT_SYMTAB) continue;
    if (symbols.sh_link >= header->e_shnum) return bad(r, "symbol table without strings");
    memcpy(&strings, r->file + header->e_shoff + symbols.sh_link * sizeof strings, sizeof strings);
    if (!inside(symbols.sh_offset, symbols.sh_size, r->bytes) ||
        !inside(strings.sh_offset, strings.sh_size, r->bytes)) {
      return bad(r, "symbols outside the file");
    }
    const char* text = (const char*)r->file + strings.sh_offset;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      memcpy(&symbol, r->file + symbols.sh_offset + at, sizeof symbol);
      if (symbol.st_name >= strings.sh_size) return bad(r, "symbol name outside the strings");
      const char* name = text + symbol.st_name;
      const size_t length = strnlen(name, strings.sh_size - symbol.st_name);
      if (length < 4 || memcmp(name + length - 3, ".kd", 3) != 0) continue;
      const stretto_status_t status = add_kernel(r, base, name, length - 3, symbol.st_value, image);
      if (status != STRETTO_OK) return status;
    }
  }
  return image->kernels == 0 ? bad(r, "no kernel descriptor (NAME.kd)") : STRETTO_OK;
}

stretto_status_t kernel_image_load(const void* elf, size_t bytes, uint64_t base,
                                   kernel_image_t* image, char* error, size_t error_bytes) {
  const reader_t r = {elf, bytes, error, error_bytes};
  *image = (kernel_image_t){0};
  stretto_status_t status = kernel_image_size(elf, bytes, &image->bytes, error, error_bytes);
  if (status != STRETTO_OK) return status;
  Elf64_Ehdr header;
  memcpy(&header, elf, sizeof header);
  image->data = calloc(1, image->bytes);
  if (image->data == NULL) return bad(&r, "no host memory");
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const Elf64_Phdr segment = program_header(&r, &header, i);
    if (segment.p_type == PT_LOAD)
      memcpy(image->data + segment.p_vaddr, r.file + segment.p_offset, segment.p_filesz);
  }
  status = relocate(&r, &header, base, image);
  if (status == STRETTO_OK) status = find_kernels(&r, &header, base, image);
  if (status != STRETTO_OK) kernel_image_free(image);
  return status;
}

stretto_status_t stretto_kernel_check(const void* elf, size_t bytes, const char* kernel,
                                      stretto_kernel_descriptor_t* descriptor, char* error,
                                      size_t error_bytes) {
  kernel_image_t image;
  const stretto_status_t status = kernel_image_load(elf, bytes, 0, &image, error, error_bytes);
  if (status != STRETTO_OK) return status;
  const module_symbol_t* found = NULL;
  for (size_t i = 0; i < image.kernels; ++i)
    if (kernel == NULL || strcmp(image.kernel[i].name, kernel) == 0) found = &image.kernel[i];
  if (found != NULL && descriptor != NULL) *descriptor = found->descriptor;
  if (found == NULL) snprintf(error, error_bytes, "kernel ELF: no kernel %s in it", kernel);
  kernel_image_free(&image);
  return found == NULL ? STRETTO_ERROR_KERNEL : STRETTO_OK;
}

void* stretto_kernel_read(const char* file, size_t* bytes) {
  FILE* stream = fopen(file, "rb");
  if (stream == NULL) return NULL;
  void* contents = NULL;
  long end = -1;
  if (fseek(stream, 0, SEEK_END) == 0 && (end = ftell(stream)) >= 0 &&
      fseek(stream, 0, SEEK_SET) == 0)
    contents = malloc((size_t)end + 1);
  *bytes = (size_t)end;
  if (contents != NULL && fread(contents, 1, *bytes, stream) != *bytes) {
    free(contents);
    contents = NULL;
  }
  fclose(stream);
  return contents;
}

size_t stretto_kernel_bytes(const void* elf) {
  Elf64_Ehdr header;
  memcpy(&header, elf, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return 0;
  uint64_t end = sizeof header;
  const uint64_t segments = header.e_phoff + (uint64_t)header.e_phnum * sizeof(Elf64_Phdr);
  const uint64_t sections = header.e_shoff + (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);
  if (segments > end) end = segments;
  if (sections > end) end = sections;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    memcpy(&section, (const uint8_t*)elf + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS && section.sh_offset + section.sh_size > end)
      end = section.sh_offset + section.sh_size;
  }
  return end;
}

void kernel_image_free(kernel_image_t* image) {
  for (size_t i = 0; i < image->kernels; ++i) free(image->kernel[i].name);
  free(image->kernel);
  free(image->data);
  *image = (kernel_image_t){0};
}
