// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/t3/t3_targets.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

namespace stretto {

bool T3Case::has(std::initializer_list<const char*> modes) const {
  return std::all_of(modes.begin(), modes.end(),
                     [&](const char* mode) { return runs.count(mode) != 0; });
}

double T3Case::speedup(const char* mode) const {
  return run("sequential").layer() / run(mode).layer();
}

double T3Case::ideal_time() const {
  return static_cast<double>(std::max(run("gemm").gemm, run("rs").rs) + run("ag").ag);
}

double T3Case::ideal_nmc_time() const {
  return static_cast<double>(std::max(run("gemm").gemm, run("rs-nmc").rs) + run("ag").ag);
}

double T3Case::ideal_speedup() const { return run("sequential").layer() / ideal_time(); }

namespace {

using Cases = std::vector<const T3Case*>;
using Number = std::function<double(const T3Case&)>;

// The cases that `keep` accepts, if every one of them has the modes; else none, so that a geomean
// is over all or nothing.
Cases select(const std::vector<T3Case>& all, const std::function<bool(const T3Case&)>& keep,
             std::initializer_list<const char*> modes) {
  Cases chosen;
  for (const T3Case& one : all) {
    if (!keep(one)) continue;
    if (!one.has(modes)) return {};
    chosen.push_back(&one);
  }
  return chosen;
}

bool small(const T3Case& one) { return !one.large(); }
bool large(const T3Case& one) { return one.large(); }
std::function<bool(const T3Case&)> small_tp(unsigned tp) {
  return [tp](const T3Case& one) { return !one.large() && one.tp == tp; };
}

double geomean(const Cases& cases, const Number& number) {
  double sum = 0;
  for (const T3Case* one : cases) sum += std::log(number(*one));
  return std::exp(sum / static_cast<double>(cases.size()));
}

double mean(const Cases& cases, const Number& number) {
  double sum = 0;
  for (const T3Case* one : cases) sum += number(*one);
  return sum / static_cast<double>(cases.size());
}

const T3Case* largest(const Cases& cases, const Number& number) {
  return *std::max_element(cases.begin(), cases.end(), [&](const T3Case* a, const T3Case* b) {
    return number(*a) < number(*b);
  });
}

std::string format(const char* pattern, double a, double b = 0, double c = 0) {
  char text[200];
  std::snprintf(text, sizeof text, pattern, a, b, c);
  return text;
}

Measured none() { return {}; }
Measured of_geomean(const Cases& cases, const Number& number, double scale = 1, double offset = 0) {
  if (cases.empty()) return none();
  return {(geomean(cases, number) + offset) * scale, false,
          std::to_string(cases.size()) + " cases"};
}
Measured of_max(const Cases& cases, const Number& number, double scale = 1, double offset = 0) {
  if (cases.empty()) return none();
  const T3Case* top = largest(cases, number);
  return {(number(*top) + offset) * scale, false, top->name};
}
Measured trend(double value, bool holds, std::string note) {
  return {value, holds, std::move(note)};
}

const Number kMca = [](const T3Case& c) { return c.speedup("t3-mca"); };
const Number kT3 = [](const T3Case& c) { return c.speedup("t3"); };
const Number kIdeal = [](const T3Case& c) { return c.ideal_speedup(); };
const Number kMcaOverT3 = [](const T3Case& c) {
  return c.run("t3").layer() / c.run("t3-mca").layer();
};
const Number kNmcGain = [](const T3Case& c) {
  return double(c.run("rs").rs) / double(c.run("rs-nmc").rs);
};
const Number kNmcExtra = [](const T3Case& c) { return c.ideal_time() / c.ideal_nmc_time(); };

double writes(const T3Run& run) {
  return run.dram_bytes("gemm_write") + run.dram_bytes("rs_write");
}
double traffic(const T3Run& run) {
  double sum = 0;
  for (const char* key : {"gemm_read", "gemm_write", "rs_read", "rs_write", "ag_read", "ag_write"})
    sum += run.dram_bytes(key);
  return sum;
}
const Number kTrafficCut = [](const T3Case& c) {
  return 100 * (1 - traffic(c.run("t3-mca")) / traffic(c.run("sequential")));
};
const Number kRsReads = [](const T3Case& c) {
  return c.run("sequential").dram_bytes("rs_read") / c.run("t3-mca").dram_bytes("rs_read");
};
const Number kWrites = [](const T3Case& c) {
  return writes(c.run("sequential")) / writes(c.run("t3-mca"));
};
const Number kGemmReads = [](const T3Case& c) {
  return c.run("sequential").dram_bytes("gemm_read") / c.run("t3-mca").dram_bytes("gemm_read");
};
// Share of the saved traffic that comes from the collective (first and last step), not from GEMM
// reads.
const Number kOneTimeShare = [](const T3Case& c) {
  const T3Run& a = c.run("sequential");
  const T3Run& b = c.run("t3-mca");
  const double one_time = a.dram_bytes("rs_read") - b.dram_bytes("rs_read") + writes(a) - writes(b);
  return one_time / (traffic(a) - traffic(b));
};

std::vector<double> ranks(const Cases& cases, const Number& number) {
  std::vector<double> rank;
  for (const T3Case* one : cases) {
    double below = 0, equal = 0;
    for (const T3Case* other : cases) {
      below += number(*other) < number(*one);
      equal += number(*other) == number(*one);
    }
    rank.push_back(below + (equal - 1) / 2);
  }
  return rank;
}

double spearman(const Cases& cases, const Number& x, const Number& y) {
  const std::vector<double> a = ranks(cases, x), b = ranks(cases, y);
  const double middle = (static_cast<double>(cases.size()) - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    xy += (a[i] - middle) * (b[i] - middle);
    xx += (a[i] - middle) * (a[i] - middle);
    yy += (b[i] - middle) * (b[i] - middle);
  }
  return xx == 0 || yy == 0 ? 0 : xy / std::sqrt(xx * yy);
}

constexpr std::initializer_list<const char*> kIsolated = {"sequential", "gemm", "rs", "ag"};

Measured measure_r36(const std::vector<T3Case>& all) {
  const Cases tp8 = select(all, small_tp(8), {"gemm", "rs", "rs-nmc", "ag"});
  const Cases tp16 = select(all, small_tp(16), {"gemm", "rs", "rs-nmc", "ag"});
  if (tp8.empty() || tp16.empty()) return none();
  double effect = 0;
  for (const Cases& some : {tp8, tp16}) {
    for (const T3Case* one : some) {
      if (one->run("gemm").gemm > one->run("rs").rs) effect = std::max(effect, kNmcExtra(*one) - 1);
    }
  }
  const double b8 = 100 * (geomean(tp8, kNmcGain) - 1), b16 = 100 * (geomean(tp16, kNmcGain) - 1);
  return trend(b8 - b16, b8 > b16 && effect == 0,
               format("RS gain %.1f %% at TP 8, %.1f %% at TP 16; effect where GEMM > RS: %.2f %%",
                      b8, b16, 100 * effect));
}

Measured measure_r37(const std::vector<T3Case>& all) {
  const Cases cases = select(all, small, kIsolated);
  if (cases.empty()) return none();
  const Number balance = [](const T3Case& c) {
    const double g = double(c.run("gemm").gemm), r = double(c.run("rs").rs);
    return std::min(g, r) / std::max(g, r);
  };
  const double rho = spearman(cases, kIdeal, balance);
  return trend(rho, rho >= 0.5, "rank correlation of ideal speed-up with min/max of the two times");
}

Measured measure_r42(const std::vector<T3Case>& all) {
  const Cases cases = select(all, [](const T3Case& c) { return small(c) && c.layer == "op"; },
                             {"sequential", "t3", "gemm", "rs", "ag"});
  if (cases.empty()) return none();
  const Number ratio = [](const T3Case& c) { return c.ideal_time() / c.run("t3").layer(); };
  const double worst = ratio(**std::min_element(
      cases.begin(), cases.end(), [&](auto a, auto b) { return ratio(*a) < ratio(*b); }));
  return trend(geomean(cases, ratio), geomean(cases, ratio) >= 0.95,
               format("T3 / ideal, OP layers; worst %.3f", worst));
}

Measured measure_r43(const std::vector<T3Case>& all) {
  const Cases cases = select(
      all, [](const T3Case& c) { return small(c) && (c.layer == "fc1" || c.layer == "fc2"); },
      {"t3", "gemm", "rs", "ag"});
  if (cases.empty()) return none();
  unsigned above = 0;
  std::vector<double> gaps;
  for (const T3Case* one : cases) {
    gaps.push_back(100 * (one->run("t3").layer() / one->ideal_time() - 1));
    above += gaps.back() > 15;
  }
  std::sort(gaps.begin(), gaps.end());
  return trend(gaps[gaps.size() / 2], 2 * above >= cases.size(),
               format("median; %.0f of %.0f FC layers above 15 %%, largest %.1f %%", above,
                      double(cases.size()), gaps.back()));
}

Measured measure_r44(const std::vector<T3Case>& all) {
  for (const T3Case& one : all) {
    if (one.name != "tnlg-fc2-tp8" || !one.has({"gemm", "t3"})) continue;
    const double longer = 100 * (double(one.run("t3").gemm) / double(one.run("gemm").gemm) - 1);
    return trend(longer, longer > 0,
                 "GEMM longer under overlap, percent; traffic over time: run with --timeline");
  }
  return none();
}

Measured measure_r45(const std::vector<T3Case>& all) {
  // Where the collective is the longer part, links should be busy nearly all of it. A rank sends N
  // - 1 chunks.
  Cases bound;
  for (const T3Case* one : select(all, small, {"gemm", "rs", "t3"})) {
    if (one->run("rs").rs > one->run("gemm").gemm) bound.push_back(one);
  }
  if (bound.empty()) return none();
  const Number use = [](const T3Case& c) {
    return double(c.run("rs").rs) / double(c.run("t3").rs);
  };
  const double value = geomean(bound, use);
  return trend(value, value >= 0.9,
               "isolated RS time / RS time under T3, where RS is the longer part");
}

Measured measure_r53(const std::vector<T3Case>& all) {
  for (const T3Case& one : all) {
    if (one.name != "tnlg-fc1-tp16" || !one.has({"t3-mca", "gemm", "rs", "ag"})) continue;
    const double gap = 100 * (one.run("t3-mca").layer() / one.ideal_time() - 1);
    return trend(gap, gap > 5, "percent above ideal; 'far' read as more than the mean gap of 5");
  }
  return none();
}

Measured measure_r54(const std::vector<T3Case>& all) {
  const Cases cases = select(all, small, {"sequential", "t3", "t3-mca", "gemm", "rs", "ag"});
  if (cases.empty()) return none();
  const double a = geomean(cases, kT3), b = geomean(cases, kMca), c = geomean(cases, kIdeal);
  return trend(b / a, 1 < a && a < b && b < c, format("T3 %.3f, T3-MCA %.3f, ideal %.3f", a, b, c));
}

Measured measure_r69(const std::vector<T3Case>& all) {
  double off = 0;
  unsigned count = 0;
  for (const T3Case& one : all) {
    if (!one.has({"sequential", "t3-mca"})) continue;
    ++count;
    for (const char* key : {"ag_read", "ag_write"}) {
      off = std::max(
          off, std::abs(one.run("sequential").dram_bytes(key) - one.run("t3-mca").dram_bytes(key)));
    }
  }
  if (count == 0) return none();
  return trend(off, off == 0, format("largest difference in bytes over %.0f cases", count));
}

Measured measure_r70(const std::vector<T3Case>& all) {
  const Cases tp8 = select(all, small_tp(8), {"sequential", "t3-mca"});
  const Cases tp16 = select(all, small_tp(16), {"sequential", "t3-mca"});
  if (tp8.empty() || tp16.empty()) return none();
  const double a = mean(tp8, kOneTimeShare), b = mean(tp16, kOneTimeShare);
  return trend(a - b, a > b, format("share of RS savings %.2f at TP 8, %.2f at TP 16", a, b));
}

const std::vector<std::pair<std::string, std::function<Measured(const std::vector<T3Case>&)>>>&
recipes() {
  using All = const std::vector<T3Case>&;
  static const std::vector<std::pair<std::string, std::function<Measured(All)>>> list{
      {"T3-R01",
       [](All a) {
         return of_geomean(select(a, small, {"sequential", "t3-mca"}), kMca);
       }},
      {"T3-R02",
       [](All a) {
         return of_max(select(a, small, {"sequential", "t3-mca"}), kMca);
       }},
      {"T3-R03",
       [](All a) {
         const Cases cases = select(a, small, {"sequential", "t3-mca"});
         if (cases.empty()) return none();
         return Measured{mean(cases, kTrafficCut), false, std::to_string(cases.size()) + " cases"};
       }},
      {"T3-R04",
       [](All a) {
         return of_max(select(a, small, {"sequential", "t3-mca"}), kTrafficCut);
       }},
      {"T3-R05",
       [](All a) {
         return of_geomean(select(a, large, {"sequential", "t3-mca"}), kMca);
       }},
      {"T3-R30", [](All a) { return of_geomean(select(a, small, kIsolated), kIdeal); }},
      {"T3-R31", [](All a) { return of_max(select(a, small, kIsolated), kIdeal); }},
      {"T3-R32",
       [](All a) {
         return of_geomean(
             select(
                 a, [](const T3Case& c) { return c.name == "mega-op-tp16"; }, kIsolated),
             kIdeal);
       }},
      {"T3-R33",
       [](All a) {
         return of_geomean(select(a, small_tp(8), {"rs", "rs-nmc"}), kNmcGain, 100, -1);
       }},
      {"T3-R34",
       [](All a) {
         return of_geomean(select(a, small_tp(16), {"rs", "rs-nmc"}), kNmcGain, 100, -1);
       }},
      {"T3-R35",
       [](All a) {
         Measured measured =
             of_max(select(a, small, {"gemm", "rs", "rs-nmc", "ag"}), kNmcExtra, 100, -1);
         measured.holds = measured.value.has_value() && *measured.value <= 4;
         return measured;
       }},
      {"T3-R36", measure_r36},
      {"T3-R37", measure_r37},
      {"T3-R40",
       [](All a) {
         return of_geomean(select(a, small, {"sequential", "t3"}), kT3);
       }},
      {"T3-R41",
       [](All a) {
         return of_max(select(a, small, {"sequential", "t3"}), kT3);
       }},
      {"T3-R42", measure_r42},
      {"T3-R43", measure_r43},
      {"T3-R44", measure_r44},
      {"T3-R45", measure_r45},
      {"T3-R50",
       [](All a) {
         return of_max(select(a, small, {"t3", "t3-mca"}), kMcaOverT3);
       }},
      {"T3-R51",
       [](All a) {
         return of_geomean(select(a, small, {"t3", "t3-mca"}), kMcaOverT3);
       }},
      {"T3-R52",
       [](All a) {
         const Cases cases = select(a, small, {"sequential", "t3-mca", "gemm", "rs", "ag"});
         if (cases.empty()) return none();
         return Measured{100 * (geomean(cases, kIdeal) - geomean(cases, kMca)), false, ""};
       }},
      {"T3-R53", measure_r53},
      {"T3-R54", measure_r54},
      {"T3-R60",
       [](All a) {
         return of_geomean(select(a, small, {"sequential", "t3-mca"}), kRsReads);
       }},
      {"T3-R61",
       [](All a) {
         return of_geomean(select(a, small_tp(8), {"sequential", "t3-mca"}), kRsReads);
       }},
      {"T3-R62",
       [](All a) {
         return of_geomean(select(a, small_tp(16), {"sequential", "t3-mca"}), kRsReads);
       }},
      {"T3-R63",
       [](All a) {
         return of_geomean(select(a, small, {"sequential", "t3-mca"}), kWrites, 100, -1);
       }},
      {"T3-R64",
       [](All a) {
         return of_geomean(select(a, small_tp(8), {"sequential", "t3-mca"}), kWrites, 100, -1);
       }},
      {"T3-R65",
       [](All a) {
         return of_geomean(select(a, small_tp(16), {"sequential", "t3-mca"}), kWrites, 100, -1);
       }},
      {"T3-R66",
       [](All a) {
         return of_geomean(select(a, small, {"sequential", "t3-mca"}), kGemmReads);
       }},
      {"T3-R67",
       [](All a) {
         return of_geomean(select(a, small_tp(8), {"sequential", "t3-mca"}), kGemmReads);
       }},
      {"T3-R68",
       [](All a) {
         return of_geomean(select(a, small_tp(16), {"sequential", "t3-mca"}), kGemmReads);
       }},
      {"T3-R69", measure_r69},
      {"T3-R70", measure_r70},
      {"T3-R87",
       [](All a) {
         return of_max(select(a, large, {"sequential", "t3-mca"}), kMca);
       }},
  };
  return list;
}

}  // namespace

const std::vector<std::string>& t3_ids() {
  static const std::vector<std::string> ids = [] {
    std::vector<std::string> names;
    for (const auto& [id, recipe] : recipes()) names.push_back(id);
    return names;
  }();
  return ids;
}

Measured measure(const std::string& id, const std::vector<T3Case>& cases) {
  for (const auto& [name, recipe] : recipes()) {
    if (name == id) return recipe(cases);
  }
  return none();
}

}  // namespace stretto
