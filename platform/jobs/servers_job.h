// SPDX-License-Identifier: Apache-2.0
// A job whose kernels, or host programs, communicate between servers: of each the job's first GPU,
// what lies there, and what the NICs have begun.
#ifndef STRETTO_PLATFORM_JOBS_SERVERS_JOB_H_
#define STRETTO_PLATFORM_JOBS_SERVERS_JOB_H_

#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "platform/jobs/job.h"
#include "platform/jobs/nic_watcher.h"
#include "platform/jobs/operands.h"
#include "platform/jobs/shmem_plan.h"
#include "sw/apps/shmem/host_compute.h"

namespace stretto {

class ServersJob : public Job, public NicWatcher {
 public:
  ServersJob(const JobRequest& request, Memories memories);

  std::vector<Account> accounts() const override { return {}; }
  std::vector<PhaseRule> phases() const override { return {}; }
  void on_nic(uint32_t server, const NicMoment& moment) override;
  // Where each PE's heap lies, so that addresses that somebody waits for can be told apart, and who
  // asks others again and again.
  std::vector<std::string> waiting_on() const override;

 protected:
  // 0: there is none.
  virtual uint64_t heap_of(uint32_t server) const { return plans_[server].heap; }
  uint32_t servers() const { return spec_.servers; }
  uint32_t rank_of(uint32_t server) const { return request_.rank_in(server); }
  MemoryImage& memory(uint32_t server) const { return *memories_[rank_of(server)]; }
  // Words of its own in the host memory of each server, 4096 bytes; behind them that of the cluster.
  uint64_t host_words() const;
  uint64_t cluster_memory() const { return host_words() + 4096; }
  template <class Value>
  Value in_memory(uint32_t server, uint64_t address) const {
    Value value{};
    memory(server).read(offset_of(address), reinterpret_cast<uint8_t*>(&value), sizeof value);
    return value;
  }
  // The server whose GPU is simulated rank `rank`, if it is the first of it; else servers().
  uint32_t server_of(uint32_t rank) const;
  // What programs of mode `cpu` need, whose arrays lie in host memory from host_arrays() on.
  host_compute_t host_compute() const;
  static uint64_t host_arrays();
  // Threads of the host that serve queues; none where harts do.
  void add_service(Host& host, uint32_t server);
  // What these have done, by server and thread, as `cores`, and what the machine says of the power
  // of those who serve, as `energy`; nothing if no work-groups communicate.
  void add_service(boost::json::object& details) const;
  // Laws of ShmemPlan.
  void audit_service(uint32_t server, AuditSink& sink) const;
  // From the first begin to the last end, microseconds.
  static double span_us(const std::vector<shmem_span_t>& spans);

  std::vector<ShmemPlan> plans_;  // By server.

 private:
  struct Begun {
    uint64_t operations = 0;
    struct Hash {
      size_t operator()(const std::pair<uint16_t, uint64_t>& one) const {
        return (one.second ^ uint64_t{one.first} << 48) * 0x9e3779b97f4a7c15;
      }
    };
    std::unordered_set<std::pair<uint16_t, uint64_t>, Hash> ids;  // By queue pair.
  };
  std::vector<Begun> begun_;  // For the service, by server.
  // What a work-group asks another PE for, and is told the same.
  struct Poll {
    uint8_t opcode = 0;
    uint32_t pe = 0;
    uint64_t value = 0;
    uint64_t times = 0;
    Time last = 0;
  };
  // By server; there by work-group and address.
  std::vector<std::map<std::pair<uint32_t, uint64_t>, Poll>> polls_;
};

// Mode of kinds that can do without a GPU: programs of the host compute, with arrays in its memory.
inline constexpr const char* kCpuMode = "cpu";

// Throws UserError unless the machine has that many servers, and the job a GPU of each.
void check_servers(const JobRequest& request, uint32_t least, uint32_t most = kMaxServers);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_SERVERS_JOB_H_
