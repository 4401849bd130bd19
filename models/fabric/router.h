// SPDX-License-Identifier: Apache-2.0
// Router: the link ends of one GPU. Requests of its requesters leave through the port that the
// route table names for their destination node; packets that arrive are written to the GPU's memory
// (communication stream) or ring a doorbell.
//
// Sockets: `egress[i]`, one a requester: writes, updates and reads, one- or two-dimensional
// (extension: rows, row_bytes, pitch; data dense), at most kMaxPacketBytes; atomics of 4 or 8 aligned
// bytes that a link can ask for (is_link_atomic). A write is answered when the link has taken its
// data, so `data_ptr` is free again; it is not yet at the peer. A read is answered when its data are
// there, an atomic when the value is that was there before it, which takes the place of its operand.
// Requests to one link leave in the order in which they arrived. `memory`: rows of arriving packets,
// for writing and reading. `atomics`: what executes arriving atomics; where nothing is bound they are
// answered with an error. `doorbell`: 8-byte writes, address = offset in the doorbell aperture.
// `csr`: registers of link.yaml.
//
// Errors: no route, or the own node: address error (counted in register `dropped`); so an atomic that
// is not aligned. Fills, other atomics, reads and atomics of a switch, or of the host's memory but
// over one: command error. Too long, or an atomic of another size: burst error. Byte enables: byte-enable
// error. A read of what is no memory, an atomic where there is no word: generic error.
#ifndef STRETTO_MODELS_FABRIC_ROUTER_H_
#define STRETTO_MODELS_FABRIC_ROUTER_H_

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/common/admission_sink.h"
#include "models/common/component.h"
#include "models/common/partition.h"
#include "models/common/payload_pool.h"
#include "models/common/register_bank.h"
#include "models/fabric/chunk_mirror.h"
#include "models/fabric/link_port.h"
#include "models/fabric/topology.h"

namespace stretto {

class Router final : public sc_core::sc_module,
                     public Component,
                     public AdmissionSink,
                     private EventHandler,
                     private LinkPortOwner {
 public:
  using EgressSocket = tlm_utils::simple_target_socket_tagged_optional<Router, 32, StrettoProtocol>;

  sc_core::sc_vector<EgressSocket> egress;
  tlm_utils::simple_initiator_socket_optional<Router, 32, StrettoProtocol> memory;
  tlm_utils::simple_initiator_socket_optional<Router, 32, StrettoProtocol> atomics;
  tlm_utils::simple_initiator_socket_optional<Router> doorbell;
  tlm_utils::simple_target_socket_optional<RegisterBank> csr;

  // Attaches its ports to the partition. `requesters`: number of egress sockets.
  Router(sc_core::sc_module_name name, const RouterSpec& spec, unsigned requesters,
         Partition& partition);

  // For a mirrored_ring: what a packet that leaves through port 0 becomes for a receiver one GPU
  // further (chunk_mirror.h).
  void set_mirror(MirrorMap map) { mirror_ = std::move(map); }

  // From the memory behind socket `memory`, if it says so. Without, a row is admitted when it is
  // written.
  void on_admitted(uint64_t cookie) override;

  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;
  std::vector<std::string> waiting_on() const override;

  size_t ports() const { return ports_.size(); }
  const LinkPort& port(size_t index) const { return *ports_[index]; }
  std::vector<const LinkPort*> link_ports() const;
  uint64_t bytes_sent() const;      // To peers; what goes to the host is left out.
  uint64_t bytes_received() const;  // From peers.

 private:
  struct Request {
    tlm::tlm_generic_payload* payload = nullptr;  // Null: free.
    int requester = 0;
    Packet packet;
    uint8_t port = 0;
  };
  tlm::tlm_sync_enum nb_transport_fw(int requester, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void describe_registers();
  tlm::tlm_response_status make_packet(const tlm::tlm_generic_payload& payload, Request& request);
  tlm::tlm_response_status check_atomic(const tlm::tlm_generic_payload& payload,
                                        const StrettoExtension& extension) const;
  void on_event(uint64_t tag) override;

  void write_row(unsigned port, uint64_t incoming, const Packet& packet, uint32_t row) override;
  void read_row(unsigned port, uint64_t incoming, Packet& packet, uint32_t row) override;
  PooledPayload& arrival(unsigned port, uint64_t incoming, const Packet& packet, uint64_t address,
                         uint8_t* data);
  void access_row(unsigned port, uint64_t incoming, const Packet& packet, uint32_t row,
                  uint8_t* data);
  bool perform(unsigned port, uint64_t incoming, Packet& packet) override;
  void note_atomic(const tlm::tlm_generic_payload& payload, const Packet& answer);
  void completed(const Packet& packet) override;
  void ring_doorbell(uint64_t offset, uint64_t value, uint8_t account) override;
  void answer(uint32_t request) override;
  void rewrite(unsigned port, Packet&& packet, std::vector<Packet>& out) override;

  PartitionServices& services_;
  const uint64_t node_base_;
  std::vector<std::unique_ptr<LinkPort>> ports_;
  RegisterBank registers_;
  MirrorMap mirror_;
  PayloadPool pool_;
  std::vector<Request> requests_;
  std::vector<uint32_t> free_;  // Indices into requests_.
  // What atomics that changed nothing found last, and how many times in a row.
  struct Word {
    AtomicOp op;
    uint64_t found;
    uint64_t times;
  };
  std::map<uint64_t, Word> words_;  // By address.
  uint64_t dropped_ = 0;
  uint64_t memory_errors_ = 0;
  uint64_t doorbells_ = 0;
};

// Law over all routers: what GPUs sent each other has arrived, but for what switches kept
// (Switch::bytes_kept). Traffic of the host is audit_pcie()'s business.
void audit_links(const std::vector<const Router*>& routers, uint64_t kept, AuditSink& sink);

}  // namespace stretto

#endif  // STRETTO_MODELS_FABRIC_ROUTER_H_
