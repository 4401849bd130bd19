// SPDX-License-Identifier: Apache-2.0
#include "platform/adapters/rtl_blocks.h"

#include "models/common/error.h"
#include "models/reference/grid_scheduler_model.h"
#include "models/reference/mca_model.h"
#include "models/reference/request_ring_model.h"
#include "models/reference/tracker_model.h"
#include "platform/adapters/lockstep.h"
#include "platform/adapters/rtl_sources.h"
#include "platform/adapters/verilated_blocks.h"

namespace stretto {

// Found by Lockstep through the type of the argument, which an unnamed namespace would hide.
static void list_register_port(const RegisterPort& port, PinList& pins) {
  if (!port.write && !port.read) return;
  pins.add(port.write ? "reg_we" : "reg_re", 1);
  pins.add("reg_addr", port.address);
  pins.add("reg_wdata", port.wdata);
}

static void list_inputs(const McaInputs& in, PinList& pins) {
  pins.add("compute_push", in.compute_push);
  pins.add("comm_push", in.comm_push);
  pins.add("dram_pop", in.dram_pop);
  pins.add("dram_parked", in.dram_parked);
  pins.add("kernel_start", in.kernel_start);
  pins.add("first_wg_done", in.first_wg_done);
  pins.add("kernel_end", in.kernel_end);
  list_register_port(in.reg, pins);
}

static void list_outputs(const McaOutputs& out, PinList& pins) {
  pins.add("grant_compute", out.grant_compute);
  pins.add("grant_comm", out.grant_comm);
  pins.add("drain_done", out.drain_done);
  pins.add("threshold", out.threshold);
  pins.add("idle", out.idle);
  pins.add("wake_cycle", out.wake_cycle);
  pins.add("reg_rdata", out.reg_rdata);
}

static void list_inputs(const TrackerInputs& in, PinList& pins) {
  for (unsigned b = 0; b < kTrackerBanks; ++b) {
    const TrackerUpdate& u = in.update[b];
    if (!u.valid) continue;
    const std::string bank = "update[" + std::to_string(b) + "].";
    pins.add(bank + "wg_id", u.wg_id);
    pins.add(bank + "wf_id", u.wf_id);
    pins.add(bank + "count", u.count);
    pins.add(bank + "address", u.address);
  }
  pins.add("trigger_ready", in.trigger_ready);
  pins.add("spill_req_ready", in.spill_req_ready);
  if (in.spill_rsp_valid) {
    pins.add("spill_rsp_valid", 1);
    pins.add("spill_rsp_index", in.spill_rsp_index);
    pins.add("spill_rsp_data", in.spill_rsp_data);
    pins.add("spill_rsp_write", in.spill_rsp_write);
  }
  list_register_port(in.reg, pins);
}

static void list_outputs(const TrackerOutputs& out, PinList& pins) {
  for (unsigned b = 0; b < kTrackerBanks; ++b)
    pins.add("update_ready[" + std::to_string(b) + "]", out.update_ready[b]);
  pins.add("trigger_valid", out.trigger_valid);
  pins.add("trigger_event", out.trigger_event);
  pins.add("trigger_wg_id", out.trigger_wg_id);
  pins.add("trigger_wf_id", out.trigger_wf_id);
  pins.add("trigger_address", out.trigger_address);
  pins.add("spill_req_valid", out.spill_req_valid);
  pins.add("spill_req_write", out.spill_req_write);
  pins.add("spill_req_index", out.spill_req_index);
  pins.add("spill_req_data", out.spill_req_data);
  pins.add("idle", out.idle);
  pins.add("reg_rdata", out.reg_rdata);
}

static void list_inputs(const GridSchedulerInputs& in, PinList& pins) {
  pins.add("done_valid", in.done_valid);
  pins.add("drained_valid", in.drained_valid);
  pins.add("done_cu", in.done_cu);
  pins.add("done_slot", in.done_slot);
  pins.add("drained_wg_id", in.drained_wg_id);
  pins.add("event_valid", in.event_valid);
  pins.add("event_gate", in.event_gate);
  list_register_port(in.reg, pins);
}

static void list_outputs(const GridSchedulerOutputs& out, PinList& pins) {
  pins.add("dispatch_valid", out.dispatch_valid);
  pins.add("dispatch_cu", out.dispatch_cu);
  pins.add("dispatch_slot", out.dispatch_slot);
  pins.add("dispatch_wg_id", out.dispatch_wg_id);
  pins.add("kernel_start", out.kernel_start);
  pins.add("first_wg_done", out.first_wg_done);
  pins.add("kernel_done", out.kernel_done);
  pins.add("start_slot", out.start_slot);
  pins.add("done_slot", out.done_slot);
  pins.add("refused", out.refused);
  pins.add("drained_ready", out.drained_ready);
  pins.add("preempt_valid", out.preempt_valid);
  pins.add("preempt_slot", out.preempt_slot);
  pins.add("irq", out.irq);
  pins.add("idle", out.idle);
  pins.add("reg_rdata", out.reg_rdata);
}

static void list_inputs(const RequestRingInputs& in, PinList& pins) {
  if (in.sr_valid) {
    pins.add("sr_valid", 1);
    pins.add("sr_data", in.sr_data);
  }
  pins.add("issue_ready", in.issue_ready);
  if (in.done_valid) {
    pins.add("done_valid", 1);
    pins.add("done_tag", in.done_tag);
    pins.add("done_failed", in.done_failed);
  }
  pins.add("write_ready", in.write_ready);
  list_register_port(in.reg, pins);
}

static void list_outputs(const RequestRingOutputs& out, PinList& pins) {
  pins.add("issue_valid", out.issue_valid);
  pins.add("issue_tag", out.issue_tag);
  pins.add("issue_read", out.issue_read);
  pins.add("issue_source", out.issue_source);
  pins.add("issue_destination", out.issue_destination);
  pins.add("issue_bytes", out.issue_bytes);
  pins.add("write_valid", out.write_valid);
  pins.add("write_kind", out.write_kind);
  pins.add("write_tag", out.write_tag);
  pins.add("write_address", out.write_address);
  pins.add("write_data", out.write_data);
  pins.add("pop", out.pop);
  pins.add("refuse", out.refuse);
  pins.add("accept", out.accept);
  pins.add("judged", out.judged);
  pins.add("drop", out.drop);
  pins.add("retire", out.retire);
  pins.add("retire_tag", out.retire_tag);
  pins.add("irq", out.irq);
  pins.add("busy", out.busy);
  pins.add("idle", out.idle);
  pins.add("reg_rdata", out.reg_rdata);
}

#ifndef STRETTO_HAVE_RTL
bool rtl_is_traced() { return false; }

std::map<std::string, RtlSources> rtl_sources() { return {}; }

[[noreturn]] static void without_rtl(const char* block) {
  throw UserError(std::string("--impl ") + block +
                  ": this build has no RTL (CMake option STRETTO_RTL is OFF); allowed: model");
}
#endif

std::unique_ptr<Mca> make_lockstep(std::unique_ptr<Mca> first, std::unique_ptr<Mca> second,
                                   const std::string& instance) {
  return std::make_unique<Lockstep<Mca, McaInputs, McaOutputs>>("mca", std::move(first),
                                                                std::move(second), instance);
}

std::unique_ptr<Tracker> make_lockstep(std::unique_ptr<Tracker> first,
                                       std::unique_ptr<Tracker> second,
                                       const std::string& instance) {
  return std::make_unique<Lockstep<Tracker, TrackerInputs, TrackerOutputs>>(
      "tracker", std::move(first), std::move(second), instance);
}

std::unique_ptr<GridScheduler> make_lockstep(std::unique_ptr<GridScheduler> first,
                                             std::unique_ptr<GridScheduler> second,
                                             const std::string& instance) {
  return std::make_unique<Lockstep<GridScheduler, GridSchedulerInputs, GridSchedulerOutputs>>(
      "grid_scheduler", std::move(first), std::move(second), instance);
}

std::unique_ptr<RequestRing> make_lockstep(std::unique_ptr<RequestRing> first,
                                           std::unique_ptr<RequestRing> second,
                                           const std::string& instance) {
  return std::make_unique<Lockstep<RequestRing, RequestRingInputs, RequestRingOutputs>>(
      "request_ring", std::move(first), std::move(second), instance);
}

std::unique_ptr<Mca> make_mca(Impl impl, [[maybe_unused]] const std::string& instance,
                              [[maybe_unused]] WaveProbe* probe) {
  if (impl == Impl::model) return std::make_unique<McaModel>();
#ifdef STRETTO_HAVE_RTL
  if (impl == Impl::rtl) return make_verilated_mca(probe);
  return make_lockstep(make_verilated_mca(probe), std::make_unique<McaModel>(), instance);
#else
  without_rtl("mca");
#endif
}

std::unique_ptr<Mca> make_inverted_mca(Impl impl, [[maybe_unused]] const std::string& instance,
                                       [[maybe_unused]] WaveProbe* probe) {
  if (impl == Impl::model)
    throw UserError(
        "the inverted MCA exists in RTL only: allowed are --impl mca=rtl and mca=lockstep");
#ifdef STRETTO_HAVE_RTL
  if (impl == Impl::rtl) return make_verilated_inverted_mca(probe);
  return make_lockstep(make_verilated_inverted_mca(probe), std::make_unique<McaModel>(), instance);
#else
  without_rtl("mca");
#endif
}

std::unique_ptr<Tracker> make_tracker(Impl impl, [[maybe_unused]] const std::string& instance,
                                      [[maybe_unused]] WaveProbe* probe) {
  if (impl == Impl::model) return std::make_unique<TrackerModel>();
#ifdef STRETTO_HAVE_RTL
  if (impl == Impl::rtl) return make_verilated_tracker(probe);
  return make_lockstep(make_verilated_tracker(probe), std::make_unique<TrackerModel>(), instance);
#else
  without_rtl("tracker");
#endif
}

std::unique_ptr<GridScheduler> make_grid_scheduler(Impl impl,
                                                   [[maybe_unused]] const std::string& instance,
                                                   [[maybe_unused]] WaveProbe* probe) {
  if (impl == Impl::model) return std::make_unique<GridSchedulerModel>();
#ifdef STRETTO_HAVE_RTL
  if (impl == Impl::rtl) return make_verilated_grid_scheduler(probe);
  return make_lockstep(make_verilated_grid_scheduler(probe), std::make_unique<GridSchedulerModel>(),
                       instance);
#else
  without_rtl("grid_scheduler");
#endif
}

std::unique_ptr<RequestRing> make_request_ring(Impl impl,
                                               [[maybe_unused]] const std::string& instance,
                                               [[maybe_unused]] WaveProbe* probe) {
  if (impl == Impl::model) return std::make_unique<RequestRingModel>();
#ifdef STRETTO_HAVE_RTL
  if (impl == Impl::rtl) return make_verilated_request_ring(probe);
  return make_lockstep(make_verilated_request_ring(probe), std::make_unique<RequestRingModel>(),
                       instance);
#else
  without_rtl("request_ring");
#endif
}

}  // namespace stretto
