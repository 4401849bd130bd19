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

namespace stretto {

namespace json = boost::json;

namespace {

// Tolerances in percent, as the head of silicon.yaml gives them.
constexpr double kLatency = 5, kBandwidth = 10, kPlateau = 5, kLaunch = 30, kInterference = 30,
                 kSmallCollective = 30, kLargeCollective = 15, kQueue = 20, kGemm = 10,
                 kSmallGemm = 25, kOperator = 30;
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
// What is stored by columns, M x N x K, is the product of the transposes by rows.
std::string by_rows(const std::string& shape) {
  std::istringstream in(shape);
  std::string m, n, k;
  std::getline(in, m, 'x'), std::getline(in, n, 'x'), std::getline(in, k);
  return n + "x" + m + "x" + k;
}
double gemm_by_columns(const Jobs& jobs, const std::string& key) {
  return tflop_s(*jobs[0], by_rows(key));
}
double gemm_square(const Jobs& jobs, const std::string& key) {
  return tflop_s(*jobs[0], fmt::format("{0}x{0}x{0}", key));
}
constexpr const char* kLargeGemm = "8192x8192x8192";
constexpr const char* kSlowGemm = "4096x4096x4096";  // Of elements that take longer.
double gemm_large(const Jobs& jobs, const std::string& key) {
  const std::string element = key.substr(0, 4);
  return tflop_s(*jobs[0], element == "fp16"   ? kLargeGemm
                           : element == "bf16" ? fmt::format("{}:bf16", kLargeGemm)
                                               : fmt::format("{}:{}", kSlowGemm, element));
}
double gemm_batched(const Jobs& jobs, const std::string& key) {  // "128x(1024x2048x1024)"
  return tflop_s(*jobs[0], key.substr(5, key.size() - 6) + ":batch=128");
}
struct LayerOperator {
  const char* name;
  const char* shape;
  const char* kind = "gemm";
};
// 4 x 2,048 tokens, hidden 4,096, 16 heads (SI-OP-04).
constexpr LayerOperator kLayer[] = {
    {"qkv", "8192x12288x4096"},       {"score", "2048x2048x256:nt:batch=64"},
    {"av", "2048x256x2048:batch=64"}, {"projection", "8192x4096x4096"},
    {"h_to_4h", "8192x16384x4096"},   {"4h_to_h", "8192x4096x16384"},
    {"gelu", "134217728", "gelu"},    {"layer_norm", "8192x4096", "layer_norm"}};
double layer_ms(const Jobs& jobs, const std::string& key) {
  for (const LayerOperator& one : kLayer)
    if (key == one.name) return field(operator_of(*jobs[0], one.shape), "turn_us") / 1000;
  throw std::out_of_range("operator");
}
// A layer of BERT-base as the library has it: 12 heads of 64, `key` tokens as "b8 s128". What adds the
// residual and normalises is two kernels here.
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
      {"SI-NCCL-11", "", not_modelled, 0, "", nullptr, "one node; no NIC"},
      {"SI-NCCL-12", "", not_modelled, 0, "", nullptr, "one node; no NIC"},
      {"SI-NCCL-13", "", not_run, 0, "", nullptr, kTooLarge},
      {"SI-NCCL-14", "", judged, kSmallCollective, "one-thread/two", time_us},
      {"SI-NCCL-15", "", judged, kSmallCollective, "small/two-sendrecv", time_us},
      {"SI-NCCL-16", "", not_run, 0, "", nullptr, kTooLarge},
      {"SI-NCCL-17", "", judged, kLargeCollective, "all-reduce-v100", busbw},
      {"SI-NCCL-18", "", judged, kLargeCollective, "all-reduce", busbw},
      {"SI-NCCL-19", "", not_modelled, 0, "", nullptr, "one node; no NIC"},
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

      {"SI-NIC-01", "", not_modelled, 0, "", nullptr, "no NIC"},
      {"SI-NIC-02", "", not_modelled, 0, "", nullptr, "no NIC"},
      {"SI-NIC-03", "", not_modelled, 0, "", nullptr, "no NIC"},
      {"SI-NIC-04", "", not_modelled, 0, "", nullptr, "no NIC"},
      {"SI-NIC-07", "", not_modelled, 0, "", nullptr, "no NIC"},
      {"SI-NIC-08", "", not_modelled, 0, "", nullptr, "no NIC"},
      {"SI-NIC-09", "", not_modelled, 0, "", nullptr, "no NIC"},
      {"SI-NIC-10", "", not_modelled, 0, "", nullptr, "no NIC"},
      {"SI-NIC-12", "", not_modelled, 0, "", nullptr, "no NIC"},
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

const std::vector<CampaignRun>& silicon_simulations() {
  static const std::vector<CampaignRun> all = [] {
    std::vector<CampaignRun> runs;
    // The longest first.
    add_others(runs);
    add_operators(runs);
    add_collectives(runs);
    add_memory(runs);
    add_peers(runs);
    return runs;
  }();
  return all;
}

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
