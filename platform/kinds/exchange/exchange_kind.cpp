// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/exchange/exchange_kind.h"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <cassert>

#include "models/common/error.h"
#include "platform/config/peaks.h"
#include "platform/jobs/contents.h"
#include "platform/jobs/operands.h"
#include "sw/apps/collective/exchange.h"

namespace stretto {

namespace json = boost::json;

namespace {

constexpr uint64_t kUnit = uint64_t{1} << EXCHANGE_UNIT_SHIFT;
constexpr uint64_t kMaxPlace = uint64_t{STRETTO_SEND_MAX_UNITS} << EXCHANGE_UNIT_SHIFT;

const Account kInit{EXCHANGE_ACCOUNT_INIT, "init"}, kSend{EXCHANGE_ACCOUNT_SEND, "send"};

exchange_engine_t engine_of(const std::string& mode) {
  return mode_named(mode, EXCHANGE_ENGINES, exchange_engine_name);
}

exchange_parameters_t parameters_of(const ExchangeKind& what, const JobRequest& request,
                                    uint32_t rank) {
  exchange_parameters_t p{};
  p.engine = engine_of(request.mode);
  p.rank = rank;
  p.ranks = request.ranks();
  p.same_block = what.op == ExchangeOp::all_gather;
  for (const uint64_t bytes : what.blocks()) p.bytes[p.sizes++] = bytes;
  p.calls = what.calls;
  p.ahead = what.ahead;
  p.work_groups = what.work_groups;
  p.tickets_at_once = what.tickets_at_once;
  p.job = host_job(request);
  p.client = client_options(request, rank);
  return p;
}

class Exchange final : public Job {
 public:
  Exchange(const ExchangeKind& kind, const JobRequest& request, Memories memories)
      : Job(request, std::move(memories)), elf_(kernel_file("send")), done_(request.ranks()) {
    for (uint32_t rank = 0; rank < request.ranks(); ++rank) {
      parameters_.push_back(parameters_of(kind, request, rank));
      parameters_[rank].send_elf = elf_.data();
      parameters_[rank].send_elf_bytes = elf_.size();
      [[maybe_unused]] const stretto_status_t status = exchange_plan(&parameters_[rank], &plan_);
      assert(status == STRETTO_OK && "checked");
      layouts_[rank].add(plan_.memory, EXCHANGE_MODULE_BYTES);
    }
  }

  std::vector<Account> accounts() const override { return {kSend, kInit}; }
  std::vector<PhaseRule> phases() const override {
    return {preparation_of(kInit), kernels_of(kSend)};
  }

  void place_contents() override {
    const uint64_t base = offset_of(plan_.source);
    for (uint32_t rank = 0; rank < request_.ranks(); ++rank)
      memories_[rank]->add_generator(base, source_places() * plan_.place_bytes,
                                     random_words(request_.seed, rank, base));
  }

  void add_programs(Host& host, uint32_t) override {
    for (uint32_t rank = 0; rank < request_.ranks(); ++rank) {
      add_rank(host, rank, [this, rank](HostCore& core) {
        run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
          return exchange_rank(&parameters_[rank], ops, &done_[rank], error);
        });
      });
      if (parameters_[rank].engine == EXCHANGE_G_DRV_D) continue;
      add_thread(host, "card_watch" + std::to_string(rank), [this, rank](HostCore& core) {
        run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
          return exchange_card_watch(&parameters_[rank], ops, error);
        });
      });
    }
  }

  CheckReport check() const override {
    CheckReport report;
    for (uint32_t rank = 0; rank < request_.ranks(); ++rank)
      for (uint32_t peer = 0; peer < peers(); ++peer) compare(rank, peer, report);
    return report;
  }

  void audit(uint32_t rank, AuditSink& sink) const override {
    for (uint32_t size = 0; rank == 0 && size < done_[0]; ++size)
      audit_rate(request_.spec, rate_gb_s(size), sink);
  }

  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    return {{"send", sha256_hex(elf_.data(), elf_.size())}};
  }

  std::string table() const override {
    std::string text = "   block bytes   calls     us/call  rate GB/s\n";
    for (uint32_t size = 0; size < parameters_[0].sizes; ++size)
      text += fmt::format("{:14} {:7}{}{}\n", parameters_[0].bytes[size], parameters_[0].calls,
                          figure(call_us(size), 12), figure(rate_gb_s(size), 11));
    return text;
  }

  json::object details() const override {
    json::array rows;
    for (uint32_t size = 0; size < parameters_[0].sizes; ++size) {
      if (call_us(size) == 0) continue;  // The run was cut short.
      rows.push_back(json::object{{"block_bytes", parameters_[0].bytes[size]},
                                  {"calls", parameters_[0].calls},
                                  {"call_us", call_us(size)},
                                  {"rate_gb_s", rate_gb_s(size)}});
    }
    return {{"sizes", std::move(rows)}};
  }

 private:
  uint32_t peers() const { return request_.ranks() - 1; }
  uint64_t source_places() const { return parameters_[0].same_block ? 1 : peers(); }

  // What the rank has of which it is peer `peer`, byte by byte.
  void compare(uint32_t rank, uint32_t peer, CheckReport& report) const {
    const uint32_t sender = exchange_peer(&parameters_[0], rank, peers() - 1 - peer);
    assert(exchange_peer(&parameters_[0], sender, peer) == rank);
    const uint64_t from = parameters_[0].same_block ? 0 : peer * plan_.place_bytes;
    const uint64_t to = offset_of(plan_.destination) + peer * plan_.place_bytes;
    for (uint64_t at = 0; at < plan_.place_bytes; at += kUnit) {
      uint64_t got[kUnit / 8];
      memories_[rank]->read(to + at, reinterpret_cast<uint8_t*>(got), sizeof got);
      for (uint64_t i = 0; i < kUnit / 8; ++i) {
        ++report.elements;
        const uint64_t wanted = content_word(request_.seed, sender, (from + at) / 8 + i);
        if (got[i] == wanted || report.mismatches++ != 0) continue;
        report.first = fmt::format("gpu {} byte {} from gpu {}: got 0x{:x}, expected 0x{:x}", rank,
                                   at + 8 * i, sender, got[i], wanted);
      }
    }
  }

  // Of the calls of a size, from the latest begin to the latest end: the kernels' cycle counters began
  // together. 0 = not measured.
  double call_us(uint32_t size) const {
    uint64_t begin = 0, end = 0;
    for (uint32_t rank = 0; rank < request_.ranks(); ++rank) {
      if (done_[rank] <= size) return 0;
      for (uint32_t group = 0; group < parameters_[rank].work_groups; ++group) {
        uint64_t stamps[2];
        memories_[rank]->read(offset_of(exchange_stamps(&parameters_[rank], &plan_, size, group)),
                              reinterpret_cast<uint8_t*>(stamps), sizeof stamps);
        begin = std::max(begin, stamps[0]);
        end = std::max(end, stamps[1]);
      }
    }
    return static_cast<double>(end - begin) / spec_.gpu.clock_mhz / parameters_[0].calls;
  }
  // Of what a GPU sends.
  double rate_gb_s(uint32_t size) const {
    const double us = call_us(size);
    return us == 0 ? 0 : static_cast<double>(peers() * parameters_[0].bytes[size]) / us / 1000;
  }

  const std::vector<uint8_t> elf_;
  std::vector<exchange_parameters_t> parameters_;  // By rank.
  exchange_plan_t plan_ = {};                      // At the same offsets of every rank.
  std::vector<uint32_t> done_;                     // Sizes, by rank.
};

}  // namespace

std::vector<uint64_t> ExchangeKind::blocks() const {
  std::vector<uint64_t> all;
  for (uint64_t bytes = min_bytes; bytes <= max_bytes; bytes *= factor) all.push_back(bytes);
  return all;
}

void ExchangeKind::describe(ParameterSet& set) {
  set.choice("op", op,
             {{"all_to_all", ExchangeOp::all_to_all}, {"all_gather", ExchangeOp::all_gather}},
             "all_to_all: another block to each GPU; all_gather: the same to all.");
  set.number("min_bytes", min_bytes, kUnit, kMaxPlace, "Smallest block, a multiple of 64.");
  set.number("max_bytes", max_bytes, kUnit, kMaxPlace, "Largest block.");
  set.number("factor", factor, 2, 1024, "From a size to the next.");
  set.number("calls", calls, 1, 4096, "Timed calls of a size, behind one to warm up.");
  set.number("ahead", ahead, 1, 4096, "Calls that may be under way at a time.");
  set.number("work_groups", work_groups, 1, EXCHANGE_MAX_PEERS,
             "Of the kernel, which share the peers; the first makes collective requests.");
  set.flag("tickets_at_once", tickets_at_once,
           "A work-group takes all tickets of a call by one atomic, as for collective requests.");
}

std::string ExchangeKind::first_error() const {
  if (min_bytes % kUnit != 0) return "needs min_bytes that is a multiple of 64";
  if (max_bytes < min_bytes) return "needs max_bytes that is not below min_bytes";
  uint64_t place = 0;
  for (const uint64_t bytes : blocks()) place += (EXCHANGE_WARM_UP + calls) * bytes;
  if (place > kMaxPlace)
    return fmt::format(
        "needs fewer calls or smaller blocks: those of all sizes to a GPU are {} bytes, "
        "a buffer of a ring has {} at most",
        place, kMaxPlace);
  return "";
}

const KindInfo& ExchangeKind::info() const {
  static const KindInfo info{
      .name = "exchange",
      .sentence = "Blocks from every GPU to each other one, asked for by a kernel.",
      .accounts = 2,
      .modes = {{"g-drv-d", "the GPU's own DMA engine moves them, a request to each peer"},
                {"g-drv-h", "a card behind PCIe moves them, a request to each peer"},
                {"g-drv-h-collective",
                 "likewise; the card's collective engine makes the requests of one a call"}},
      .min_gpus = 2,
      .machine_of_mode = {{"g-drv-h-collective", "card.collective=true"}}};
  return info;
}

std::map<std::string, uint64_t> ExchangeKind::shape() const {
  return {{"min_bytes", min_bytes}, {"max_bytes", max_bytes}, {"factor", factor},
          {"calls", calls},         {"ahead", ahead},         {"work_groups", work_groups}};
}

void ExchangeKind::check(const JobRequest& request) const {
  const std::string who = request.subject();
  const exchange_parameters_t p = parameters_of(*this, request, 0);
  if (p.ranks > EXCHANGE_MAX_PEERS + 1)
    throw UserError(fmt::format("{}: a ring has {} connections, so {} GPUs at most, not {}", who,
                                EXCHANGE_MAX_PEERS, EXCHANGE_MAX_PEERS + 1, p.ranks));
  exchange_plan_t plan;
  (void)exchange_plan(&p, &plan);
  check_memory(request, plan.memory, EXCHANGE_MODULE_BYTES, "exchange.max_bytes or calls");
  check_kernels("send", {"exchange"});
  if (p.engine == EXCHANGE_G_DRV_D) return;
  const CardSpec& card = request.spec.card;
  const uint32_t last = *std::max_element(request.share.gpus.begin(), request.share.gpus.end());
  if (card.count <= last)
    throw UserError(fmt::format(
        "{}: the machine has no card for each of {} GPUs (card.count is {}; machine v100-pcie-fpga "
        "has cards)",
        who, p.ranks, card.count));
  if (card.kind != CardKind::engine)
    throw UserError(who + ": cards move blocks with card.kind=engine alone");
  if (p.engine != EXCHANGE_G_DRV_H_COLLECTIVE) return;
  if (!card.collective)
    throw UserError(who + ": the cards have no collective engine (card.collective is false)");
}

std::vector<std::string> ExchangeKind::claims(const JobRequest& request) const {
  return {engine_of(request.mode) == EXCHANGE_G_DRV_D ? kRequestRing : "its card"};
}

std::vector<std::string> ExchangeKind::kernel_files(const JobRequest&) const {
  return {kernel_path("send")};
}

std::unique_ptr<Job> ExchangeKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<Exchange>(*this, request, std::move(memories));
}

}  // namespace stretto
