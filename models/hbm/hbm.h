// SPDX-License-Identifier: Apache-2.0
// The HBM of one GPU: channels with their MCAs, the Tracker's memory side, near-bank ALUs, sockets
// (T3 4.2.1, 4.3, 4.5).
//
// One event handler runs the whole memory clock domain: at an edge it steps the Tracker, then the
// channels that have something to do, in channel order, hands out responses, and sleeps until the
// earliest next cycle of any of them.
//
// Timing rules
//  - A request that arrives at time t is seen by the first memory edge after t.
//  - Responses come from the edge of the last atom's column command, with the delay to the end of
//    its data (read latency or write latency plus burst) annotated; one a payload.
//  - A register access becomes one further clock of the block (two for a read) at the current
//    cycle, with no other inputs, before the edge's regular clock if that is still to come; the
//    call returns the delay to the edge after it.
//  - kernel_start(), first_wg_done(), kernel_end() reach all MCAs at the first edge after their
//    time.
// Errors: an operation that memory does not know, an odd update or an address outside GPU memory
// answers with a TLM error status and changes nothing.
#ifndef STRETTO_MODELS_HBM_HBM_H_
#define STRETTO_MODELS_HBM_HBM_H_

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/common/admission_sink.h"
#include "models/common/clock_domain.h"
#include "models/common/coherence_observer.h"
#include "models/common/component.h"
#include "models/common/interrupt_line.h"
#include "models/common/memory_image.h"
#include "models/common/register_bank.h"
#include "models/common/trigger_sink.h"
#include "models/hbm/channel.h"
#include "models/hbm/checker.h"
#include "models/hbm/hbm_spec.h"
#include "models/reference/mca_if.h"
#include "models/reference/tracker_if.h"

namespace stretto {

class Hbm final : public sc_core::sc_module,
                  public Component,
                  private EventHandler,
                  private TrackerPortClient {
 public:
  using MemorySocket = tlm_utils::simple_target_socket_tagged_optional<Hbm, 32, StrettoProtocol>;
  using RegisterSocket = tlm_utils::simple_target_socket_optional<Hbm>;

  // One a channel, from the L2: payloads within one interleave block.
  sc_core::sc_vector<MemorySocket> channel;
  // DMA engine, links: contiguous payloads of any length and alignment.
  sc_core::sc_vector<MemorySocket> peer;
  // Offset = channel * STRETTO_MCA_STRIDE + register; channel 63 writes all.
  RegisterSocket mca_regs;
  RegisterSocket tracker_regs;  // The Tracker's bank; from 0x1000 on the front end's (hbm.yaml).

  struct Parts {
    std::vector<std::unique_ptr<Mca>> mca;  // One a channel.
    std::unique_ptr<Tracker> tracker;       // Null: no access may be tracked.
    CommandObserver* observer = nullptr;    // A command trace, beside the checker.
  };

  // REQUIRES: parts.mca.size() == spec.channels. `image` and `services` outlive this.
  Hbm(sc_core::sc_module_name name, const HbmSpec& spec, unsigned peers,
      PartitionServices& services, MemoryImage& image, Parts parts);
  ~Hbm() override;

  const HbmAddressMapping& mapping() const { return core_.mapping; }
  const ClockDomain& clock() const { return clock_; }

  // From the grid scheduler. REQUIRES: at >= EventQueue::now().
  void kernel_start(Time at) { pulse(at, kKernelStart); }
  void first_wg_done(Time at) { pulse(at, kFirstWgDone); }
  void kernel_end(Time at) { pulse(at, kKernelEnd); }
  // Once, before the run. Without a sink triggers are only counted.
  void set_triggers(TriggerSink& sink) { triggers_ = &sink; }
  void set_events(TriggerSink& sink) { events_ = &sink; }  // Triggers marked as events.
  void set_interrupts(InterruptLine& line) { interrupts_ = &line; }
  // Of writes through this peer socket, of at most 65,536 interleave blocks each.
  void set_admissions(unsigned peer_index, AdmissionSink& sink) { admissions_[peer_index] = &sink; }
  // Of what comes in by `channel`; null: nobody.
  void set_queue_sink(QueueSink* sink) { core_.queue_sink = sink; }
  // Of what comes in by `peer`. May be left out.
  void set_coherence(CoherenceObserver& observer) { coherence_ = &observer; }

  // Draws the end of the counters in the timeline, if on. Call once, after the run.
  void trace_end();
  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;
  std::vector<std::string> waiting_on() const override;

  // Sums over channels at the current time, for tests and benchmarks.
  ChannelCounters totals() const;
  std::pair<uint64_t, uint64_t> bytes() const;  // Read and written, of all accounts.
  const HbmChannel& channel_state(unsigned index) const { return *channels_[index]; }
  const TrackerPort::Counters& tracker_counters() const { return core_.tracker_port.counters(); }
  uint64_t cycle() const { return clock_.cycle_at(services_.queue->now()); }

 private:
  struct PendingPulse {
    uint64_t cycle;
    uint8_t pulses;
  };
  struct Latency {
    uint64_t requests = 0;
    uint64_t sum_fs = 0;
    uint64_t max_fs = 0;
  };

  // Request path.
  tlm::tlm_sync_enum on_channel(int index, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay);
  tlm::tlm_sync_enum on_peer(int index, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum begin_request(uint16_t source, tlm::tlm_generic_payload& payload,
                                   tlm::tlm_phase& phase, const sc_core::sc_time& delay);
  tlm::tlm_response_status check(const tlm::tlm_generic_payload& payload,
                                 const StrettoExtension* extension, uint16_t source) const;
  void stage(uint32_t index, Time arrival, uint64_t address, uint64_t bytes);
  void complete(uint32_t index);
  void respond(uint16_t source, tlm::tlm_generic_payload& payload, Time at);

  // Memory clock domain.
  void on_event(uint64_t tag) override;
  void run_cycle(uint64_t cycle);
  void warm_caches();
  uint8_t take_pulses(uint64_t cycle);
  void after_ticks(uint64_t cycle);
  uint64_t next_cycle(uint64_t cycle) const;
  void arm(uint64_t cycle);
  void pulse(Time at, uint8_t pulses);
  void on_tracker_trigger(uint64_t cycle, bool event, uint16_t wg_id, uint8_t wf_id,
                          uint64_t address) override;
  void on_spill(uint64_t cycle, bool write, uint32_t index, uint64_t data) override;
  void complete_spill(HbmRequest& request);
  void update_drain_line();
  void trace_traffic(Time now);
  void trace_interval(Time begin, Time end);

  void report_mca(StatisticSink& sink) const;

  // Registers.
  void on_mca_register(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void on_tracker_register(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void describe_registers();
  void finish_register(const tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) const;

  PartitionServices& services_;
  const ClockDomain clock_;
  const TimingSet timing_;
  const TimingTable timing_table_;
  HbmCore core_;
  TriggerSink* triggers_ = nullptr;
  TriggerSink* events_ = nullptr;
  InterruptLine* interrupts_ = nullptr;
  std::vector<AdmissionSink*> admissions_;  // By peer; may be null.
  CoherenceObserver* coherence_ = nullptr;
  std::unique_ptr<HbmChecker> checker_;
  std::unique_ptr<CommandObserver> pair_;  // Checker and trace.
  std::vector<std::unique_ptr<HbmChannel>> channels_;
  std::vector<uint64_t> next_;  // By channel: its next tick.
  uint64_t tracker_next_ = kNoCycle;
  std::vector<PendingPulse> pulses_;  // In the order of their cycles.
  std::vector<uint32_t> refused_;     // Requests that an error status answers at the next edge.
  uint64_t armed_ = kNoCycle;         // Cycle of the earliest event scheduled.
  bool running_ = false;              // Inside on_event.
  uint64_t warmed_ = 0;               // The window that warm_caches() ran for.
  std::vector<HbmChannel*> warming_;
  uint64_t sequence_ = 0;  // Of arrivals.
  // Bytes of the spill accesses under way (64 B a read, 8 a write); storage is kept.
  std::vector<std::unique_ptr<std::array<uint8_t, kAtomBytes>>> spill_buffers_;
  std::vector<uint8_t*> free_spill_buffers_;
  RegisterBank mca_registers_;  // Decode; the blocks hold the values.
  RegisterBank tracker_registers_;
  RegisterBank registers_;            // Of the front end.
  uint32_t drained_ = 0;              // Channels (bits) drained since the last kernel end.
  std::array<Latency, 2> latency_{};  // By stream.
  uint64_t requests_high_water_ = 0;
  // Timeline, if on: DRAM traffic about every microsecond.
  Time traced_at_ = 0;
  Time ticked_at_ = 0;                      // Last tick that trace_traffic() saw.
  std::array<uint64_t, 2> traced_bytes_{};  // Read, written until traced_at_.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HBM_HBM_H_
