// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/servers_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/common/error.h"
#include "sw/include/formats/shmem_queue.h"

namespace stretto {

namespace {

constexpr uint64_t kWords = 4096;  // In the job's host memory, behind those of the driver.
static_assert(STRETTO_HOST_JOB_WORDS * 8 <= kWords);

const char* poll_name(uint8_t opcode) {
  return opcode == STRETTO_NIC_GET         ? "get"
         : opcode == STRETTO_NIC_FETCH_ADD ? "atomic"
                                           : "compare-and-swap";
}

}  // namespace

ServersJob::ServersJob(const JobRequest& request, Memories memories)
    : Job(request, std::move(memories)), plans_(servers()), begun_(servers()), polls_(servers()) {}

void ServersJob::on_nic(uint32_t server, const NicMoment& moment) {
  if (moment.pair < kFirstServicePair) return;
  if (moment.polls) {
    constexpr size_t kMost = 4'096;
    if (polls_[server].size() == kMost) polls_[server].clear();
    Poll& poll = polls_[server][{STRETTO_SHMEM_ID_QUEUE(moment.id), moment.address}];
    const bool same = poll.opcode == moment.opcode && poll.value == moment.value;
    poll = {moment.opcode, moment.peer - uint32_t{STRETTO_NODE_NIC}, moment.value,
            same ? poll.times + 1 : 1, moment.at};
  }
  if (moment.event != NicMoment::Event::entry) return;
  ++begun_[server].operations;
  // A put and its signal have one id, and differ in what ends the entry.
  begun_[server].ids.insert({moment.pair, moment.id});
}

std::vector<std::string> ServersJob::waiting_on() const {
  std::vector<std::string> lines;
  for (uint32_t server = 0; server < servers(); ++server)
    if (const uint64_t heap = heap_of(server); heap != 0)
      lines.push_back(fmt::format("PE {} is gpu{}, its heap begins at {:#x}", server,
                                  request_.share.gpus[rank_of(server)], heap));
  Time last = 0;
  for (const auto& polls : polls_)
    for (const auto& [key, poll] : polls) last = std::max(last, poll.last);
  constexpr Time kGoesOn = 1'000 * kMicrosecond;
  constexpr uint64_t kMany = 16;
  for (uint32_t server = 0; server < servers(); ++server)
    for (const auto& [key, poll] : polls_[server])
      if (poll.times >= kMany && last - poll.last < kGoesOn)
        lines.push_back(fmt::format(
            "PE {} work-group {}: {} of PE {} at {:#x} has brought {:#x} {} times", server,
            key.first, poll_name(poll.opcode), poll.pe, key.second, poll.value, poll.times));
  return lines;
}

void ServersJob::add_service(Host& host, uint32_t server) {
  uint32_t thread = 0;
  for (HostCore::Program& program : plans_[server].service_programs(host))
    add_thread(host, fmt::format("service{}_{}", server, thread++), std::move(program));
}

void ServersJob::add_service(boost::json::object& details) const {
  boost::json::array cores;
  for (uint32_t server = 0; server < servers(); ++server)
    for (const ServiceCore::Counters& one : plans_[server].cores())
      cores.push_back(
          boost::json::object{{"server", server},
                              {"instructions", one.instructions},
                              {"busy_us", static_cast<double>(one.busy) / kMicrosecond},
                              {"waiting_us", static_cast<double>(one.waiting) / kMicrosecond},
                              {"device_loads", one.device_loads},
                              {"device_stores", one.device_stores}});
  if (!cores.empty()) details["cores"] = std::move(cores);
  details["energy"] = boost::json::object{{"hart_mw", spec_.energy.hart_mw},
                                          {"host_core_mw", spec_.energy.host_core_mw},
                                          {"stall_percent", spec_.energy.stall_percent}};
}

host_compute_t ServersJob::host_compute() const {
  const HostComputeSpec& spec = spec_.host_compute;
  return {.cores = spec_.host.cores,
          .mhz = spec_.service_core.mhz,
          .operations_per_cycle = spec.operations_per_cycle,
          .memory_mb_s = spec.memory_mb_s,
          .core_memory_mb_s = spec.core_memory_mb_s,
          .cache_bytes_per_cycle = spec.cache_bytes_per_cycle,
          .cache_bytes = uint64_t{spec_.service_core.l3_kib} << 10,
          .parallel_ns = spec.parallel_ns};
}

// Behind the host memory of all jobs; a job between servers has all GPUs, so there is no other one.
uint64_t ServersJob::host_arrays() {
  return uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT |
         STRETTO_HOST_JOB_OFFSET(STRETTO_MAX_JOBS);
}

uint64_t ServersJob::host_words() const {
  return (uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT |
          STRETTO_HOST_JOB_OFFSET(request_.share.number)) +
         kWords;
}

uint32_t ServersJob::server_of(uint32_t rank) const { return request_.server_led_by(rank); }

void ServersJob::audit_service(uint32_t server, AuditSink& sink) const {
  plans_[server].audit(memory(server), begun_[server].operations, begun_[server].ids.size(), sink);
}

double ServersJob::span_us(const std::vector<shmem_span_t>& spans) {
  uint64_t begin = UINT64_MAX, end = 0;
  for (const shmem_span_t& span : spans) {
    begin = std::min(begin, span.begin_ns);
    end = std::max(end, span.end_ns);
  }
  return end > begin ? static_cast<double>(end - begin) / 1e3 : 0;
}

void check_servers(const JobRequest& request, uint32_t least, uint32_t most) {
  const MachineSpec& spec = request.spec;
  if (!spec.has_network() || spec.servers < least || spec.servers > most) {
    const std::string servers =
        least == most ? fmt::format("={}", least) : fmt::format(" of {} to {}", least, most);
    throw UserError(fmt::format("{}: needs topology=cluster and servers{}; it has {} server{}",
                                request.subject(), servers, spec.servers,
                                spec.has_network() ? "" : " without a network"));
  }
  for (uint32_t server = 0; server < spec.servers; ++server) {
    if (request.rank_in(server) == request.ranks())
      throw UserError(fmt::format("{}: needs a GPU of each server; gpus names none of server {}",
                                  request.subject(), server));
  }
}

}  // namespace stretto
