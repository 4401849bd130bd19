// SPDX-License-Identifier: Apache-2.0
// The bytes of a memory: what takes room at the host, and what is seen of it.
#include "models/common/memory_image.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace stretto {
namespace {

constexpr uint64_t kPage = MemoryImage::kPageBytes;

std::vector<uint8_t> bytes_at(MemoryImage& image, uint64_t address, uint64_t count) {
  std::vector<uint8_t> bytes(count, 0xEE);
  image.read(address, bytes.data(), count);
  return bytes;
}

// Address and first byte of each page that was written.
std::vector<std::pair<uint64_t, int>> written(const MemoryImage& image) {
  std::vector<std::pair<uint64_t, int>> pages;
  image.for_each_written_page(
      [&](uint64_t page, const uint8_t* bytes) { pages.emplace_back(page, bytes[0]); });
  return pages;
}

TEST_CASE("zeros take no room, and count as written") {
  MemoryImage image;
  const std::vector<uint8_t> zeros(3 * kPage, 0);
  image.write(5 * kPage - 64, zeros.data(), 128);
  CHECK(bytes_at(image, 5 * kPage - 64, 128) == std::vector<uint8_t>(128, 0));
  CHECK(bytes_at(image, 100 * kPage, 8) == std::vector<uint8_t>(8, 0));
  CHECK(image.resident_bytes() == 0);
  CHECK(image.peek(5 * kPage) == nullptr);
  CHECK(image.peek(uint64_t{1} << 60) == nullptr);  // Beyond a node.
  CHECK(written(image) == std::vector<std::pair<uint64_t, int>>{{4 * kPage, 0}, {5 * kPage, 0}});
}

TEST_CASE("zeros over other bytes are zeros") {
  MemoryImage image;
  const std::vector<uint8_t> ones(kPage, 0x11), zeros(kPage, 0);
  image.write(kPage + 64, ones.data(), 64);
  image.write(kPage + 96, zeros.data(), 16);
  std::vector<uint8_t> expected(64, 0x11);
  std::fill_n(expected.begin() + 32, 16, uint8_t{0});
  CHECK(bytes_at(image, kPage + 64, 64) == expected);
  CHECK(*image.peek(kPage + 64) == 0x11);
  CHECK(image.resident_bytes() == kPage);
}

TEST_CASE("a page that is generated is made before zeros are written into it") {
  MemoryImage image;
  image.add_generator(2 * kPage + 1000, 100, [](uint64_t, uint8_t* bytes, uint64_t count) {
    std::fill_n(bytes, count, uint8_t{7});
  });
  const std::vector<uint8_t> zeros(64, 0);
  image.write(2 * kPage + 1010, zeros.data(), 64);
  std::vector<uint8_t> expected(100, 7);
  std::fill_n(expected.begin() + 10, 64, uint8_t{0});
  CHECK(bytes_at(image, 2 * kPage + 1000, 100) == expected);
  CHECK(bytes_at(image, 2 * kPage + 900, 100) == std::vector<uint8_t>(100, 0));
  image.write(3 * kPage, zeros.data(), 64);
  CHECK(image.resident_bytes() == kPage);
}

TEST_CASE("written pages come in the order of addresses, and only those") {
  MemoryImage image;
  const uint8_t one = 1;
  for (const uint64_t page : {uint64_t{0xFFFFFF}, uint64_t{4096}, uint64_t{4095}, uint64_t{0}})
    image.write(page * kPage, &one, 1);
  image.load(77 * kPage, &one, 1);
  bytes_at(image, 78 * kPage, 1);
  CHECK(written(image) == std::vector<std::pair<uint64_t, int>>{
                              {0, 1}, {4095 * kPage, 1}, {4096 * kPage, 1}, {0xFFFFFF * kPage, 1}});
}

TEST_CASE("byte enables, spans and what lies beyond a node") {
  MemoryImage image;
  const uint8_t bytes[4] = {1, 2, 3, 4}, enable[4] = {0, 1, 0, 1};
  image.write_masked(kPage - 2, bytes, enable, 4);
  CHECK(bytes_at(image, kPage - 2, 4) == std::vector<uint8_t>{0, 2, 0, 4});
  CHECK(image.span(kPage - 2, 4, false) == nullptr);
  *image.span(9 * kPage + 5, 1, true) = 8;
  CHECK(bytes_at(image, 9 * kPage + 5, 1) == std::vector<uint8_t>{8});
  CHECK_THROWS_AS(bytes_at(image, uint64_t{1} << 40, 1), std::out_of_range);
}

}  // namespace
}  // namespace stretto
