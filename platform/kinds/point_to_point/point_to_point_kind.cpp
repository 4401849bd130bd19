// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/point_to_point/point_to_point_kind.h"

#include <boost/json.hpp>

#include <algorithm>
#include <cassert>
#include <cstdio>

#include "models/common/error.h"
#include "platform/config/peaks.h"
#include "platform/jobs/contents.h"
#include "platform/jobs/operands.h"
#include "platform/jobs/send_mover.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/formats/queue.h"

namespace stretto {

namespace json = boost::json;

namespace {

constexpr uint32_t kRanks = 2;
constexpr uint64_t kSecondClientBytes = uint64_t{4} << 20;  // Of a thread beside the ranks.
constexpr uint64_t kMaxBuffer = uint64_t{1} << (17 + P2P_UNIT_SHIFT);  // send_request.h.
constexpr uint32_t kMaxRounds = 12;  // What is enqueued in advance fits into a queue.
constexpr const char* kParts[P2P_PARTS] = {"event_trigger", "stream_wait", "polling_gap", "mutex",
                                           "launch"};

const Account kInit{P2P_ACCOUNT_INIT, "init"}, kSend{P2P_ACCOUNT_SEND, "send"},
    kPut{P2P_ACCOUNT_PUT, "put"};

p2p_engine_t engine_of(const std::string& mode) {
  return mode_named(mode, P2P_ENGINES, p2p_engine_name);
}

// 8 bytes of what GPU `rank` sends, at `offset` of its source.
uint64_t content(uint64_t seed, uint32_t rank, uint64_t offset) {
  return content_word(seed, rank, offset / 8);
}

p2p_parameters_t parameters_of(const PointToPointKind& what, const JobRequest& request,
                               uint32_t rank) {
  const MachineSpec& spec = request.spec;
  const SoftwareSpec& software = spec.software;
  p2p_parameters_t p{};
  p.engine = engine_of(request.mode);
  p.rank = rank;
  for (uint64_t bytes = what.min_bytes; bytes <= what.max_bytes; bytes *= what.factor) {
    p.bytes[p.sizes] = bytes;
    p.messages[p.sizes] = static_cast<uint32_t>(
        std::clamp<uint64_t>(what.total_bytes / bytes, 2, std::max(2u, what.messages)));
    ++p.sizes;
  }
  p.rounds = what.rounds;
  p.latency_bytes = what.latency_bytes;
  p.mover = send_mover(spec);
  p.workers = software.send_threads > 1 ? software.send_threads : 0;
  p.on_smartnic = spec.has_smartnics();
  p.contiguous = what.contiguous;
  p.buffer_bytes = std::min(kMaxBuffer, std::max(what.max_bytes, what.total_bytes));
  p.clock_mhz = spec.gpu.clock_mhz;
  p.stream_wait_poll_ns = software.stream_wait_poll_ns;
  p.event_query_ns = software.event_query_ns;
  p.event_poll_delay_ns = software.event_poll_delay_ns;
  p.outstanding_events =
      software.outstanding_events != 0 ? software.outstanding_events : 4 * request.ranks();
  p.job = host_job(request);
  p.client = client_options(request, rank);
  p.client.queue_count = 2;
  p.client.memory_end -= kSecondClientBytes;
  return p;
}

// A client of its own on the same GPU, for another thread.
p2p_parameters_t second_client(p2p_parameters_t p) {
  p.client.first_queue += 2;
  p.client.queue_count = 1;
  p.client.memory_begin = p.client.memory_end;
  p.client.memory_end += kSecondClientBytes;
  return p;
}

class PointToPoint final : public Job {
 public:
  PointToPoint(const PointToPointKind& kind, const JobRequest& request, Memories memories)
      : Job(request, std::move(memories)),
        elf_(kernel_file("send")),
        shared_(p2p_shared_create(), p2p_shared_destroy) {
    if (shared_ == nullptr) throw std::bad_alloc();
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      parameters_[rank] = parameters_of(kind, request, rank);
      parameters_[rank].send_elf = elf_.data();
      parameters_[rank].send_elf_bytes = elf_.size();
      [[maybe_unused]] const stretto_status_t status = p2p_plan(&parameters_[rank], &plan_);
      assert(status == STRETTO_OK && "checked");
      // GPUs beside the two take no part.
      layouts_[rank].add(plan_.memory, P2P_MODULE_BYTES);
      layouts_[rank].add("second client", parameters_[rank].client.memory_end, kSecondClientBytes);
    }
  }

  std::vector<Account> accounts() const override { return {kSend, kPut, kInit}; }
  std::vector<PhaseRule> phases() const override {
    return {preparation_of(kInit), kernels_of(kSend), work_of(kPut)};
  }

  void place_contents() override {
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      const uint64_t base = offset_of(plan_.source);
      memories_[rank]->add_generator(base, parameters_[rank].buffer_bytes,
                                     random_words(request_.seed, rank, base));
    }
  }

  void add_programs(Host& host, uint32_t) override {
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      add_rank(host, rank, [this, rank](HostCore& core) {
        p2p_result_t result;
        run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
          return p2p_rank(&parameters_[rank], shared_.get(), ops, &result, error);
        });
        results_[rank] = result;
      });
      if (parameters_[rank].engine == P2P_G_DRV_S && !parameters_[rank].on_smartnic)
        add_engine(host, rank);
      if (parameters_[rank].engine == P2P_G_DRV_H) add_card_watch(host, rank);
    }
    if (parameters_[0].engine != P2P_C_DRV) return;
    add_thread(host, "polling", p2p_polling_thread, parameters_[0]);
    add_thread(host, "callback", p2p_callback_thread, second_client(parameters_[1]),
               spec_.software.callback_beside_polling ? "polling" : "");
    add_thread(host, "observer", p2p_observer_thread, parameters_[0]);
  }

  void add_smartnic_programs(Host& smartnic, uint32_t rank) override {
    if (rank >= kRanks || parameters_[rank].engine != P2P_G_DRV_S) return;
    Job::add_thread(smartnic, "engine" + std::to_string(rank), [this, rank](HostCore& core) {
      const p2p_parameters_t p = second_client(parameters_[rank]);
      run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
        return p2p_smartnic_engine(&p, ops, &engines_[rank], error);
      });
    });
    add_workers(smartnic, rank);
  }

  CheckReport check() const override {
    CheckReport report;
    for (uint32_t rank = 0; rank < kRanks; ++rank) compare(rank, report);
    return report;
  }

  void audit(uint32_t rank, AuditSink& sink) const override {
    for (uint32_t i = 0; rank == 0 && i < parameters_[0].sizes; ++i)
      audit_rate(request_.spec, rate_gb_s(i), sink);
    if (parameters_[rank].engine == P2P_G_DRV_S)
      sink.equal("bytes that requests asked for = moved", asked_of(rank), engines_[rank].bytes);
  }

  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    return {{"send", sha256_hex(elf_.data(), elf_.size())}};
  }

  std::string table() const override;
  json::object details() const override;

 private:
  using Thread = void (*)(const p2p_parameters_t*, p2p_shared_t*, const stretto_host_ops_t*);
  void add_thread(Host& host, const char* name, Thread thread, const p2p_parameters_t& p,
                  const char* beside = "") {
    const auto run = [this, thread, p](HostCore& core) {
      const stretto_host_ops_t ops = host_ops(core);
      thread(&p, shared_.get(), &ops);
    };
    Job::add_thread(host, name, run, beside);
  }
  void add_card_watch(Host& host, uint32_t rank) {
    Job::add_thread(host, "card_watch" + std::to_string(rank), [this, rank](HostCore& core) {
      run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
        return p2p_card_watch(&parameters_[rank], ops, error);
      });
    });
  }
  void add_engine(Host& host, uint32_t rank) {
    Job::add_thread(host, "engine" + std::to_string(rank), [this, rank](HostCore& core) {
      const p2p_parameters_t p = second_client(parameters_[rank]);
      run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
        return p2p_send_engine(&p, shared_.get(), ops, &engines_[rank], error);
      });
    });
    add_workers(host, rank);
  }
  void add_workers(Host& processor, uint32_t rank) {
    for (uint32_t worker = 0; worker < parameters_[rank].workers; ++worker) {
      const std::string name = "mover" + std::to_string(rank) + "_" + std::to_string(worker);
      Job::add_thread(processor, name.c_str(), [this, rank, worker](HostCore& core) {
        const stretto_host_ops_t ops = host_ops(core);
        p2p_worker(&parameters_[rank], &ops, worker);
      });
    }
  }

  // Of all requests of a rank's kernels, in bytes.
  uint64_t asked_of(uint32_t rank) const {
    const p2p_parameters_t& p = parameters_[rank];
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < p.sizes; ++i)
      bytes += p.bytes[i] *
               ((rank == 0 ? p.messages[i] : 0) + (p.bytes[i] <= p.latency_bytes ? p.rounds : 0));
    return bytes;
  }

  // Which KiB of the destination of `rank` the other one has sent.
  std::vector<bool> sent_to(uint32_t rank) const {
    const p2p_parameters_t& p = parameters_[0];
    const p2p_engine_t engine = p.engine;
    std::vector<bool> sent(p.buffer_bytes >> P2P_UNIT_SHIFT);
    const auto add = [&](uint64_t first, uint64_t bytes) {
      std::fill_n(sent.begin() + static_cast<int64_t>(first >> P2P_UNIT_SHIFT),
                  bytes >> P2P_UNIT_SHIFT, true);
    };
    if (rank == 0 && (engine == P2P_MEMCPY || engine == P2P_C_DRV)) return sent;
    for (uint32_t i = 0; engine != P2P_MEMCPY && i < p.sizes; ++i) {
      if (engine == P2P_C_DRV || p.bytes[i] <= p.latency_bytes) add(0, p.bytes[i]);
    }
    if (rank == 0 || engine == P2P_C_DRV) return sent;
    for (uint32_t i = 0; i < p.sizes; ++i) {
      const uint64_t count = std::min<uint64_t>(p2p_places(&p, i), p.messages[i]);
      for (uint64_t place = 0; place < count; ++place) add(place * p2p_stride(&p, i), p.bytes[i]);
    }
    return sent;
  }

  // What was sent is there, and nothing else.
  void compare(uint32_t rank, CheckReport& report) const {
    const std::vector<bool> sent = sent_to(rank);
    constexpr uint64_t kWords = (1 << P2P_UNIT_SHIFT) / 8;
    uint64_t got[kWords];
    for (uint64_t unit = 0; unit < sent.size(); ++unit) {
      const uint64_t at = unit << P2P_UNIT_SHIFT;
      memories_[rank]->read(offset_of(plan_.destination) + at, reinterpret_cast<uint8_t*>(got),
                            sizeof got);
      for (uint64_t i = 0; i < kWords; ++i) {
        ++report.elements;
        const uint64_t expected = sent[unit] ? content(request_.seed, 1 - rank, at + 8 * i) : 0;
        if (got[i] == expected) continue;
        if (report.mismatches++ == 0) {
          char text[160];
          std::snprintf(text, sizeof text, "gpu %u byte %llu: got 0x%llx, expected 0x%llx", rank,
                        static_cast<unsigned long long>(at + 8 * i),
                        static_cast<unsigned long long>(got[i]),
                        static_cast<unsigned long long>(expected));
          report.first = text;
        }
      }
    }
  }

  double rate_gb_s(uint32_t size) const {
    const uint64_t ns = results_[0].rate_ns[size];
    const p2p_parameters_t& p = parameters_[0];
    if (p.engine == P2P_C_DRV && latency_us(size) > 0)  // One message at a time.
      return static_cast<double>(p.bytes[size]) / latency_us(size) / 1000;
    if (ns == 0) return 0;
    return static_cast<double>(p.bytes[size]) * p.messages[size] / static_cast<double>(ns);
  }
  // One way; 0 = not measured.
  double latency_us(uint32_t size) const {
    const double hops = parameters_[0].rounds * (parameters_[0].engine == P2P_C_DRV ? 1.0 : 2.0);
    return static_cast<double>(results_[0].latency_ns[size]) / hops / 1000;
  }
  double request_us(uint32_t size) const {
    return static_cast<double>(results_[0].request_ns[size]) / 1000;
  }
  double part_us(uint32_t size, unsigned part) const {
    return static_cast<double>(results_[0].parts_ns[size][part]) / parameters_[0].rounds / 1000;
  }

  const std::vector<uint8_t> elf_;
  std::unique_ptr<p2p_shared_t, void (*)(p2p_shared_t*)> shared_;
  p2p_parameters_t parameters_[kRanks] = {};
  p2p_plan_t plan_ = {};
  p2p_result_t results_[kRanks] = {};
  send_engine_counts_t engines_[kRanks] = {};
};

std::string PointToPoint::table() const {
  const p2p_parameters_t& p = parameters_[0];
  const bool driven = p.engine == P2P_C_DRV, asks = p.engine == P2P_G_DRV_S;
  char line[256];
  std::string text = "         bytes  messages   rate GB/s  latency us";
  if (asks) text += "  request us";
  for (unsigned part = 0; driven && part < P2P_PARTS; ++part) {
    std::snprintf(line, sizeof line, " %14s", kParts[part]);
    text += line;
  }
  text += "\n";
  for (uint32_t i = 0; i < p.sizes; ++i) {
    std::snprintf(line, sizeof line, "%14llu  %8u  ", static_cast<unsigned long long>(p.bytes[i]),
                  driven ? 1 : p.messages[i]);
    text += line + figure(rate_gb_s(i), 10) + figure(latency_us(i), 12);
    if (asks) text += figure(request_us(i), 12);
    for (unsigned part = 0; driven && part < P2P_PARTS; ++part)
      text += figure(part_us(i, part), 15);
    text += "\n";
  }
  return text;
}

json::object PointToPoint::details() const {
  const p2p_parameters_t& p = parameters_[0];
  json::array rows;
  for (uint32_t i = 0; i < p.sizes; ++i) {
    if (rate_gb_s(i) == 0 && latency_us(i) == 0) continue;  // The run was cut short.
    json::object row{{"bytes", p.bytes[i]}, {"messages", p.messages[i]}};
    if (rate_gb_s(i) > 0) row["rate_gb_s"] = rate_gb_s(i);
    if (latency_us(i) > 0) row["latency_us"] = latency_us(i);
    if (request_us(i) > 0) row["request_us"] = request_us(i);
    if (p.engine == P2P_C_DRV) {
      json::object parts;
      for (unsigned part = 0; part < P2P_PARTS; ++part) parts[kParts[part]] = part_us(i, part);
      row["parts_us"] = std::move(parts);
    }
    rows.push_back(std::move(row));
  }
  json::object object{{"messages", std::move(rows)}};
  if (p.engine == P2P_G_DRV_S) {
    object["engine_sends"] = engines_[0].sends + engines_[1].sends;
    object["engine_copies"] = engines_[0].copies + engines_[1].copies;
    object["engine_bytes"] = engines_[0].bytes + engines_[1].bytes;
  }
  return object;
}

}  // namespace

void PointToPointKind::describe(ParameterSet& set) {
  set.number("min_bytes", min_bytes, 1024, kMaxBuffer, "Smallest message, a multiple of 1024.");
  set.number("max_bytes", max_bytes, 1024, kMaxBuffer, "Largest message.");
  set.number("factor", factor, 2, 1024, "From a size to the next.");
  set.number("messages", messages, 2, 4096, "Messages of a rate, at most.");
  set.number("total_bytes", total_bytes, 1024, kMaxBuffer,
             "Bytes of a rate, as far as that is more than two messages.");
  set.number("rounds", rounds, 1, kMaxRounds, "Round trips (c-drv: messages) of a latency.");
  set.number("latency_bytes", latency_bytes, 0, kMaxBuffer,
             "Largest message whose latency is measured (c-drv: always).");
  set.flag("contiguous", contiguous,
           "Messages of a rate lie side by side, so that a software engine can merge them.");
}

std::string PointToPointKind::first_error() const {
  if (min_bytes % 1024 != 0) return "needs min_bytes that is a multiple of 1024";
  if (max_bytes < min_bytes) return "needs max_bytes that is not below min_bytes";
  return "";
}

const KindInfo& PointToPointKind::info() const {
  static const KindInfo info{
      .name = "point_to_point",
      .sentence = "Messages of rising size from one GPU to another and back.",
      .accounts = 3,
      .modes =
          {{"memcpy", "the CPU copies, without events: the ideal rate"},
           {"c-drv",
            "the CPU copies and intervenes in each message: events, polling and callback thread"},
           {"c-async", "the CPU copies, bound in advance by semaphores between streams and GPUs"},
           {"g-drv-s", "kernels send requests, a CPU thread copies"},
           {"g-drv-h", "kernels send requests, a card behind PCIe copies"},
           {"g-drv-d", "kernels send requests, the GPU's own DMA engine copies"}},
      .min_gpus = kRanks};
  return info;
}

std::map<std::string, uint64_t> PointToPointKind::shape() const {
  return {{"min_bytes", min_bytes}, {"max_bytes", max_bytes},     {"factor", factor},
          {"messages", messages},   {"total_bytes", total_bytes}, {"latency_bytes", latency_bytes},
          {"rounds", rounds}};
}

// Cards of the kind that the mode needs, for both GPUs.
static void check_cards(const JobRequest& request, p2p_engine_t engine) {
  const MachineSpec& spec = request.spec;
  const std::string who = request.subject();
  const uint32_t last = std::max(request.share.gpus[0], request.share.gpus[1]);
  if (spec.card.count <= last)
    throw UserError(who + ": the machine has no card for each of 2 GPUs (card.count is " +
                    std::to_string(spec.card.count) + "; machines v100-pcie-fpga and " +
                    "v100-pcie-smartnic have them)");
  if (engine == P2P_G_DRV_H && spec.has_smartnics())
    throw UserError(who + ": mode g-drv-h needs card.kind=engine; SmartNICs run the software " +
                    "engine of mode g-drv-s");
  if (engine == P2P_G_DRV_S && spec.software.send_mover == SendMover::gpu_dma)
    throw UserError(who +
                    ": a software engine on a SmartNIC needs software.send_mover=cpu_mmio or " +
                    "cpu_dma: the driver of the GPU's DMA engine is on the host");
}

// Each thread has a core.
static void check_send_threads(const JobRequest& request, const p2p_parameters_t& p) {
  const MachineSpec& spec = request.spec;
  if (p.workers == 0) return;
  const std::string threads =
      request.subject() + ": software.send_threads (" + std::to_string(p.workers) + ")";
  if (p.mover != SEND_MOVER_CPU_MMIO)
    throw UserError(threads + " are of software.send_mover=cpu_mmio");
  const uint32_t of_rank = 1 + p.workers;  // With the one that takes requests.
  const uint32_t programs = p.on_smartnic ? of_rank : kRanks * (1 + of_rank);
  const uint32_t cores = p.on_smartnic ? spec.smartnic.cores : spec.host.cores;
  if (programs > cores)
    throw UserError(threads + " make " + std::to_string(programs) + " host programs, more than " +
                    (p.on_smartnic ? "smartnic.cores (" : "host.cores (") + std::to_string(cores) +
                    ")");
}

void PointToPointKind::check(const JobRequest& request) const {
  const std::string who = request.subject();
  check_send_mover(request, p2p_engine_name(P2P_G_DRV_S));
  p2p_parameters_t p = parameters_of(*this, request, 0);
  p2p_plan_t plan;
  (void)p2p_plan(&p, &plan);
  check_memory(request, plan.memory, P2P_MODULE_BYTES + kSecondClientBytes,
               "point_to_point.max_bytes or total_bytes");
  check_send_threads(request, p);
  if (p.engine == P2P_G_DRV_H || (p.engine == P2P_G_DRV_S && p.on_smartnic))
    check_cards(request, p.engine);
  check_kernels("send", {"send_stream", "ping_pong", "stamp"});
}

std::vector<std::string> PointToPointKind::claims(const JobRequest& request) const {
  if (engine_of(request.mode) == P2P_G_DRV_D) return {kRequestRing};
  const bool engines = engine_of(request.mode) == P2P_G_DRV_S && request.spec.has_smartnics();
  if (engine_of(request.mode) == P2P_G_DRV_H || engines) return {"its card"};
  return {};
}

std::vector<std::string> PointToPointKind::kernel_files(const JobRequest&) const {
  return {kernel_path("send")};
}

std::unique_ptr<Job> PointToPointKind::make_job(const JobRequest& request,
                                                Memories memories) const {
  return std::make_unique<PointToPoint>(*this, request, std::move(memories));
}

}  // namespace stretto
