// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/gpu_driven/gpu_driven_targets.h"

#include <algorithm>
#include <cstdio>
#include <functional>

namespace stretto {

namespace {

using Rows = std::vector<MessageRow>;

constexpr double kSaturated = 0.95;   // "Reaches line rate": this share of the own peak.
constexpr double kNoSlowdown = 1.05;  // "Near zero": within this.
constexpr unsigned kGpus = 8;
constexpr const char* kDriven = "loop-s";      // G-Drv-S in a loop kernel.
constexpr const char* kBaseline = "launched";  // PT-TRT: a kernel an operator, NCCL.
constexpr const char* kMegatron =
    "launched-after";  // Megatron-LM: likewise, reduction after back-propagation.
constexpr const char* kPcie = "pcie";
constexpr const char* kNvlink = "nvlink";

Measured none(std::string note = "") { return {std::nullopt, false, std::move(note), false}; }

Measured number(double value, std::string note = "") {
  return {value, false, std::move(note), false};
}

Measured judged(double value, bool holds, std::string note) {
  return {value, holds, std::move(note), false};
}

std::string text(const char* pattern, double a = 0, double b = 0, double c = 0) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, pattern, a, b, c);
  return buffer;
}

const Rows* rows(const std::map<std::string, Rows>& all, const char* mode) {
  const auto found = all.find(mode);
  return found == all.end() || found->second.empty() ? nullptr : &found->second;
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

const MessageRow* at(const Rows& sweep, uint64_t bytes) {
  for (const MessageRow& row : sweep) {
    if (row.bytes == bytes) return &row;
  }
  return nullptr;
}

// Mean of a part of a CPU-controlled transfer over all sizes: the parts do not depend on the size.
Measured part(const GpuDrivenResults& r, const std::string& name, bool input, const char* note) {
  const Rows* driven = rows(r.pcie, "c-drv");
  if (driven == nullptr) return none();
  double sum = 0, least = 1e99, most = 0;
  for (const MessageRow& row : *driven) {
    double value = 0;
    for (const auto& [key, us] : row.parts) value += name.empty() || key == name ? us : 0;
    sum += value;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  return {sum / static_cast<double>(driven->size()), false,
          std::string(note) + text("; %.1f .. %.1f us over the sizes", least, most), input};
}

// Latency of small messages (the smallest size).
double latency(const GpuDrivenResults& r, const char* mode) {
  const Rows* sweep = rows(r.pcie, mode);
  return sweep == nullptr ? 0 : sweep->front().latency;
}

// Figures of the ring on the die, where those of the card are missing.
template <typename Figure>
Measured without_card(const GpuDrivenResults& r, const char* pattern, Figure figure) {
  const Rows* sweep = rows(r.pcie, "g-drv-d");
  return sweep == nullptr ? none()
                          : none("g-drv-h missing; the ring on the die (g-drv-d): " +
                                 text(pattern, figure(*sweep)));
}

Measured latency_ratio(const GpuDrivenResults& r, const char* fast) {
  const double slow_us = latency(r, "c-async"), fast_us = latency(r, fast);
  if (slow_us == 0) return none();
  if (fast_us == 0)
    return without_card(r, "ratio %.2f",
                        [&](const Rows& sweep) { return slow_us / sweep.front().latency; });
  return number(slow_us / fast_us,
                text("c-async %.2f us, this %.2f us; the ring on the die (g-drv-d) %.2f us",
                     slow_us, fast_us, latency(r, "g-drv-d")));
}

// Share of the ideal rate that CPU control costs, by rising size; both sweeps have the same sizes.
std::vector<double> losses(const Rows& ideal, const Rows& driven) {
  std::vector<double> all;
  for (size_t i = 0; i < std::min(ideal.size(), driven.size()); ++i)
    all.push_back(1 - driven[i].rate / ideal[i].rate);
  return all;
}

Measured measure_r16(const GpuDrivenResults& r) {
  const Rows *ideal = rows(r.pcie, "memcpy"), *driven = rows(r.pcie, "c-drv");
  const Rows *ideal_nv = rows(r.nvlink, "memcpy"), *driven_nv = rows(r.nvlink, "c-drv");
  if (ideal == nullptr || driven == nullptr || ideal_nv == nullptr || driven_nv == nullptr)
    return none();
  const std::vector<double> pcie = losses(*ideal, *driven), nvlink = losses(*ideal_nv, *driven_nv);
  const auto falls = [](const std::vector<double>& loss) {
    // From the first size at which the wire, not the call, is what the ideal rate waits for.
    return loss.back() < 0.5 * loss.front() &&
           std::all_of(loss.begin(), loss.end(), [](double l) { return l > 0; });
  };
  bool larger = true;
  for (size_t i = 0; i < std::min(pcie.size(), nvlink.size()); ++i)
    larger = larger && nvlink[i] >= 0.99 * pcie[i];
  return judged(100 * pcie.back(), falls(pcie) && larger,
                text("percent lost at the largest size; PCIe %.1f -> %.1f", 100 * pcie.front(),
                     100 * pcie.back()) +
                    text(", NVLink %.1f -> %.1f from the smallest to it", 100 * nvlink.front(),
                         100 * nvlink.back()));
}

Measured measure_r30(const GpuDrivenResults& r) {
  const Rows *software = rows(r.pcie, "g-drv-s"), *driven = rows(r.pcie, "c-async");
  if (software == nullptr || driven == nullptr) return none();
  double worst = 0;
  uint64_t where = 0;
  for (size_t i = 0; i < std::min(software->size(), driven->size()); ++i) {
    const double gap = std::abs((*software)[i].rate / (*driven)[i].rate - 1);
    if (gap > worst) worst = gap, where = (*driven)[i].bytes;
  }
  return judged(100 * worst, worst <= 0.1,
                text("largest difference in percent, at %.0f KiB; equal read as within 10",
                     static_cast<double>(where) / 1024));
}

Measured measure_r35(const GpuDrivenResults& r) {
  const double h = latency(r, "g-drv-h"), s = latency(r, "g-drv-s"), c = latency(r, "c-async");
  if (h == 0)
    return without_card(r, "%.2f us", [](const Rows& sweep) { return sweep.front().latency; });
  if (s == 0 || c == 0) return none();
  return judged(c / h, h < s && s < c, text("%.2f < %.2f < %.2f us", h, s, c));
}

// Compute or communication, whichever suffers more. "Up to": at most the published value, and a slowdown at all.
Measured slowdown(const GpuDrivenResults& r, const std::string& kernel, double published) {
  const auto mmio = r.interference.find(kernel + "-mmio"),
             gdma = r.interference.find(kernel + "-gdma");
  const auto full = r.interference.find(kernel + "-mmio-full");
  if (mmio == r.interference.end()) return none();
  std::string note = text("kernel %.3f, all-gather %.3f by copy kernels", mmio->second.kernel,
                          mmio->second.gather);
  if (gdma != r.interference.end())
    note += text("; kernel %.3f, all-gather %.3f by the DMA engine", gdma->second.kernel,
                 gdma->second.gather);
  const double most = std::max(mmio->second.kernel, mmio->second.gather);
  // One after the other: how much that is depends on nothing but the chosen length of the kernel.
  if (full != r.interference.end())
    note += text("; with every wavefront slot taken kernel %.3f, all-gather %.3f",
                 full->second.kernel, full->second.gather);
  return judged(most, most > kNoSlowdown && most <= published,
                note + "; 16 MiB all-gather, published 64 MB");
}

Measured measure_r42(const GpuDrivenResults& r) {
  const auto l2 = r.interference.find("l2-gdma"), issue = r.interference.find("issue-gdma");
  if (l2 == r.interference.end() || issue == r.interference.end()) return none();
  const double most = std::max(l2->second.kernel, issue->second.kernel);
  return judged(
      most, most <= kNoSlowdown,
      text("slowdown of the kernel: %.3f of L2, %.3f of issue; near zero read as within 5 percent",
           l2->second.kernel, issue->second.kernel));
}

const TrainingSteps* steps_of(const GpuDrivenResults& r, const char* platform, const char* mode) {
  const auto of_platform = r.bert.find(platform);
  if (of_platform == r.bert.end()) return nullptr;
  const auto found = of_platform->second.find(mode);
  return found == of_platform->second.end() ? nullptr : &found->second;
}

const TrainingStep* step(const GpuDrivenResults& r, const char* platform, const char* mode,
                         unsigned gpus, unsigned layers) {
  const TrainingSteps* steps = steps_of(r, platform, mode);
  if (steps == nullptr) return nullptr;
  const auto of_gpus = steps->find(gpus);
  if (of_gpus == steps->end()) return nullptr;
  const auto found = of_gpus->second.find(layers);
  return found == of_gpus->second.end() ? nullptr : &found->second;
}

// The first of two buckets: the layer before it still computes.
const TrainingStep::Bucket* beside_compute(const GpuDrivenResults& r, const char* platform,
                                           const char* mode) {
  const TrainingStep* two = step(r, platform, mode, kGpus, 2);
  return two == nullptr || two->buckets.size() < 2 ? nullptr : &two->buckets.front();
}

Measured measure_r05(const GpuDrivenResults& r) {
  const auto *driven = beside_compute(r, kPcie, kDriven),
             *baseline = beside_compute(r, kPcie, kBaseline);
  if (driven == nullptr || baseline == nullptr) return none();
  return number(driven->bus_gb_s / baseline->bus_gb_s,
                text("%.2f against %.2f GB/s of bus, a bucket of one layer", driven->bus_gb_s,
                     baseline->bus_gb_s));
}

// Of a step against G-Drv-S.
Measured training_gain(const GpuDrivenResults& r, const char* mode) {
  const auto driven = bert_us(r, kPcie, kDriven, kGpus), other = bert_us(r, kPcie, mode, kGpus);
  if (!driven || !other) return none();
  return number(*other / *driven, text("step of 24 layers composed: %.2f against %.2f ms",
                                       *driven / 1000, *other / 1000));
}

// What computing loses beside the reductions.
Measured compute_loss(const GpuDrivenResults& r, const char* platform) {
  const auto alone = bert_us(r, platform, kBaseline, 1, &TrainingStep::compute_us);
  const auto beside = bert_us(r, platform, kBaseline, kGpus, &TrainingStep::compute_us);
  if (!alone || !beside) return none();
  return number(
      100 * (1 - *alone / *beside),
      text("forward and back-propagation of 24 layers composed: %.2f ms with 1 GPU, %.2f with 8",
           *alone / 1000, *beside / 1000));
}

// What the reduction loses beside computing: share of the peak.
Measured reduction_share(const GpuDrivenResults& r, const char* platform, const char* pattern) {
  const auto* bucket = beside_compute(r, platform, kBaseline);
  const auto alone = r.all_reduce_gb_s.find(platform);
  if (bucket == nullptr || alone == r.all_reduce_gb_s.end()) return none();
  return number(100 * bucket->bus_gb_s / alone->second,
                text(pattern, bucket->bus_gb_s, alone->second));
}

Measured measure_r23(const GpuDrivenResults& r) {
  const auto* bucket = beside_compute(r, kPcie, kBaseline);
  return bucket == nullptr ? none()
                           : number(bucket->bus_gb_s, "rate of bus, a bucket of one layer (25 MB)");
}

Measured measure_r40(const GpuDrivenResults& r) {
  const auto driven = bert_us(r, kPcie, kDriven, kGpus),
             baseline = bert_us(r, kPcie, kBaseline, kGpus);
  const TrainingStep *one = step(r, kPcie, kBaseline, 1, 1), *two = step(r, kPcie, kBaseline, 1, 2);
  const TrainingStep *one_of_8 = step(r, kPcie, kBaseline, kGpus, 1),
                     *two_of_8 = step(r, kPcie, kBaseline, kGpus, 2);
  const auto* bucket = beside_compute(r, kPcie, kBaseline);
  const auto alone = r.all_reduce_gb_s.find(kPcie);
  if (!driven || !baseline || one == nullptr || two == nullptr || bucket == nullptr ||
      alone == r.all_reduce_gb_s.end())
    return none();
  const double gap = *baseline - *driven;
  if (gap <= 0) return number(0, "there is no gap");
  // What a reduction loses, as far as it is not hidden: at most what a layer takes more than with 1 GPU.
  const double more = (two_of_8->step_us - one_of_8->step_us) - (two->step_us - one->step_us);
  const double lost = std::max(0.0, bucket->us * (1 - bucket->bus_gb_s / alone->second));
  const double exposed = std::clamp(more, 0.0, lost);
  return number(100 * (kBertLayers - 1) * exposed / gap,
                text("of a layer's all-reduce %.0f us are lost, %.0f of them exposed; gap of 24 "
                     "layers %.2f ms",
                     lost, exposed, gap / 1000));
}

Measured measure_r41(const GpuDrivenResults& r) {
  const auto* bucket = beside_compute(r, kPcie, kDriven);
  return bucket == nullptr
             ? none()
             : number(bucket->bus_gb_s,
                      "rate of bus beside back-propagation, a bucket of one layer (25 MB)");
}

Measured measure_r43(const GpuDrivenResults& r) {
  const auto driven = bert_throughput(r, kDriven, kGpus),
             baseline = bert_throughput(r, kBaseline, kGpus);
  const auto after = bert_throughput(r, kMegatron, kGpus);
  if (!driven || !baseline || !after) return none();
  return judged(
      *driven / std::max(*baseline, *after), *driven > std::max(*baseline, *after),
      text("%.1f sequences/s, PT-TRT %.1f, Megatron-LM %.1f", *driven, *baseline, *after));
}

using Recipe = std::function<Measured(const GpuDrivenResults&)>;
using Source = GpuDrivenSource;
struct Row {
  const char* id;
  Source source;
  Recipe recipe;
};

const std::vector<Row>& recipes() {
  static const std::vector<Row> all{
      {"GD-R01", Source::messages,
       [](const GpuDrivenResults& r) {
         const Rows* sweep = rows(r.pcie, "g-drv-h");
         if (sweep == nullptr)
           return without_card(r, "%.0f KiB", [](const Rows& die) {
             return static_cast<double>(saturation(die)) / 1024;
           });
         return number(static_cast<double>(saturation(*sweep)) / 1024,
                       "smallest size of the sweep with 95 % of the own peak");
       }},
      {"GD-R02", Source::messages,
       [](const GpuDrivenResults& r) {
         const Rows *fast = rows(r.pcie, "g-drv-h"), *slow = rows(r.pcie, "c-async");
         if (slow == nullptr || at(*slow, 8192) == nullptr) return none();
         if (fast == nullptr)
           return without_card(r, "ratio %.2f", [&](const Rows& die) {
             return at(die, 8192) == nullptr ? 0 : at(die, 8192)->rate / at(*slow, 8192)->rate;
           });
         if (at(*fast, 8192) == nullptr) return none();
         // GD-U05 was worked out from the published ratio, so nothing is shown by meeting it.
         return Measured{at(*fast, 8192)->rate / at(*slow, 8192)->rate, false,
                         text("software.copy_ns = GD-U05 decides; 8 KiB: %.2f against %.2f GB/s",
                              at(*fast, 8192)->rate, at(*slow, 8192)->rate),
                         true};
       }},
      {"GD-R03", Source::messages,
       [](const GpuDrivenResults& r) {
         return latency(r, "g-drv-h") != 0 ? number(latency(r, "g-drv-h"))
                                           : without_card(r, "%.2f us", [](const Rows& die) {
                                               return die.front().latency;
                                             });
       }},
      {"GD-R04", Source::messages,
       [](const GpuDrivenResults& r) { return latency_ratio(r, "g-drv-h"); }},
      {"GD-R05", Source::bert, measure_r05},
      {"GD-R06", Source::bert,
       [](const GpuDrivenResults& r) { return training_gain(r, kMegatron); }},
      {"GD-R07", Source::bert,
       [](const GpuDrivenResults& r) { return training_gain(r, kBaseline); }},
      {"GD-R10", Source::messages,
       [](const GpuDrivenResults& r) {
         return part(r, "", false, "all parts of a message, without the copy");
       }},
      {"GD-R11", Source::messages,
       [](const GpuDrivenResults& r) {
         return part(r, "event_trigger", false, "end of the kernel until a CPU sees it");
       }},
      {"GD-R12", Source::messages,
       [](const GpuDrivenResults& r) {
         return part(r, "stream_wait", false, "software.stream_wait_poll_ns, from the event on");
       }},
      {"GD-R13", Source::messages,
       [](const GpuDrivenResults& r) {
         return part(r, "polling_gap", false,
                     "software.outstanding_events, event_query_ns, event_poll_delay_ns");
       }},
      {"GD-R14", Source::messages,
       [](const GpuDrivenResults& r) { return part(r, "mutex", true, "host.wake_ns"); }},
      {"GD-R15", Source::messages,
       [](const GpuDrivenResults& r) {
         return part(r, "launch", true, "software.launch_ns, and what the machine takes");
       }},
      {"GD-R16", Source::messages, measure_r16},
      {"GD-R17", Source::messages,
       [](const GpuDrivenResults& r) {
         const double us = latency(r, "c-drv");
         return us == 0 ? none()
                        : judged(us, us >= 100 && us < 1000, "'hundreds' read as 100 .. 1000 us");
       }},
      {"GD-R20", Source::interference,
       [](const GpuDrivenResults& r) { return slowdown(r, "l2", 2.35); }},
      {"GD-R21", Source::interference,
       [](const GpuDrivenResults& r) { return slowdown(r, "issue", 2.00); }},
      {"GD-R22", Source::bert, [](const GpuDrivenResults& r) { return compute_loss(r, kPcie); }},
      {"GD-R23", Source::bert, measure_r23},
      {"GD-R24", Source::bert,
       [](const GpuDrivenResults& r) {
         return reduction_share(
             r, kPcie, "%.2f GB/s of bus; 32 MB with nothing beside it %.2f (published 9.33)");
       }},
      {"GD-R25", Source::bert_nvlink,
       [](const GpuDrivenResults& r) { return compute_loss(r, kNvlink); }},
      {"GD-R26", Source::bert_nvlink,
       [](const GpuDrivenResults& r) {
         return reduction_share(
             r, kNvlink,
             "%.2f GB/s of bus; 32 MB with nothing beside it %.2f (GD-D1: 49.0 of 158.6)");
       }},
      {"GD-R30", Source::messages, measure_r30},
      {"GD-R31", Source::messages,
       [](const GpuDrivenResults& r) {
         const Rows* sweep = rows(r.pcie, "g-drv-s");
         return sweep == nullptr ? none()
                                 : number(static_cast<double>(saturation(*sweep)) / (1 << 20),
                                          "95 % of the own peak");
       }},
      {"GD-R32", Source::messages,
       [](const GpuDrivenResults& r) {
         const Rows *card = rows(r.pcie, "g-drv-h"), *software = rows(r.pcie, "g-drv-s");
         if (software == nullptr) return none();
         if (card == nullptr)
           return without_card(r, "%.2f percent", [&](const Rows& die) {
             return 100 * (1 - peak(die) / peak(*software));
           });
         return number(100 * (1 - peak(*card) / peak(*software)),
                       text("%.2f against %.2f GB/s", peak(*card), peak(*software)));
       }},
      {"GD-R33", Source::messages,
       [](const GpuDrivenResults& r) {
         return latency(r, "c-async") == 0 ? none() : number(latency(r, "c-async"));
       }},
      {"GD-R34", Source::messages,
       [](const GpuDrivenResults& r) { return latency_ratio(r, "g-drv-s"); }},
      {"GD-R35", Source::messages, measure_r35},
      {"GD-R36", Source::none,
       [](const GpuDrivenResults&) {
         return none("no simulation notes it apart from the whole of a message");
       }},
      {"GD-R40", Source::bert, measure_r40},
      {"GD-R41", Source::bert, measure_r41},
      {"GD-R42", Source::interference, measure_r42},
      {"GD-R43", Source::bert, measure_r43},
      {"GD-R44", Source::none,
       [](const GpuDrivenResults&) { return none("of an FPGA, not of a simulation"); }},
  };
  return all;
}

double sequences_per_s(unsigned gpus, double us) { return 1e6 * kBertSequences * gpus / us; }

}  // namespace

std::optional<double> bert_us(const GpuDrivenResults& r, const char* platform, const char* mode,
                              unsigned gpus, double TrainingStep::*time) {
  const bool after = mode == std::string(kMegatron) && gpus > 1;
  if (after) {
    const TrainingStep* one = step(r, platform, kBaseline, gpus, 1);
    return one == nullptr ? std::nullopt : std::optional<double>(kBertLayers * (one->*time));
  }
  const TrainingSteps* steps =
      steps_of(r, platform, mode == std::string(kMegatron) ? kBaseline : mode);
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
  const auto us = bert_us(results, kPcie, mode.c_str(), gpus);
  if (!us) return std::nullopt;
  return sequences_per_s(gpus, *us);
}

std::string bert_csv(const GpuDrivenResults& r) {
  std::string csv =
      "platform,mode,gpus,layers,how,step_us,compute_us,first_bucket_us,first_bucket_bus_gb_s,"
      "sequences_per_s\n";
  char line[240];
  for (const auto& [platform, modes] : r.bert) {
    for (const auto& [mode, by_gpus] : modes) {
      for (const auto& [gpus, by_layers] : by_gpus) {
        for (const auto& [layers, step] : by_layers) {
          const TrainingStep::Bucket first =
              step.buckets.empty() ? TrainingStep::Bucket{} : step.buckets.front();
          std::snprintf(line, sizeof line, "%s,%s,%u,%u,simulated,%.6g,%.6g,%.6g,%.6g,%.6g\n",
                        platform.c_str(), mode.c_str(), gpus, layers, step.step_us, step.compute_us,
                        first.us, first.bus_gb_s, sequences_per_s(gpus, step.step_us));
          csv += line;
        }
      }
      for (const unsigned gpus : kBertGpus) {
        const std::optional<double> us = bert_us(r, platform.c_str(), mode.c_str(), gpus);
        if (!us) continue;
        std::snprintf(line, sizeof line, "%s,%s,%u,%u,composed,%.6g,%.6g,,,%.6g\n",
                      platform.c_str(), mode.c_str(), gpus, kBertLayers, *us,
                      *bert_us(r, platform.c_str(), mode.c_str(), gpus, &TrainingStep::compute_us),
                      sequences_per_s(gpus, *us));
        csv += line;
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
  return Source::none;
}

Measured measure_gpu_driven(const std::string& id, const GpuDrivenResults& results) {
  for (const Row& row : recipes()) {
    if (row.id == id) return row.recipe(results);
  }
  return none();
}

}  // namespace stretto
