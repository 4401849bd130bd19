// SPDX-License-Identifier: Apache-2.0
// A matrix of int, a slab of rows on each device, is transposed: blocks go by ncclSend and ncclRecv
// in a group around the ring of devices, one hop a step, or by ncclAlltoAll; then all slabs are
// gathered. Every element is compared.
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kBlock = 37;  // Rows and columns of a block.

void check(int code) {
  if (code != 0) throw std::runtime_error(ncclGetLastError(nullptr));
}

struct Device {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  int *in = nullptr, *out = nullptr, *all = nullptr;
};

int element(int row, int column) { return row * 100003 + column; }

// Block (rank, to) of the matrix, as it goes to rank `to`: transposed.
std::vector<int> blocks_of(int rank, int ranks) {
  std::vector<int> blocks;
  for (int to = 0; to < ranks; ++to)
    for (int c = 0; c < kBlock; ++c)
      for (int r = 0; r < kBlock; ++r)
        blocks.push_back(element(rank * kBlock + r, to * kBlock + c));
  return blocks;
}

void compare(const std::vector<int>& got, const std::vector<int>& expected,
             const std::string& what) {
  if (got != expected) throw std::runtime_error(what + " is wrong");
}

std::vector<int> download(int device, const int* from, size_t count) {
  std::vector<int> values(count);
  check(cudaSetDevice(device));
  check(cudaMemcpy(values.data(), from, count * sizeof(int), cudaMemcpyDeviceToHost));
  return values;
}

void synchronize(const std::vector<Device>& devices) {
  for (const Device& d : devices) check(cudaStreamSynchronize(d.stream));
}

}  // namespace

int main() try {
  int ranks = 0;
  check(cudaGetDeviceCount(&ranks));
  const size_t block = kBlock * kBlock, slab = block * ranks;
  std::vector<Device> devices(ranks);
  for (int d = 0; d < ranks; ++d) {
    check(cudaSetDevice(d));
    check(cudaMalloc(&devices[d].in, slab * sizeof(int)));
    check(cudaMalloc(&devices[d].out, slab * sizeof(int)));
    check(cudaMalloc(&devices[d].all, slab * ranks * sizeof(int)));
    check(cudaMemcpy(devices[d].in, blocks_of(d, ranks).data(), slab * sizeof(int),
                     cudaMemcpyHostToDevice));
    check(cudaStreamCreate(&devices[d].stream));
  }
  ncclUniqueId id;
  check(ncclGetUniqueId(&id));
  check(ncclGroupStart());
  for (int d = 0; d < ranks; ++d) {
    check(cudaSetDevice(d));
    check(ncclCommInitRank(&devices[d].comm, ranks, id, d));
  }
  check(ncclGroupEnd());

  check(ncclGroupStart());
  for (Device& d : devices) check(ncclAlltoAll(d.in, d.out, block, ncclInt, d.comm, d.stream));
  check(ncclGroupEnd());
  check(ncclGroupStart());
  for (Device& d : devices) check(ncclAllGather(d.out, d.all, slab, ncclInt, d.comm, d.stream));
  check(ncclGroupEnd());
  // The own block moves on by one rank, in two messages.
  check(ncclGroupStart());
  for (int d = 0; d < ranks; ++d) {
    Device& me = devices[d];
    check(ncclSend(me.in, 5, ncclInt, (d + 1) % ranks, me.comm, me.stream));
    check(ncclSend(me.in + 5, block - 5, ncclInt, (d + 1) % ranks, me.comm, me.stream));
    check(ncclRecv(me.out, 5, ncclInt, (d + ranks - 1) % ranks, me.comm, me.stream));
    check(ncclRecv(me.out + 5, block - 5, ncclInt, (d + ranks - 1) % ranks, me.comm, me.stream));
  }
  check(ncclGroupEnd());
  synchronize(devices);

  std::vector<int> whole;
  for (int to = 0; to < ranks; ++to)
    for (int from = 0; from < ranks; ++from) {
      const std::vector<int> blocks = blocks_of(from, ranks);
      whole.insert(whole.end(), blocks.begin() + to * block, blocks.begin() + (to + 1) * block);
    }
  for (int d = 0; d < ranks; ++d) {
    compare(download(d, devices[d].all, slab * ranks), whole, "gathered matrix");
    std::vector<int> first = blocks_of((d + ranks - 1) % ranks, ranks);
    first.resize(block);
    compare(download(d, devices[d].out, block), first, "block of the rank before");
  }
  std::printf("transposed on %d devices\n", ranks);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
