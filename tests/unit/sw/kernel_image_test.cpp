// SPDX-License-Identifier: Apache-2.0
// Question: does the driver load the kernels that the build made, relocated to where they will lie,
// and refuse every damaged file without touching memory outside it? State space: the shipped ELFs,
// all truncations of one, single damaged fields.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/unit/sw/fake_gpu_host.h"

using stretto::test::FakeGpuHost;

namespace {

std::vector<uint8_t> file(const std::string& name) {
  std::ifstream in(std::string(STRETTO_BUILD_DIR) + "/sw/kernels/" + name + ".elf",
                   std::ios::binary);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Client {
  FakeGpuHost host;
  stretto_client_t* client;
  stretto_module_t* module = nullptr;
  Client() {
    const stretto_client_options_t options = {
        0, 0, 1, STRETTO_SYSTEM_BYTES, 64 << 20, {0, 0, 0, 0, 0}, 0, 0, 0, 0, 0, 0};
    const stretto_host_ops_t ops = host.ops();
    client = stretto_client_create(&options, &ops);
    REQUIRE(client != nullptr);
  }
  ~Client() { stretto_client_destroy(client); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  // An exact copy, so that reading beyond it is caught by the sanitizer and by valgrind.
  stretto_status_t load(const std::vector<uint8_t>& elf) {
    const std::vector<uint8_t> copy(elf.begin(), elf.end());
    return client->api->module_load(client, copy.data(), copy.size(), &module);
  }
  std::string error() const { return client->api->last_error(client); }
};

}  // namespace

TEST_CASE("both GEMM kernels are found with their needs and an entry inside the loaded image") {
  Client c;
  REQUIRE(c.load(file("gemm")) == STRETTO_OK);
  stretto_kernel_t small{}, large{};
  REQUIRE(c.client->api->module_kernel(c.client, c.module, "gemm_128x128", &small) == STRETTO_OK);
  REQUIRE(c.client->api->module_kernel(c.client, c.module, "gemm_256x128", &large) == STRETTO_OK);
  for (const stretto_kernel_t& k : {small, large}) {
    CHECK(k.descriptor.wavefronts == 8);
    CHECK(k.descriptor.tile_n == 128);
    CHECK(k.descriptor.entry >= k.descriptor.code_base);
    CHECK(k.descriptor.entry < k.descriptor.code_base + k.descriptor.code_bytes);
    // What lies in device memory is the relocated descriptor.
    CHECK(c.host.read64(k.object + offsetof(stretto_kernel_descriptor_t, entry)) ==
          k.descriptor.entry);
    CHECK(c.host.read64(k.object + offsetof(stretto_kernel_descriptor_t, code_base)) ==
          k.descriptor.code_base);
    // An instruction of 32 bits.
    CHECK((c.host.read64(k.descriptor.entry) & 3) == 3);
  }
  CHECK(small.descriptor.tile_m == 128);
  CHECK(large.descriptor.tile_m == 256);
  // Two work-groups of the small one fit on a unit of T3 Table 1 (256 KiB of registers, 96 KiB of
  // LDS), one of the large.
  CHECK(2 * small.descriptor.registers_bytes <= 256 * 1024);
  CHECK(2 * small.descriptor.lds_bytes <= 96 * 1024);
  CHECK(large.descriptor.registers_bytes <= 256 * 1024);
}

TEST_CASE("the ring kernels are found") {
  Client c;
  REQUIRE(c.load(file("ring")) == STRETTO_OK);
  stretto_kernel_t k{};
  for (const char* name : {"ring_reduce_scatter", "ring_reduce_scatter_nmc", "ring_all_gather"}) {
    CHECK(c.client->api->module_kernel(c.client, c.module, name, &k) == STRETTO_OK);
  }
  CHECK(c.client->api->module_kernel(c.client, c.module, "ring", &k) == STRETTO_ERROR_KERNEL);
  CHECK(c.error() == "module_kernel: no kernel ring in this module");
}

TEST_CASE("no truncated kernel ELF is accepted") {
  const std::vector<uint8_t> whole = file("ring");
  Client c;
  for (size_t bytes = 0; bytes < whole.size(); bytes += 61) {
    const std::vector<uint8_t> part(whole.begin(), whole.begin() + static_cast<long>(bytes));
    CHECK(c.load(part) == STRETTO_ERROR_KERNEL);
  }
  CHECK(c.load({}) == STRETTO_ERROR_KERNEL);
  CHECK(c.error() == "kernel ELF: truncated header");
}

TEST_CASE("files that are no kernel say what they are not") {
  const std::vector<uint8_t> good = file("gemm");
  const auto error = [&](size_t offset, uint8_t value) {
    std::vector<uint8_t> bad = good;
    bad.at(offset) = value;
    Client c;
    CHECK(c.load(bad) == STRETTO_ERROR_KERNEL);
    return c.error();
  };
  CHECK(error(0, 0) == "kernel ELF: not an ELF file");
  CHECK(error(4, 1) == "kernel ELF: not 64-bit little-endian");
  CHECK(error(5, 2) == "kernel ELF: not 64-bit little-endian");
  CHECK(error(18, 62) == "kernel ELF: not for RISC-V");
  CHECK(error(16, 2) == "kernel ELF: not position-independent");
  CHECK(error(54, 1) == "kernel ELF: program headers outside the file");
  CHECK(error(58, 1) == "kernel ELF: section headers outside the file");
}

// Their number is the byte in question of each descriptor; the first of them is named.
TEST_CASE("a kernel whose descriptor has 0 or 99 wavefronts is refused by name") {
  const std::vector<uint8_t> good = file("ring");
  stretto_kernel_descriptor_t all{};
  char error[160] = "";
  REQUIRE(stretto_kernel_check(good.data(), good.size(), "ring_all_gather", &all, error,
                               sizeof error) == STRETTO_OK);
  const uint64_t magic = STRETTO_KERNEL_MAGIC;
  for (const uint8_t wavefronts : {0, 99}) {
    std::vector<uint8_t> bad = good;
    const auto* from = reinterpret_cast<const uint8_t*>(&magic);
    for (auto at = bad.begin();
         (at = std::search(at, bad.end(), from, from + sizeof all.magic)) != bad.end(); ++at)
      at[offsetof(stretto_kernel_descriptor_t, wavefronts)] = wavefronts;
    Client c;
    CHECK(c.load(bad) == STRETTO_ERROR_KERNEL);
    INFO(c.error());
    CHECK(c.error().starts_with("kernel ELF: ring_"));
    CHECK(c.error().ends_with(": " + std::to_string(wavefronts) + " wavefronts; 1 to 8"));
  }
}

TEST_CASE("a kernel ELF can be checked without a device") {
  const std::vector<uint8_t> ring = file("ring");
  char error[128] = "";
  CHECK(stretto_kernel_check(ring.data(), ring.size(), "ring_all_gather", nullptr, error,
                             sizeof error) == STRETTO_OK);
  CHECK(stretto_kernel_check(ring.data(), ring.size(), "gemm_128x128", nullptr, error,
                             sizeof error) == STRETTO_ERROR_KERNEL);
  CHECK(std::string(error) == "kernel ELF: no kernel gemm_128x128 in it");
  stretto_kernel_descriptor_t descriptor{};
  CHECK(stretto_kernel_check(ring.data(), ring.size(), nullptr, &descriptor, error, sizeof error) ==
        STRETTO_OK);
  CHECK(descriptor.magic == STRETTO_KERNEL_MAGIC);
  CHECK(stretto_kernel_bytes(ring.data()) == ring.size());
  CHECK(stretto_kernel_check(ring.data(), 40, "ring_all_gather", nullptr, error, sizeof error) ==
        STRETTO_ERROR_KERNEL);
  CHECK(std::string(error) == "kernel ELF: truncated header");
}
