// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/silicon/silicon_targets.h"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "platform/base/installation.h"
#include "platform/config/yaml_file.h"
#include "platform/kinds/graph/overlap_loss.h"
#include "platform/reproduce/silicon/silicon_shapes.h"

namespace stretto {

namespace json = boost::json;

namespace {

// Tolerances in percent, as the head of silicon.yaml gives them.
constexpr double kLatency = 5, kBandwidth = 10, kPlateau = 5, kLaunch = 30, kInterference = 30,
                 kSmallCollective = 30, kLargeCollective = 15, kQueue = 20, kGemm = 10,
                 kSmallGemm = 25, kOperator = 30, kNic = 20;
constexpr double kMib = 1 << 20;
constexpr double kGib = 1.073741824;  // GB/s of a GiB/s.
// HBM of an A100 with 80 GB and with 40 (machines/a100-nvswitch.yaml), GB/s: what was measured on
// the one counts as a share of its peak.
constexpr double kHbm80 = 2039, kHbm40 = 1555;

using Job = json::object;
using Jobs = std::vector<const Job*>;

double number(const json::value& value) { return value.to_number<double>(); }
double field(const Job& job, const char* key) { return number(job.at(key)); }

// Measures a value. Throws, whatever, if a result has not what it needs.
using Recipe = double (*)(const Jobs& jobs, const std::string& key);

double gb_s(const Jobs& jobs, const std::string&) { return field(*jobs[0], "gb_s"); }
double gb_s_80(const Jobs& jobs, const std::string&) {
  return field(*jobs[0], "gb_s") * kHbm80 / kHbm40;
}
// In clocks of 1380 MHz, whatever the machine's are: memory is as far in ns.
double miss_clocks_1380(const Jobs& jobs, const std::string&) {
  return 1.38 * field(*jobs[0], "miss_ns");
}
double gib_s(const Jobs& jobs, const std::string&) { return field(*jobs[0], "gb_s") / kGib; }
double hit_clocks(const Jobs& jobs, const std::string&) { return field(*jobs[0], "hit_clocks"); }
double miss_clocks(const Jobs& jobs, const std::string&) { return field(*jobs[0], "miss_clocks"); }

double l2_read(const Jobs& jobs, const std::string&) {
  return field(jobs[0]->at("lines").as_array().front().as_object(), "gb_s");
}

// A size of a collective; the first place that was measured.
const Job& size_of(const Job& job, double bytes) {
  for (const json::value& size : job.at("sizes").as_array()) {
    if (field(size.as_object(), "size_bytes") != bytes) continue;
    for (const char* place : {"out_of_place", "in_place"})
      if (const json::value* one = size.as_object().if_contains(place)) return one->as_object();
  }
  throw std::out_of_range("size");
}
double time_us(const Jobs& jobs, const std::string& key) {
  return field(size_of(*jobs[0], std::stod(key)), "time_us");
}
double busbw(const Jobs& jobs, const std::string& key) {
  return field(size_of(*jobs[0], std::stod(key)), "busbw_gb_s");
}
double kib_us(const Jobs& jobs, const std::string&) {
  return field(size_of(*jobs[0], 1024), "time_us");
}

double queue_gb_s(const Job& job, double payload) {
  for (const json::value& line : job.at("lines").as_array())
    if (field(line.as_object(), "payload_bytes") == payload)
      return field(line.as_object(), "all_gb_s");
  throw std::out_of_range("payload");
}

// TFLOP/s of an operator of kernels/roofline, launch to launch, as benchmarks time a loop.
const Job& operator_of(const Job& job, const std::string& shape, const std::string& name = "") {
  for (const json::value& one : job.at("operators").as_array())
    if (one.at("shape").as_string() == shape &&
        (name.empty() || one.at("operator").as_string() == name))
      return one.as_object();
  throw std::out_of_range("operator");
}
double tflop_s(const Job& job, const std::string& shape) {
  const Job& one = operator_of(job, shape);
  return field(one, "tflop_s") * field(one, "us") / field(one, "turn_us");
}
double gemm_by_columns(const Jobs& jobs, const std::string& key) {
  return tflop_s(*jobs[0], by_rows(key));
}
double gemm_square(const Jobs& jobs, const std::string& key) {
  return tflop_s(*jobs[0], fmt::format("{0}x{0}x{0}", key));
}
double gemm_large(const Jobs& jobs, const std::string& key) {
  const std::string element = key.substr(0, 4);
  return tflop_s(*jobs[0], element == "fp16"   ? kLargeGemm
                           : element == "bf16" ? fmt::format("{}:bf16", kLargeGemm)
                                               : fmt::format("{}:{}", kSlowGemm, element));
}
double gemm_batched(const Jobs& jobs, const std::string& key) {  // "128x(1024x2048x1024)"
  return tflop_s(*jobs[0], key.substr(5, key.size() - 6) + ":batch=128");
}
double layer_ms(const Jobs& jobs, const std::string& key) {
  for (const LayerOperator& one : kLayer)
    if (key == one.name) return field(operator_of(*jobs[0], one.shape), "turn_us") / 1000;
  throw std::out_of_range("operator");
}
double bert_ms(const Jobs& jobs, const std::string& key) {
  double us = 0;
  for (const std::string& one : bert_layer(key)) {
    const size_t colon = one.find(':');
    us += field(operator_of(*jobs[0], one.substr(colon + 1), one.substr(0, colon)), "turn_us");
  }
  return 12 * us / 1000;
}

std::vector<double> numbers(const json::value& values) {
  std::vector<double> all;
  for (const json::value& one : values.as_array()) all.push_back(number(one));
  return all;
}
const Job& first_bucket(const Job& job) { return job.at("buckets").as_array().front().as_object(); }
// A step with 8 GPUs, one with 1, and the same all-reduce with nothing beside it.
double compute_drop(const Jobs& jobs, const std::string&) {
  std::vector<std::pair<double, double>> windows;
  for (const json::value& bucket : jobs[0]->at("buckets").as_array())
    windows.emplace_back(field(bucket.as_object(), "begin_us"),
                         field(bucket.as_object(), "end_us"));
  return 100 * overlap_loss(numbers(jobs[0]->at("op_end_us")), numbers(jobs[1]->at("op_end_us")),
                            windows);
}
double bucket_gb_s(const Jobs& jobs, const std::string&) {
  return field(first_bucket(*jobs[0]), "busbw_gb_s");
}
double bucket_share(const Jobs& jobs, const std::string&) {
  return 100 * field(first_bucket(*jobs[0]), "busbw_gb_s") /
         field(size_of(*jobs[1], 32 * kMib), "busbw_gb_s");
}
// Whichever side suffers more, over the jobs and their lines.
double worst_slowdown(const Jobs& jobs, const std::string&) {
  double worst = 0;
  for (const Job* job : jobs)
    for (const json::value& line : job->at("lines").as_array())
      for (const char* side : {"kernel_slowdown", "gather_slowdown"})
        worst = std::max(worst, field(line.as_object(), side));
  if (worst == 0) throw std::out_of_range("lines");
  return worst;
}

double nic_gb_s(const Job& job) { return field(job.at("sizes").at(0).as_object(), "rate_gb_s"); }
double nic_gbit_s(const Jobs& jobs, const std::string&) { return 8 * nic_gb_s(*jobs[0]); }

enum class How { judged, input, not_modelled, not_run };

// What becomes of values of an entry. The first rule that has the key counts.
struct Rule {
  const char* id;
  const char* keys;  // With | between; "A..B": numbers; "": all.
  How how = How::judged;
  double tolerance = 0;
  const char* simulations = "";  // With spaces between; {} is the key.
  Recipe recipe = nullptr;       // Also of inputs, to be shown.
  const char* note = "";
};

constexpr const char* kNoSuchMachine = "no machine here stands for it";
constexpr const char* kFramework = "a framework's own time is in it";
constexpr const char* kNoLoop = "no kernel multiplies without reading its operands from memory";
constexpr const char* kOneThread =
    "software.launch_ns is the same measurement of another machine, channel_ns the step from 64 to "
    "128 KiB";
constexpr const char* kTooLarge = "simulating it takes longer than the rest together";
constexpr const char* kOneServer = "collectives stay in one server";
constexpr const char* kHost = "DMA engines read no memory but their own GPU's";

// clang-format off
const std::vector<Rule>& rules() {
  using enum How;
  static const std::vector<Rule> all{
      {"SI-NCCL-01", "0..131072", input, 0, "one-thread/all_reduce", time_us, kOneThread},
      {"SI-NCCL-01", "262144..524288", judged, kSmallCollective, "one-thread/all_reduce", time_us},
      {"SI-NCCL-01", "1048576..4194304", judged, 25, "one-thread/all_reduce", time_us},
      {"SI-NCCL-01", "8388608", judged, 25, "all-reduce", time_us},
      {"SI-NCCL-01", "16777216..67108864", judged, kLargeCollective, "all-reduce", time_us},
      {"SI-NCCL-01", "", not_run, 0, "", nullptr, kTooLarge},
      {"SI-NCCL-02", "1048576..4194304", judged, 25, "one-thread/all_reduce", busbw},
      {"SI-NCCL-02", "8388608", judged, 25, "all-reduce", busbw},
      {"SI-NCCL-02", "16777216..67108864", judged, kLargeCollective, "all-reduce", busbw},
      {"SI-NCCL-02", "", not_run, 0, "", nullptr, kTooLarge},
      {"SI-NCCL-03", "0..131072", input, 0, "one-thread/all_gather", time_us, kOneThread},
      {"SI-NCCL-03", "524288", judged, kSmallCollective, "one-thread/all_gather", time_us},
      {"SI-NCCL-03", "1048576..4194304", judged, 25, "one-thread/all_gather", time_us},
      {"SI-NCCL-03", "8388608", judged, 25, "all-gather", time_us},
      {"SI-NCCL-03", "16777216..67108864", judged, kLargeCollective, "all-gather", time_us},
      {"SI-NCCL-03", "", not_run, 0, "", nullptr, kTooLarge},
      {"SI-NCCL-04", "1048576..4194304", judged, 25, "one-thread/all_gather", busbw},
      {"SI-NCCL-04", "8388608", judged, 25, "all-gather", busbw},
      {"SI-NCCL-04", "16777216..67108864", judged, kLargeCollective, "all-gather", busbw},
      {"SI-NCCL-04", "", not_run, 0, "", nullptr, kTooLarge},
      {"SI-NCCL-09", "all_gather|all_reduce|all_to_all", judged, kSmallCollective, "small/{}", kib_us},
      {"SI-NCCL-09", "", not_modelled, 0, "", nullptr, "MSCCL's own algorithm"},
      {"SI-NCCL-10", "", not_run, 0, "", nullptr, kTooLarge},
      {"SI-NCCL-11", "", not_modelled, 0, "", nullptr, kOneServer},
      {"SI-NCCL-12", "", not_modelled, 0, "", nullptr, kOneServer},
      {"SI-NCCL-13", "", not_run, 0, "", nullptr, kTooLarge},
      {"SI-NCCL-14", "", judged, kSmallCollective, "one-thread/two", time_us},
      {"SI-NCCL-15", "", judged, kSmallCollective, "small/two-sendrecv", time_us},
      {"SI-NCCL-16", "", not_run, 0, "", nullptr, kTooLarge},
      {"SI-NCCL-17", "", judged, kLargeCollective, "all-reduce-v100", busbw},
      {"SI-NCCL-18", "", judged, kLargeCollective, "all-reduce", busbw},
      {"SI-NCCL-19", "", not_modelled, 0, "", nullptr, kOneServer},
      {"SI-NCCL-20", "", not_modelled, 0, "", nullptr, kNoSuchMachine},

      {"SI-MEM-01", "L1 (<=28 KB)", not_modelled, 0, "", nullptr, "compute units have no vector L1"},
      {"SI-MEM-01", "L2 (250 kB-5.8 MB)", input, 0, "l2-v100", hit_clocks, "l2.request_cycles, response_cycles"},
      {"SI-MEM-01", "", input, 0, "l2-v100", miss_clocks_1380, "l2.memory_cycles; no TLB"},
      {"SI-MEM-02", "L1", not_modelled, 0, "", nullptr, "compute units have no vector L1"},
      {"SI-MEM-02", "L2 (250 kB-16.6 MB)", judged, kLatency, "l2-a100", hit_clocks, "l2.request_cycles has another source"},
      {"SI-MEM-02", "L2 far/mixed (28 MB)", judged, kLatency, "l2-a100-32MiB", hit_clocks, "footprint 28 MiB"},
      {"SI-MEM-02", "", input, 0, "l2-a100", miss_clocks, "l2.memory_cycles, of the value at 80 MB; no TLB"},
      {"SI-MEM-04", "ns", judged, kLatency, "l2-a100", [](const Jobs& j, const std::string&) { return field(*j[0], "miss_ns"); }},
      {"SI-MEM-04", "", judged, kLatency, "l2-a100", miss_clocks},
      {"SI-MEM-05", "V100 L1|A100 L1", not_modelled, 0, "", nullptr, "compute units have no vector L1"},
      {"SI-MEM-05", "V100 L2", judged, kLatency, "l2-v100", hit_clocks},
      {"SI-MEM-05", "V100 HBM", judged, kLatency, "l2-v100", miss_clocks, "clocks of 1530 MHz; its own are not locked"},
      {"SI-MEM-05", "A100 L2", judged, kLatency, "l2-a100", hit_clocks},
      {"SI-MEM-05", "A100 HBM", judged, kLatency, "l2-a100", miss_clocks},
      {"SI-MEM-06", "L2 latency clocks", judged, kLatency, "l2-v100", hit_clocks, "SI-MEM-01, the input, says 212"},
      {"SI-MEM-06", "HBM latency clocks", judged, kLatency, "l2-v100", miss_clocks, "clocks of 1530 MHz; its own are not said"},
      {"SI-MEM-06", "L2 bandwidth GiB/s", judged, kBandwidth, "l2-v100-4MiB", [](const Jobs& j, const std::string& k) { return l2_read(j, k) / kGib; }},
      {"SI-MEM-06", "DRAM read GiB/s", judged, kBandwidth, "stream-v100/read", gib_s},
      {"SI-MEM-06", "DRAM write GiB/s", judged, kBandwidth, "stream-v100/write", gib_s},
      {"SI-MEM-06", "DRAM copy GiB/s", judged, kBandwidth, "stream-v100/copy", gib_s},
      {"SI-MEM-06", "", not_modelled, 0, "", nullptr, "LDS is a part of the operations that use it"},
      {"SI-MEM-09", "", input, 0, "", nullptr, "l2.partition_link_cycles"},
      {"SI-MEM-10", "", judged, kBandwidth, "l2-v100-1380", l2_read, "footprint 4 MiB"},
      {"SI-MEM-12", "plateau|peak", judged, kBandwidth, "l2-a100-4MiB", l2_read, "footprint 4 MiB"},
      {"SI-MEM-12", "34 MB", judged, kBandwidth, "l2-a100-32MiB", l2_read, "footprint 32 MiB"},
      {"SI-MEM-12", "28 MB|40 MB", not_run, 0, "", nullptr, "footprints of the probe are powers of two"},
      {"SI-MEM-12", "", judged, kBandwidth, "stream-a100/read", gb_s_80, "beyond the L2; as a share of the peak of 2039 GB/s"},
      {"SI-MEM-14", "write only", judged, kBandwidth, "stream-v100/write", gb_s},
      {"SI-MEM-14", "read only", judged, kBandwidth, "stream-v100/read", gb_s},
      {"SI-MEM-14", "scale 1r1w", judged, kBandwidth, "stream-v100/scale", gb_s},
      {"SI-MEM-14", "triad 3r1w", judged, kBandwidth, "stream-v100/triad", gb_s},
      {"SI-MEM-16", "write only", judged, kBandwidth, "stream-a100/write", gb_s_80, "as a share of the peak of 2039 GB/s"},
      {"SI-MEM-16", "read only", judged, kBandwidth, "stream-a100/read", gb_s_80, "as a share of the peak of 2039 GB/s"},
      {"SI-MEM-16", "scale", judged, kBandwidth, "stream-a100/scale", gb_s_80, "as a share of the peak of 2039 GB/s"},
      {"SI-MEM-16", "triad", judged, kBandwidth, "stream-a100/triad", gb_s_80, "as a share of the peak of 2039 GB/s"},
      {"SI-MEM-17", "", judged, kBandwidth, "threads-a100/{}", gb_s},
      {"SI-MEM-19", "memcpy", judged, kBandwidth, "stream-v100/copy", gb_s},
      {"SI-MEM-19", "saxpy", judged, kBandwidth, "stream-v100/add", gb_s},
      {"SI-MEM-20", "memcpy", judged, kBandwidth, "stream-a100/copy", gb_s},
      {"SI-MEM-20", "saxpy", judged, kBandwidth, "stream-a100/add", gb_s},
      {"SI-MEM-21", "copy r+w", judged, kBandwidth, "stream-a100/copy", gb_s_80, "as a share of the peak of 2039 GB/s"},
      {"SI-MEM-21", "add 2r1w", judged, kBandwidth, "stream-a100/add", gb_s_80, "as a share of the peak of 2039 GB/s"},
      {"SI-MEM-22", "", judged, kBandwidth, "copy-v100/{}", gb_s, "the kernel alone, without launch"},

      {"SI-GEMM-01", "1760x128x1760|2048x64x2048|2560x128x2560|4096x16x4096|4096x64x4096|4096x128x4096|7680x128x2560|3072x128x1024|1024x700x512", judged, kSmallGemm, "gemm-v100", gemm_by_columns, "small or skinny"},
      {"SI-GEMM-01", "", judged, kGemm, "gemm-v100", gemm_by_columns},
      {"SI-GEMM-03", "FP16 tensor WMMA loop", input, 0, "", nullptr, "gpu.tensor_efficiency_numerator, _denominator"},
      {"SI-GEMM-03", "", not_run, 0, "", nullptr, kNoLoop},
      {"SI-GEMM-04", "256..1024", judged, kSmallGemm, "gemm-a100/square", gemm_square, "small"},
      {"SI-GEMM-04", "", judged, kGemm, "gemm-a100/square", gemm_square},
      {"SI-GEMM-07", "", judged, kGemm, "gemm-a100/large", gemm_large, "8192^3; TF32 and FP32 4096^3"},
      {"SI-GEMM-08", "fp64_tc", not_modelled, 0, "", nullptr, "no FP64 products"},
      {"SI-GEMM-08", "", judged, kGemm, "gemm-a100/large", gemm_large, "8192^3; TF32 and FP32 4096^3; its shapes are not said"},
      {"SI-GEMM-09", "fp16|tf32", input, 0, "", nullptr, "gpu.tensor_efficiency_numerator, _denominator; gpu.tensor_tf32_passes"},
      {"SI-GEMM-09", "", not_run, 0, "", nullptr, kNoLoop},
      {"SI-GEMM-10", "", not_modelled, 0, "", nullptr, kFramework},
      {"SI-GEMM-11", "", judged, kGemm, "gemm-a100/batched", gemm_batched},

      {"SI-LAUNCH-01", "stream, best column", judged, kLaunch, "launch-a100", [](const Jobs& j, const std::string&) { return field(j[0]->at("launch_us").as_object(), "mean"); }, "blocks of 256 threads"},
      {"SI-LAUNCH-01", "stream, slowest column", not_run, 0, "", nullptr, "which block size it has is not said"},
      {"SI-LAUNCH-01", "", not_modelled, 0, "", nullptr, "the driver has no graphs of launches"},
      {"SI-LAUNCH-03", "", not_modelled, 0, "", nullptr, kFramework},
      {"SI-LAUNCH-04", "", not_modelled, 0, "", nullptr, "the time of a host's CUDA runtime is no parameter"},
      {"SI-LAUNCH-05", "", not_modelled, 0, "", nullptr, "a lower bound of any GPU"},
      {"SI-LAUNCH-06", "", not_modelled, 0, "", nullptr, "any GPU and host"},
      {"SI-LAUNCH-07", "", input, 0, "", nullptr, "software.launch_ns"},
      {"SI-LAUNCH-08", "", not_modelled, 0, "", nullptr, kNoSuchMachine},

      {"SI-P2P-01", "uni write|bidirectional sum", not_modelled, 0, "", nullptr, "between two root ports (note of the entry); the switch of v100-pcie is one"},
      {"SI-P2P-01", "", not_modelled, 0, "", nullptr, "copies through host memory"},
      {"SI-P2P-03", "uni min|uni max", judged, kPlateau, "p2p-a100/dma", gb_s},
      {"SI-P2P-03", "bidi GPUs 4-7", judged, kPlateau, "p2p-a100/dma-both", gb_s},
      {"SI-P2P-03", "bidi GPUs 0-3", not_modelled, 0, "", nullptr, "a fault of one installation (note of the entry)"},
      {"SI-P2P-03", "", not_modelled, 0, "", nullptr, "which HBM it has is not said"},
      {"SI-P2P-05", "write by SM", judged, kPlateau, "p2p-a100/copy", gb_s},
      {"SI-P2P-05", "bidi write by SM", judged, kPlateau, "p2p-a100/copy-both", gb_s},
      {"SI-P2P-05", "write by DMA", judged, kPlateau, "p2p-a100/dma", gb_s},
      {"SI-P2P-05", "bidi write by DMA", judged, kPlateau, "p2p-a100/dma-both", gb_s},
      {"SI-P2P-05", "local by SM (bytes copied)", judged, kBandwidth, "stream-a100/copy", [](const Jobs& j, const std::string& k) { return gb_s(j, k) / 2; }},
      {"SI-P2P-05", "", not_modelled, 0, "", nullptr, "kernels and DMA engines read no memory of peers"},
      {"SI-P2P-06", "", judged, kPlateau, "p2p-a100/dma", gib_s},
      {"SI-P2P-07", "", judged, kPlateau, "p2p-a100/dma", gb_s},
      {"SI-P2P-08", "", not_modelled, 0, "", nullptr, kNoSuchMachine},
      {"SI-P2P-09", "", not_modelled, 0, "", nullptr, kNoSuchMachine},

      {"SI-PCIE-01", "", not_modelled, 0, "", nullptr, kHost},
      {"SI-PCIE-03", "D2H|by DMA D2H", judged, kPlateau, "host-a100/dma", gb_s},
      {"SI-PCIE-03", "", not_modelled, 0, "", nullptr, kHost},
      {"SI-PCIE-04", "", not_modelled, 0, "", nullptr, kNoSuchMachine},
      {"SI-PCIE-05", "", input, 0, "", nullptr, "pcie.latency_ns of v100-pcie"},

      {"SI-INT-01", "compute throughput drop %", judged, kInterference, "step-v100/8 step-v100/1", compute_drop},
      {"SI-INT-01", "all-reduce at % of peak", judged, kInterference, "step-v100/8 all-reduce-v100", bucket_share},
      {"SI-INT-01", "all-reduce GB/s", judged, kInterference, "step-v100/8", bucket_gb_s},
      {"SI-INT-02", "compute throughput drop %", judged, kInterference, "step-a100/8 step-a100/1", compute_drop},
      {"SI-INT-02", "all-reduce at % of peak", judged, kInterference, "step-a100/8 all-reduce", bucket_share},
      {"SI-INT-02", "all-reduce GB/s", judged, kInterference, "step-a100/8", bucket_gb_s},
      {"SI-INT-03", "L2 contention max", judged, kInterference, "beside-v100/l2-mmio", worst_slowdown, "16 MiB"},
      {"SI-INT-03", "warp scheduler contention max", judged, kInterference, "beside-v100/issue-mmio", worst_slowdown, "16 MiB"},
      {"SI-INT-05", "", not_modelled, 0, "", nullptr, "its links are not said"},
      {"SI-INT-06", "", not_modelled, 0, "", nullptr, "several machines and frameworks in one figure"},
      {"SI-INT-07", "", not_modelled, 0, "", nullptr, kNoSuchMachine},
      {"SI-INT-08", "", not_modelled, 0, "", nullptr, "a simulated result of T3: reproduce t3"},
      {"SI-INT-09", "", not_modelled, 0, "", nullptr, kNoSuchMachine},
      {"SI-INT-10", "", not_modelled, 0, "", nullptr, kNoSuchMachine},
      {"SI-INT-11", "", not_modelled, 0, "", nullptr, kNoSuchMachine},
      {"SI-INT-12", "", not_modelled, 0, "", nullptr, "several machines in one figure"},

      {"SI-ATOM-01", "", judged, kQueue, "l2-a100", [](const Jobs& j, const std::string&) { return 1e6 * field(*j[0], "atomics_per_us"); }},
      {"SI-ATOM-02", "total GB/s", judged, kQueue, "queue-a100", [](const Jobs& j, const std::string&) { return queue_gb_s(*j[0], 131072); }, "payloads of 128 KiB"},
      {"SI-ATOM-02", "per queue GB/s", judged, kQueue, "queue-a100", [](const Jobs& j, const std::string&) { return queue_gb_s(*j[0], 131072) / field(*j[0], "pairs"); }, "payloads of 128 KiB"},
      {"SI-ATOM-03", "beyond 256 KB GB/s (HBM)", judged, kQueue, "queue-a100", [](const Jobs& j, const std::string&) { return queue_gb_s(*j[0], 524288); }, "payloads of 512 KiB"},
      {"SI-ATOM-03", "", not_run, 0, "", nullptr, "no kernel moves payloads without acquiring and releasing"},
      {"SI-ATOM-04", "", not_modelled, 0, "", nullptr, "a bound worked out from SI-ATOM-01"},
      {"SI-ATOM-05", "", input, 0, "l2-v100-1380", [](const Jobs& j, const std::string&) { return field(*j[0], "hit_ns"); }, "l2.request_cycles, response_cycles; at 1380 MHz"},
      {"SI-ATOM-06", "near ns", judged, kLatency, "l2-a100", [](const Jobs& j, const std::string&) { return field(*j[0], "hit_ns"); }},
      {"SI-ATOM-06", "", input, 0, "", nullptr, "l2.partition_link_cycles"},

      {"SI-OPS-01", "", input, 0, "", nullptr, "gpu.product_instruction_fma, tensor_fma_per_cycle"},
      {"SI-OPS-02", "", input, 0, "", nullptr, "gpu.product_instruction_fma, tensor_fma_per_cycle"},
      {"SI-OPS-03", "", input, 0, "", nullptr, "gpu.product_instruction_fma, operand_instruction_bytes, product_overhead_slots"},
      {"SI-OPS-04", "", input, 0, "", nullptr, "gpu.product_instruction_fma, operand_instruction_bytes, product_overhead_slots"},
      {"SI-OPS-05", "", not_modelled, 0, "", nullptr, kFramework},
      {"SI-OPS-06", "", input, 0, "", nullptr, "kernel load_issue does nothing but issue"},
      {"SI-OPS-07", "", not_modelled, 0, "", nullptr, kNoSuchMachine},
      {"SI-OP-01", "", judged, kOperator, "bert-a100", bert_ms, "9 kernels a layer, launch to launch, weights in the L2"},
      {"SI-OP-04", "qkv|score|av|projection|h_to_4h|4h_to_h|gelu|layer_norm", judged, kOperator, "layer-a100", layer_ms, "launch to launch"},
      {"SI-OP-04", "softmax", not_run, 0, "", nullptr, "mask, scale and conversions are kernels of their own there, which ones is not said"},
      {"SI-OP-04", "logits", not_run, 0, "", nullptr, "how wide they are is not said"},
      {"SI-OP-04", "", not_modelled, 0, "", nullptr, "dropout, or a sum of what is not modelled"},
      {"SI-OP-05", "", not_modelled, 0, "", nullptr, kFramework},
      {"SI-OP-06", "", not_modelled, 0, "", nullptr, kFramework},
      {"SI-OP-07", "", not_modelled, 0, "", nullptr, kFramework},
      {"SI-OP-08", "", not_modelled, 0, "", nullptr, kFramework},

      {"SI-NIC-01", "", not_run, 0, "", nullptr, "programs have no ping-pong of puts; its doorbell carries the operation"},
      {"SI-NIC-02", "read Gb/s", judged, kNic, "nic-x8/get", nic_gbit_s},
      {"SI-NIC-02", "write Gb/s", judged, kNic, "nic-x8/put", nic_gbit_s},
      {"SI-NIC-02", "", judged, kNic, "nic-x8/put", [](const Jobs& j, const std::string& k) { return 100 * nic_gbit_s(j, k) / 63; }, "8 lanes x 8 GT/s x 128/130: 63 Gb/s"},
      {"SI-NIC-03", "", judged, kNic, "nic/put", [](const Jobs& j, const std::string&) { return 1e9 * nic_gb_s(*j[0]) / kMib; }},
      {"SI-NIC-04", "Gb/s", judged, kNic, "nic/put", nic_gbit_s},
      {"SI-NIC-04", "", judged, kNic, "nic/put", [](const Jobs& j, const std::string&) { return field(j[0]->at("sizes").at(0).at("latency_us").as_object(), "least"); }},
      {"SI-NIC-07", "", not_modelled, 0, "", nullptr, "a server has one NIC"},
      {"SI-NIC-08", "", not_modelled, 0, "", nullptr, kNoSuchMachine},
      {"SI-NIC-09", "", not_modelled, 0, "", nullptr, "lists of operations with one doorbell"},
      {"SI-NIC-10", "", not_modelled, 0, "", nullptr, "no machine is said"},
      {"SI-NIC-12", "", not_modelled, 0, "", nullptr, kOneServer},
  };
  return all;
}
// clang-format on

// What stands in front of and behind `between`.
std::pair<std::string, std::string> cut(const std::string& text, const std::string& between) {
  const size_t at = text.find(between);
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + between.size())};
}

std::optional<double> whole_number(const std::string& text) {
  std::istringstream in(text);
  double value = 0;
  char more = 0;
  return in >> value && !(in >> more) ? std::optional(value) : std::nullopt;
}

bool has_key(const Rule& rule, const std::string& key) {
  std::string keys = rule.keys;
  if (keys.empty()) return true;
  if (const auto [from, to] = cut(keys, ".."); !to.empty()) {
    const std::optional<double> value = whole_number(key);
    return value && *value >= std::stod(from) && *value <= std::stod(to);
  }
  while (!keys.empty()) {
    const auto [one, rest] = cut(keys, "|");
    if (one == key) return true;
    keys = rest;
  }
  return false;
}

const Rule* rule_of(const SiliconValue& value) {
  for (const Rule& rule : rules())
    if (value.id == rule.id && has_key(rule, value.key)) return &rule;
  return nullptr;
}

void set_range(SiliconValue& value) {
  const std::string text = value.text.substr(value.text.rfind('~', 0) == 0 ? 1 : 0);
  const auto [low, high] = cut(text, "-");
  value.low = whole_number(cut(low, " ").first);
  value.high = high.empty() ? value.low : whole_number(high);
  if (!value.high) value.low.reset();
}

// Of a rising list, with interpolation between neighbours.
double percentile(const std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const double at = share * static_cast<double>(values.size() - 1);
  const size_t below = static_cast<size_t>(at), above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace

std::vector<SiliconValue> silicon_values() {
  std::vector<SiliconValue> all;
  const YAML::Node root = load_yaml(targets_folder() + "/silicon.yaml");
  for (const auto& entry : root["entries"]) {
    for (const auto& one : entry["values"]) {
      SiliconValue value;
      value.id = entry["id"].Scalar();
      value.area = entry["area"].Scalar();
      value.machine = entry["machine"].Scalar();
      value.what = entry["what"].Scalar();
      value.unit = entry["unit"].Scalar();
      value.key = one.first.Scalar();
      value.text = one.second.IsScalar() ? one.second.Scalar() : YAML::Dump(one.second);
      set_range(value);
      all.push_back(std::move(value));
    }
  }
  return all;
}

double SiliconRow::ratio() const {
  return *measured < *value.low    ? *measured / *value.low
         : *measured > *value.high ? *measured / *value.high
                                   : 1;
}

double SiliconRow::error_percent() const { return 100 * std::abs(ratio() - 1); }

std::vector<std::string> simulations_of(const SiliconValue& value) {
  const Rule* const rule = rule_of(value);
  std::vector<std::string> all;
  if (rule == nullptr) return all;
  std::istringstream list(rule->simulations);
  for (std::string one; list >> one;) {
    const auto [before, behind] = cut(one, "{}");
    all.push_back(one == before ? one : before + value.key + behind);
  }
  return all;
}

SiliconRow measure_silicon(const SiliconValue& value, const SiliconJobs& jobs) {
  SiliconRow row;
  row.value = value;
  const Rule* const rule = rule_of(value);
  if (rule == nullptr) {
    row.verdict = "not run";
    row.note = "no rule for it";
    return row;
  }
  row.note = rule->note;
  row.tolerance_percent = rule->tolerance;
  Jobs of_row;
  std::string missing;
  for (const std::string& folder : simulations_of(value)) {
    const auto found = jobs.find(folder);
    if (found != jobs.end())
      of_row.push_back(&found->second);
    else if (missing.empty())
      missing = folder;
  }
  if (missing.empty() && rule->recipe != nullptr) {
    try {
      row.measured = rule->recipe(of_row, value.key);
    } catch (const std::exception&) {
      missing = fmt::format("all of {}", simulations_of(value).front());
    }
  }
  switch (rule->how) {
    case How::input: row.verdict = "input"; break;
    case How::not_modelled: row.verdict = "not modelled"; break;
    case How::not_run: row.verdict = "not run"; break;
    default:
      row.verdict = !missing.empty()                         ? "not judged: needs " + missing
                    : row.error_percent() <= rule->tolerance ? "within"
                                                             : "outside";
  }
  return row;
}

SiliconErrors errors_of(const std::vector<SiliconRow>& rows, const std::string& area) {
  SiliconErrors errors;
  for (const SiliconRow& row : rows) {
    if (!row.is_judged() || (!area.empty() && row.value.area != area)) continue;
    ++errors.judged;
    errors.within += row.verdict == "within";
    errors.percent.push_back(row.error_percent());
  }
  std::sort(errors.percent.begin(), errors.percent.end());
  errors.median_percent = percentile(errors.percent, 0.5);
  errors.ninety_percent = percentile(errors.percent, 0.9);
  return errors;
}

}  // namespace stretto
