// SPDX-License-Identifier: Apache-2.0
// Figures of several applications as one: a range, a mean, a trend, or why there is none.
#ifndef STRETTO_PLATFORM_REPRODUCE_KITSUNE_KITSUNE_GATHERED_H_
#define STRETTO_PLATFORM_REPRODUCE_KITSUNE_KITSUNE_GATHERED_H_

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "platform/reproduce/kitsune/kitsune_results.h"

namespace stretto::kitsune {

using Results = KitsuneResults;
using Apps = std::vector<std::string>;

inline std::string joined(const std::vector<std::string>& all, const char* between = ", ") {
  return fmt::format("{}", fmt::join(all, between));
}

inline Apps apps(bool is_trained) {
  Apps all;
  for (const KitsuneApp& app : kitsune_apps())
    if (app.is_trained == is_trained) all.emplace_back(app.name);
  return all;
}
inline Apps without(Apps all, const Apps& out) {
  std::erase_if(all, [&](const std::string& one) {
    return std::find(out.begin(), out.end(), one) != out.end();
  });
  return all;
}
inline Apps every_app() {
  Apps all = apps(false);
  for (const std::string& one : apps(true)) all.push_back(one);
  return all;
}

inline double geomean(const std::vector<double>& all) {
  double sum = 0;
  for (const double one : all) sum += std::log(one);
  return std::exp(sum / static_cast<double>(all.size()));
}
inline double mean(const std::vector<double>& all) {
  double sum = 0;
  for (const double one : all) sum += one;
  return sum / static_cast<double>(all.size());
}

// Figures of several applications: those that there are, and why the others are not.
class Gathered {
 public:
  // `figure` may throw NotRun or MissingSimulations, and may say why its figure is of a part only.
  Gathered(const Apps& of,
           const std::function<std::vector<double>(const std::string&, std::string&)>& figure) {
    for (const std::string& app : of) {
      std::string partly, shown;
      try {
        for (const double one : figure(app, partly)) {
          (partly.empty() ? values : parts).push_back(one);
          shown += fmt::format("{}{:.3g}", shown.empty() ? "" : ", ", one);
        }
        if (!shown.empty()) notes.push_back(fmt::format("{} {}", app, shown));
        if (!partly.empty()) not_run.push_back(fmt::format("{}: {}", app, partly));
      } catch (const NotRun& why) {
        not_run.emplace_back(why.what());
      } catch (const MissingSimulations& what) {
        needs.emplace_back(what.what());
      }
    }
  }
  // A figure of all of them, or why there is none.
  Measured finish(Measured whole) const {
    whole.note += (whole.note.empty() || notes.empty() ? "" : "; ") + joined(notes);
    if (not_run.empty() && needs.empty()) return whole;
    if (!not_run.empty())
      whole.not_run = not_run.size() == 1
                          ? not_run.front()
                          : fmt::format("{}; and {} more", not_run.front(), not_run.size() - 1);
    else
      whole.needs = MissingSimulations(needs).what();
    whole.value.reset();
    whole.range.clear();
    return whole;
  }
  bool is_empty() const { return values.empty(); }

  std::vector<double> values, parts;
  std::vector<std::string> notes, not_run, needs;
};

inline Measured range_of(const Gathered& all, std::string note = "") {
  Measured whole{.note = std::move(note)};
  if (!all.values.empty()) {
    const auto [least, most] = std::minmax_element(all.values.begin(), all.values.end());
    whole.range = {*least, *most};
  }
  return all.finish(std::move(whole));
}
inline Measured one_of(const Gathered& all, double (*combine)(const std::vector<double>&),
                       std::string note = "") {
  Measured whole{.note = std::move(note)};
  if (!all.values.empty()) whole.value = combine(all.values);
  return all.finish(std::move(whole));
}
inline Measured trend_of(const Gathered& all, double value, bool holds, std::string note = "") {
  return all.finish({.value = value, .holds = holds, .note = std::move(note)});
}

// Notes and reasons of one beside those of another.
inline void append(Gathered& all, const Gathered& other) {
  for (const auto part : {&Gathered::notes, &Gathered::not_run, &Gathered::needs})
    for (const std::string& one : other.*part)
      if (std::find((all.*part).begin(), (all.*part).end(), one) == (all.*part).end())
        (all.*part).push_back(one);
}

}  // namespace stretto::kitsune

#endif  // STRETTO_PLATFORM_REPRODUCE_KITSUNE_KITSUNE_GATHERED_H_
