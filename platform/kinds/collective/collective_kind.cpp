// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/collective/collective_kind.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>

#include "models/common/error.h"
#include "platform/jobs/host_runtime.h"
#include "platform/jobs/operands.h"
#include "sw/apps/collective/timed_collective.h"

namespace stretto {

namespace {

constexpr uint64_t kAlignment = 4096;  // Of buffers.
constexpr uint64_t kGuard = 4096;      // Between them; must stay zero.
constexpr uint64_t kLarge = 1 << 20;   // Sizes from which on large_factor counts.
constexpr uint64_t kBlock = 65536;     // Elements that are compared at a time.

struct OpName {
  stretto_collective_op_t op;
  const char* name;
  bool reduces;
  bool rooted;
  bool all_pairs;
};
constexpr OpName kOps[] = {
    {STRETTO_ALL_REDUCE, "all_reduce", true, false, false},
    {STRETTO_REDUCE_SCATTER, "reduce_scatter", true, false, false},
    {STRETTO_ALL_GATHER, "all_gather", false, false, false},
    {STRETTO_ALL_TO_ALL, "all_to_all", false, false, true},
    {STRETTO_BROADCAST, "broadcast", false, true, false},
    {STRETTO_REDUCE, "reduce", true, true, false},
    {TIMED_SEND_RECEIVE, "sendrecv", false, false, false},
};
const OpName& named(stretto_collective_op_t op) { return kOps[static_cast<unsigned>(op)]; }

const char* type_name(ncclDataType_t type) {
  switch (type) {
    case ncclFloat16: return "half";
    case ncclBfloat16: return "bfloat16";
    case ncclInt32: return "int32";
    default: return "float";
  }
}

const char* reduction_name(ncclRedOp_t reduction) {
  static const char* const names[] = {"sum", "prod", "max", "min", "avg"};
  return names[reduction];
}

uint64_t align(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

class CollectiveJob final : public Job {
 public:
  CollectiveJob(const CollectiveKind& kind, const JobRequest& request, Memories memories);

  std::vector<Account> accounts() const override { return runtime_accounts(); }
  std::vector<PhaseRule> phases() const override { return runtime_phases(); }
  void place_contents() override;
  void add_programs(Host& host, uint32_t) override;
  CheckReport check() const override;
  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override;
  std::string table() const override;
  boost::json::object details() const override;
  std::optional<double> done_share(uint64_t retired) const override;
  std::vector<std::string> waiting_on() const override;
  void set_meter(std::function<uint64_t()> link_bytes) override { meter_ = std::move(link_bytes); }

  // One buffer of every rank.
  struct Buffer {
    unsigned size;  // Index of its row.
    BufferRole role;
    uint64_t offset;  // In the arena.
    uint64_t bytes;
  };
  struct Row {
    CollectiveData data;
    uint64_t bytes;  // As nccl-tests counts them.
    uint64_t count;
    uint32_t warm_up, iterations;
    std::vector<unsigned> buffers;       // Source, target, then one a call in place.
    std::optional<size_t> turn[2] = {};  // Of the programs: out of place, in place.
    double weight() const {
      // A call of few bytes takes as long as one of a MiB.
      return (static_cast<double>(bytes) + (1 << 20)) * (warm_up + iterations);
    }
  };
  // Calls of one size in one place.
  struct Measurement {
    double microseconds;  // Of a call.
    uint64_t wire_bytes;  // Likewise, over all GPU links.
  };

 private:
  void add_row(uint64_t count);
  unsigned add_buffer(BufferRole role);
  void run_thread(HostCore& core, uint32_t thread);
  timed_collective_turn_t turn_of(const Row& row, unsigned place, uint32_t rank) const;
  // None: not done.
  std::optional<Measurement> measured(const Row& row, unsigned place) const;
  uint64_t wrong(const Buffer& buffer, CheckReport& report) const;
  uint64_t wrong_of_rank(const Buffer& buffer, uint32_t rank, uint64_t begin, uint64_t end,
                         const std::vector<uint8_t>& expected, CheckReport& report) const;
  double bus_factor() const;
  double average_bus_bandwidth() const;

  const CollectiveKind& kind_;
  const std::string mode_;
  const uint32_t ranks_;
  const std::vector<uint8_t> kernels_;
  stretto_runtime_options_t options_;
  uint64_t arena_ = 0;  // Offset in each GPU's memory.
  uint64_t arena_bytes_ = 0;
  std::vector<Buffer> buffers_;  // In rising order of offset.
  std::vector<Row> rows_;
  struct Verdict {
    uint64_t wrong[2] = {};
  };
  mutable std::vector<Verdict> verdicts_;                    // By row; written by check().
  std::vector<std::vector<timed_collective_turn_t>> turns_;  // By rank.
  // By thread.
  std::vector<std::vector<timed_collective_result_t>> results_;
  std::vector<const HostRuntime*> runtimes_;
  ncclUniqueId id_{};
  std::function<uint64_t()> meter_;  // None: GPUs are shared.
};

// Buffers

CollectiveJob::CollectiveJob(const CollectiveKind& kind, const JobRequest& request,
                             Memories memories)
    : Job(request, std::move(memories)),
      kind_(kind),
      mode_(request.mode),
      ranks_(request.ranks()),
      kernels_(kernel_file(spec_.software.collective)),
      options_(runtime_options(request, mode_, named(kind_.op).all_pairs, kernels_)),
      turns_(ranks_),
      results_(ranks_ / kind_.gpus_per_thread),
      runtimes_(results_.size()) {
  arena_ = stretto_runtime_first_address(&options_);
  arena_bytes_ = align(arena_, kAlignment) - arena_ + kGuard;
  for (const uint64_t count : kind_.calls(ranks_)) add_row(count);
  const uint64_t begin = request.share.memory_begin;
  for (MemoryPlan& layout : layouts_) layout.add("kernel arguments", begin, arena_ - begin);
}

void CollectiveJob::add_row(uint64_t count) {
  const uint64_t bytes = kind_.size_of(count, ranks_);
  CollectiveData::Task task{kind_.op,
                            kind_.type,
                            kind_.reduction,
                            kind_.root,
                            ranks_,
                            count,
                            request_.seed * 1009 + rows_.size()};
  rows_.push_back({CollectiveData(task), bytes, count, kind_.warm_up, kind_.iterations, {}});
  Row& row = rows_.back();
  const bool in_place = kind_.place != CollectivePlace::out;
  row.buffers = {add_buffer(BufferRole::source), add_buffer(BufferRole::target)};
  for (uint32_t i = 0; in_place && i < row.warm_up + row.iterations; ++i)
    row.buffers.push_back(add_buffer(BufferRole::in_place));
  for (unsigned place = 0; place < 2; ++place) {
    if (kind_.place == (place == 0 ? CollectivePlace::in : CollectivePlace::out)) continue;
    row.turn[place] = turns_[0].size();
    for (uint32_t rank = 0; rank < ranks_; ++rank)
      turns_[rank].push_back(turn_of(row, place, rank));
    for (auto& of_thread : results_) of_thread.emplace_back();
  }
}

// Each call in place has its own buffer.
timed_collective_turn_t CollectiveJob::turn_of(const Row& row, unsigned place,
                                               uint32_t rank) const {
  const auto at = [&](unsigned i) { return buffers_[row.buffers[i]].offset; };
  const unsigned size = row.data.element_bytes();
  if (place == 0) return {row.count, at(0), at(1), 0, row.warm_up, row.iterations};
  return {row.count,
          at(2) + row.data.source_at(rank) * size,
          at(2) + row.data.target_at(rank) * size,
          row.buffers.size() > 3 ? at(3) - at(2) : 0,
          row.warm_up,
          row.iterations};
}

unsigned CollectiveJob::add_buffer(BufferRole role) {
  const Row& row = rows_.back();
  const uint64_t bytes = row.data.elements(role) * row.data.element_bytes();
  const uint64_t offset = arena_ + arena_bytes_;
  buffers_.push_back({static_cast<unsigned>(rows_.size() - 1), role, offset, bytes});
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    const CollectiveData::Range out = row.data.written(role, rank);
    const unsigned size = row.data.element_bytes();
    layouts_[rank].add("outputs", offset + out.begin * size, (out.end - out.begin) * size);
    layouts_[rank].add("buffers", offset, bytes, true);
  }
  arena_bytes_ = align(arena_ + arena_bytes_ + bytes, kAlignment) - arena_ + kGuard;
  return static_cast<unsigned>(buffers_.size() - 1);
}

void CollectiveJob::place_contents() {
  for (const Buffer& buffer : buffers_) {
    if (buffer.role == BufferRole::target || buffer.bytes == 0) continue;
    const CollectiveData& data = rows_[buffer.size].data;
    const unsigned size = data.element_bytes();
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      memories_[rank]->add_generator(buffer.offset, buffer.bytes,
                                     [=, &data](uint64_t address, uint8_t* bytes, uint64_t count) {
                                       const uint64_t first = address - buffer.offset;
                                       data.before(buffer.role, rank, first / size,
                                                   (first + count) / size, bytes);
                                     });
    }
  }
}

// Programs

void CollectiveJob::add_programs(Host& host, uint32_t) {
  for (uint32_t thread = 0; thread < results_.size(); ++thread)
    add_rank(host, thread * kind_.gpus_per_thread,
             [this, thread](HostCore& core) { run_thread(core, thread); });
}

void CollectiveJob::run_thread(HostCore& core, uint32_t thread) {
  HostRuntime runtime(core, options_);
  runtimes_[thread] = &runtime;
  const auto forget = [this, thread](void*) { runtimes_[thread] = nullptr; };
  const std::unique_ptr<void, decltype(forget)> forgets(this, forget);  // However this ends.
  const uint32_t first = thread * kind_.gpus_per_thread, end = first + kind_.gpus_per_thread;
  std::vector<const timed_collective_turn_t*> turns;
  for (uint32_t rank = first; rank < end; ++rank) turns.push_back(turns_[rank].data());
  timed_collective_parameters_t p{};
  p.op = kind_.op;
  p.type = kind_.type;
  p.reduction = kind_.reduction;
  p.root = static_cast<int>(kind_.root);
  p.ranks = ranks_;
  p.thread = thread;
  p.of_thread = kind_.gpus_per_thread;
  p.blocking = kind_.blocking;
  p.job = host_job(request_);
  p.memory = arena_;
  p.memory_bytes = arena_bytes_;
  p.turns = turns.data();
  p.turn_count = static_cast<uint32_t>(turns_[first].size());
  p.link_bytes = [](void* job) -> uint64_t {
    const auto& meter = static_cast<CollectiveJob*>(job)->meter_;
    return meter ? meter() : 0;
  };
  p.context = this;
  run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
    return timed_collective_thread(&p, ops, &id_, results_[thread].data(), error);
  });
  for (uint32_t rank = first; rank < end; ++rank)
    layouts_[rank].add("runtime", arena_ + arena_bytes_,
                       runtime.memory_end(rank) - arena_ - arena_bytes_);
}

std::optional<CollectiveJob::Measurement> CollectiveJob::measured(const Row& row,
                                                                  unsigned place) const {
  if (!row.turn[place] || results_[0][*row.turn[place]].done == 0) return std::nullopt;
  uint64_t begin = 0, end = 0;
  for (const auto& of_thread : results_) {
    begin = std::max(begin, of_thread[*row.turn[place]].begin_ns);
    end = std::max(end, of_thread[*row.turn[place]].end_ns);
  }
  return Measurement{static_cast<double>(end - begin) / 1000 / row.iterations,
                     results_[0][*row.turn[place]].wire_bytes / row.iterations};
}

// By the bytes of the calls that are done: those of the large sizes take most of the time.
std::optional<double> CollectiveJob::done_share(uint64_t) const {
  double done = 0, all = 0;
  for (const Row& row : rows_) {
    for (unsigned place = 0; place < 2; ++place) {
      if (row.turn[place]) all += row.weight();
      if (measured(row, place)) done += row.weight();
    }
  }
  return all > 0 ? std::optional(done / all) : std::nullopt;
}

std::vector<std::string> CollectiveJob::waiting_on() const {
  std::vector<std::string> lines;
  for (const HostRuntime* runtime : runtimes_) {
    if (runtime != nullptr && !runtime->position().empty()) lines.push_back(runtime->position());
  }
  return lines;
}

// Results

// Elements of [begin, end) that are not as expected.
uint64_t CollectiveJob::wrong_of_rank(const Buffer& buffer, uint32_t rank, uint64_t begin,
                                      uint64_t end, const std::vector<uint8_t>& expected,
                                      CheckReport& report) const {
  const unsigned size = rows_[buffer.size].data.element_bytes();
  std::vector<uint8_t> bytes((end - begin) * size);
  memories_[rank]->read(buffer.offset + begin * size, bytes.data(), bytes.size());
  report.elements += end - begin;
  if (std::equal(bytes.begin(), bytes.end(), expected.begin())) return 0;
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < end - begin; ++i) {
    if (std::memcmp(&bytes[i * size], &expected[i * size], size) == 0) continue;
    ++wrong;
    if (!report.first.empty()) continue;
    uint32_t got = 0, wanted = 0;
    std::memcpy(&got, &bytes[i * size], size);
    std::memcpy(&wanted, &expected[i * size], size);
    char text[160];
    std::snprintf(text, sizeof text,
                  "%llu bytes, %s, rank %u element %llu: got bits 0x%x, expected 0x%x",
                  static_cast<unsigned long long>(rows_[buffer.size].bytes),
                  buffer.role == BufferRole::in_place ? "in place" : "out of place", rank,
                  static_cast<unsigned long long>(begin + i), got, wanted);
    report.first = text;
  }
  report.mismatches += wrong;
  return wrong;
}

// Wrong elements of the output, on all ranks.
uint64_t CollectiveJob::wrong(const Buffer& buffer, CheckReport& report) const {
  const CollectiveData& data = rows_[buffer.size].data;
  std::vector<uint8_t> expected;
  uint64_t wrong = 0;
  for (uint64_t at = 0; at < data.elements(buffer.role); at += kBlock) {
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      const CollectiveData::Range out = data.written(buffer.role, rank);
      const uint64_t begin = std::max(at, out.begin),
                     end = std::min({at + kBlock, out.end, data.elements(buffer.role)});
      if (begin >= end) continue;
      if (rank == 0 || !data.same_everywhere()) {
        expected.resize((end - begin) * data.element_bytes());
        data.after(buffer.role, rank, begin, end, expected.data());
      }
      wrong += wrong_of_rank(buffer, rank, begin, end, expected, report);
    }
  }
  return wrong;
}

CheckReport CollectiveJob::check() const {
  CheckReport report;
  verdicts_.assign(rows_.size(), {});
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if (measured(row, 0)) verdicts_[i].wrong[0] = wrong(buffers_[row.buffers[1]], report);
    if (!measured(row, 1)) continue;
    for (size_t k = 2; k < row.buffers.size(); ++k)
      verdicts_[i].wrong[1] += wrong(buffers_[row.buffers[k]], report);
  }
  // Sizes without elements have been run all the same.
  if (report.elements == 0 && rows_.back().count == 0) report.elements = rows_.size();
  return report;
}

std::vector<std::pair<std::string, std::string>> CollectiveJob::kernel_sha256() const {
  return {{spec_.software.collective, sha256_hex(kernels_.data(), kernels_.size())}};
}

// Table

// busbw / algbw, as nccl-tests defines it.
double CollectiveJob::bus_factor() const {
  const double n = ranks_;
  switch (kind_.op) {
    case STRETTO_ALL_REDUCE: return 2 * (n - 1) / n;
    case STRETTO_REDUCE_SCATTER:
    case STRETTO_ALL_GATHER:
    case STRETTO_ALL_TO_ALL: return (n - 1) / n;
    default: return 1;
  }
}

double CollectiveJob::average_bus_bandwidth() const {
  double sum = 0;
  unsigned count = 0;
  for (const Row& row : rows_) {
    for (unsigned place = 0; place < 2; ++place) {
      const std::optional<Measurement> one = measured(row, place);
      if (!one) continue;
      sum += static_cast<double>(row.bytes) / one->microseconds / 1000 * bus_factor();
      ++count;
    }
  }
  return count == 0 ? 0 : sum / count;
}

std::string CollectiveJob::table() const {
  return collective_table(details()) +
         (meter_ ? ""
                 : "# Links do not tell whose bytes they carry: link MB is that of all jobs.\n");
}

boost::json::object CollectiveJob::details() const {
  const OpName& op = named(kind_.op);
  static const char* const places[2] = {"out_of_place", "in_place"};
  boost::json::array rows;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    boost::json::object one{{"size_bytes", row.bytes}, {"count", row.count}};
    for (unsigned place = 0; place < 2; ++place) {
      const std::optional<Measurement> calls = measured(row, place);
      if (!calls) continue;
      const double algbw = static_cast<double>(row.bytes) / calls->microseconds / 1000;
      boost::json::object cell{{"time_us", calls->microseconds},
                               {"algbw_gb_s", algbw},
                               {"busbw_gb_s", algbw * bus_factor()}};
      if (meter_) cell["wire_bytes"] = calls->wire_bytes;
      if (!verdicts_.empty()) cell["wrong"] = verdicts_[i].wrong[place];
      one[places[place]] = std::move(cell);
    }
    rows.push_back(std::move(one));
  }
  boost::json::object object{
      {"collective", op.name},
      {"engine", mode_},
      {"ranks", ranks_},
      {"gpus_per_thread", kind_.gpus_per_thread},
      {"algorithm", options_.links == STRETTO_LINKS_RING ? "ring" : "direct"},
      {"type", type_name(kind_.type)},
      {"redop", op.reduces ? reduction_name(kind_.reduction) : "none"},
      {"root", op.rooted ? static_cast<int>(kind_.root) : -1},
      {"sizes", std::move(rows)}};
  if (const double average = average_bus_bandwidth(); average > 0)
    object["average_busbw_gb_s"] = average;
  return object;
}

}  // namespace

// Kind

void CollectiveKind::describe(ParameterSet& set) {
  std::vector<std::pair<std::string, stretto_collective_op_t>> ops;
  for (const OpName& one : kOps) ops.emplace_back(one.name, one.op);
  set.choice<stretto_collective_op_t>("op", op, ops, "The collective.");
  set.number("min_bytes", min_bytes, 0, uint64_t{1} << 36,
             "Smallest size, as nccl-tests counts it.");
  set.number("max_bytes", max_bytes, 0, uint64_t{1} << 36, "Largest size.");
  set.number("factor", factor, 2, 1024, "From a size to the next.");
  set.text("counts", counts, "Counts of elements instead of sizes, with commas: 0,1,7.");
  set.choice<ncclDataType_t>("type", type,
                             {{"half", ncclFloat16},
                              {"bfloat16", ncclBfloat16},
                              {"float", ncclFloat32},
                              {"int32", ncclInt32}},
                             "Data type.");
  set.choice<ncclRedOp_t>(
      "redop", reduction,
      {{"sum", ncclSum}, {"prod", ncclProd}, {"max", ncclMax}, {"min", ncclMin}, {"avg", ncclAvg}},
      "Reduction.");
  set.number("root", root, 0, 63, "Root of broadcast and reduce.");
  set.choice<CollectivePlace>(
      "place", place,
      {{"both", CollectivePlace::both}, {"out", CollectivePlace::out}, {"in", CollectivePlace::in}},
      "Out of place, in place, or both.");
  set.number("warm_up", warm_up, 0, 1000, "Calls before those that are timed.");
  set.number("iterations", iterations, 1, 1000, "Calls that are timed.");
  set.number("large_factor", large_factor, 0, 1024,
             "From 1 MiB on, from a size to the next; 0 = factor.");
  set.number(
      "gpus_per_thread", gpus_per_thread, 1, 64,
      "GPUs that one thread of the host asks for, in a group (-g of nccl-tests); divides them.");
  set.flag("blocking", blocking, "The host waits for each call (-z of nccl-tests).");
}

std::string CollectiveKind::first_error() const {
  if (min_bytes > max_bytes) return "has min_bytes above max_bytes";
  if (large_factor == 1) return "has large_factor 1; allowed are 0 and 2 .. 1024";
  std::istringstream list(counts);
  for (std::string one; std::getline(list, one, ',');) {
    if (one.empty() || one.size() > 11 || one.find_first_not_of("0123456789") != std::string::npos)
      return "has counts '" + counts +
             "'; allowed are numbers up to 11 digits with commas between them";
  }
  return "";
}

uint64_t CollectiveKind::size_of(uint64_t count, uint32_t ranks) const {
  const bool blocks =
      op == STRETTO_REDUCE_SCATTER || op == STRETTO_ALL_GATHER || op == STRETTO_ALL_TO_ALL;
  const unsigned element = type == ncclFloat16 || type == ncclBfloat16 ? 2 : 4;
  return count * element * (blocks ? ranks : 1);
}

std::vector<uint64_t> CollectiveKind::calls(uint32_t ranks) const {
  std::vector<uint64_t> all;
  std::istringstream list(counts);
  for (std::string one; std::getline(list, one, ',');) all.push_back(std::stoull(one));
  if (!all.empty()) return all;
  for (uint64_t bytes = min_bytes;;) {
    const uint32_t times = bytes >= kLarge && large_factor != 0 ? large_factor : factor;
    all.push_back(bytes / size_of(1, ranks));
    if (bytes == 0 || bytes > max_bytes / times) return all;
    bytes *= times;
  }
}

const KindInfo& CollectiveKind::info() const {
  static const KindInfo info{
      .name = "collective",
      .sentence = "One collective over a range of sizes, as nccl-tests does it.",
      .accounts = 3,
      .modes = {{"mmio", "collective: kernels store into the peer's memory (GD-MMIO)"},
                {"gdma",
                 "collective: kernels send through the request ring and the DMA engine (GD-DMA)"},
                {"dma",
                 "collective: the host has the DMA engine copy, step by step (C-Drv; GD-CASYNC)"},
                {"t3",
                 "collective: all_reduce and reduce_scatter by updates that the Tracker lets the "
                 "DMA engine "
                 "send (T3)"}},
  };
  return info;
}

std::map<std::string, uint64_t> CollectiveKind::shape() const {
  return {{"min_bytes", min_bytes}, {"max_bytes", max_bytes}};
}

void CollectiveKind::check(const JobRequest& request) const {
  const MachineSpec& spec = request.spec;
  if (root >= request.ranks())
    throw UserError(request.subject() + ": root " + std::to_string(root) + " of " +
                    std::to_string(request.ranks()) + " GPUs");
  if (request.ranks() % gpus_per_thread != 0)
    throw UserError(request.subject() + ": collective.gpus_per_thread " +
                    std::to_string(gpus_per_thread) + " of " + std::to_string(request.ranks()) +
                    " GPUs; allowed are numbers that divide them");
  if (request.mode == "t3" && spec.hbm.updates == Updates::none)
    throw UserError("hbm.updates=none: in mode t3 memory adds: near_bank or controller");
  const std::vector<uint8_t> kernels = kernel_file(spec.software.collective);
  check_kernels(spec.software.collective, {"collective", "send_receive"});
  if (runtime_options(request, request.mode, named(op).all_pairs, kernels).lines_bytes != 0)
    check_kernels(spec.software.collective, {"collective_ll", "send_receive_ll"});
  // A source, a target and the calls in place; FIFOs and kernels beside them.
  uint64_t needed = uint64_t{1} << 30, largest = 0, size = 0;
  for (const uint64_t count : calls(request.ranks())) {
    const uint64_t bytes = size_of(count, request.ranks());
    const uint64_t all = bytes * (2 + warm_up + iterations);
    if (all > largest) largest = all, size = bytes;
    needed += all;
  }
  check_memory(request, needed, "the buffers of " + std::to_string(size) + " bytes", largest,
               counts.empty() ? "collective.max_bytes" : "collective.counts");
}

std::vector<std::string> CollectiveKind::claims(const JobRequest& request) const {
  return runtime_claims(request.mode);
}

std::vector<std::string> CollectiveKind::kernel_files(const JobRequest& request) const {
  return {kernel_path(request.spec.software.collective)};
}

std::unique_ptr<Job> CollectiveKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<CollectiveJob>(*this, request, std::move(memories));
}

}  // namespace stretto
