// SPDX-License-Identifier: Apache-2.0
// Functional coverage of a random test: what must have happened, by rule of the block's contract.
//
//   CoverageBins bins("mca");
//   uint64_t& starved = bins.bin("R4: communication goes first because it starved");
//   for (uint64_t i = 0; i < coverification_cycles(); ++i) {
//     ...
//     starved += out.grant_comm && compute_was_pending;  // A counter: nothing to look up.
//   }
//   bins.report();
//   CHECK(bins.empty() == "");  // Names of bins that nothing hit.
//   // Rules that nobody looks for.
//   CHECK(bins.rules_without_bin(STRETTO_SOURCE_DIR "/rtl/mca/README.md") == "");
//
// Invariants: (1) a reference that bin() returned stays valid as long as its CoverageBins; (2) a
// name is declared once and begins with a rule, "R4: ".
#ifndef STRETTO_TESTS_SUPPORT_COVERAGE_BINS_H_
#define STRETTO_TESTS_SUPPORT_COVERAGE_BINS_H_

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>

namespace stretto::test {

// Clocks of a random co-verification test: STRETTO_COVERIFICATION_CYCLES, or what the gate runs.
inline uint64_t coverification_cycles() {
  const char* text = std::getenv("STRETTO_COVERIFICATION_CYCLES");
  if (text == nullptr || *text == '\0') return 100'000;
  char* end = nullptr;
  const uint64_t cycles = std::strtoull(text, &end, 10);
  if (*end != '\0' || cycles == 0) {
    throw std::invalid_argument("STRETTO_COVERIFICATION_CYCLES is a number of clocks, not '" +
                                std::string(text) + "'");
  }
  return cycles;
}

class CoverageBins {
 public:
  explicit CoverageBins(std::string block) : block_(std::move(block)) {}
  CoverageBins(const CoverageBins&) = delete;
  CoverageBins& operator=(const CoverageBins&) = delete;

  // The counter of a new bin. Throws std::invalid_argument for a name without rule or a second one.
  uint64_t& bin(const std::string& name) {
    static const std::regex form("([A-Z]+[0-9]+[a-z]?): .+");
    std::smatch match;
    if (!std::regex_match(name, match, form)) {
      throw std::invalid_argument("bin '" + name + "' does not begin with a rule, as 'R4: '");
    }
    if (!names_.insert(name).second) throw std::invalid_argument("two bins '" + name + "'");
    rules_.insert(match[1]);
    bins_.push_back({name, 0});
    return bins_.back().hits;
  }

  // Prints every bin and its count to stderr.
  void report() const {
    for (const Bin& bin : bins_) {
      std::fprintf(stderr, "coverage %s %10" PRIu64 "  %s\n", block_.c_str(), bin.hits,
                   bin.name.c_str());
    }
  }

  // Names of the bins without a hit, a line each; "no bins" if none was declared.
  std::string empty() const {
    if (bins_.empty()) return "no bins";
    std::string text;
    for (const Bin& bin : bins_) {
      if (bin.hits == 0) text += bin.name + "\n";
    }
    return text;
  }

  // Rules of a block's README ("- **R4** ...") that no bin is named after; the file's absence
  // counts, too.
  std::string rules_without_bin(const std::string& readme) const {
    static const std::regex form(R"(- \*\*([A-Z]+[0-9]+[a-z]?)\*\*.*)");
    std::ifstream file(readme);
    std::string text;
    unsigned rules = 0;
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (!std::regex_match(line, match, form)) continue;
      ++rules;
      if (!rules_.contains(match[1])) text += match[1].str() + " ";
    }
    return rules == 0 ? readme + " has no rules" : text;
  }

 private:
  struct Bin {
    std::string name;
    uint64_t hits;  // Written by the test, through the reference that bin() returned.
  };

  std::string block_;
  std::deque<Bin> bins_;
  std::set<std::string> names_;
  std::set<std::string> rules_;
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SUPPORT_COVERAGE_BINS_H_
