// SPDX-License-Identifier: Apache-2.0
// LinkPort: one end of a link, both directions. Part of a Router, which owns the sockets.
//
// Out: requests wait in the order of their arrival; one is taken (a write is answered) when its
// bytes fit into the send buffer; packets leave one after the other at the link's bandwidth, each
// only when the receiver has credit for all of it. In: a packet is written to memory as one payload
// a row, its credits return when the memory has taken the last row in. Reads: a request waits for
// tags (others pass it), carries no data and needs no credit; at most read_tags of a port wait for
// their data. The other end reads its memory a payload a row and sends the data back, in order with
// its writes. Atomics (PCIe AtomicOps: FetchAdd, Swap, CAS) wait for a tag as reads do, and for credit,
// as they bring operands; the other end executes one when all before it on its link is written, and
// sends back what was there.
//
// Invariants
//  1 Bytes sent without their credits returned never exceed credit_bytes.
//  2 A packet of at most 8 bytes without a Tracker id (flag, queue index, doorbell), and an atomic,
//    take effect after all earlier packets of its link have been written; others may be written in
//    any order.
//  3 A read is not issued to memory before what arrived earlier on its link.
//  4 Receiving never waits for sending, so reads in both directions cannot block each other.
//  5 A packet arrives latency_ns after its last byte has left; a switch at the other end is told
//    latency_ns after the first.
//  6 An atomic is executed once, or answered with an error.
#ifndef STRETTO_MODELS_FABRIC_LINK_PORT_H_
#define STRETTO_MODELS_FABRIC_LINK_PORT_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "models/common/component.h"
#include "models/common/packet.h"
#include "models/fabric/link_wire.h"
#include "models/fabric/topology.h"

namespace stretto {

class LinkPort;

// What a port needs of its Router.
class LinkPortOwner {
 public:
  virtual ~LinkPortOwner() = default;
  // Writes one row of a packet that has arrived; row_written() of the port follows. `data` stays
  // valid until then.
  virtual void write_row(unsigned port, uint64_t incoming, const Packet& packet, uint32_t row) = 0;
  // Reads one row into packet.data; row_written() of the port follows.
  virtual void read_row(unsigned port, uint64_t incoming, Packet& packet, uint32_t row) = 0;
  // Executes an atomic; row_written() of the port follows, with what was there in the last row_bytes
  // of packet.data. False: there is nothing that could.
  virtual bool perform(unsigned port, uint64_t incoming, Packet& packet) = 0;
  // The answer to a read or an atomic that this node sent.
  virtual void completed(const Packet& packet) = 0;
  // 8 bytes into the doorbell aperture.
  virtual void ring_doorbell(uint64_t offset, uint64_t value, uint8_t account) = 0;
  // The write with this handle was taken.
  virtual void answer(uint32_t request) = 0;
  // What a packet becomes before it leaves: itself, or in a mirrored ring what the neighbour would
  // send.
  virtual void rewrite(unsigned port, Packet&& packet, std::vector<Packet>& out) = 0;
};

class LinkPort final : public PacketSink, private EventHandler {
 public:
  struct Counters {
    uint64_t packets_sent = 0;
    uint64_t bytes_sent = 0;       // Payload.
    uint64_t host_bytes_sent = 0;  // Of bytes_sent, those for the host.
    uint64_t packets_received = 0;
    uint64_t bytes_received = 0;
    uint64_t host_bytes_received = 0;  // Of bytes_received, those from the host.
    uint64_t bytes_written = 0;
    uint64_t updates_received = 0;  // Payload bytes of updates.
    uint64_t updates_written = 0;
    uint64_t reads_sent = 0;  // Packets of read requests.
    uint64_t reads_answered = 0;
    uint64_t reads_received = 0;
    uint64_t completions_sent = 0;
    uint64_t read_bytes = 0;  // That came back.
    uint64_t atomics_sent = 0;
    uint64_t atomics_answered = 0;
    uint64_t atomics_received = 0;
    uint64_t atomics_refused = 0;    // Of these, answered with an error.
    uint64_t atomics_completed = 0;  // Answers to these.
    uint64_t credit_returns = 0;
    Time credit_stall = 0;  // A packet was ready, the wire free and credit missing.
    uint64_t requests_high_water = 0;
    uint64_t tags_high_water = 0;
  };

  LinkPort(const PortSpec& spec, unsigned index, LinkPortOwner& owner, PartitionServices& services,
           PacketPort& out);

  // A write of `packet.data.size()` bytes, already copied; `request` is handed to answer() when it
  // is taken. Or a read or an atomic; completed() follows with its tag. REQUIRES: size <=
  // kMaxPacketBytes and <= credit_bytes.
  void request(Packet&& packet, uint32_t request);
  void receive(Packet&& packet) override;
  // The memory has taken a row in; its place in the receive buffer is free.
  void row_admitted(uint64_t incoming);
  // The memory has answered for a row; it is written, or read, at `at` >= now().
  void row_written(uint64_t incoming, bool ok, Time at);

  const PortSpec& spec() const { return spec_; }
  const Counters& counters() const { return counters_; }
  uint64_t credits() const { return credits_; }
  const LinkWire& wire() const { return wire_; }
  void report(StatisticSink& sink) const;
  void audit(AuditSink& sink) const;
  std::vector<std::string> waiting_on() const;

 private:
  struct Request {
    Packet packet;
    uint32_t handle;
  };
  // A read or an atomic of the other end, between issue and answer.
  struct Served {
    Packet packet;
    uint32_t rows_left = 0;
    bool ok = true;
    bool silent = false;  // It is answered already: an injected fault.
    Time last = 0;
  };
  struct Incoming {
    Packet packet;
    uint32_t rows_left = 0;
    uint32_t rows_outside = 0;  // Not admitted by the memory.
    bool issued = false;
    bool written = false;
    bool credit_returned = false;
    Time last = 0;  // When the last of the answered rows is written.
  };
  void on_event(uint64_t tag) override;
  void release_reads();
  void take();
  void transmit();
  void left();
  void written(uint64_t number);
  void advance();
  void issue(uint64_t number);
  uint32_t take_served(Packet&& packet);
  void serve(Packet&& packet);
  void serve_atomic(Packet&& packet);
  void perform(uint32_t served);
  void answer_served(uint64_t index);
  void count_written(const Packet& packet, uint64_t bytes);
  void return_credit(Incoming& incoming);
  void return_credit(uint64_t bytes);
  std::string name() const;
  static std::string trace_name(const Packet& packet);

  const PortSpec spec_;
  const unsigned index_;
  LinkPortOwner& owner_;
  PartitionServices& services_;
  const std::string track_;  // Of the timeline.
  PacketPort& out_;
  LinkWire wire_;
  std::deque<Packet> reads_;  // And atomics, without tags yet.
  uint64_t tags_used_ = 0;
  uint64_t atomics_waiting_ = 0;   // Of these tags.
  uint64_t atomics_issued_ = 0;    // Of the other end.
  std::deque<Request> requests_;   // Not taken yet.
  std::vector<Packet> rewritten_;  // Of the request being taken.
  std::deque<Packet> buffer_;  // Taken; the front one may be on the wire (then its data is gone).
  uint64_t buffered_ = 0;      // Bytes in buffer_.
  uint64_t sending_ = 0;       // Bytes of the packet on the wire.
  bool busy_ = false;
  uint64_t credits_;
  Time stalled_since_ = kNever;
  std::deque<Incoming> incoming_;
  uint64_t first_incoming_ = 0;  // Number of incoming_.front().
  uint64_t unissued_ = 0;        // Of incoming_.
  std::vector<Served> served_;
  std::vector<uint32_t> free_served_;
  Counters counters_;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_FABRIC_LINK_PORT_H_
