// SPDX-License-Identifier: Apache-2.0
#include "platform/gpu_driven_targets.h"

#include <algorithm>
#include <cstdio>
#include <functional>

namespace stretto {

namespace {

using Rows = std::vector<MessageRow>;

constexpr double kSaturated = 0.95;  // "Reaches line rate": this share of the own peak.

Measured none() { return {}; }

Measured number(double value, std::string note = "") { return {value, false, std::move(note), false}; }

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
  for (auto row = sweep.rbegin(); row != sweep.rend() && row->rate >= wanted; ++row) bytes = row->bytes;
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

Measured latency_ratio(const GpuDrivenResults& r, const char* fast) {
  const double slow_us = latency(r, "c-async"), fast_us = latency(r, fast);
  if (slow_us == 0 || fast_us == 0) return none();
  return number(slow_us / fast_us, text("c-async %.2f us, this %.2f us; the ring on the die (g-drv-d) %.2f us",
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
  if (ideal == nullptr || driven == nullptr || ideal_nv == nullptr || driven_nv == nullptr) return none();
  const std::vector<double> pcie = losses(*ideal, *driven), nvlink = losses(*ideal_nv, *driven_nv);
  const auto falls = [](const std::vector<double>& loss) {
    // From the first size at which the wire, not the call, is what the ideal rate waits for.
    return loss.back() < 0.5 * loss.front() && std::all_of(loss.begin(), loss.end(), [](double l) { return l > 0; });
  };
  bool larger = true;
  for (size_t i = 0; i < std::min(pcie.size(), nvlink.size()); ++i) larger = larger && nvlink[i] >= 0.99 * pcie[i];
  return judged(100 * pcie.back(), falls(pcie) && larger,
                text("percent lost at the largest size; PCIe %.1f -> %.1f", 100 * pcie.front(), 100 * pcie.back()) +
                    text(", NVLink %.1f -> %.1f from the smallest to it", 100 * nvlink.front(), 100 * nvlink.back()));
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
                text("largest difference in percent, at %.0f KiB; equal read as within 10", static_cast<double>(where) / 1024));
}

Measured measure_r35(const GpuDrivenResults& r) {
  const double h = latency(r, "g-drv-h"), s = latency(r, "g-drv-s"), c = latency(r, "c-async");
  if (h == 0 || s == 0 || c == 0) return none();
  return judged(c / h, h < s && s < c, text("%.2f < %.2f < %.2f us", h, s, c));
}

using Recipe = std::function<Measured(const GpuDrivenResults&)>;

const std::vector<std::pair<std::string, Recipe>>& recipes() {
  static const std::vector<std::pair<std::string, Recipe>> all{
      {"GD-R01",
       [](const GpuDrivenResults& r) {
         const Rows* sweep = rows(r.pcie, "g-drv-h");
         return sweep == nullptr ? none()
                                 : number(static_cast<double>(saturation(*sweep)) / 1024,
                                          "smallest size of the sweep with 95 % of the own peak");
       }},
      {"GD-R02",
       [](const GpuDrivenResults& r) {
         const Rows *fast = rows(r.pcie, "g-drv-h"), *slow = rows(r.pcie, "c-async");
         if (fast == nullptr || slow == nullptr || at(*fast, 8192) == nullptr || at(*slow, 8192) == nullptr) return none();
         return number(at(*fast, 8192)->rate / at(*slow, 8192)->rate,
                       text("8 KiB: %.2f against %.2f GB/s", at(*fast, 8192)->rate, at(*slow, 8192)->rate));
       }},
      {"GD-R03", [](const GpuDrivenResults& r) { return latency(r, "g-drv-h") == 0 ? none() : number(latency(r, "g-drv-h")); }},
      {"GD-R04", [](const GpuDrivenResults& r) { return latency_ratio(r, "g-drv-h"); }},
      {"GD-R10", [](const GpuDrivenResults& r) { return part(r, "", false, "all parts of a message, without the copy"); }},
      {"GD-R11", [](const GpuDrivenResults& r) { return part(r, "event_trigger", false, "end of the kernel until a CPU sees it"); }},
      {"GD-R12", [](const GpuDrivenResults& r) { return part(r, "stream_wait", false, "software.stream_wait_poll_ns, from the event on"); }},
      {"GD-R13", [](const GpuDrivenResults& r) { return part(r, "polling_gap", false, "software.outstanding_events, event_query_ns, event_poll_delay_ns"); }},
      {"GD-R14", [](const GpuDrivenResults& r) { return part(r, "mutex", true, "host.wake_ns"); }},
      {"GD-R15", [](const GpuDrivenResults& r) { return part(r, "launch", true, "software.launch_ns, and what the machine takes"); }},
      {"GD-R16", measure_r16},
      {"GD-R17",
       [](const GpuDrivenResults& r) {
         const double us = latency(r, "c-drv");
         return us == 0 ? none() : judged(us, us >= 100 && us < 1000, "'hundreds' read as 100 .. 1000 us");
       }},
      {"GD-R30", measure_r30},
      {"GD-R31",
       [](const GpuDrivenResults& r) {
         const Rows* sweep = rows(r.pcie, "g-drv-s");
         return sweep == nullptr ? none() : number(static_cast<double>(saturation(*sweep)) / (1 << 20), "95 % of the own peak");
       }},
      {"GD-R32",
       [](const GpuDrivenResults& r) {
         const Rows *card = rows(r.pcie, "g-drv-h"), *software = rows(r.pcie, "g-drv-s");
         if (card == nullptr || software == nullptr) return none();
         return number(100 * (1 - peak(*card) / peak(*software)),
                       text("%.2f against %.2f GB/s", peak(*card), peak(*software)));
       }},
      {"GD-R33", [](const GpuDrivenResults& r) { return latency(r, "c-async") == 0 ? none() : number(latency(r, "c-async")); }},
      {"GD-R34", [](const GpuDrivenResults& r) { return latency_ratio(r, "g-drv-s"); }},
      {"GD-R35", measure_r35},
  };
  return all;
}

}  // namespace

const std::vector<std::string>& gpu_driven_ids() {
  static const std::vector<std::string> ids = [] {
    std::vector<std::string> all;
    for (const auto& [id, recipe] : recipes()) all.push_back(id);
    return all;
  }();
  return ids;
}

Measured measure_gpu_driven(const std::string& id, const GpuDrivenResults& results) {
  for (const auto& [name, recipe] : recipes()) {
    if (name == id) return recipe(results);
  }
  return none();
}

}  // namespace stretto
