// SPDX-License-Identifier: Apache-2.0
// hbm_bench: drives HBM channels alone, without a GPU, and prints bandwidth, latency and host
// speed.
//
//   hbm_bench --pattern sequential --requests 10000000
//   hbm_bench --trace addresses.txt --timing hbm2_generic --commands commands.txt
//
// A trace has one access a line: [TIME_NS] R|W|U ADDRESS [BYTES]; '#' starts a comment. Without a
// time the access is sent as soon as the window of outstanding requests has room. Every parameter
// of the HBM is an option: --input-queue-atoms, --interleave-bytes, --interleave-hash ...
#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "models/common/error.h"
#include "models/common/payload_pool.h"
#include "models/hbm/hbm.h"
#include "models/reference/mca_model.h"

namespace stretto {
namespace {

namespace po = boost::program_options;

struct Access {
  Time at = kNever;  // kNever: as soon as there is room.
  uint64_t address = 0;
  uint32_t bytes = 64;
  Operation operation = Operation::read;
};

struct BenchOptions {
  HbmSpec spec;
  std::string pattern = "sequential";
  std::string trace;
  std::string commands;
  uint64_t requests = 4'000'000;
  uint32_t bytes = 64;
  uint32_t window = 64;
  uint32_t write_percent = 0;
  uint64_t span_mib = 256;
};

constexpr uint64_t kLatestNs = 10'000'000'000'000;  // In a trace; simulated time ends at 1.8 of it.

void describe(BenchOptions& options, ParameterSet& set) {
  set.choice<std::string>(
      "pattern", options.pattern,
      {{"sequential", "sequential"}, {"random", "random"}, {"half", "half"}},
      "Of generated requests: as fast as the window allows, or half: sequential at half the peak.");
  set.number("requests", options.requests, 1, 1'000'000'000, "Generated requests.");
  set.choice<uint32_t>("bytes", options.bytes, {{"64", 64}, {"128", 128}, {"256", 256}},
                       "Bytes of a generated request.");
  set.number("window", options.window, 1, 1'000'000, "Most requests outstanding.");
  set.number("writes", options.write_percent, 0, 100, "Per cent of generated requests that write.");
  set.number("span_mib", options.span_mib, 1, 65'536, "Memory that generated requests cover.");
  describe(options.spec, set);
}

// Generates or reads the accesses.
class AccessSource {
 public:
  explicit AccessSource(const BenchOptions& options) : options_(options) {
    if (!options.trace.empty()) read_trace(options.trace);
  }
  bool next(Access& access) {
    if (!options_.trace.empty()) {
      if (index_ == trace_.size()) return false;
      access = trace_[index_++];
      return true;
    }
    if (index_ == options_.requests) return false;
    const uint64_t span = options_.span_mib << 20;
    access.bytes = options_.bytes;
    if (options_.pattern == "random") {
      access.address = draw() % (span / options_.bytes) * options_.bytes;
    } else {
      access.address = index_ * options_.bytes % span;
    }
    if (options_.pattern == "half") {
      // Half the peak of all channels: 16 B a nanosecond each at 1 GHz.
      const uint64_t bytes_a_us = uint64_t{options_.spec.channels} * 16 * options_.spec.clock_mhz;
      access.at = static_cast<Time>(static_cast<unsigned __int128>(index_) * options_.bytes *
                                    kMicrosecond / bytes_a_us);
    }
    access.operation = options_.write_percent != 0 && draw() % 100 < options_.write_percent
                           ? Operation::write
                           : Operation::read;
    ++index_;
    return true;
  }

 private:
  uint64_t draw() {  // xorshift64*.
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Du >> 11;
  }
  void read_trace(const std::string& name) {
    std::ifstream file(name);
    if (!file) throw UserError(name + ": cannot be read");
    std::string line;
    for (unsigned number = 1; std::getline(file, line); ++number) {
      std::istringstream words(line.substr(0, line.find('#')));
      std::vector<std::string> fields;
      for (std::string word; words >> word;) fields.push_back(word);
      if (fields.empty()) continue;
      Access access;
      try {
        size_t at = 0;
        if (fields[0].find_first_not_of("0123456789") == std::string::npos) {
          const uint64_t time = std::stoull(fields[at++]);
          if (time > kLatestNs) throw std::invalid_argument("time");
          access.at = time * kNanosecond;
        }
        const std::string& kind = fields.at(at++);
        if (kind != "R" && kind != "W" && kind != "U") throw std::invalid_argument("operation");
        access.operation = kind == "R"   ? Operation::read
                           : kind == "W" ? Operation::write
                                         : Operation::update;
        access.address = std::stoull(fields.at(at++), nullptr, 0);
        if (at < fields.size())
          access.bytes = static_cast<uint32_t>(std::stoul(fields[at++], nullptr, 0));
        if (at != fields.size() || access.bytes == 0 || access.bytes > 4096)
          throw std::invalid_argument("length");
      } catch (const std::exception&) {
        throw UserError(name + ":" + std::to_string(number) +
                        ": expected [TIME_NS <= 10^13] R|W|U ADDRESS [BYTES <= 4096]");
      }
      trace_.push_back(access);
    }
  }

  const BenchOptions& options_;
  std::vector<Access> trace_;
  uint64_t index_ = 0;
  uint64_t state_ = 0x9E3779B97F4A7C15u;
};

class CommandTrace final : public CommandObserver {
 public:
  explicit CommandTrace(const std::string& name) : file_(std::fopen(name.c_str(), "w")) {
    if (file_ == nullptr) throw UserError(name + ": cannot be written");
    std::fprintf(file_, "# cycle channel command bank row\n");
  }
  ~CommandTrace() override { std::fclose(file_); }
  void on_command(unsigned channel, uint64_t cycle, DramCommand command, unsigned bank,
                  uint32_t row) override {
    std::fprintf(file_, "%llu %u %s %u %u\n", static_cast<unsigned long long>(cycle), channel,
                 name_of(command), bank, row);
  }

 private:
  std::FILE* file_;
};

class Bench final : public sc_core::sc_module {
 public:
  using Initiator = tlm_utils::simple_initiator_socket_tagged<Bench, 32, StrettoProtocol>;

  Bench(const sc_core::sc_module_name& name, const BenchOptions& options)
      : sc_core::sc_module(name),
        options_(options),
        source_(options),
        channels_("channel", options.spec.channels),
        peer_("peer") {
    services_.queue = &queue_;
    Hbm::Parts parts;
    for (unsigned i = 0; i < options.spec.channels; ++i)
      parts.mca.push_back(std::make_unique<McaModel>());
    if (!options.commands.empty()) trace_ = std::make_unique<CommandTrace>(options.commands);
    parts.observer = trace_.get();
    hbm_ = std::make_unique<Hbm>("hbm", options.spec, 1, services_, image_, std::move(parts));
    for (unsigned i = 0; i < options.spec.channels; ++i) {
      channels_[i].register_nb_transport_bw(this, &Bench::on_response, static_cast<int>(i));
      channels_[i].bind(hbm_->channel[i]);
    }
    peer_.register_nb_transport_bw(this, &Bench::on_response, -1);
    peer_.bind(hbm_->peer[0]);
    buffer_.resize(4096);
  }

  void run() {
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t cpu_begin = std::clock();
    for (unsigned i = 0; i < options_.window && send(0); ++i) {
    }
    while (!queue_.empty()) queue_.run_until(queue_.next_time() + 1);
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    cpu_seconds_ = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
  }

  void print_results() {
    size_t count = 0;
    for (const auto& latencies : latencies_) count += latencies.size();
    if (count == 0) throw UserError("no access was made");
    const double ns = static_cast<double>(last_) / kNanosecond;
    const double peak = 32.0 * options_.spec.channels * options_.spec.clock_mhz / 1000;
    const double bandwidth = static_cast<double>(bytes_) / ns;
    const ChannelCounters sums = hbm_->totals();
    std::printf("requests          %zu (%llu bytes)\n", count,
                static_cast<unsigned long long>(bytes_));
    std::printf("simulated         %.3f us\n", ns / 1000);
    std::printf("bandwidth         %.2f GB/s (%.1f %% of the peak %.0f GB/s)\n", bandwidth,
                100 * bandwidth / peak, peak);
    print_latency("read", Operation::read);
    print_latency("write", Operation::write);
    print_latency("update", Operation::update);
    std::printf("ticks a request   %.2f\n",
                static_cast<double>(sums.ticks) / static_cast<double>(count));
    const double millions = static_cast<double>(count) / 1e6;
    std::printf("host              %.3f s, %.2f M requests/s\n", seconds_, millions / seconds_);
    std::printf("host cpu          %.3f s, %.2f M requests/s\n", cpu_seconds_,
                millions / cpu_seconds_);
    AuditSink audit;
    hbm_->audit(audit);
    for (const AuditResult& result : audit.all()) {
      if (!result.holds)
        throw CheckError("audit: " + result.law + ": " + std::to_string(result.left) + " and " +
                         std::to_string(result.right));
    }
  }

 private:
  static constexpr size_t kOperations = 3;

  void print_latency(const char* name, Operation operation) {
    std::vector<uint32_t>& all = latencies_[static_cast<size_t>(operation)];
    if (all.empty()) return;
    std::sort(all.begin(), all.end());
    double sum = 0;
    for (const uint32_t latency : all) sum += latency;
    const size_t count = all.size();
    std::printf("%-6s latency     mean %.1f ns, p50 %.1f ns, p99 %.1f ns, of %zu\n", name,
                sum / 1000 / static_cast<double>(count), all[count / 2] / 1000.0,
                all[count * 99 / 100] / 1000.0, count);
  }

  // Sends the next access at `now` or at its own time; false at the end of the source.
  bool send(Time now) {
    Access access;
    if (!source_.next(access)) return false;
    const Time at = access.at == kNever ? now : std::max(access.at, now);
    PooledPayload& payload = pool_.acquire();
    payload.set_address(access.address);
    payload.set_data_ptr(buffer_.data());
    payload.set_data_length(access.bytes);
    payload.extension.operation = access.operation;
    payload.extension.tags_only = true;
    payload.extension.cookie = at;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = delay_of(at - queue_.now());
    const uint64_t block = ~(hbm_->mapping().block_bytes() - 1);
    const bool within = ((access.address ^ (access.address + access.bytes - 1)) & block) == 0;
    Initiator& socket = within ? channels_[hbm_->mapping().channel_of(access.address)] : peer_;
    socket->nb_transport_fw(payload, phase, delay);
    return true;
  }
  tlm::tlm_sync_enum on_response(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                 sc_core::sc_time& delay) {
    if (payload.get_response_status() != tlm::TLM_OK_RESPONSE) {
      throw UserError("address 0x" + hex(payload.get_address()) + ": " +
                      payload.get_response_string());
    }
    const Time done = queue_.now() + time_of(delay);
    const StrettoExtension& extension = static_cast<PooledPayload&>(payload).extension;
    latencies_[static_cast<size_t>(extension.operation)].push_back(
        static_cast<uint32_t>((done - extension.cookie) / kPicosecond));
    bytes_ += payload.get_data_length();
    last_ = std::max(last_, done);
    payload.release();
    send(done);
    return tlm::TLM_COMPLETED;
  }
  static std::string hex(uint64_t value) {
    std::ostringstream text;
    text << std::hex << value;
    return text.str();
  }

  const BenchOptions& options_;
  EventQueue queue_;
  PartitionServices services_;
  MemoryImage image_;
  PayloadPool pool_;
  AccessSource source_;
  std::unique_ptr<CommandTrace> trace_;
  std::unique_ptr<Hbm> hbm_;
  sc_core::sc_vector<Initiator> channels_;
  Initiator peer_;
  std::vector<uint8_t> buffer_;
  std::array<std::vector<uint32_t>, kOperations> latencies_;  // By Operation, in picoseconds.
  uint64_t bytes_ = 0;
  Time last_ = 0;
  double seconds_ = 0;      // Wall clock.
  double cpu_seconds_ = 0;  // Of this process: what a machine with other work can compare.
};

int run_bench(int argc, char* argv[]) {
  BenchOptions options;
  options.spec.channels = 1;
  ParameterSet set;
  describe(options, set);
  bool no_refresh = false;
  bool no_check = false;
  po::options_description description("hbm_bench: HBM channels alone. Options");
  description.add_options()("help", "this text")(
      "trace", po::value(&options.trace),
      "file of accesses instead of generated ones: [TIME_NS] R|W|U ADDRESS [BYTES]")(
      "commands", po::value(&options.commands), "file for the trace of DRAM commands")(
      "no-refresh", po::bool_switch(&no_refresh), "as --refresh none")(
      "no-check", po::bool_switch(&no_check), "as --check false");
  const auto option = [](std::string path) {
    std::replace_if(
        path.begin(), path.end(), [](char c) { return c == '_' || c == '.'; }, '-');
    return path;
  };
  for (const Parameter& one : set.all()) {
    description.add_options()(
        option(one.path).c_str(), po::value<std::string>()->value_name(one.fallback),
        (one.sentence + (one.range.empty() ? "" : " (" + one.range + ")")).c_str());
  }
  po::variables_map values;
  try {
    po::store(po::parse_command_line(argc, argv, description), values);
    po::notify(values);
  } catch (const po::error& error) {
    throw UserError(std::string(error.what()) + "; see --help");
  }
  if (values.count("help") != 0) {
    std::cout << description;
    return 0;
  }
  for (const Parameter& one : set.all()) {
    const std::string name = option(one.path);
    if (values.count(name) == 0) continue;
    if (const std::string text = values[name].as<std::string>(); !one.set(text))
      throw UserError("--" + name + ": '" + text + "'; allowed: " + one.range);
  }
  if (options.spec.write_low_atoms >= options.spec.write_high_atoms)
    throw UserError("--write-low-atoms must be less than --write-high-atoms");
  if (no_refresh) options.spec.refresh = Refresh::none;
  if (no_check) options.spec.check = false;
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  Bench bench("bench", options);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.run();
  bench.print_results();
  return 0;
}

const int kBannerIsOff = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);

}  // namespace
}  // namespace stretto

int sc_main(int argc, char* argv[]) {
  if (stretto::kBannerIsOff != 0) return 1;
  try {
    return stretto::run_bench(argc, argv);
  } catch (const stretto::UserError& error) {
    std::cerr << "hbm_bench: " << error.what() << "\n";
    return 2;
  } catch (const stretto::CheckError& error) {
    std::cerr << "hbm_bench: " << error.what() << "\n";
    return 1;
  }
}
