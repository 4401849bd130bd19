// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/t3/t3_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
using All = std::vector<T3Case>;
using Keep = bool (*)(const T3Case&);
using Number = double (*)(const T3Case&);
using Modes = std::vector<const char*>;

// The cases that `keep` accepts. Throws MissingSimulations unless every one of them has the modes:
// a geomean is over all or nothing.
Cases select(const All& all, Keep keep, const Modes& modes) {
  Cases chosen;
  std::vector<std::string> missing;
  for (const T3Case& one : all) {
    if (!keep(one)) continue;
    chosen.push_back(&one);
    for (const char* mode : modes) {
      if (one.runs.count(mode) == 0) missing.push_back(one.name + " " + mode);
    }
  }
  if (chosen.empty()) missing.emplace_back("cases of t3");
  if (!missing.empty()) throw MissingSimulations(missing);
  return chosen;
}

bool any(const T3Case&) { return true; }
bool small(const T3Case& one) { return !one.large(); }
bool large(const T3Case& one) { return one.large(); }
bool small_tp8(const T3Case& one) { return one.tp == 8; }
bool small_tp16(const T3Case& one) { return one.tp == 16; }
bool small_op(const T3Case& one) { return small(one) && one.layer == "op"; }
bool small_fc(const T3Case& one) {
  return small(one) && (one.layer == "fc1" || one.layer == "fc2");
}
bool mega_op_tp16(const T3Case& one) { return one.name == "mega-op-tp16"; }
bool tnlg_fc2_tp8(const T3Case& one) { return one.name == "tnlg-fc2-tp8"; }
bool tnlg_fc1_tp16(const T3Case& one) { return one.name == "tnlg-fc1-tp16"; }

double geomean(const Cases& cases, Number number) {
  double sum = 0;
  for (const T3Case* one : cases) sum += std::log(number(*one));
  return std::exp(sum / static_cast<double>(cases.size()));
}

double mean(const Cases& cases, Number number) {
  double sum = 0;
  for (const T3Case* one : cases) sum += number(*one);
  return sum / static_cast<double>(cases.size());
}

const T3Case* largest(const Cases& cases, Number number) {
  return *std::max_element(cases.begin(), cases.end(), [&](const T3Case* a, const T3Case* b) {
    return number(*a) < number(*b);
  });
}

Measured trend(double value, bool holds, std::string note) {
  return {value, holds, std::move(note)};
}

double mca_speedup(const T3Case& c) { return c.speedup("t3-mca"); }
double t3_speedup(const T3Case& c) { return c.speedup("t3"); }
double ideal_speedup(const T3Case& c) { return c.ideal_speedup(); }
double mca_over_t3(const T3Case& c) { return c.run("t3").layer() / c.run("t3-mca").layer(); }
double nmc_gain(const T3Case& c) { return double(c.run("rs").rs) / double(c.run("rs-nmc").rs); }
double nmc_extra(const T3Case& c) { return c.ideal_time() / c.ideal_nmc_time(); }

double writes(const T3Run& run) {
  return run.dram_bytes("gemm_write") + run.dram_bytes("rs_write");
}
double traffic(const T3Run& run) {
  double sum = 0;
  for (const char* key : kT3Traffic) sum += run.dram_bytes(key);
  return sum;
}
// Of sequential over t3-mca.
double ratio_of(const T3Case& c, const char* key) {
  return c.run("sequential").dram_bytes(key) / c.run("t3-mca").dram_bytes(key);
}
double traffic_cut(const T3Case& c) {
  return 100 * (1 - traffic(c.run("t3-mca")) / traffic(c.run("sequential")));
}
double rs_reads(const T3Case& c) { return ratio_of(c, "rs_read"); }
double gemm_reads(const T3Case& c) { return ratio_of(c, "gemm_read"); }
double all_writes(const T3Case& c) { return writes(c.run("sequential")) / writes(c.run("t3-mca")); }
// Share of the saved traffic that comes from the collective (first and last step), not from GEMM
// reads.
double one_time_share(const T3Case& c) {
  const T3Run& a = c.run("sequential");
  const T3Run& b = c.run("t3-mca");
  const double one_time = a.dram_bytes("rs_read") - b.dram_bytes("rs_read") + writes(a) - writes(b);
  return one_time / (traffic(a) - traffic(b));
}

std::vector<double> ranks(const Cases& cases, Number number) {
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

double spearman(const Cases& cases, Number x, Number y) {
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

const Modes kIsolated{"sequential", "gemm", "rs", "ag"};

Measured measure_r36(const All& all) {
  const Modes modes{"gemm", "rs", "rs-nmc", "ag"};
  const Cases tp8 = select(all, small_tp8, modes), tp16 = select(all, small_tp16, modes);
  double effect = 0;
  for (const Cases& some : {tp8, tp16}) {
    for (const T3Case* one : some) {
      if (one->run("gemm").gemm > one->run("rs").rs) effect = std::max(effect, nmc_extra(*one) - 1);
    }
  }
  const double b8 = 100 * (geomean(tp8, nmc_gain) - 1), b16 = 100 * (geomean(tp16, nmc_gain) - 1);
  return trend(
      b8 - b16, b8 > b16 && effect == 0,
      fmt::format("RS gain {:.1f} % at TP 8, {:.1f} % at TP 16; effect where GEMM > RS: {:.2f} %",
                  b8, b16, 100 * effect));
}

Measured measure_r37(const All& all) {
  const Number balance = [](const T3Case& c) {
    const double g = double(c.run("gemm").gemm), r = double(c.run("rs").rs);
    return std::min(g, r) / std::max(g, r);
  };
  const double rho = spearman(select(all, small, kIsolated), ideal_speedup, balance);
  return trend(rho, rho >= 0.5, "rank correlation of ideal speed-up with min/max of the two times");
}

Measured measure_r42(const All& all) {
  const Cases cases = select(all, small_op, {"sequential", "t3", "gemm", "rs", "ag"});
  const Number ratio = [](const T3Case& c) { return c.ideal_time() / c.run("t3").layer(); };
  const double worst = ratio(**std::min_element(
      cases.begin(), cases.end(), [&](auto a, auto b) { return ratio(*a) < ratio(*b); }));
  return trend(geomean(cases, ratio), geomean(cases, ratio) >= 0.95,
               fmt::format("T3 / ideal, OP layers; worst {:.3f}", worst));
}

Measured measure_r43(const All& all) {
  const Cases cases = select(all, small_fc, {"t3", "gemm", "rs", "ag"});
  unsigned above = 0;
  std::vector<double> gaps;
  for (const T3Case* one : cases) {
    gaps.push_back(100 * (one->run("t3").layer() / one->ideal_time() - 1));
    above += gaps.back() > 15;
  }
  std::sort(gaps.begin(), gaps.end());
  return trend(gaps[gaps.size() / 2], 2 * above >= cases.size(),
               fmt::format("median; {} of {} FC layers above 15 %, largest {:.1f} %", above,
                           cases.size(), gaps.back()));
}

Measured measure_r44(const All& all) {
  const T3Case& one = *select(all, tnlg_fc2_tp8, {"gemm", "t3"}).front();
  const double longer = 100 * (double(one.run("t3").gemm) / double(one.run("gemm").gemm) - 1);
  return trend(longer, longer > 0,
               "GEMM longer under overlap, percent; traffic over time: run with --timeline");
}

Measured measure_r45(const All& all) {
  // Where the collective is the longer part, links should be busy nearly all of it.
  Cases bound;
  for (const T3Case* one : select(all, small, {"gemm", "rs", "t3"})) {
    if (one->run("rs").rs > one->run("gemm").gemm) bound.push_back(one);
  }
  if (bound.empty()) return {.note = "RS is the longer part of no case"};
  const double value = geomean(
      bound, [](const T3Case& c) { return double(c.run("rs").rs) / double(c.run("t3").rs); });
  return trend(value, value >= 0.9,
               "isolated RS time / RS time under T3, where RS is the longer part");
}

Measured measure_r52(const All& all) {
  const Cases cases = select(all, small, {"sequential", "t3-mca", "gemm", "rs", "ag"});
  return {.value = 100 * (geomean(cases, ideal_speedup) - geomean(cases, mca_speedup))};
}

Measured measure_r53(const All& all) {
  const T3Case& one = *select(all, tnlg_fc1_tp16, {"t3-mca", "gemm", "rs", "ag"}).front();
  const double gap = 100 * (one.run("t3-mca").layer() / one.ideal_time() - 1);
  return trend(gap, gap > 5, "percent above ideal; 'far' read as more than the mean gap of 5");
}

Measured measure_r54(const All& all) {
  const Cases cases = select(all, small, {"sequential", "t3", "t3-mca", "gemm", "rs", "ag"});
  const double a = geomean(cases, t3_speedup), b = geomean(cases, mca_speedup),
               c = geomean(cases, ideal_speedup);
  return trend(b / a, 1 < a && a < b && b < c,
               fmt::format("T3 {:.3f}, T3-MCA {:.3f}, ideal {:.3f}", a, b, c));
}

Measured measure_r69(const All& all) {
  const Cases cases = select(all, any, {"sequential", "t3-mca"});
  double off = 0;
  for (const T3Case* one : cases) {
    for (const char* key : {"ag_read", "ag_write"})
      off = std::max(off, std::abs(one->run("sequential").dram_bytes(key) -
                                   one->run("t3-mca").dram_bytes(key)));
  }
  return trend(off, off == 0,
               fmt::format("largest difference in bytes over {} cases", cases.size()));
}

Measured measure_r70(const All& all) {
  const double a = mean(select(all, small_tp8, {"sequential", "t3-mca"}), one_time_share);
  const double b = mean(select(all, small_tp16, {"sequential", "t3-mca"}), one_time_share);
  return trend(a - b, a > b,
               fmt::format("share of RS savings {:.2f} at TP 8, {:.2f} at TP 16", a, b));
}

enum class Over { geomean, mean, largest };
enum class Unit { as_is, percent_above_1 };

// A number of each case, over all cases of a set. For bounds: holds if the result is at most
// `limit`.
struct Recipe {
  const char* id;
  Over over;
  Number number;
  Keep cases;
  Modes modes;  // That every case needs.
  Unit unit = Unit::as_is;
  std::optional<double> limit = std::nullopt;
};

// What takes more than that.
struct OwnRecipe {
  const char* id;
  Measured (*measure)(const All&);
};

const std::vector<Recipe>& recipes() {
  using enum Over;
  using enum Unit;
  const Modes mca{"sequential", "t3-mca"}, t3{"sequential", "t3"}, both{"t3", "t3-mca"};
  const Modes nmc{"rs", "rs-nmc"}, isolated_nmc{"gemm", "rs", "rs-nmc", "ag"};
  // clang-format off
  static const std::vector<Recipe> all{
      {"T3-R01", geomean, mca_speedup,   small,        mca},
      {"T3-R02", largest, mca_speedup,   small,        mca},
      {"T3-R03", mean,    traffic_cut,   small,        mca},
      {"T3-R04", largest, traffic_cut,   small,        mca},
      {"T3-R05", geomean, mca_speedup,   large,        mca},
      {"T3-R30", geomean, ideal_speedup, small,        kIsolated},
      {"T3-R31", largest, ideal_speedup, small,        kIsolated},
      {"T3-R32", geomean, ideal_speedup, mega_op_tp16, kIsolated},
      {"T3-R33", geomean, nmc_gain,      small_tp8,    nmc,          percent_above_1},
      {"T3-R34", geomean, nmc_gain,      small_tp16,   nmc,          percent_above_1},
      {"T3-R35", largest, nmc_extra,     small,        isolated_nmc, percent_above_1, 4},
      {"T3-R40", geomean, t3_speedup,    small,        t3},
      {"T3-R41", largest, t3_speedup,    small,        t3},
      {"T3-R50", largest, mca_over_t3,   small,        both},
      {"T3-R51", geomean, mca_over_t3,   small,        both},
      {"T3-R60", geomean, rs_reads,      small,        mca},
      {"T3-R61", geomean, rs_reads,      small_tp8,    mca},
      {"T3-R62", geomean, rs_reads,      small_tp16,   mca},
      {"T3-R63", geomean, all_writes,    small,        mca,          percent_above_1},
      {"T3-R64", geomean, all_writes,    small_tp8,    mca,          percent_above_1},
      {"T3-R65", geomean, all_writes,    small_tp16,   mca,          percent_above_1},
      {"T3-R66", geomean, gemm_reads,    small,        mca},
      {"T3-R67", geomean, gemm_reads,    small_tp8,    mca},
      {"T3-R68", geomean, gemm_reads,    small_tp16,   mca},
      {"T3-R87", largest, mca_speedup,   large,        mca},
  };
  // clang-format on
  return all;
}

constexpr OwnRecipe kOwnRecipes[] = {
    {"T3-R36", measure_r36}, {"T3-R37", measure_r37}, {"T3-R42", measure_r42},
    {"T3-R43", measure_r43}, {"T3-R44", measure_r44}, {"T3-R45", measure_r45},
    {"T3-R52", measure_r52}, {"T3-R53", measure_r53}, {"T3-R54", measure_r54},
    {"T3-R69", measure_r69}, {"T3-R70", measure_r70},
};

Measured follow(const Recipe& recipe, const All& all) {
  const Cases cases = select(all, recipe.cases, recipe.modes);
  Measured measured;
  double value = 0;
  if (recipe.over == Over::largest) {
    const T3Case* top = largest(cases, recipe.number);
    value = recipe.number(*top);
    measured.note = top->name;
  } else {
    value = (recipe.over == Over::mean ? mean : geomean)(cases, recipe.number);
    measured.note = fmt::format("{} cases", cases.size());
  }
  measured.value = recipe.unit == Unit::percent_above_1 ? 100 * (value - 1) : value;
  measured.holds = recipe.limit.has_value() && *measured.value <= *recipe.limit;
  return measured;
}

Measured measure_all(const std::string& id, const All& cases) {
  for (const Recipe& recipe : recipes()) {
    if (recipe.id == id) return follow(recipe, cases);
  }
  for (const OwnRecipe& recipe : kOwnRecipes) {
    if (recipe.id == id) return recipe.measure(cases);
  }
  return {};
}

}  // namespace

const std::vector<std::string>& t3_ids() {
  static const std::vector<std::string> ids = [] {
    std::vector<std::string> names;
    for (const Recipe& recipe : recipes()) names.emplace_back(recipe.id);
    for (const OwnRecipe& recipe : kOwnRecipes) names.emplace_back(recipe.id);
    std::sort(names.begin(), names.end());
    return names;
  }();
  return ids;
}

Measured measure_t3(const std::string& id, const std::vector<T3Case>& cases) {
  try {
    return measure_all(id, cases);
  } catch (const MissingSimulations& missing) {
    return {.needs = missing.what()};
  }
}

}  // namespace stretto
