// SPDX-License-Identifier: Apache-2.0
#include "models/sampled/body_table.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <sstream>

#include "models/common/component.h"
#include "models/common/error.h"

namespace stretto {
namespace {

constexpr const char* kHead = "stretto bodies 2";
constexpr Time kLongest = 1'000'000 * 1'000 * kMicrosecond;  // 1,000 s.
constexpr uint64_t kMostDemand = 1'000'000'000'000;  // Clocks, slots or bytes of a work-group.

class Parser {
 public:
  Parser(const std::string& name, const std::string& text) : name_(name) {
    const size_t end = text.rfind("\nend ");
    if (!text.starts_with("stretto bodies "))
      throw UserError(name + ": is no table of bodies: stretto characterise makes one");
    if (!text.starts_with(std::string(kHead) + "\n")) fail("is of another version of stretto");
    if (end == std::string::npos) fail("is cut off");
    const std::string body = text.substr(0, end + 1);
    if (text.substr(end + 1) != "end " + sha256_hex(body.data(), body.size()) + "\n")
      fail("was changed or damaged: its sum does not fit");
    lines_.str(body);
  }

  BodyTable run() {
    std::string line;
    std::getline(lines_, line);
    for (number_ = 2; std::getline(lines_, line); ++number_) {
      words_.clear();
      words_.str(line);
      const std::string what = word();
      if (what == "machine") {
        table_.machine = word();
      } else if (what == "l2" && kernel_ == nullptr) {
        table_.l2_bytes = number();
      } else if (what == "error") {
        const std::string of = word();
        table_.errors[of] = number();
      } else if (what == "kernel") {
        const std::string key = word();
        kernel_ = &table_.kernels[key];
        kernel_->name = word();
        kernel_->grid = named("grid", UINT32_MAX);
        if (kernel_->grid == 0) fail("a grid of nothing");
        kernel_->groups = named("groups");
      } else if (kernel_ == nullptr) {
        fail(what + " before any kernel");
      } else {
        fact(what);
      }
      if (std::string more; words_ >> more) fail("what is '" + more + "'?");
    }
    for (const auto& [key, kernel] : table_.kernels) {
      const bool has_times = std::all_of(
          kernel.launches.begin(), kernel.launches.end(),
          [](const LaunchTimes& one) { return one.first.count != 0 || one.rest.count != 0; });
      if (kernel.points.empty() || !has_times || kernel.group_time() == 0)
        fail("kernel " + key + " has no times");
    }
    return std::move(table_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(name_ + (number_ == 0 ? "" : ":" + std::to_string(number_)) + ": " + what +
                    "; remove it and make it again with stretto characterise");
  }
  std::string word() {
    std::string one;
    if (!(words_ >> one)) fail("line is too short");
    return one;
  }
  uint64_t number(uint64_t most = kLongest) {
    uint64_t value = 0;
    if ((words_ >> std::ws).peek() == '-' || !(words_ >> value)) fail("not a number");
    if (value > most) fail(std::to_string(value) + " is more than " + std::to_string(most));
    return value;
  }
  uint64_t named(const char* name, uint64_t most = kLongest) {
    if (word() != name) fail(std::string("no ") + name);
    return number(most);
  }

  void fact(const std::string& what) {
    if (what == "launch") {
      kernel_->launches.push_back({number(), {}, {}});
    } else if (what == "correct") {
      if (kernel_->launches.empty()) fail(what + " before any launch");
      const uint64_t ppm = number(LaunchTimes::kMostCorrection);
      if (ppm < LaunchTimes::kLeastCorrection) fail("a correction to less than half");
      kernel_->launches.back().correction_ppm = ppm;
    } else if (what == "demand") {
      BodyDemand& demand = kernel_->demand;
      demand.tensor_cycles = named("tensor", kMostDemand);
      demand.simt_cycles = named("simt", kMostDemand);
      demand.issue_slots = named("issue", kMostDemand);
      demand.l2_bytes = named("l2", kMostDemand);
      demand.hbm_read_bytes = named("read", kMostDemand);
      demand.hbm_written_bytes = named("written", kMostDemand);
    } else if (what == "point") {
      BodyPoint point;
      point.residency_percent = static_cast<uint32_t>(number(100));
      point.limit = static_cast<uint32_t>(number(65535));
      point.residency_milli = named("residency");
      point.groups_milli = named("groups");
      point.time = named("time");
      if (point.time == 0 || point.residency_milli == 0) fail("a point of nothing");
      kernel_->points.push_back(point);
    } else if (what == "first" || what == "rest") {
      if (kernel_->launches.empty()) fail(what + " before any launch");
      LaunchTimes& launch = kernel_->launches.back();
      TimeDistribution& times = what == "first" ? launch.first : launch.rest;
      times.count = number();
      times.joined_ppm = named("joined", TimeDistribution::kAll);
      for (Time& one : times.at) one = number();
      if (!std::is_sorted(times.at.begin(), times.at.end())) fail("quantiles do not rise");
    } else {
      fail("what is '" + what + "'?");
    }
  }

  const std::string name_;
  std::istringstream lines_;
  std::istringstream words_;
  unsigned number_ = 0;
  BodyTable table_;
  BodyTimes* kernel_ = nullptr;
};

void write(std::ostream& out, const char* what, const TimeDistribution& times) {
  if (times.count == 0) return;
  out << what << ' ' << times.count << " joined " << times.joined_ppm;
  for (const Time one : times.at) out << ' ' << one;
  out << '\n';
}

}  // namespace

TimeDistribution TimeDistribution::of(std::vector<Time>& times) {
  assert(!times.empty());
  std::sort(times.begin(), times.end());
  TimeDistribution one;
  one.count = times.size();
  for (unsigned i = 0; i <= kParts; ++i) one.at[i] = times[(times.size() - 1) * i / kParts];
  return one;
}

// Of what draw() yields.
Time TimeDistribution::mean() const {
  const Time twice = 2 * std::accumulate(at.begin(), at.end(), Time{0}) - at.front() - at.back();
  return twice / (2 * kParts);
}

Time TimeDistribution::draw(uint64_t random) const {
  const unsigned part = static_cast<unsigned>(random >> 59);
  static_assert(kParts == 32);
  const uint64_t place = random >> 39 & 0xFFFFF;  // In the part, of 2^20.
  return at[part] + ((at[part + 1] - at[part]) * place >> 20);
}

size_t BodyTimes::index_for(uint64_t launch, uint64_t which) const {
  if (launch < launches.size()) return launch;
  return launches.size() == 1 ? 0 : 1 + which % (launches.size() - 1);
}

Time BodyTimes::launch_time() const {
  Time sum = 0, count = 0;
  for (const LaunchTimes& launch : launches) {
    sum += launch.time;
    count += launch.time != 0;
  }
  return count == 0 ? 0 : sum / count;
}

Time BodyTimes::group_time() const {
  unsigned __int128 sum = 0;
  uint64_t count = 0;
  for (const LaunchTimes& launch : launches) {
    for (const TimeDistribution* times : {&launch.first, &launch.rest}) {
      sum += static_cast<unsigned __int128>(times->mean()) * times->count;
      count += times->count;
    }
  }
  return count == 0 ? 0 : static_cast<Time>(sum / count);
}

BodyTable BodyTable::parse(const std::string& name, const std::string& text) {
  return Parser(name, text).run();
}

std::string BodyTable::text() const {
  std::ostringstream out;
  out << kHead << "\nmachine " << machine << "\nl2 " << l2_bytes << '\n';
  for (const auto& [key, kernel] : kernels) {
    out << "kernel " << key << ' ' << (kernel.name.empty() ? "?" : kernel.name) << " grid "
        << kernel.grid << " groups " << kernel.groups << '\n';
    const BodyDemand& demand = kernel.demand;
    out << "demand tensor " << demand.tensor_cycles << " simt " << demand.simt_cycles << " issue "
        << demand.issue_slots << " l2 " << demand.l2_bytes << " read " << demand.hbm_read_bytes
        << " written " << demand.hbm_written_bytes << '\n';
    for (const BodyPoint& point : kernel.points) {
      out << "point " << point.residency_percent << ' ' << point.limit << " residency "
          << point.residency_milli << " groups " << point.groups_milli << " time " << point.time
          << '\n';
    }
    for (const LaunchTimes& launch : kernel.launches) {
      out << "launch " << launch.time << '\n';
      if (launch.correction_ppm != LaunchTimes().correction_ppm)
        out << "correct " << launch.correction_ppm << '\n';
      write(out, "first", launch.first);
      write(out, "rest", launch.rest);
    }
  }
  for (const auto& [name, ppm] : errors) out << "error " << name << ' ' << ppm << '\n';
  const std::string body = out.str();
  return body + "end " + sha256_hex(body.data(), body.size()) + "\n";
}

namespace {

// Whether work-groups of `point` have read from memory what those of the full measurement found in the L2: an eighth of
// their traffic. What moves twice as much as the L2 holds finds the same there, whatever ran before.
bool lacks_operands(const BodyTimes& point, const BodyTimes& full, uint64_t l2_bytes) {
  return point.grid * full.demand.l2_bytes <= 2 * l2_bytes &&
         point.demand.hbm_read_bytes > full.demand.hbm_read_bytes + full.demand.l2_bytes / 8;
}

}  // namespace

void BodyTable::take_corrections(const BodyTable& from, const BodyTable& base) {
  for (auto& [key, kernel] : kernels) {
    const BodyTimes &theirs = from.kernels.at(key), &before = base.kernels.at(key);
    for (size_t i = 0; i < kernel.launches.size(); ++i)
      if (theirs.launches[i].correction_ppm != before.launches[i].correction_ppm)
        kernel.launches[i].correction_ppm = theirs.launches[i].correction_ppm;
  }
}

void BodyTable::merge(const BodyTable& other) {
  l2_bytes = std::max(l2_bytes, other.l2_bytes);
  for (const auto& [key, theirs] : other.kernels) {
    const auto [mine, is_new] = kernels.try_emplace(key, theirs);
    if (is_new) continue;
    BodyTimes& kernel = mine->second;
    bool takes_all = false;
    const bool has_full = std::any_of(kernel.points.begin(), kernel.points.end(),
                                      [](const BodyPoint& one) { return one.is_full(); });
    for (const BodyPoint& point : theirs.points) {
      if (has_full && !point.is_full() && lacks_operands(theirs, kernel, l2_bytes)) continue;
      const auto same =
          std::find_if(kernel.points.begin(), kernel.points.end(), [&](const auto& p) {
            return p.residency_percent == point.residency_percent && p.limit == point.limit;
          });
      takes_all |= point.is_full();
      if (same == kernel.points.end()) {
        kernel.points.push_back(point);
      } else {
        *same = point;
      }
    }
    if (!takes_all) continue;
    const std::vector<BodyPoint> points = std::move(kernel.points);
    kernel = theirs;
    kernel.points = points;
  }
}

}  // namespace stretto
