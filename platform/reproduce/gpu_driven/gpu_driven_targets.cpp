// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/gpu_driven/gpu_driven_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "platform/kinds/graph/overlap_loss.h"

namespace stretto {

std::string messages_folder(const std::string& platform, const std::string& mode) {
  return fmt::format("messages-{}/{}", platform, mode);
}
std::string interference_folder(const std::string& mode) { return "interference/" + mode; }
std::string bert_folder(const std::string& platform, const std::string& mode, unsigned gpus,
                        unsigned layers) {
  return fmt::format("bert-{}/{}-{}gpus-{}layers", platform, mode, gpus, layers);
}
std::string all_reduce_folder(const std::string& platform) {
  return "all-reduce-alone-" + platform;
}

namespace {

using Results = GpuDrivenResults;
using Rows = std::vector<MessageRow>;

constexpr double kSaturated = 0.95;   // "Reaches line rate": this share of the own peak.
constexpr double kNoSlowdown = 1.05;  // "Near zero": within this.
constexpr unsigned kGpus = 8;
constexpr const char* kDriven = "loop-s";            // G-Drv-S in a loop kernel.
constexpr const char* kBaseline = "launched";        // PT-TRT: a kernel an operator, NCCL.
constexpr const char* kMegatron = "launched-after";  // Megatron-LM: reduces after back-propagation.
constexpr const char* kPcie = "pcie";
constexpr const char* kNvlink = "nvlink";

// A recipe reads results through the functions below; one that is missing ends it here.
[[noreturn]] void miss(const std::string& simulation) { throw MissingSimulations({simulation}); }

Measured number(double value, std::string note = "") {
  return {.value = value, .note = std::move(note)};
}

Measured judged(double value, bool holds, std::string note) {
  return {.value = value, .holds = holds, .note = std::move(note)};
}

// Null if there is none.
const Rows* find_sweep(const std::map<std::string, Rows>& all, const char* mode) {
  const auto found = all.find(mode);
  return found == all.end() || found->second.empty() ? nullptr : &found->second;
}

const Rows& pcie(const Results& r, const char* mode) {
  if (const Rows* found = find_sweep(r.pcie, mode)) return *found;
  miss(messages_folder(kPcie, mode));
}
const Rows& nvlink(const Results& r, const char* mode) {
  if (const Rows* found = find_sweep(r.nvlink, mode)) return *found;
  miss(messages_folder(kNvlink, mode));
}

double peak(const Rows& sweep) {
  double most = 0;
  for (const MessageRow& row : sweep) most = std::max(most, row.rate);
  return most;
}

// Smallest size from which on the rate is near the peak.
uint64_t saturation(const Rows& sweep) {
  const double wanted = kSaturated * peak(sweep);
  uint64_t bytes = sweep.back().bytes;
  for (auto row = sweep.rbegin(); row != sweep.rend() && row->rate >= wanted; ++row)
    bytes = row->bytes;
  return bytes;
}

// Rate at 8 KiB (GD-R02).
double rate_8k(const Rows& sweep, const std::string& mode) {
  for (const MessageRow& row : sweep) {
    if (row.bytes == 8192) return row.rate;
  }
  miss(messages_folder(kPcie, mode) + " of 8 KiB");
}

// Mean of a part of a CPU-controlled transfer over all sizes: the parts do not depend on the size.
// `name` null: of their sum.
Measured part(const Results& r, const char* name, bool input, const char* note) {
  const Rows& driven = pcie(r, "c-drv");
  double sum = 0, least = 1e99, most = 0;
  for (const MessageRow& row : driven) {
    double value = 0;
    for (const auto& [key, us] : row.parts) value += name == nullptr || key == name ? us : 0;
    sum += value;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  return {.value = sum / static_cast<double>(driven.size()),
          .note = fmt::format("{}; {:.1f} .. {:.1f} us over the sizes", note, least, most),
          .input = input};
}

// Latency of small messages (the smallest size).
double latency(const Rows& sweep) { return sweep.front().latency; }

// The figure of the card. Without its simulation that of the ring on the die is noted, not judged.
template <typename Figure>
Measured of_card(const Results& r, const char* unit, Figure figure) {
  if (const Rows* card = find_sweep(r.pcie, "g-drv-h")) return figure(*card);
  const Measured die = figure(pcie(r, "g-drv-d"));
  return {.note = fmt::format("the ring on the die (g-drv-d): {:.2f} {}", *die.value, unit),
          .needs = messages_folder(kPcie, "g-drv-h")};
}

Measured latency_ratio(const Results& r, const Rows& fast) {
  const double slow_us = latency(pcie(r, "c-async")), fast_us = latency(fast);
  const Rows* die = find_sweep(r.pcie, "g-drv-d");
  return number(
      slow_us / fast_us,
      fmt::format("c-async {:.2f} us, this {:.2f} us; the ring on the die (g-drv-d) {}", slow_us,
                  fast_us, die == nullptr ? "-" : fmt::format("{:.2f} us", latency(*die))));
}

double sequences_per_s(unsigned gpus, double us) { return 1e6 * kBertSequences * gpus / us; }

// Share of the ideal rate that CPU control costs, by rising size; both sweeps have the same sizes.
std::vector<double> losses(const Rows& ideal, const Rows& driven) {
  std::vector<double> all;
  for (size_t i = 0; i < std::min(ideal.size(), driven.size()); ++i)
    all.push_back(1 - driven[i].rate / ideal[i].rate);
  return all;
}

Measured measure_r16(const Results& r) {
  const std::vector<double> on_pcie = losses(pcie(r, "memcpy"), pcie(r, "c-drv")),
                            on_nvlink = losses(nvlink(r, "memcpy"), nvlink(r, "c-drv"));
  const auto falls = [](const std::vector<double>& loss) {
    // From the first size at which the wire, not the call, is what the ideal rate waits for.
    return loss.back() < 0.5 * loss.front() &&
           std::all_of(loss.begin(), loss.end(), [](double l) { return l > 0; });
  };
  bool larger = true;
  for (size_t i = 0; i < std::min(on_pcie.size(), on_nvlink.size()); ++i)
    larger = larger && on_nvlink[i] >= 0.99 * on_pcie[i];
  return judged(
      100 * on_pcie.back(), falls(on_pcie) && larger,
      fmt::format("percent lost at the largest size; PCIe {:.1f} -> {:.1f}, NVLink {:.1f} "
                  "-> {:.1f} from the smallest to it",
                  100 * on_pcie.front(), 100 * on_pcie.back(), 100 * on_nvlink.front(),
                  100 * on_nvlink.back()));
}

Measured measure_r30(const Results& r) {
  const Rows &software = pcie(r, "g-drv-s"), &driven = pcie(r, "c-async");
  double worst = 0;
  uint64_t where = 0;
  for (size_t i = 0; i < std::min(software.size(), driven.size()); ++i) {
    const double gap = std::abs(software[i].rate / driven[i].rate - 1);
    if (gap > worst) worst = gap, where = driven[i].bytes;
  }
  return judged(100 * worst, worst <= 0.1,
                fmt::format("largest difference in percent, at {} KiB; equal read as within 10",
                            where / 1024));
}

Measured measure_r35(const Results& r) {
  return of_card(r, "times faster than c-async", [&](const Rows& card) {
    const double h = latency(card), s = latency(pcie(r, "g-drv-s")),
                 c = latency(pcie(r, "c-async"));
    return judged(c / h, h < s && s < c, fmt::format("{:.2f} < {:.2f} < {:.2f} us", h, s, c));
  });
}

const Slowdowns& interference(const Results& r, const std::string& mode) {
  const auto found = r.interference.find(mode);
  if (found == r.interference.end()) miss(interference_folder(mode));
  return found->second;
}

// Compute or communication, whichever suffers more. "Up to": at most the published value, and a
// slowdown at all.
Measured slowdown(const Results& r, const std::string& kernel, double published) {
  const Slowdowns& mmio = interference(r, kernel + "-mmio");
  std::string note =
      fmt::format("kernel {:.3f}, all-gather {:.3f} by copy kernels", mmio.kernel, mmio.gather);
  if (const auto gdma = r.interference.find(kernel + "-gdma"); gdma != r.interference.end())
    note += fmt::format("; kernel {:.3f}, all-gather {:.3f} by the DMA engine", gdma->second.kernel,
                        gdma->second.gather);
  const double most = std::max(mmio.kernel, mmio.gather);
  // One after the other: how much that is depends on nothing but the chosen length of the kernel.
  if (const auto full = r.interference.find(kernel + "-mmio-full"); full != r.interference.end())
    note += fmt::format("; with every wavefront slot taken kernel {:.3f}, all-gather {:.3f}",
                        full->second.kernel, full->second.gather);
  return judged(most, most > kNoSlowdown && most <= published,
                note + "; 16 MiB all-gather, published 64 MB");
}

Measured measure_r42(const Results& r) {
  const double l2 = interference(r, "l2-gdma").kernel, issue = interference(r, "issue-gdma").kernel;
  const double most = std::max(l2, issue);
  return judged(most, most <= kNoSlowdown,
                fmt::format("slowdown of the kernel: {:.3f} of L2, {:.3f} of issue; near zero read "
                            "as within 5 percent",
                            l2, issue));
}

const TrainingSteps* steps_of(const Results& r, const std::string& platform,
                              const std::string& mode) {
  const auto of_platform = r.bert.find(platform);
  if (of_platform == r.bert.end()) return nullptr;
  const auto found = of_platform->second.find(mode);
  return found == of_platform->second.end() ? nullptr : &found->second;
}

const TrainingStep* find_step(const Results& r, const std::string& platform,
                              const std::string& mode, unsigned gpus, unsigned layers) {
  const TrainingSteps* steps = steps_of(r, platform, mode);
  if (steps == nullptr) return nullptr;
  const auto of_gpus = steps->find(gpus);
  if (of_gpus == steps->end()) return nullptr;
  const auto found = of_gpus->second.find(layers);
  return found == of_gpus->second.end() ? nullptr : &found->second;
}

const TrainingStep& step(const Results& r, const char* platform, const char* mode, unsigned gpus,
                         unsigned layers) {
  if (const TrainingStep* found = find_step(r, platform, mode, gpus, layers)) return *found;
  miss(bert_folder(platform, mode, gpus, layers));
}

// Of 24 layers.
double whole_us(const Results& r, const char* platform, const char* mode, unsigned gpus,
                double TrainingStep::*time = &TrainingStep::step_us) {
  if (const std::optional<double> us = bert_us(r, platform, mode, gpus, time)) return *us;
  const char* const simulated = mode == std::string(kMegatron) ? kBaseline : mode;
  const unsigned layers = find_step(r, platform, simulated, gpus, 1) == nullptr ? 1 : 2;
  miss(bert_folder(platform, simulated, gpus, layers));
}

// The first of two buckets: the layer before it still computes.
const TrainingStep::Bucket& beside_compute(const Results& r, const char* platform,
                                           const char* mode) {
  const TrainingStep& two = step(r, platform, mode, kGpus, 2);
  if (two.buckets.size() < 2) miss(bert_folder(platform, mode, kGpus, 2) + " with two buckets");
  return two.buckets.front();
}

// Of the bus, with nothing beside it.
double all_reduce_alone(const Results& r, const char* platform) {
  const auto found = r.all_reduce_gb_s.find(platform);
  if (found == r.all_reduce_gb_s.end()) miss(all_reduce_folder(platform));
  return found->second;
}

Measured measure_r05(const Results& r) {
  const auto &driven = beside_compute(r, kPcie, kDriven),
             &baseline = beside_compute(r, kPcie, kBaseline);
  return number(driven.bus_gb_s / baseline.bus_gb_s,
                fmt::format("{:.2f} against {:.2f} GB/s of bus, a bucket of one layer",
                            driven.bus_gb_s, baseline.bus_gb_s));
}

// Of a step against G-Drv-S.
Measured training_gain(const Results& r, const char* mode) {
  const double driven = whole_us(r, kPcie, kDriven, kGpus), other = whole_us(r, kPcie, mode, kGpus);
  return number(other / driven, fmt::format("step of 24 layers composed: {:.2f} against {:.2f} ms",
                                            driven / 1000, other / 1000));
}

// What computing loses while a reduction runs beside it: of two layers, one reduces while the other
// still computes.
Measured compute_loss(const Results& r, const char* platform) {
  const double alone = whole_us(r, platform, kBaseline, 1, &TrainingStep::compute_us);
  const double beside = whole_us(r, platform, kBaseline, kGpus, &TrainingStep::compute_us);
  const TrainingStep &two = step(r, platform, kBaseline, kGpus, 2),
                     &two_alone = step(r, platform, kBaseline, 1, 2);
  std::vector<std::pair<double, double>> windows;
  for (const TrainingStep::Bucket& bucket : two.buckets)
    windows.emplace_back(bucket.begin_us, bucket.end_us);
  return number(
      100 * overlap_loss(two.op_end_us, two_alone.op_end_us, windows),
      fmt::format("inside reductions, of two layers; of forward and back-propagation of 24 layers "
                  "composed {:.1f}: {:.2f} ms with 1 GPU, {:.2f} with 8",
                  100 * (1 - alone / beside), alone / 1000, beside / 1000));
}

// What the reduction loses beside computing: share of the peak.
Measured reduction_share(const Results& r, const char* platform, const char* published) {
  const double beside = beside_compute(r, platform, kBaseline).bus_gb_s;
  const double alone = all_reduce_alone(r, platform);
  return number(100 * beside / alone,
                fmt::format("{:.2f} GB/s of bus; 32 MB with nothing beside it {:.2f} ({})", beside,
                            alone, published));
}

Measured measure_r23(const Results& r) {
  return number(beside_compute(r, kPcie, kBaseline).bus_gb_s,
                "rate of bus, a bucket of one layer (25 MB)");
}

Measured measure_r40(const Results& r) {
  const double driven = whole_us(r, kPcie, kDriven, kGpus),
               baseline = whole_us(r, kPcie, kBaseline, kGpus);
  const TrainingStep &one = step(r, kPcie, kBaseline, 1, 1), &two = step(r, kPcie, kBaseline, 1, 2);
  const TrainingStep &one_of_8 = step(r, kPcie, kBaseline, kGpus, 1),
                     &two_of_8 = step(r, kPcie, kBaseline, kGpus, 2);
  const TrainingStep::Bucket& bucket = beside_compute(r, kPcie, kBaseline);
  const double alone = all_reduce_alone(r, kPcie), gap = baseline - driven;
  if (gap <= 0) return number(0, "there is no gap");
  // What a reduction loses, as far as it is not hidden: at most what a layer takes more than with 1
  // GPU.
  const double more = (two_of_8.step_us - one_of_8.step_us) - (two.step_us - one.step_us);
  const double lost = std::max(0.0, bucket.us * (1 - bucket.bus_gb_s / alone));
  const double exposed = std::clamp(more, 0.0, lost);
  return number(100 * (kBertLayers - 1) * exposed / gap,
                fmt::format("of a layer's all-reduce {:.0f} us are lost, {:.0f} of them exposed; "
                            "gap of 24 layers {:.2f} ms",
                            lost, exposed, gap / 1000));
}

Measured measure_r41(const Results& r) {
  return number(beside_compute(r, kPcie, kDriven).bus_gb_s,
                "rate of bus beside back-propagation, a bucket of one layer (25 MB)");
}

Measured measure_r43(const Results& r) {
  const auto rate = [&](const char* mode) {
    return sequences_per_s(kGpus, whole_us(r, kPcie, mode, kGpus));
  };
  const double driven = rate(kDriven), baseline = rate(kBaseline), after = rate(kMegatron);
  return judged(driven / std::max(baseline, after), driven > std::max(baseline, after),
                fmt::format("{:.1f} sequences/s, PT-TRT {:.1f}, Megatron-LM {:.1f}", driven,
                            baseline, after));
}

Measured measure_r01(const Results& r) {
  return of_card(r, "KiB", [](const Rows& sweep) {
    return number(static_cast<double>(saturation(sweep)) / 1024,
                  "smallest size of the sweep with 95 % of the own peak");
  });
}

Measured measure_r02(const Results& r) {
  const double slow = rate_8k(pcie(r, "c-async"), "c-async");
  return of_card(r, "times the rate", [&](const Rows& sweep) {
    const double fast = rate_8k(sweep, "g-drv-h");
    // GD-U05 was worked out from the published ratio, so nothing is shown by meeting it.
    return Measured{
        .value = fast / slow,
        .note = fmt::format("software.copy_ns = GD-U05 decides; 8 KiB: {:.2f} against {:.2f} GB/s",
                            fast, slow),
        .input = true};
  });
}

Measured measure_r03(const Results& r) {
  return of_card(r, "us", [](const Rows& sweep) { return number(latency(sweep)); });
}

Measured measure_r04(const Results& r) {
  return of_card(r, "times faster", [&](const Rows& sweep) { return latency_ratio(r, sweep); });
}

Measured measure_r17(const Results& r) {
  return {.value = latency(pcie(r, "c-drv")),
          .note = "host.wake_ns and software.launch_ns are half",
          .input = true};
}

Measured measure_r31(const Results& r) {
  return number(static_cast<double>(saturation(pcie(r, "g-drv-s"))) / (1 << 20),
                "95 % of the own peak");
}

Measured measure_r32(const Results& r) {
  const double software = peak(pcie(r, "g-drv-s"));
  return of_card(r, "percent", [&](const Rows& sweep) {
    return number(100 * (1 - peak(sweep) / software),
                  fmt::format("{:.2f} against {:.2f} GB/s", peak(sweep), software));
  });
}

Measured measure_r33(const Results& r) { return number(latency(pcie(r, "c-async"))); }
Measured measure_r34(const Results& r) { return latency_ratio(r, pcie(r, "g-drv-s")); }

// Of the first round trip of each size: the least and the most.
Measured measure_r36(const Results& r) {
  std::vector<double> ways;
  for (const MessageRow& row : pcie(r, "g-drv-s"))
    if (row.request > 0) ways.push_back(row.request);
  if (ways.empty()) return {.note = "no message of g-drv-s whose latency was measured"};
  const auto [least, most] = std::minmax_element(ways.begin(), ways.end());
  return {.note =
              "requests only, from the kernel to the thread that polls; flags are packets of "
              "the stream that copies",
          .range = {*least, *most}};
}

struct Row {
  const char* id;
  GpuDrivenSource source;
  Measured (*recipe)(const Results&);
};

const std::vector<Row>& recipes() {
  using enum GpuDrivenSource;
  using R = const Results&;
  // clang-format off
  static const std::vector<Row> all{
      {"GD-R01", messages,     measure_r01},
      {"GD-R02", messages,     measure_r02},
      {"GD-R03", messages,     measure_r03},
      {"GD-R04", messages,     measure_r04},
      {"GD-R05", bert,         measure_r05},
      {"GD-R06", bert,         [](R r) { return training_gain(r, kMegatron); }},
      {"GD-R07", bert,         [](R r) { return training_gain(r, kBaseline); }},
      {"GD-R10", messages,     [](R r) { return part(r, nullptr, true,
           "all parts of a message, without the copy; host.wake_ns and software.launch_ns are half"); }},
      {"GD-R11", messages,     [](R r) { return part(r, "event_trigger", false,
           "end of the kernel until a CPU sees it"); }},
      {"GD-R12", messages,     [](R r) { return part(r, "stream_wait", false,
           "software.stream_wait_poll_ns, from the event on"); }},
      {"GD-R13", messages,     [](R r) { return part(r, "polling_gap", false,
           "software.outstanding_events, event_query_ns, event_poll_delay_ns"); }},
      {"GD-R14", messages,     [](R r) { return part(r, "mutex", true,
           "host.wake_ns"); }},
      {"GD-R15", messages,     [](R r) { return part(r, "launch", true,
           "software.launch_ns, and what the machine takes"); }},
      {"GD-R16", messages,     measure_r16},
      {"GD-R17", messages,     measure_r17},
      {"GD-R20", interference, [](R r) { return slowdown(r, "l2", 2.35); }},
      {"GD-R21", interference, [](R r) { return slowdown(r, "issue", 2.00); }},
      {"GD-R22", bert,         [](R r) { return compute_loss(r, kPcie); }},
      {"GD-R23", bert,         measure_r23},
      {"GD-R24", bert,         [](R r) { return reduction_share(r, kPcie, "published 9.33"); }},
      {"GD-R25", bert_nvlink,  [](R r) { return compute_loss(r, kNvlink); }},
      {"GD-R26", bert_nvlink,  [](R r) { return reduction_share(r, kNvlink, "GD-D1: 49.0 of 158.6"); }},
      {"GD-R30", messages,     measure_r30},
      {"GD-R31", messages,     measure_r31},
      {"GD-R32", messages,     measure_r32},
      {"GD-R33", messages,     measure_r33},
      {"GD-R34", messages,     measure_r34},
      {"GD-R35", messages,     measure_r35},
      {"GD-R36", messages,     measure_r36},
      {"GD-R40", bert,         measure_r40},
      {"GD-R41", bert,         measure_r41},
      {"GD-R42", interference, measure_r42},
      {"GD-R43", bert,         measure_r43},
      {"GD-R44", none,         [](R) { return Measured{.note = "of an FPGA, not of a simulation"}; }},
  };
  // clang-format on
  return all;
}

}  // namespace

std::optional<double> bert_us(const GpuDrivenResults& r, const std::string& platform,
                              const std::string& mode, unsigned gpus, double TrainingStep::*time) {
  if (mode == kMegatron && gpus > 1) {
    const TrainingStep* one = find_step(r, platform, kBaseline, gpus, 1);
    return one == nullptr ? std::nullopt : std::optional<double>(kBertLayers * (one->*time));
  }
  const TrainingSteps* steps = steps_of(r, platform, mode == kMegatron ? kBaseline : mode);
  return steps == nullptr ? std::nullopt : composed_us(*steps, gpus, kBertLayers, time);
}

std::optional<double> composed_us(const TrainingSteps& steps, unsigned gpus, unsigned layers,
                                  double TrainingStep::*time) {
  const auto found = steps.find(gpus);
  if (found == steps.end() || found->second.count(1) == 0 || found->second.count(2) == 0)
    return std::nullopt;
  const double one = found->second.at(1).*time, two = found->second.at(2).*time;
  return one + (layers - 1) * (two - one);
}

std::optional<double> bert_throughput(const GpuDrivenResults& results, const std::string& mode,
                                      unsigned gpus) {
  const auto us = bert_us(results, kPcie, mode, gpus);
  if (!us) return std::nullopt;
  return sequences_per_s(gpus, *us);
}

std::string bert_csv(const GpuDrivenResults& r) {
  std::string csv =
      "platform,mode,gpus,layers,how,step_us,compute_us,first_bucket_us,first_bucket_bus_gb_s,"
      "sequences_per_s\n";
  for (const auto& [platform, modes] : r.bert) {
    for (const auto& [mode, by_gpus] : modes) {
      for (const auto& [gpus, by_layers] : by_gpus) {
        for (const auto& [layers, step] : by_layers) {
          const TrainingStep::Bucket first =
              step.buckets.empty() ? TrainingStep::Bucket{} : step.buckets.front();
          csv += fmt::format("{},{},{},{},simulated,{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}\n", platform,
                             mode, gpus, layers, step.step_us, step.compute_us, first.us,
                             first.bus_gb_s, sequences_per_s(gpus, step.step_us));
        }
      }
      for (const unsigned gpus : kBertGpus) {
        const std::optional<double> us = bert_us(r, platform, mode, gpus);
        if (!us) continue;
        csv += fmt::format("{},{},{},{},composed,{:.6g},{:.6g},,,{:.6g}\n", platform, mode, gpus,
                           kBertLayers, *us,
                           *bert_us(r, platform, mode, gpus, &TrainingStep::compute_us),
                           sequences_per_s(gpus, *us));
      }
    }
  }
  return csv;
}

const std::vector<std::string>& gpu_driven_ids() {
  static const std::vector<std::string> ids = [] {
    std::vector<std::string> all;
    for (const Row& row : recipes()) all.emplace_back(row.id);
    return all;
  }();
  return ids;
}

GpuDrivenSource gpu_driven_source(const std::string& id) {
  for (const Row& row : recipes()) {
    if (row.id == id) return row.source;
  }
  return GpuDrivenSource::none;
}

Measured measure_gpu_driven(const std::string& id, const GpuDrivenResults& results) {
  try {
    for (const Row& row : recipes()) {
      if (row.id == id) return row.recipe(results);
    }
  } catch (const MissingSimulations& missing) {
    return {.needs = missing.what()};
  }
  return {};
}

}  // namespace stretto
