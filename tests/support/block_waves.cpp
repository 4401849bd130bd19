// SPDX-License-Identifier: Apache-2.0
#include "tests/support/block_waves.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>

#include "platform/waves/waves.h"

namespace stretto::test {
namespace {

// Names the file that the second run writes.
constexpr const char* kFileVariable = "STRETTO_BLOCK_WAVES";
constexpr uint32_t kMhz = 1000;
constexpr uint64_t kTimes = uint64_t{1} << 32;  // Tests skip further than a file of waves can tell.

// Keeps what a block recorded in its last clocks, and the values before that.
class RecentClocks final : public WaveProbe {
 public:
  struct Record {
    uint64_t cycle;
    WaveMoment moment;
    std::string changes;
  };

  explicit RecentClocks(std::string block) : block_(std::move(block)) {}

  // The first record holds every signal, which makes a snapshot unnecessary.
  void declare(Source&, std::string_view vcd_header) override {
    header_ = vcd_header;
    recording_ = true;
  }
  void record_all(std::string_view) override {}
  void record(uint64_t cycle, WaveMoment moment, std::string_view vcd_changes) override {
    records_.push_back({cycle % kTimes, moment, std::string(vcd_changes)});
    if (records_.size() <= kWaveClocks * kMoments) return;
    fold(records_.front().changes);
    records_.pop_front();
  }

  const std::string& block() const { return block_; }
  const std::string& header() const { return header_; }
  const std::deque<Record>& records() const { return records_; }
  // As VCD lines.
  std::string values() const {
    std::string text;
    for (const auto& [code, line] : values_) text += line + "\n";
    return text;
  }

 private:
  static constexpr size_t kMoments = 3;  // Of a clock.

  // Lines are "1code" and "b0101 code".
  void fold(std::string_view changes) {
    while (!changes.empty()) {
      const std::string_view line = changes.substr(0, changes.find('\n'));
      changes.remove_prefix(std::min(line.size() + 1, changes.size()));
      if (line.empty() || (line[0] != '0' && line[0] != '1' && line[0] != 'b')) continue;
      const size_t code = line[0] == 'b' ? line.find(' ') + 1 : 1;
      values_[std::string(line.substr(code))] = line;
    }
  }

  const std::string block_;
  std::string header_;
  std::deque<Record> records_;
  std::map<std::string, std::string> values_;  // By the signal's code: those before records_.
};

// The blocks of this test case.
std::vector<std::unique_ptr<RecentClocks>>& blocks() {
  static std::vector<std::unique_ptr<RecentClocks>> all;
  return all;
}

// Hands over what was kept as if the block ran now.
class Replayed final : public WaveProbe::Source {
 public:
  Replayed(const RecentClocks& kept, WaveProbe* probe) : kept_(kept), probe_(probe) {
    probe_->declare(*this, kept_.header());
  }
  void snapshot() override { probe_->record_all(kept_.values()); }
  void run() const {
    for (const RecentClocks::Record& one : kept_.records())
      probe_->record(one.cycle, one.moment, one.changes);
  }

 private:
  const RecentClocks& kept_;
  WaveProbe* const probe_;
};

void write_waves(const char* file) {
  uint64_t first = std::numeric_limits<uint64_t>::max();
  for (const auto& block : blocks()) {
    if (!block->records().empty()) first = std::min(first, block->records().front().cycle);
  }
  if (first == std::numeric_limits<uint64_t>::max()) return;
  WavesSpec spec;
  WaveItem everything{"all", "all", {}, {}};
  everything.gpus = WaveRange();
  spec.request.items = {everything};
  const Time half_a_clock = kNanosecond / 2;
  spec.request.from = std::max(first * kNanosecond, half_a_clock) - half_a_clock;
  spec.file = file;
  spec.limit_bytes = std::numeric_limits<uint64_t>::max();
  const std::unique_ptr<Waves> waves = make_waves(spec);
  std::vector<std::unique_ptr<Replayed>> replayed;
  for (unsigned i = 0; i < blocks().size(); ++i) {
    if (blocks()[i]->records().empty()) continue;
    const WaveStream::Name name{i, blocks()[i]->block(), 0, false};
    replayed.push_back(std::make_unique<Replayed>(*blocks()[i], waves->probe(name, kMhz)));
  }
  waves->advance(spec.request.from);
  for (const auto& one : replayed) one->run();
  waves->close(kNever);
}

std::string file_name(const std::string& executable, const std::string& test_case) {
  std::string name = executable + ".";
  for (const char c : test_case) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return std::string(STRETTO_BUILD_DIR) + "/waves/" + name.substr(0, 120) + ".fst";
}

class Listener final : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    TestEventListenerBase::testCaseStarting(info);
    blocks().clear();
  }

  bool assertionEnded(const Catch::AssertionStats& stats) override {
    const char* file = std::getenv(kFileVariable);
    if (file == nullptr || stats.assertionResult.isOk()) return true;
    // A thread has a stack of usual size; that of a signal handler (abort) is small.
    std::thread([file] { write_waves(file); }).join();
    std::_Exit(EXIT_FAILURE);
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (std::getenv(kFileVariable) == nullptr && stats.totals.assertions.failed != 0)
      run_again(stats.testInfo.name);
    TestEventListenerBase::testCaseEnded(stats);
  }

 private:
  static void run_again(const std::string& test_case) {
    const std::string executable = std::filesystem::read_symlink("/proc/self/exe");
    const std::string file =
        file_name(std::filesystem::path(executable).filename().string(), test_case);
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
    std::filesystem::remove(file, ignored);
    std::string pattern;  // Commas separate patterns.
    for (const char c : test_case) pattern.append(c == ',' ? "\\," : std::string(1, c));
    const pid_t child = fork();
    if (child == 0) {
      setenv(kFileVariable, file.c_str(), 1);
      const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
      dup2(nowhere, STDOUT_FILENO);
      dup2(nowhere, STDERR_FILENO);
      execl(executable.c_str(), executable.c_str(), pattern.c_str(), nullptr);
      _exit(EXIT_FAILURE);
    }
    if (child > 0) waitpid(child, nullptr, 0);
    if (std::filesystem::exists(file, ignored)) {
      std::fprintf(stderr,
                   "waves: the last %u clocks before it are in %s, cycle n at n mod 2^32 ns\n",
                   static_cast<unsigned>(kWaveClocks), file.c_str());
    } else {
      std::fprintf(stderr, "waves: none; no RTL was stepped, or it did not fail again\n");
    }
  }
};

CATCH_REGISTER_LISTENER(Listener)

}  // namespace

WaveProbe* wave_probe(const std::string& block) {
  if (std::getenv(kFileVariable) == nullptr) return nullptr;
  blocks().push_back(std::make_unique<RecentClocks>(block));
  return blocks().back().get();
}

}  // namespace stretto::test
