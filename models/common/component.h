// SPDX-License-Identifier: Apache-2.0
// What every component offers besides its sockets: statistics, audit, digest, progress, timeline.
//
// Statistic: a named integer with unit and sentence. Audit: a named conservation law; every run
// closes with all laws, a violated one fails the run. Digest: SHA-256 over the ordered
// architectural events of a partition and its written memory. Progress: bytes moved on a link or by
// the DMA engine, a tile loaded or stored, a work-group retired; never an instruction and never the
// answer to a poll. A run without it is a deadlock, and waiting_on() says who waits for whom. Who
// asks over the network moves bytes with each try, so there `polls` and `moved` tell one from work.
#ifndef STRETTO_MODELS_COMMON_COMPONENT_H_
#define STRETTO_MODELS_COMMON_COMPONENT_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/common/event_queue.h"
#include "sw/include/formats/machine_types.h"

namespace stretto {

struct Statistic {
  std::string path;  // "hbm.channel3.row_hits": folder of components, then the name.
  uint64_t value;
  const char* unit;  // "bytes", "cycles", "count", "fs".
  const char* sentence;
};

class StatisticSink {
 public:
  // The names of accounts (machine_types.h): those of the machine, and "account4" ... where the job
  // has not given one by name_account().
  StatisticSink() {
    for (unsigned i = 0; i < STRETTO_ACCOUNTS; ++i) accounts_[i] = "account" + std::to_string(i);
    name_account(STRETTO_ACCOUNT_OTHER, "other");
    name_account(STRETTO_ACCOUNT_SYNC, "sync");
    name_account(STRETTO_ACCOUNT_SPILL, "spill");
    name_account(STRETTO_ACCOUNT_CP, "cp");
  }
  void name_account(unsigned account, std::string name) {
    accounts_[account] = std::move(name);
    has_name_[account] = true;
  }
  bool has_name(unsigned account) const { return has_name_[account]; }
  const std::string& account(unsigned account) const { return accounts_[account]; }
  // `prefix` is prepended to every path that follows, with a dot; "" for none.
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }
  void add(std::string_view name, uint64_t value, const char* unit, const char* sentence) {
    all_.push_back({prefix_.empty() ? std::string(name) : prefix_ + "." + std::string(name), value,
                    unit, sentence});
  }
  const std::vector<Statistic>& all() const { return all_; }

 private:
  std::string prefix_;
  std::array<std::string, STRETTO_ACCOUNTS> accounts_;
  std::array<bool, STRETTO_ACCOUNTS> has_name_{};
  std::vector<Statistic> all_;
};

struct AuditResult {
  std::string law;    // One name for one law: "link bytes sent = received".
  std::string where;  // "gpu3.hbm".
  uint64_t left;
  uint64_t right;
  bool holds;
};

class AuditSink {
 public:
  void set_where(std::string where) { where_ = std::move(where); }
  void equal(std::string_view law, uint64_t left, uint64_t right) {
    all_.push_back({std::string(law), where_, left, right, left == right});
  }
  void at_most(std::string_view law, uint64_t left, uint64_t right) {
    all_.push_back({std::string(law), where_, left, right, left <= right});
  }
  const std::vector<AuditResult>& all() const { return all_; }

 private:
  std::string where_;
  std::vector<AuditResult> all_;
};

// Streaming digest of architectural events; SHA-256 in blocks (digest.cpp).
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;
  // `kind` is a small constant of the component's choosing, unique in the partition.
  void event(Time at, uint32_t kind, uint64_t a, uint64_t b);
  void bytes(const void* data, size_t count);
  std::string hex();  // Closes the digest; call once.

 private:
  void flush();
  void* context_;
  std::array<uint64_t, 512> buffer_;
  size_t used_ = 0;
};
std::string sha256_hex(const void* data, size_t count);

// What a span of the timeline shows besides its name.
struct TraceDetail {
  enum class Arrow : uint8_t { none, leaves, passes, arrives };
  uint64_t flow = 0;  // Spans of one flow are joined by arrows, in the order of their begins.
  Arrow arrow = Arrow::none;
  uint64_t code = 0;  // An address of the kernel that it belongs to, in this GPU's memory; 0: none.
};

// Timeline (Perfetto). Null when off: `if (trace) trace->span(...)`. Calls cost nothing in the
// model's time.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // `track` is "gpu0/cu3"; what overlaps on one track is drawn on lanes of its own. REQUIRES: calls
  // come in the order of `end` on each track.
  virtual void span(const std::string& track, const std::string& name, Time begin, Time end,
                    const TraceDetail& detail = {}) = 0;
  // The track has the value from `at` until its next one.
  virtual void counter(const std::string& track, Time at, uint64_t value) = 0;
};

// Shared by the components of one partition.
struct PartitionServices {
  EventQueue* queue = nullptr;
  Digest* digest = nullptr;    // Never null in a run; tests may leave it null.
  TraceSink* trace = nullptr;  // Null = off.
  uint64_t progress = 0;       // Incremented on progress (see above).
  uint64_t windows = 0;  // Begun so far: after other partitions ran on this core, caches are cold.
  uint8_t gpu = 0;
  uint64_t moved = 0;  // Of progress, bytes on links, which polls over the network move, too.
  uint64_t polls = 0;  // Operations of a NIC that brought nothing new: no progress.

  void count_moved(uint64_t bytes) {
    progress += bytes;
    moved += bytes;
  }
};

class Component {
 public:
  virtual ~Component() = default;
  virtual void report(StatisticSink& sink) const = 0;
  virtual void audit(AuditSink&) const {}
  // Empty if the component is quiet; else one line an item: "cu12 wg 34 waits for tile load (3
  // sectors)".
  virtual std::vector<std::string> waiting_on() const { return {}; }
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_COMPONENT_H_
