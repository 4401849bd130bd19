// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/graph_parameters.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/common/error.h"
#include "platform/base/installation.h"
#include "platform/config/library_machine.h"
#include "platform/jobs/operands.h"
#include "platform/jobs/send_mover.h"

namespace stretto {

namespace {

// Of the engine beside a rank, or of launches without queues.
constexpr uint64_t kSecondClientBytes = uint64_t{4} << 20;

// The kernel of a fused group, and room for its partial sums.
void choose_fused(const std::string& who, GraphPlan& plan, size_t number, graph_parameters_t& p) {
  graph_fused_t& fused = plan.fused[number];
  uint64_t partial_bytes = 0, flag_bytes = 0;
  ops_vector_launch_t launch;
  const bool is_chain = fused.op.form == GRAPH_CHAIN;
  if (is_chain ? fused_plan(&p.machine, &fused.op.chain, &launch) == 0
               : graph_choose(&p.machine, &fused.op, 1, 0, &partial_bytes, &flag_bytes) == 0)
    throw UserError(fmt::format("{}: a unit of this machine has no room for the fused kernel of {}",
                                who, plan.outputs[fused.first_op]));
  p.partial_bytes = std::max(p.partial_bytes, partial_bytes);
  p.flag_bytes = std::max(p.flag_bytes, flag_bytes);
  if (p.flag_bytes != 0) p.partial_bytes = (p.partial_bytes + 4095) & ~uint64_t{4095};
}

}  // namespace

std::string stem_of(const GraphKind& kind) {
  const bool is_file = kind.plan.find('/') != std::string::npos;
  return is_file ? kind.plan : software_folder() + "/graphs/" + kind.plan;
}

graph_mode_t mode_of(const std::string& name) {
  if (name == kBulkSynchronous) return GRAPH_LAUNCHED;
  return mode_named(name, GRAPH_MODES, graph_mode_name);
}

uint64_t second_client_bytes(const graph_parameters_t& p) {
  constexpr uint64_t kStep = uint64_t{1} << 20;
  const uint64_t queues = p.queues.payload_bytes + p.queues.word_bytes;
  return kSecondClientBytes + (queues + kStep - 1) / kStep * kStep +
         (queues == 0 ? 0 : p.client.l2_way_bytes);
}

graph_parameters_t parameters_of(const GraphKind& kind, const JobRequest& request, GraphPlan& plan,
                                 uint32_t rank) {
  const MachineSpec& spec = request.spec;
  graph_parameters_t p{};
  p.mode = mode_of(request.mode);
  p.rank = rank;
  p.ranks = request.ranks();
  p.iterations = kind.iterations;
  p.baseline = kind.baseline;
  p.comm_groups = p.ranks > 1 && !plan.buckets.empty() ? kind.comm_groups : 0;
  p.compute =
      kind.compute != 0 ? kind.compute : spec.gpu.cus - std::min(spec.gpu.cus, p.comm_groups);
  p.by_rows = kind.by_rows;
  p.ops = static_cast<uint32_t>(plan.launches.size());
  p.buckets = static_cast<uint32_t>(plan.buckets.size());
  p.arena_bytes = plan.arena_bytes;
  p.gradient_bytes = plan.gradient_bytes;
  p.clock_mhz = spec.gpu.clock_mhz;
  p.mover = send_mover(spec);
  p.job = host_job(request);
  p.client = client_options(request, rank);
  if (p.mode == GRAPH_KITSUNE) {
    p.group = plan.groups.data();
    p.groups = static_cast<uint32_t>(plan.groups.size());
    p.queues = plan.queues;
  }
  if (p.mode == GRAPH_VERTICAL) {
    p.fused = plan.fused.data();
    p.fused_count = static_cast<uint32_t>(plan.fused.size());
  }
  p.client.memory_end -= std::min(p.client.memory_end, second_client_bytes(p));
  p.bucket = plan.buckets.data();
  p.operators = plan.operators.data();
  p.machine = library_machine(spec);
  const bool launched = is_launched(p.mode);
  const ops_machine_t machine =
      launched ? p.machine : graph_loop_machine(&p.machine, std::max(1u, p.compute));
  if (graph_choose(&machine, plan.operators.data(), p.ops, launched ? 0 : 1, &p.partial_bytes,
                   &p.flag_bytes) == 0)
    throw UserError(request.subject() +
                    ": the library has no kernel of a product for this machine");
  for (uint32_t i = 0; i < p.fused_count; ++i) choose_fused(request.subject(), plan, i, p);
  p.stream_wait_poll_ns = spec.software.stream_wait_poll_ns;
  return p;
}

void take_second_client(graph_parameters_t& p, uint32_t queue) {
  p.client.first_queue += queue;
  p.client.memory_begin = p.client.memory_end;
  p.client.memory_end += second_client_bytes(p);
}

// Of each resource alone, the stages so far against what all units hold; how work-groups of several stages share a unit
// is the scheduler's business.
void check_residency(const std::string& who, const GraphPlan& plan, const GpuSpec& gpu) {
  for (size_t i = 0; i < plan.groups.size(); ++i) {
    uint64_t registers = 0, lds = 0, wavefronts = 0;
    for (size_t s = 0; s < plan.stages[i].size(); ++s) {
      const graph_stage_t& stage = plan.stages[i][s];
      const graph_stage_needs_t needs = graph_stage_needs(&stage, gpu.lds_bytes);
      const auto check = [&](const char* what, uint32_t each, uint32_t unit, uint64_t& sum) {
        sum += uint64_t{each} * stage.work_groups;
        const uint64_t room = each == 0 ? ~uint64_t{0} : uint64_t{unit / each} * gpu.cus;
        if (stage.work_groups <= room && sum <= uint64_t{unit} * gpu.cus) return;
        throw UserError(fmt::format(
            "{}: the pipeline of {} can never be resident: {} work-groups of stage {} need {} of "
            "{} "
            "each, {} in all with the stages before; {} units have {} each, room for {}",
            who, plan.outputs[plan.groups[i].first_op], stage.work_groups, plan.stage_names[i][s],
            each, what, sum, gpu.cus, unit, room));
      };
      check("registers_bytes", needs.registers_bytes, gpu.registers_bytes, registers);
      check("lds_bytes", needs.lds_bytes, gpu.lds_bytes, lds);
      check("wavefronts", needs.wavefronts, gpu.wavefront_slots, wavefronts);
    }
  }
}

}  // namespace stretto
