// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/graph_job.h"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "models/common/error.h"
#include "platform/config/peaks.h"
#include "platform/jobs/host_runtime.h"
#include "platform/jobs/operands.h"
#include "platform/jobs/queue_owner.h"
#include "platform/jobs/workload.h"
#include "platform/kinds/graph/graph_check.h"
#include "platform/kinds/graph/graph_fused.h"
#include "platform/kinds/graph/graph_parameters.h"
#include "platform/kinds/graph/graph_report.h"
#include "platform/kinds/graph/graph_traffic.h"
#include "platform/kinds/graph/graph_updates.h"
#include "platform/kinds/graph/overlap_loss.h"
#include "sw/apps/graph/graph.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/formats/queue.h"

namespace stretto {

namespace json = boost::json;

namespace {

constexpr uint32_t kLaunchQueue = 10;  // Of a job that has all.

const Account kInit{GRAPH_ACCOUNT_INIT, "init"}, kCompute{GRAPH_ACCOUNT_COMPUTE, "compute"},
    kComm{GRAPH_ACCOUNT_COMM, "comm"};

class GraphJob final : public Job, public QueueOwner {
 public:
  GraphJob(const GraphKind& kind, const JobRequest& request, Memories memories)
      : Job(request, std::move(memories)),
        kind_(kind),
        plan_(load_graph_plan(stem_of(kind_) + ".json")),
        shared_(std::make_unique<graph_shared_t>()),
        results_(memories_.size()),
        engines_(memories_.size()),
        progress_(memories_.size()),
        activity_(plan_.operators.size() + 1),
        traffic_(plan_) {
    if (is_launched(mode_of(request.mode))) {
      if (memories_.size() > 1) {
        collective_elf_ = kernel_file(request.spec.software.collective);
        stamp_elf_ = kernel_file("send");
      }
      if (mode_of(request.mode) == GRAPH_KITSUNE) stages_elf_ = kernel_file("stages");
    } else {
      elf_ = kernel_file(stem_of(kind_) + ".elf");
    }
    make_lists(plan_, [&](const GraphTensor& tensor, uint64_t i) {
      return graph_index(request.seed, tensor, &tensor - plan_.tensors.data(), i);
    });
    for (uint32_t rank = 0; rank < memories_.size(); ++rank) {
      graph_parameters_t& p = parameters_.emplace_back(parameters_of(kind, request, plan_, rank));
      p.elf = elf_.data();
      p.elf_bytes = elf_.size();
      [[maybe_unused]] const stretto_status_t status = graph_plan(&p, &place_);
      assert(status == STRETTO_OK && "checked");
      if (!is_launched(p.mode)) layouts_[rank].add(place_.memory, GRAPH_MODULE_BYTES);
      layouts_[rank].add("second client", p.client.memory_end, second_client_bytes(p));
    }
    const graph_parameters_t& first = parameters_[0];
    for (uint32_t op = 0, group = 0, fused = 0; op < plan_.operators.size(); ++op) {
      if (!is_launched(first.mode)) break;
      if (group < first.groups && op >= first.group[group].first_op) {
        const graph_group_t& of = first.group[group];
        kernels_of_.emplace_back();
        if (op + 1 < of.first_op + of.ops) continue;  // Ends with its group.
        for (uint32_t i = 0; i < of.stages; ++i)
          kernels_of_.back().emplace_back(graph_stage_kernel(&of.stage[i], spec_.gpu.lds_bytes));
        ++group;
        continue;
      }
      kernels_of_.emplace_back();
      const graph_operator_t* what = &plan_.operators[op];
      if (fused < first.fused_count && op >= first.fused[fused].first_op) {
        const graph_fused_t& of = first.fused[fused];
        if (op + 1 < of.first_op + of.ops) continue;  // Likewise.
        what = &of.op;
        ++fused;
      }
      graph_launch_t launches[GRAPH_MAX_LAUNCHES];
      const graph_memory_t nowhere{};
      const uint32_t count = graph_launches(&first.machine, what, &nowhere, launches);
      for (uint32_t i = 0; i < count; ++i) {
        kernels_of_.back().emplace_back(launches[i].kernel);
        std::vector<uint8_t>& elf = library_[launches[i].library];
        if (elf.empty()) elf = kernel_file(graph_library(launches[i].library));
      }
    }
  }

  std::vector<Account> accounts() const override { return {kCompute, kComm, kInit}; }
  std::vector<PhaseRule> phases() const override {
    return {preparation_of(kInit), kernels_of(kCompute), work_of(kComm)};
  }

  bool watches_kernels() const override { return is_launched(parameters_[0].mode); }

  // Groups run one after the other, in the same memory.
  std::string queue_at(uint32_t rank, uint64_t offset) const override {
    for (const GraphQueue& queue : plan_.queue) {
      const graph_group_t& group = plan_.groups[queue.group];
      const uint64_t payload = offset - payloads_of(rank, queue);
      if (progress_[rank].op >= group.first_op && progress_[rank].op < group.first_op + group.ops &&
          payload < queue.edge.entries * uint64_t{queue.edge.entry_bytes})
        return fmt::format("queue {}, entry {}", queue.name, payload / queue.edge.entry_bytes);
    }
    if (kind_.races) {
      const uint64_t gradient = offset - offset_of(place_.gradients);
      const bool is_gradient = gradient < plan_.gradient_bytes;
      return plan_.tensors_at(is_gradient,
                              is_gradient ? gradient : offset - offset_of(place_.arena));
    }
    const std::optional<QueueWord> word = word_at(rank, offset);
    return !word ? ""
                 : fmt::format("queue {}, entry {}, {}", word->queue, word->entry,
                               word->is_free ? "free" : "full");
  }
  std::optional<QueueWord> word_at(uint32_t rank, uint64_t offset) const override {
    return plan_.word_at(offset - offset_of(results_[rank].stage_words));
  }
  std::vector<Range> watched(uint32_t) const override {
    if (!kind_.races) return {};
    return {{offset_of(place_.arena), plan_.arena_bytes},
            {offset_of(place_.gradients), plan_.gradient_bytes},
            {loop_words(), LOOP_WORD_BYTES}};
  }
  std::string stage_at(uint32_t rank, uint64_t offset) const override {
    stage_arguments_t found{};
    if (plan_.groups.empty() || results_[rank].stage_words == 0) return "";
    memories_[rank]->read(offset, reinterpret_cast<uint8_t*>(&found), sizeof found);
    return plan_.stage_at(found.clocks - results_[rank].stage_words);
  }

  // Operators of a rank run one after the other.
  void on_kernel(const KernelMoment& moment) override {
    if (moment.account == kCompute.number) {
      note_traffic(moment);
      note_update(moment);
    }
    if (!moment.ended || moment.account != kCompute.number) return;
    const size_t ops = plan_.operators.size();
    const uint64_t ns = moment.at / kNanosecond;
    graph_result_t& result = results_[moment.rank];
    Progress& at = progress_[moment.rank];
    uint32_t last = at.op;  // Operators of a group end with its last kernel.
    while (kernels_of_[last].empty()) ++last;
    if (++at.kernels < kernels_of_[last].size()) return;
    for (; at.op <= last; ++at.op) {
      if (moment.rank == 0 && at.iteration + 1 == kind_.iterations)
        activity_[at.op + 1] = moment.so_far;
      if (at.iteration == 0) result.alone_ns[at.op] = ns;
      if (at.iteration + 1 == kind_.iterations) result.op_ns[at.op] = ns;
    }
    at.kernels = 0;
    if (at.op < ops) return;
    result.end_ns[at.iteration++] = ns;
    if (moment.rank == 0 && at.iteration + 1 == kind_.iterations) activity_[0] = moment.so_far;
    at.op = 0;
  }

  void place_contents() override {
    const bool values = spec_.gpu.tile_values;
    const uint64_t seed = request_.seed;
    for (uint32_t rank = 0; rank < memories_.size(); ++rank) {
      for (size_t i = 0; i < plan_.tensors.size(); ++i) {
        const GraphTensor& tensor = plan_.tensors[i];
        if (tensor.kind == "value" || tensor.kind == "gradient") continue;
        const bool is_number =
            tensor.kind == "input" || tensor.kind == "weight" || tensor.kind == "master";
        if (!values && is_number) continue;  // Zeros cost nothing.
        const uint64_t base = base_of(tensor), bytes = 2 * tensor.elements();
        const GraphContent content(seed, tensor, i, rank);
        memories_[rank]->add_generator(base, bytes,
                                       [=](uint64_t address, uint8_t* out, uint64_t count) {
                                         for (uint64_t at = 0; at + 2 <= count; at += 2) {
                                           const uint16_t bits = content((address - base + at) / 2);
                                           std::memcpy(out + at, &bits, 2);
                                         }
                                       });
      }
    }
  }

  // An iteration that ends before its products can have been worked out ended elsewhere.
  void audit(uint32_t rank, AuditSink& sink) const override {
    if (rank != 0) return;
    const double peak = peaks_of(spec_).tensor_fp16_tflop_s;  // MFLOP a us.
    for (uint32_t i = 0; i < kind_.iterations && is_over(i); ++i)
      sink.at_most("kFLOP of an iteration <= tensor peak x its time",
                   static_cast<uint64_t>(plan_.gflop * 1e6),
                   static_cast<uint64_t>(peak * static_cast<double>(iteration_ns(i))));
    audit_traffic(sink);
  }

  void add_programs(Host& host, uint32_t) override {
    for (uint32_t rank = 0; rank < memories_.size(); ++rank) {
      add_rank(host, rank, [this, rank](HostCore& core) {
        if (is_launched(parameters_[rank].mode)) {
          launch(core, rank);
          return;
        }
        run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
          return graph_rank(&parameters_[rank], shared_.get(), ops, &results_[rank], error);
        });
      });
      if (parameters_[rank].mode == GRAPH_LOOP_S && parameters_[rank].comm_groups != 0)
        add_engine(host, rank);
    }
  }

  CheckReport check() const override;

  std::map<std::string, std::string> contents() const override {
    const json::value* const hash = plan_.root.if_contains("hash");
    return {{"plan", hash == nullptr ? plan_.sha256 : std::string(hash->as_string())}};
  }
  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    std::vector<std::pair<std::string, std::string>> all;
    if (!elf_.empty()) all.emplace_back(plan_.name, sha256_hex(elf_.data(), elf_.size()));
    for (size_t form = 0; form < library_.size(); ++form) {
      const std::vector<uint8_t>& elf = library_[form];
      if (!elf.empty())
        all.emplace_back(graph_library(static_cast<graph_library_t>(form)),
                         sha256_hex(elf.data(), elf.size()));
    }
    if (parameters_[0].groups != 0)
      all.emplace_back("stages", sha256_hex(stages_elf_.data(), stages_elf_.size()));
    return all;
  }
  std::string table() const override;
  json::object details() const override;

 private:
  bool is_planned() const { return plan_.root.contains("hash"); }
  GraphReport report() const {
    return GraphReport({.plan = plan_,
                        .spec = spec_,
                        .groups = parameters_[0].groups,
                        .fused = parameters_[0].fused_count,
                        .ends = ends_of(results_[0].op_ns, last_begin_ns()),
                        .activity = activity_,
                        .clocks = [this](const stage_arguments_t& stage, size_t count) {
                          std::vector<uint64_t> clocks(count);
                          memories_[0]->read(offset_of(results_[0].stage_words) + stage.clocks,
                                             reinterpret_cast<uint8_t*>(clocks.data()), 8 * count);
                          return clocks;
                        }});
  }
  void add_engine(Host& host, uint32_t rank) {
    add_thread(host, "engine" + std::to_string(rank), [this, rank](HostCore& core) {
      graph_parameters_t p = parameters_[rank];
      take_second_client(p, 2);
      run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
        return graph_engine(&p, shared_.get(), ops, &engines_[rank], error);
      });
    });
  }

  void launch(HostCore& core, uint32_t rank) {
    graph_parameters_t p = parameters_[rank];
    const stretto_runtime_options_t options = launched_options();
    HostRuntime runtime(core, options);
    take_second_client(p, options.client.queue_count);
    p.client.queue_count = 1;
    p.launched_arena = stretto_runtime_first_address(&options);
    p.stamp_elf = stamp_elf_.data();
    p.stamp_elf_bytes = stamp_elf_.size();
    for (size_t form = 0; form < library_.size(); ++form) {
      p.library[form] = library_[form].empty() ? nullptr : library_[form].data();
      p.library_bytes[form] = library_[form].size();
    }
    p.stages_elf = stages_elf_.data();
    p.stages_elf_bytes = stages_elf_.size();
    run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
      return graph_launched_rank(&p, ops, &id_, &results_[rank], error);
    });
    const uint64_t begin = options.client.memory_begin;
    layouts_[rank].add("runtime", begin, runtime.memory_end(rank) - begin);
  }

  // Queues and memory of the communicator, below those of the operators.
  stretto_runtime_options_t launched_options() const {
    stretto_runtime_options_t options =
        runtime_options(request_, parameters_[0].mode == GRAPH_LAUNCHED_GDMA ? "gdma" : "mmio",
                        false, collective_elf_);
    options.accounts = {kInit.number, kComm.number, kComm.number, 0};
    options.client.queue_count = std::min(kLaunchQueue, request_.share.queue_count - 1);
    options.client.memory_end = parameters_[0].client.memory_end;
    return options;
  }

  uint64_t base_of(const GraphTensor& tensor) const {
    if (!is_launched(parameters_[0].mode))
      return offset_of(tensor.in_gradients ? place_.gradients : place_.arena) + tensor.offset;
    const stretto_runtime_options_t options = launched_options();
    return stretto_runtime_first_address(&options) + (tensor.in_gradients ? plan_.arena_bytes : 0) +
           tensor.offset;
  }
  uint64_t loop_words() const {
    return offset_of(place_.words) + place_.words_bytes - LOOP_WORD_BYTES;
  }
  // Words count what the work-groups have told each other.
  void check_words(CheckReport& report) const;
  void check_queues(CheckReport& report) const;
  void audit_traffic(AuditSink& sink) const;
  bool queues_fit() const {
    const graph_parameters_t& p = parameters_[0];
    return stay(p.client, {{offset_of(results_[0].stage_words),
                            p.queues.word_bytes + p.queues.payload_bytes}});
  }
  // By group, whether all that units read again with every tile are pinned while it runs.
  std::vector<bool> pins_weights() const {
    const graph_parameters_t& p = parameters_[0];
    const stretto_runtime_options_t runtime = launched_options();
    const uint64_t words = results_[0].stage_words;
    const graph_stage_memory_t memory{
        .arena = stretto_gpu_address(p.client.gpu, stretto_runtime_first_address(&runtime)),
        .payloads = words + p.queues.word_bytes,
        .words = words};
    std::vector<bool> all;
    for (const graph_group_t& group : plan_.groups)
      all.push_back(graph_pins(&group, &p.client, &memory).has_weights != 0);
    return all;
  }
  uint64_t payloads_of(uint32_t rank, const GraphQueue& queue) const {
    return offset_of(results_[rank].stage_words) + plan_.queues.word_bytes + queue.edge.base;
  }
  // progress_ is that before this moment.
  void note_traffic(const KernelMoment& moment) {
    const Progress& at = progress_[moment.rank];
    const graph_parameters_t& p = parameters_[0];
    if (moment.rank != 0 || at.iteration != 0) return;
    if (p.groups + p.fused_count + plan_.with_master.size() == 0) return;
    traffic_.note(
        at.op, moment.ended,
        [&] {
          return GraphTraffic::Bytes{moment.so_far.dram_read_bytes, meter().left(0),
                                     meter().evictions(0), meter().fetched_past(0)};
        },
        [&](const GraphQueue& queue) {
          return meter().traffic(0, payloads_of(0, queue),
                                 queue.edge.entries * uint64_t{queue.edge.entry_bytes});
        });
  }
  // progress_ likewise. Kernels of updates, on rank 0, in the last iteration.
  void note_update(const KernelMoment& moment) {
    const Progress& at = progress_[moment.rank];
    if (moment.rank != 0 || at.iteration + 1 != kind_.iterations) return;
    if (plan_.launches[at.op] != "Update") return;
    if (moment.ended)
      update_ns_ += (moment.at - update_begin_) / kNanosecond;
    else
      update_begin_ = moment.at;
  }
  void check_tensors(CheckReport& report) const;
  json::object updates() const;
  // Of the graph's results.
  std::string results_sha256() const;
  std::vector<uint16_t> elements_of(uint32_t rank, const GraphTensor& tensor) const;
  bool is_left(const GraphTensor& tensor) const {
    const graph_parameters_t& p = parameters_[0];
    return (p.groups == 0 || !plan_.inside.contains(tensor.name)) &&
           (p.fused_count == 0 || !plan_.inside_fused.contains(tensor.name));
  }
  // Time of iteration i, over all ranks.
  uint64_t iteration_ns(uint32_t i) const {
    uint64_t begin = 0, end = 0;
    for (const graph_result_t& one : results_) {
      begin = std::max(begin, i == 0 ? one.begin_ns : one.end_ns[i - 1]);
      end = std::max(end, one.end_ns[i]);
    }
    return is_over(i) && end > begin ? end - begin : 0;
  }
  bool is_over(uint32_t iteration) const {
    return std::all_of(results_.begin(), results_.end(),
                       [&](const graph_result_t& one) { return one.end_ns[iteration] != 0; });
  }

  // Of the last iteration: from its begin to the last operator that is no update, the slowest rank.
  uint64_t compute_ns() const {
    uint64_t most = 0;
    const uint32_t last = kind_.iterations - 1;
    for (const graph_result_t& one : results_) {
      uint64_t end = 0;
      for (size_t op = 0; op < plan_.launches.size(); ++op) {
        if (plan_.launches[op] != "Update") end = std::max(end, one.op_ns[op]);
      }
      const uint64_t begin = last == 0 ? one.begin_ns : one.end_ns[last - 1];
      most = std::max(most, end > begin ? end - begin : 0);
    }
    return most;
  }
  // Of rank 0, launched: ends of the operators that are no updates, from the iteration's begin on.
  std::vector<double> ends_of(const uint64_t (&ends)[LOOP_MAX_OPS], uint64_t begin) const {
    std::vector<double> us;
    size_t count = plan_.launches.size();
    while (count > 0 && plan_.launches[count - 1] == "Update") --count;
    for (size_t op = 0; op < count; ++op)
      us.push_back(static_cast<double>(ends[op] - begin) / 1000);
    return us;
  }
  uint64_t last_begin_ns() const {
    return kind_.iterations == 1 ? results_[0].begin_ns : results_[0].end_ns[kind_.iterations - 2];
  }
  std::pair<double, double> window(size_t bucket) const {
    const auto& ns = results_[0].bucket_ns[bucket];
    return {static_cast<double>(ns[0] - last_begin_ns()) / 1000,
            static_cast<double>(ns[1] - last_begin_ns()) / 1000};
  }
  // By operators, inside reductions.
  double lost_percent() const {
    std::vector<std::pair<double, double>> windows;
    for (size_t i = 0; memories_.size() > 1 && i < plan_.buckets.size(); ++i)
      windows.push_back(window(i));
    return 100 * overlap_loss(ends_of(results_[0].op_ns, last_begin_ns()),
                              ends_of(results_[0].alone_ns, results_[0].begin_ns), windows);
  }
  // From the first rank's begin to the last one's end.
  uint64_t bucket_ns(size_t bucket) const {
    uint64_t begin = UINT64_MAX, end = 0;
    for (const graph_result_t& one : results_) {
      begin = std::min(begin, one.bucket_ns[bucket][0]);
      end = std::max(end, one.bucket_ns[bucket][1]);
    }
    return end > begin ? end - begin : 0;
  }

  const GraphKind& kind_;
  GraphPlan plan_;
  std::vector<uint8_t> elf_;  // Not launched.
  std::unique_ptr<graph_shared_t> shared_;
  std::vector<graph_parameters_t> parameters_;
  std::vector<graph_result_t> results_;
  std::vector<send_engine_counts_t> engines_;
  // launched.
  struct Progress {
    uint32_t iteration = 0, op = 0, kernels = 0;
  };
  std::vector<uint8_t> collective_elf_, stamp_elf_, stages_elf_;
  std::array<std::vector<uint8_t>, GRAPH_LIBRARIES> library_;
  std::vector<std::vector<std::string>> kernels_of_;  // By operator,
  std::vector<Progress> progress_;                    // by rank.
  std::vector<GpuActivity>
      activity_;  // Of rank 0 until the last iteration's begin, its operators' ends.
  Time update_begin_ = 0;
  uint64_t update_ns_ = 0;  // That kernels of updates took.
  GraphTraffic traffic_;
  ncclUniqueId id_{};
  graph_plan_t place_ = {};
};

CheckReport GraphJob::check() const {
  CheckReport report;
  check_words(report);
  check_queues(report);
  if (spec_.gpu.tile_values) check_tensors(report);
  return report;
}

void GraphJob::check_words(CheckReport& report) const {
  const graph_parameters_t& p = parameters_[0];
  for (uint32_t rank = 0; is_launched(p.mode) && rank < memories_.size(); ++rank) {
    // Every kernel has noted its end, one after the other.
    for (uint64_t op = 0; op < plan_.launches.size(); ++op) {
      ++report.elements;
      const uint64_t before = op == 0 ? results_[rank].begin_ns : results_[rank].op_ns[op - 1];
      const bool is_with_it = op > 0 && kernels_of_[op - 1].empty();  // In one group.
      const uint64_t end = results_[rank].op_ns[op];
      if (is_with_it ? end != before : end <= before)
        report.wrong("rank " + std::to_string(rank) + " operator " + std::to_string(op) +
                     " did not end after the one before");
    }
  }
  for (uint32_t rank = 0; !is_launched(p.mode) && rank < memories_.size(); ++rank) {
    const auto word = [&](uint64_t index) {
      uint64_t value = 0;
      memories_[rank]->read(loop_words() + 8 * index, reinterpret_cast<uint8_t*>(&value), 8);
      return value;
    };
    const auto expect = [&](const char* what, uint64_t index, uint64_t at, uint64_t expected) {
      ++report.elements;
      if (word(at) == expected) return;
      report.wrong("rank " + std::to_string(rank) + " " + what + " " + std::to_string(index) +
                   ": ended " + std::to_string(word(at)) + " times, expected " +
                   std::to_string(expected));
    };
    for (uint64_t op = 0; op < plan_.launches.size(); ++op)
      expect("operator", op, op, uint64_t{p.compute} * p.iterations);
    for (uint64_t bucket = 0; p.comm_groups != 0 && bucket < plan_.buckets.size(); ++bucket)
      expect("bucket", bucket, LOOP_MAX_OPS + bucket, uint64_t{p.comm_groups} * p.iterations);
    for (const GraphBlocks& made : plan_.blocks) {
      uint64_t bytes = 0;
      for (uint32_t block = 0; block < made.count; ++block)
        bytes += word(LOOP_MAX_OPS + LOOP_MAX_BUCKETS + made.first + block);
      ++report.elements;
      const uint64_t expected = p.by_rows != 0 ? made.bytes * p.iterations : 0;
      if (bytes != expected)
        report.wrong(fmt::format("rank {} blocks of operator {}: {} bytes counted, expected {}",
                                 rank, made.op, bytes, expected));
    }
  }
}

// Every payload was written once and read by every reader.
void GraphJob::check_queues(CheckReport& report) const {
  for (uint32_t rank = 0; parameters_[0].groups != 0 && rank < memories_.size(); ++rank) {
    for (const GraphQueue& queue : plan_.queue) {
      const uint64_t payloads = queue.payloads * kind_.iterations;
      const uint64_t words = offset_of(results_[rank].stage_words) + queue.edge.words;
      uint64_t counts[2] = {};  // Filled, freed.
      for (uint64_t word = 0; word < 2 * uint64_t{queue.edge.entries}; ++word) {
        uint64_t value = 0;
        memories_[rank]->read(words + word * TILE_QUEUE_LINE_BYTES,
                              reinterpret_cast<uint8_t*>(&value), 8);
        counts[word % 2] += value;
      }
      ++report.elements;
      if (counts[0] != payloads * queue.edge.writers || counts[1] != payloads * queue.edge.readers)
        report.wrong(
            fmt::format("rank {} queue {}: {} payloads of {} readers were filled {} times "
                        "and freed {} times",
                        rank, queue.name, payloads, queue.edge.readers, counts[0], counts[1]));
    }
  }
}

// Of rank 0. Nothing of what fits has left the L2; whether or not it fits for certain, what a pipeline moves is held to
// its plan if nothing of the queues has left.
void GraphJob::audit_traffic(AuditSink& sink) const {
  const graph_parameters_t& p = parameters_[0];
  // Another job's bytes are among those of the GPU, and it evicts what would have stayed.
  const bool is_own = memories_.size() == 1 && !request_.share.has_company;
  if (p.fused_count != 0 && is_own) traffic_.audit_fused(spec_.l2.bytes, sink);
  if (is_launched(p.mode) && is_own) traffic_.audit_updates(sink);
  if (p.groups == 0) return;
  if (p.client.l2_persist_bytes == 0) return;
  traffic_.audit_queues(sink);
  if (is_own) {
    traffic_.audit_reads({.l2_bytes = spec_.l2.bytes,
                          .l2_partitions = spec_.l2.partitions,
                          .lds_bytes = spec_.gpu.lds_bytes,
                          .pins_weights = pins_weights()},
                         sink);
    traffic_.audit_writes(sink);
  }
  if (!queues_fit()) return;
  sink.set_where("queues that fit the L2's share of pinned lines");
  sink.equal("sectors of queues that were written back to make room = 0", meter().evictions(0), 0);
}

std::string GraphJob::results_sha256() const {
  std::vector<uint16_t> all;
  for (uint32_t rank = 0; rank < memories_.size(); ++rank) {
    for (const GraphTensor& tensor : plan_.tensors) {
      if (!plan_.results.contains(tensor.name)) continue;
      const std::vector<uint16_t> elements = elements_of(rank, tensor);
      all.insert(all.end(), elements.begin(), elements.end());
    }
  }
  return sha256_hex(all.data(), kElementBytes * all.size());
}

std::vector<uint16_t> GraphJob::elements_of(uint32_t rank, const GraphTensor& tensor) const {
  std::vector<uint16_t> elements(tensor.elements());
  memories_[rank]->read(base_of(tensor), reinterpret_cast<uint8_t*>(elements.data()),
                        kElementBytes * elements.size());
  return elements;
}

void GraphJob::check_tensors(CheckReport& report) const {
  check_graph(
      plan_,
      {.ranks = static_cast<uint32_t>(memories_.size()),
       .iterations = kind_.iterations,
       .seed = request_.seed,
       .is_left = [this](size_t index) { return is_left(plan_.tensors[index]); },
       .kernels = is_launched(parameters_[0].mode) ? GraphKernels::library : GraphKernels::loop,
       .read = [this](uint32_t rank,
                      size_t index) { return elements_of(rank, plan_.tensors[index]); }},
      report);
}

std::string GraphJob::table() const {
  char line[160];
  std::snprintf(line, sizeof line,
                "  %s: %llu operators, %.3f GFLOP an iteration and GPU\n  iteration      time us   "
                "TFLOP/s a GPU\n",
                plan_.name.c_str(), static_cast<unsigned long long>(plan_.launches.size()),
                plan_.gflop);
  std::string text = line;
  for (uint32_t i = 0; i < kind_.iterations; ++i) {
    const double us = static_cast<double>(iteration_ns(i)) / 1000;
    text += fmt::format("  {:9}  {}  {}\n", i, figure(us, 11),
                        figure(us > 0 ? 1000 * plan_.gflop / us : 0, 14));
  }
  const bool is_timed = is_launched(parameters_[0].mode) && is_over(kind_.iterations - 1);
  if (is_planned() && is_timed) text += report().operator_table();
  if (parameters_[0].groups != 0 && is_timed) text += report().pipeline_table();
  if (parameters_[0].mode == GRAPH_VERTICAL) text += fused_text(plan_);
  if (!plan_.with_master.empty() && is_over(kind_.iterations - 1)) text += updates_text(updates());
  if (kind_.baseline && is_launched(parameters_[0].mode) && is_over(kind_.iterations - 1))
    text += fmt::format("  operators lose {:.1f} % beside reductions\n", lost_percent());
  if (kind_.races) text += "  tensors, gradients and words are watched: a race ends the run\n";
  return text;
}

json::object GraphJob::updates() const {
  const auto read = [this](size_t index) { return elements_of(0, plan_.tensors[index]); };
  json::object all =
      graph_updates(plan_, request_.seed, spec_.gpu.tile_values ? read : GraphTensorReader());
  if (is_launched(parameters_[0].mode)) all["ns"] = update_ns_;
  return all;
}

json::object GraphJob::details() const {
  json::array times;
  for (uint32_t i = 0; i < kind_.iterations && is_over(i); ++i) times.push_back(iteration_ns(i));
  json::object object{{"graph", plan_.name},
                      {"operators", plan_.launches.size()},
                      {"gflop", plan_.gflop},
                      {"gradient_bytes", plan_.gradient_bytes},
                      {"compute", parameters_[0].compute},
                      {"comm_groups", parameters_[0].comm_groups},
                      {"iteration_ns", std::move(times)}};
  const bool is_whole = is_over(kind_.iterations - 1);  // Else the run was cut short.
  const bool is_timed = is_whole && is_launched(parameters_[0].mode);
  if (is_whole) object["compute_ns"] = compute_ns();
  if (is_whole && std::count(plan_.launches.begin(), plan_.launches.end(), "Update") != 0)
    object["updates"] = updates();
  if (is_whole && spec_.gpu.tile_values) object["results_sha256"] = results_sha256();
  json::array buckets;
  for (size_t i = 0; memories_.size() > 1 && i < plan_.buckets.size(); ++i) {
    const uint64_t ns = bucket_ns(i);
    // As nccl-tests has it: what each link must carry.
    const double bus = static_cast<double>(plan_.buckets[i].bytes) * 2 *
                       (static_cast<double>(memories_.size()) - 1) /
                       static_cast<double>(memories_.size());
    json::object bucket{{"bytes", plan_.buckets[i].bytes}};
    if (is_whole && ns != 0) {
      bucket["ns"] = ns;
      bucket["busbw_gb_s"] = bus / static_cast<double>(ns);
      if (is_timed) {
        bucket["begin_us"] = window(i).first;
        bucket["end_us"] = window(i).second;
      }
    }
    buckets.push_back(std::move(bucket));
  }
  object["buckets"] = std::move(buckets);
  if (!kernels_of_.empty()) {
    json::array operators;
    for (size_t op = 0; op < kernels_of_.size(); ++op)
      operators.push_back({{"kind", plan_.launches[op]},
                           {"output", plan_.outputs[op]},
                           {"kernels", json::value_from(kernels_of_[op])}});
    object["launches"] = std::move(operators);
  }
  if (is_timed) {
    object["op_end_us"] = json::value_from(ends_of(results_[0].op_ns, last_begin_ns()));
    if (parameters_[0].groups != 0) object["pipelines"] = report().pipelines();
    if (is_planned()) object["operators_alone"] = report().operators();
    if (is_planned()) object["profile"] = report().profile();
    if (parameters_[0].mode == GRAPH_VERTICAL) object["fused"] = fused_json(plan_);
    if (kind_.baseline) object["lost_percent"] = lost_percent();
  }
  if (parameters_[0].mode == GRAPH_LOOP_S) {
    uint64_t sends = 0, copies = 0;
    for (const send_engine_counts_t& one : engines_) sends += one.sends, copies += one.copies;
    object["engine_sends"] = sends;
    object["engine_copies"] = copies;
  }
  return object;
}

}  // namespace

std::unique_ptr<Job> make_graph_job(const GraphKind& kind, const JobRequest& request,
                                    Memories memories) {
  return std::make_unique<GraphJob>(kind, request, std::move(memories));
}

}  // namespace stretto
