// SPDX-License-Identifier: Apache-2.0
// What `reproduce silicon` simulates.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "platform/reproduce/silicon/silicon_shapes.h"
#include "platform/reproduce/silicon/silicon_targets.h"

namespace stretto {

namespace {

CampaignRun run_of(const std::string& folder, const std::string& workload,
                   const std::string& machine, const std::string& mode,
                   std::vector<std::string> sets) {
  CampaignRun run;
  run.folder = folder;
  run.title = folder;
  run.workload = workload;
  run.mode = mode;
  run.machine = machine;
  run.sets = std::move(sets);
  return run;
}

constexpr const char* kV100 = "v100-pcie";
constexpr const char* kA100 = "a100-nvswitch";

void add_collectives(std::vector<CampaignRun>& all) {
  // nccl-tests is no framework: what that takes for a launch does not count.
  const auto add = [&](const std::string& folder, const std::string& op, const char* machine,
                       uint64_t from, uint64_t to, const char* place, unsigned gpus,
                       unsigned warm_up, unsigned iterations) {
    all.push_back(run_of(
        folder, "collectives/" + op, machine, "mmio",
        {"software.launch_ns=0", fmt::format("gpus={}", gpus),
         fmt::format("collective.min_bytes={}", from), fmt::format("collective.max_bytes={}", to),
         fmt::format("collective.warm_up={}", warm_up),
         fmt::format("collective.iterations={}", iterations), "collective.factor=2",
         "collective.large_factor=2", fmt::format("collective.place={}", place)}));
  };
  add("all-reduce", "all_reduce", kA100, 8 << 20, 64 << 20, "out", 8, 1, 2);
  add("all-gather", "all_gather", kA100, 8 << 20, 64 << 20, "out", 8, 1, 2);
  add("all-reduce-v100", "all_reduce", kV100, 32 << 20, 32 << 20, "in", 8, 0, 1);
  for (const char* op : {"all_gather", "all_reduce", "all_to_all"})
    add(fmt::format("small/{}", op), op, kA100, 1024, 1024, "in", 8, 1, 8);
  add("small/two-sendrecv", "sendrecv", kA100, 8, 16, "out", 2, 1, 8);
  // One thread for all GPUs, 20 calls. NVIDIA/nccl-tests, issue 123: 33.7 us for 8 GPUs and one
  // channel, 4.2 a GPU, of which the driver and the wait for all take 0.62 and the channel 0.21. That is the
  // step of SI-NCCL-01 from 64 KiB to 128, two channels more. NCCL takes a channel more a 512
  // threads x 8 B x ranks (src/enqueue.cc, LL).
  const auto add_one = [&](const std::string& folder, const std::string& op, unsigned gpus,
                           const std::string& counts) {
    all.push_back(
        run_of(folder, "collectives/" + op, kA100, "mmio",
               {"software.launch_ns=3380", "software.channel_ns=210", "software.channel_bytes=4096",
                fmt::format("gpus={0}", gpus), fmt::format("collective.gpus_per_thread={0}", gpus),
                "collective.counts=" + counts, "collective.place=out", "collective.warm_up=1",
                "collective.iterations=20"}));
  };
  add_one("one-thread/all_reduce", "all_reduce", 8,
          "2,1024,16384,32768,65536,131072,262144,524288,1048576");
  add_one("one-thread/all_gather", "all_gather", 8, "32,2048,4096,16384,32768,65536,131072");
  add_one("one-thread/two", "all_reduce", 2, "8,16");
}

void add_memory(std::vector<CampaignRun>& all) {
  const auto l2 = [&](const char* folder, const char* machine, std::vector<std::string> sets) {
    sets.insert(sets.end(),
                {"gpus=1", "l2_probe.min_piece_bytes=256", "l2_probe.max_piece_bytes=256"});
    all.push_back(run_of(folder, "machine/l2", machine, "probe", sets));
  };
  l2("l2-v100", kV100, {});
  l2("l2-v100-4MiB", kV100, {"l2_probe.footprint_bytes=4194304"});
  l2("l2-v100-1380", kV100, {"gpu.clock_mhz=1380", "l2_probe.footprint_bytes=4194304"});
  l2("l2-a100", kA100, {});
  // Long enough that nearly all reads find a copy beside them, as after many rounds on silicon.
  l2("l2-a100-4MiB", kA100, {"l2_probe.footprint_bytes=4194304", "l2_probe.unit_bytes=1048576"});
  l2("l2-a100-32MiB", kA100,
     {"l2_probe.footprint_bytes=33554432", "l2_probe.unit_bytes=2097152",
      "l2_probe.hit_bytes=29360128", "sim.progress_limit_us=0"});
  const auto stream = [&](const std::string& folder, const char* machine, const std::string& mode,
                          const std::vector<std::string>& sets) {
    std::vector<std::string> with{"gpus=1"};
    with.insert(with.end(), sets.begin(), sets.end());
    all.push_back(run_of(folder, "machine/stream", machine, mode, with));
  };
  for (const char* mode : {"read", "write", "copy", "scale", "add", "triad"}) {
    stream(fmt::format("stream-v100/{}", mode), kV100, mode, {"stream_probe.bytes=33554432"});
    stream(fmt::format("stream-a100/{}", mode), kA100, mode, {"stream_probe.bytes=67108864"});
  }
  // Two blocks of n threads on each of 108 units; with n = 16 half a warp a block.
  for (const auto& [threads, wavefronts] :
       {std::pair(3456, 2), std::pair(13824, 4), std::pair(27648, 8), std::pair(55296, 16),
        std::pair(82944, 24), std::pair(110592, 32), std::pair(221184, 64)})
    stream(fmt::format("threads-a100/{}", threads), kA100, "scale",
           {"stream_probe.bytes=50331648", fmt::format("stream_probe.wavefronts={}", wavefronts),
            fmt::format("stream_probe.piece_bytes={}", threads == 3456 ? 128 : 256)});
  for (const unsigned bytes : {16'000'000, 32'000'000, 48'000'000, 64'000'000})
    stream(fmt::format("copy-v100/{}", bytes), kV100, "copy",
           {fmt::format("stream_probe.bytes={}", bytes / 65536 * 65536),
            "stream_probe.piece_bytes=512"});
}

void add_peers(std::vector<CampaignRun>& all) {
  // What a byte costs to simulate is more, the smaller the packets: 8 MiB on PCIe.
  const auto add = [&](const char* folder, const char* mode, const std::string& target,
                       unsigned gpus, bool both) {
    all.push_back(
        run_of(folder, "machine/stream", kA100, mode,
               {fmt::format("gpus={}", gpus), fmt::format("stream_probe.target={}", target),
                fmt::format("stream_probe.both={}", both), "stream_probe.piece_bytes=512",
                fmt::format("stream_probe.bytes={}", target == "host" ? 8 << 20 : 610 << 16)}));
  };
  add("p2p-a100/dma", "dma", "peer", 2, false);
  add("p2p-a100/dma-both", "dma", "peer", 2, true);
  add("p2p-a100/copy", "copy", "peer", 2, false);
  add("p2p-a100/copy-both", "copy", "peer", 2, true);
  add("host-a100/dma", "dma", "host", 1, false);
}

void add_operators(std::vector<CampaignRun>& all) {
  const auto add_list = [&](const char* folder, const char* machine, const std::string& list) {
    all.push_back(
        run_of(folder, "kernels/roofline", machine, "operators", {"roofline.operators=" + list}));
  };
  const auto add = [&](const char* folder, const char* machine,
                       const std::vector<std::string>& shapes) {
    add_list(folder, machine, fmt::format("gemm:{}", fmt::join(shapes, ",gemm:")));
  };
  std::vector<std::string> skinny, square, layer;
  for (const SiliconValue& value : silicon_values()) {
    if (value.id == "SI-GEMM-01") skinny.push_back(by_rows(value.key));
    if (value.id == "SI-GEMM-04") square.push_back(fmt::format("{0}x{0}x{0}", value.key));
  }
  std::vector<std::string> bert;
  for (const SiliconValue& value : silicon_values()) {
    if (value.id != "SI-OP-01") continue;
    for (const std::string& one : bert_layer(value.key))
      if (std::find(bert.begin(), bert.end(), one) == bert.end()) bert.push_back(one);
  }
  for (const LayerOperator& one : kLayer)
    layer.push_back(fmt::format("{}:{}", one.kind, one.shape));
  const std::string large = kLargeGemm, slow = kSlowGemm;
  add("gemm-a100/large", kA100, {large, large + ":bf16", slow + ":tf32", slow + ":fp32"});
  add("gemm-a100/batched", kA100, {"1024x1024x1024:batch=128", "1024x2048x1024:batch=128"});
  add_list("layer-a100", kA100, fmt::format("{}", fmt::join(layer, ",")));
  add_list("bert-a100", kA100, fmt::format("{}", fmt::join(bert, ",")));
  add("gemm-v100", kV100, skinny);
  add("gemm-a100/square", kA100, square);
}

void add_others(std::vector<CampaignRun>& all) {
  for (const unsigned gpus : {8, 1})
    for (const auto& [name, machine] :
         {std::pair("step-v100", kV100), std::pair("step-a100", kA100)})
      all.push_back(run_of(fmt::format("{}/{}", name, gpus), "graph/bert-large-2", machine,
                           "launched", {fmt::format("gpus={}", gpus), "graph.iterations=1"}));
  for (const char* mode : {"l2-mmio", "issue-mmio"})
    all.push_back(run_of(fmt::format("beside-v100/{}", mode), "gpu-driven/interference", kV100,
                         mode,
                         {"interference.min_gather_bytes=0", "interference.min_kernel_percent=100",
                          "interference.max_kernel_percent=100"}));
  all.push_back(run_of("launch-a100", "machine/launch", kA100, "launches",
                       {"launch_probe.launches=500", "launch_probe.max_dirty_bytes=65536"}));
  all.push_back(run_of("queue-a100", "machine/queue", kA100, "queue",
                       {"tile_queue.min_bytes=131072", "tile_queue.max_bytes=524288",
                        "tile_queue.queue_bytes=2097152"}));
}

// Puts and gets of one size, host memory to host memory: ib_write_bw and ib_read_bw of perftest.
void add_network(std::vector<CampaignRun>& all) {
  const auto add = [&](const std::string& folder, const std::string& operation, unsigned bytes,
                       std::vector<std::string> sets) {
    sets.insert(sets.end(), {"one_sided.operation=" + operation, "one_sided.memory=host",
                             fmt::format("one_sided.min_bytes={}", bytes),
                             fmt::format("one_sided.max_bytes={}", bytes)});
    all.push_back(run_of(folder, "compnet/get", "compnet", "cpu", std::move(sets)));
  };
  add("nic/put", "put", 2 << 20, {});
  for (const char* operation : {"put", "get"})  // 8 lanes instead of 16.
    add(fmt::format("nic-x8/{}", operation), operation, 1 << 20, {"pcie.bandwidth_mb_s=7877"});
}

}  // namespace

std::string by_rows(const std::string& shape) {
  std::istringstream in(shape);
  std::string m, n, k;
  std::getline(in, m, 'x'), std::getline(in, n, 'x'), std::getline(in, k);
  return n + "x" + m + "x" + k;
}

std::vector<std::string> bert_layer(const std::string& key) {
  const size_t blank = key.find(' ');
  const unsigned batch = static_cast<unsigned>(std::stoul(key.substr(1, blank - 1)));
  const unsigned length = static_cast<unsigned>(std::stoul(key.substr(blank + 2)));
  const unsigned tokens = batch * length;
  const std::string add = fmt::format("add:{}", tokens * 768),
                    norm = fmt::format("layer_norm:{}x768", tokens);
  return {fmt::format("gemm:{}x2304x768:bias", tokens),
          fmt::format("attention:{0}x{1}x{1}x64", 12 * batch, length),
          fmt::format("gemm:{}x768x768:bias", tokens),
          add,
          norm,
          fmt::format("gemm:{}x3072x768:bias:gelu", tokens),
          fmt::format("gemm:{}x768x3072:bias", tokens),
          add,
          norm};
}

const std::vector<CampaignRun>& silicon_simulations() {
  static const std::vector<CampaignRun> all = [] {
    std::vector<CampaignRun> runs;
    // The longest first.
    add_others(runs);
    add_operators(runs);
    add_collectives(runs);
    add_memory(runs);
    add_peers(runs);
    add_network(runs);
    return runs;
  }();
  return all;
}

}  // namespace stretto
