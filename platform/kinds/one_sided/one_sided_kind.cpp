// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/one_sided/one_sided_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cstring>
#include <optional>

#include "models/common/clock_domain.h"
#include "models/common/error.h"
#include "platform/jobs/contents.h"
#include "platform/jobs/nic_watcher.h"
#include "platform/jobs/operands.h"
#include "platform/jobs/servers_job.h"
#include "platform/jobs/shmem_plan.h"
#include "platform/kinds/one_sided/operation_log.h"
#include "sw/apps/shmem/one_sided.h"
#include "sw/kernels/shmem_probe.h"

namespace stretto {

namespace json = boost::json;

namespace {

constexpr uint64_t kAlignment = 64;       // Of a size's place in a heap.
constexpr uint64_t kPage = 65'536;        // Of a heap's two parts.
constexpr uint64_t kHostHeap = 0x200000;  // In the job's host memory, behind what the cluster has.
static_assert(kHostHeap >= STRETTO_HOST_JOB_WORDS * 8 + STRETTO_CLUSTER_BYTES);

constexpr uint64_t kSyncBytes = STRETTO_SHMEM_SYNC_BYTES(1);
// Of an operation of the service (queue_service.c): the last one of an entry of queue 0.
constexpr uint64_t service_id(uint64_t entry) { return entry << 32 | 1u << 16; }

bool by_kernels(const std::string& mode) { return mode != "cpu"; }

uint64_t rounded(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

// A heap: what is read, then a part for each server that writes there.
struct HeapPlan {
  std::vector<uint32_t> bytes;  // Sizes,
  std::vector<uint64_t> at;     // and where each lies in a part.
  uint64_t part = 0;
  uint32_t writers = 1;

  explicit HeapPlan(const OneSidedKind& kind, uint32_t servers) {
    uint64_t end = 0;
    for (uint64_t size = kind.min_bytes; size <= kind.max_bytes; size *= kind.factor) {
      bytes.push_back(static_cast<uint32_t>(size));
      at.push_back(end);
      end += rounded(size, kAlignment);
    }
    part = rounded(end, kPage);
    if (kind.pattern == OneSidedPattern::incast && kind.operation == OneSidedOperation::put)
      writers = servers - 1;
  }
  uint64_t total() const { return part * (1 + writers); }
};

// One of a list.
struct Actor {
  uint32_t server, peer;
  uint32_t part;  // Of the heap that it writes.
};

std::vector<Actor> actors_of(const OneSidedKind& kind, uint32_t servers) {
  std::vector<Actor> all;
  for (uint32_t server = 0; server < servers; ++server) {
    switch (kind.pattern) {
      case OneSidedPattern::pair:
        if (server == 0) all.push_back({0, 1, 0});
        break;
      case OneSidedPattern::ring: all.push_back({server, (server + 1) % servers, 0}); break;
      case OneSidedPattern::incast:
        if (server != 0)
          all.push_back({server, 0, kind.operation == OneSidedOperation::put ? server - 1 : 0});
    }
  }
  return all;
}

class OneSidedJob final : public Job, public NicWatcher {
 public:
  OneSidedJob(const OneSidedKind& kind, const JobRequest& request, Memories memories)
      : Job(request, std::move(memories)),
        kind_(kind),
        servers_(spec_.servers),
        heap_(kind, servers_),
        actors_(actors_of(kind, servers_)),
        by_kernels_(by_kernels(request.mode)),
        log_(servers_, by_kernels_),
        hosts_(servers_),
        results_(servers_),
        parameters_(servers_),
        devices_(servers_) {
    if (by_kernels_) elf_ = kernel_file("shmem_probe");
    for (uint32_t server = 0; server < servers_; ++server) {
      devices_[server].shmem.threads = kind.threads;
      if (by_kernels_)
        devices_[server].shmem.place(request, server, rank_of(server), 1, heap_.total(),
                                     heap_.bytes.size() * stamp_bytes(), layouts_[rank_of(server)]);
      plan(server);
      if (by_kernels_) plan_kernels(server);
    }
    if (kind.memory == OneSidedMemory::host || by_kernels_) return;
    for (uint32_t server = 0; server < servers_; ++server) {
      MemoryPlan& layout = layouts_[rank_of(server)];
      const uint64_t base = offset_of(data_base(server));
      layout.add("source", base, heap_.part, true);
      layout.add("destination", base + heap_.part, heap_.total() - heap_.part);
    }
  }

  std::vector<Account> accounts() const override { return {}; }
  std::vector<PhaseRule> phases() const override { return {}; }

  void place_contents() override {
    if (kind_.memory == OneSidedMemory::host) return;
    for (uint32_t server = 0; server < servers_; ++server)
      fill(*memories_[rank_of(server)], server);
  }

  void add_programs(Host& host, uint32_t server) override {
    hosts_[server] = &host;
    if (kind_.memory == OneSidedMemory::host) fill(host.memory(), server);
    add_program(host, "server" + std::to_string(server), [this, server](HostCore& core) {
      notes_[server] = {this, server, &core};
      parameters_[server].note_context = &notes_[server];
      run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
        if (by_kernels_) return shmem_list_run(&devices_[server].shmem.list, ops, error);
        return one_sided_run(&parameters_[server], ops, &results_[server], error);
      });
    });
    uint32_t thread = 0;
    for (HostCore::Program& program : devices_[server].shmem.service_programs(host))
      add_thread(host, fmt::format("service{}_{}", server, thread++), std::move(program));
  }

  void on_nic(uint32_t server, const NicMoment& moment) override { log_.add(server, moment); }

  // What was read or written is there, and nothing else.
  CheckReport check() const override {
    CheckReport report;
    for (uint32_t server = 0; server < servers_; ++server) {
      for (uint32_t part = 0; part < heap_.writers; ++part) compare(server, part, report);
    }
    return report;
  }

  void audit(uint32_t rank, AuditSink& sink) const override {
    const uint32_t server = request_.server_led_by(rank);
    if (server == servers_) return;
    uint64_t asked = 0, latencies = 0, known = 0;
    for (const Actor& actor : actors_) {
      if (actor.server != server) continue;
      for (uint32_t size = 0; size < heap_.bytes.size(); ++size) {
        asked += kind_.rounds + parameters_[server].messages[size];
        latencies += kind_.rounds;
        known += parts_of(actor, size, 0).size();
      }
    }
    if (by_kernels_) {
      audit_service(server, asked, sink);
    } else {
      sink.equal("operations asked for = ended well", asked, results_[server].operations);
    }
    sink.equal("latencies = those whose parts are known and in order", latencies, known);
  }

  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    if (!by_kernels_) return {};
    return {{"shmem_probe", sha256_hex(elf_.data(), elf_.size())}};
  }

  std::string table() const override {
    std::string text = fmt::format("{:>12} {:>10} {:>10} {:>10} {:>10}", "bytes", "latency us",
                                   "least", "most", "rate GB/s");
    for (const std::string& name : log_.part_names()) text += fmt::format(" {:>11}", name);
    text += "\n";
    for (const Row& row : rows()) {
      text += fmt::format("{:>12} {:>10.3f} {:>10.3f} {:>10.3f} {:>10}", row.bytes, row.mean_us(),
                          us(row.least), us(row.most),
                          row.gb_s ? fmt::format("{:.3f}", *row.gb_s) : "-");
      for (const Time part : row.parts) text += fmt::format(" {:>11.3f}", us(part) * 1e3);
      text += "\n";
    }
    return text + "  parts in ns, of the operation of least latency\n";
  }

  json::object details() const override {
    json::array sizes;
    for (const Row& row : rows()) {
      json::object parts;
      const std::vector<std::string> names = log_.part_names();
      for (size_t part = 0; part < row.parts.size(); ++part) parts[names[part]] = row.parts[part];
      json::object one{
          {"bytes", row.bytes},
          {"latency_us",
           json::object{{"mean", row.mean_us()}, {"least", us(row.least)}, {"most", us(row.most)}}},
          {"latency_fs", row.least},
          {"parts_fs", std::move(parts)}};
      if (row.gb_s) one["rate_gb_s"] = *row.gb_s;
      sizes.push_back(std::move(one));
    }
    return {{"sizes", std::move(sizes)}};
  }

 private:
  // Of a size, over all that act.
  struct Row {
    uint32_t bytes = 0;
    uint64_t count = 0;
    Time sum = 0, least = kNever, most = 0;
    OperationParts parts;        // Of the least.
    std::optional<double> gb_s;  // Of all together.
    double mean_us() const {
      return static_cast<double>(sum) / static_cast<double>(count) / kMicrosecond;
    }
  };
  struct Note {
    OneSidedJob* job;
    uint32_t server;
    HostCore* core;
  };

  // Of a server whose kernels communicate.
  struct Device {
    ShmemPlan shmem;
    std::vector<shmem_probe_arguments_t> arguments;
  };

  static double us(Time time) { return static_cast<double>(time) / kMicrosecond; }
  // The GPU of a server whose memory is used: its first.
  uint32_t rank_of(uint32_t server) const { return request_.rank_in(server); }
  uint64_t host_memory() const {
    return uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT |
           STRETTO_HOST_JOB_OFFSET(request_.share.number);
  }
  uint64_t heap_base(uint32_t server) const {
    if (by_kernels_) return devices_[server].shmem.heap;
    if (kind_.memory == OneSidedMemory::host) return host_memory() + kHostHeap;
    return stretto_gpu_address(request_.share.gpus[rank_of(server)],
                               rounded(request_.share.memory_begin, kPage));
  }

  // Where what is read begins: a heap of kernels has words of barriers before.
  uint64_t data_base(uint32_t server) const {
    return heap_base(server) + (by_kernels_ ? kSyncBytes : 0);
  }

  // A launch for each size.
  void plan_kernels(uint32_t server) {
    Device& d = devices_[server];
    const one_sided_parameters_t& p = parameters_[server];
    for (uint32_t size = 0; size < p.sizes; ++size) {
      shmem_probe_arguments_t one{};
      one.source = d.shmem.heap + p.from[size];
      one.destination = d.shmem.heap + p.to[size];
      one.bytes = p.bytes[size];
      one.stamps = stamps_of(server, size);
      one.operation = p.opcode == STRETTO_NIC_GET ? STRETTO_SHMEM_GET : STRETTO_SHMEM_PUT;
      one.pe = p.peer;
      one.rounds = p.rounds;
      one.messages = p.messages[size];
      d.arguments.push_back(one);
    }
    for (const shmem_probe_arguments_t& one : d.arguments)
      d.shmem.launches.push_back({"shmem_probe", &one, sizeof one, p.acts ? 1u : 0u});
    d.shmem.finish(p.cluster.memory, elf_, kind_.poll_rounds);
  }

  void plan(uint32_t server) {
    one_sided_parameters_t& p = parameters_[server];
    p.cluster.server = server;
    p.cluster.servers = servers_;
    p.cluster.memory = host_memory() + rounded(STRETTO_HOST_JOB_WORDS * 8, 4096);
    p.cluster.heap = heap_base(server);
    p.cluster.heap_bytes = heap_.total() + (data_base(server) - heap_base(server));
    p.opcode = kind_.operation == OneSidedOperation::get ? STRETTO_NIC_GET : STRETTO_NIC_PUT;
    p.sizes = static_cast<uint32_t>(heap_.bytes.size());
    p.rounds = kind_.rounds;
    p.window = kind_.window;
    p.note = [](void* context, uint32_t size, uint32_t round, one_sided_moment_t what) {
      const Note& note = *static_cast<Note*>(context);
      AskerMoments& moments = note.job->log_.asker(note.server, one_sided_id(size, round));
      (what == ONE_SIDED_CALL     ? moments.call
       : what == ONE_SIDED_POSTED ? moments.posted
                                  : moments.noticed) = note.core->now();
    };
    for (const Actor& actor : actors_) {
      if (actor.server != server) continue;
      p.acts = 1;
      p.peer = actor.peer;
      for (uint32_t size = 0; size < p.sizes; ++size) {
        p.bytes[size] = heap_.bytes[size];
        const uint64_t first = data_base(server) - heap_base(server);
        p.from[size] = first + heap_.at[size];
        p.to[size] = first + heap_.part * (1 + actor.part) + heap_.at[size];
        if (kind_.messages != 0)
          p.messages[size] = std::clamp(kind_.total_bytes / p.bytes[size], 1u, kind_.messages);
      }
    }
  }

  void fill(MemoryImage& memory, uint32_t server) const {
    const uint64_t base = offset_of(data_base(server));
    memory.add_generator(base, heap_.part, random_words(request_.seed, server, base));
  }

  // Whose source lies in part `part` of what is written at a server; none: nobody writes it.
  std::optional<uint32_t> source_of(uint32_t server, uint32_t part) const {
    const bool is_get = kind_.operation == OneSidedOperation::get;
    for (const Actor& actor : actors_) {
      if (actor.part == part && (is_get ? actor.server : actor.peer) == server)
        return is_get ? actor.peer : actor.server;
    }
    return std::nullopt;
  }

  void compare(uint32_t server, uint32_t part, CheckReport& report) const {
    const std::optional<uint32_t> source = source_of(server, part);
    std::vector<uint64_t> expected(heap_.part / 8), got(heap_.part / 8);
    for (size_t size = 0; source && size < heap_.bytes.size(); ++size) {
      const uint64_t words = (heap_.bytes[size] + 7) / 8, first = heap_.at[size] / 8;
      for (uint64_t i = 0; i < words; ++i)
        expected[first + i] = content_word(request_.seed, *source, first + i);
      const uint32_t rest = heap_.bytes[size] % 8;
      if (rest != 0) expected[first + words - 1] &= (uint64_t{1} << 8 * rest) - 1;
    }
    MemoryImage& memory = kind_.memory == OneSidedMemory::gpu ? *memories_[rank_of(server)]
                                                              : hosts_[server]->memory();
    const uint64_t base = heap_.part * (1 + part);
    memory.read(offset_of(data_base(server)) + base, reinterpret_cast<uint8_t*>(got.data()),
                heap_.part);
    for (size_t i = 0; i < got.size(); ++i) {
      ++report.elements;
      if (got[i] != expected[i])
        report.wrong(fmt::format("server {}, byte {} of its heap: got {:#x}, expected {:#x}",
                                 server, base + 8 * i, got[i], expected[i]));
    }
  }

  uint64_t stamp_bytes() const { return SHMEM_PROBE_STAMP_BYTES(kind_.rounds); }
  uint64_t stamps_of(uint32_t server, uint32_t size) const {
    return devices_[server].shmem.results + size * stamp_bytes();
  }
  template <class Value>
  Value in_memory(uint32_t server, uint64_t address) const {
    Value value{};
    memories_[rank_of(server)]->read(offset_of(address), reinterpret_cast<uint8_t*>(&value),
                                     sizeof value);
    return value;
  }
  shmem_probe_stamp_t stamp(uint32_t server, uint32_t size, uint32_t round) const {
    return in_memory<shmem_probe_stamp_t>(
        server, stamps_of(server, size) + round * sizeof(shmem_probe_stamp_t));
  }
  uint64_t id_of(uint32_t server, uint32_t size, uint32_t round) const {
    return by_kernels_ ? service_id(stamp(server, size, round).entry) : one_sided_id(size, round);
  }

  // Every entry is taken once, ends once, and is one operation of the NIC.
  void audit_service(uint32_t server, uint64_t asked, AuditSink& sink) const {
    uint64_t bytes = 0, well = 0;
    const one_sided_parameters_t& p = parameters_[server];
    for (uint32_t size = 0; p.acts && size < p.sizes; ++size) {
      bytes += uint64_t{p.bytes[size]} * (p.rounds + p.messages[size]);
      well += p.messages[size];
      for (uint32_t round = 0; round < p.rounds; ++round)
        well += stamp(server, size, round).failed == 0;
    }
    const auto [begun, different] = log_.begun(server, kFirstServicePair);
    const ShmemPlan& shmem = devices_[server].shmem;
    MemoryImage& memory = *memories_[rank_of(server)];
    shmem.audit(memory, begun, different, sink);
    sink.equal("operations asked for = begun by the NIC", asked, begun);
    sink.equal("bytes asked for = posted by the network service", bytes,
               shmem.counts(memory).bytes);
    sink.equal("operations asked for = ended well", asked, well);
  }

  // What kernels have noted.
  void note_kernels() const {
    const ClockDomain clock(spec_.gpu.clock_mhz);
    for (const Actor& actor : actors_) {
      for (uint32_t size = 0; size < heap_.bytes.size(); ++size) {
        for (uint32_t round = 0; round < kind_.rounds; ++round) {
          const shmem_probe_stamp_t one = stamp(actor.server, size, round);
          if (one.ended == 0) continue;
          log_.asker(actor.server, service_id(one.entry)) = {
              clock.edge(one.call), clock.edge(one.written), one.taken_ns * kNanosecond,
              clock.edge(one.ended)};
        }
      }
    }
  }

  // Of all messages of a size; 0: not measured.
  double rate_ns(uint32_t server, uint32_t size) const {
    if (!by_kernels_) return static_cast<double>(results_[server].rate_ns[size]);
    const uint64_t at = stamps_of(server, size) + kind_.rounds * sizeof(shmem_probe_stamp_t);
    const auto clocks = in_memory<std::array<uint64_t, 2>>(server, at);
    return static_cast<double>(clocks[1] - clocks[0]) * 1e3 / spec_.gpu.clock_mhz;
  }

  // Of each round from `first` on that has ended and can be told apart.
  std::vector<OperationParts> parts_of(const Actor& actor, uint32_t size, uint32_t first) const {
    if (!closed_ && by_kernels_) note_kernels();
    if (!closed_) log_.close();
    closed_ = true;
    const uint32_t mtu = spec_.nic.mtu_bytes;
    const uint32_t packets = (heap_.bytes[size] + mtu - 1) / mtu;
    std::vector<OperationParts> all;
    for (uint32_t round = first; round < kind_.rounds; ++round) {
      const auto parts = log_.parts(actor.server, id_of(actor.server, size, round),
                                    kind_.operation == OneSidedOperation::get, packets);
      if (parts) all.push_back(*parts);
    }
    return all;
  }

  // Of the sizes that were measured.
  std::vector<Row> rows() const {
    std::vector<Row> all;
    for (uint32_t size = 0; size < heap_.bytes.size(); ++size) {
      Row row;
      row.bytes = heap_.bytes[size];
      double gb_s = 0;
      bool has_rate = true;
      for (const Actor& actor : actors_) {
        for (const OperationParts& parts : parts_of(actor, size, kind_.warm_up)) {
          Time latency = 0;
          for (const Time part : parts) latency += part;
          if (latency < row.least) {
            row.least = latency;
            row.parts = parts;
          }
          row.most = std::max(row.most, latency);
          row.sum += latency;
          ++row.count;
        }
        const double ns = rate_ns(actor.server, size);
        has_rate = has_rate && ns != 0;
        if (ns != 0)
          gb_s += static_cast<double>(row.bytes) * parameters_[actor.server].messages[size] / ns;
      }
      if (row.count == 0) continue;
      if (has_rate) row.gb_s = gb_s;
      all.push_back(row);
    }
    return all;
  }

  const OneSidedKind& kind_;
  const uint32_t servers_;
  const HeapPlan heap_;
  const std::vector<Actor> actors_;
  const bool by_kernels_;
  mutable OperationLog log_;
  mutable bool closed_ = false;
  std::vector<Host*> hosts_;
  std::vector<one_sided_result_t> results_;
  std::vector<one_sided_parameters_t> parameters_;
  std::vector<Device> devices_;
  std::vector<uint8_t> elf_;
  std::map<uint32_t, Note> notes_;
};

}  // namespace

void OneSidedKind::describe(ParameterSet& set) {
  constexpr uint32_t kMost = 1u << 26;
  set.choice("operation", operation,
             {{"get", OneSidedOperation::get}, {"put", OneSidedOperation::put}},
             "What a server does with the memory of another: read, write.");
  set.choice(
      "pattern", pattern,
      {{"pair", OneSidedPattern::pair},
       {"ring", OneSidedPattern::ring},
       {"incast", OneSidedPattern::incast}},
      "pair: server 0 uses that of server 1; ring: each that of the next; incast: all others "
      "that of server 0.");
  set.choice("memory", memory, {{"gpu", OneSidedMemory::gpu}, {"host", OneSidedMemory::host}},
             "Where the data lie, at both ends.");
  set.number("min_bytes", min_bytes, 1, kMost, "Smallest operation.");
  set.number("max_bytes", max_bytes, 1, kMost, "Largest one.");
  set.number("factor", factor, 2, 1024, "From a size to the next.");
  set.number("rounds", rounds, 1, 1000, "Operations of a latency, one after the other.");
  set.number(
      "warm_up", warm_up, 0, 999,
      "The first so many of these count for no latency: code and queues are in no cache yet.");
  set.number("messages", messages, 0, 4096, "Operations of a rate, at most; 0: none.");
  set.number("window", window, 1, 1u << STRETTO_CLUSTER_RING_LOG2, "Of a rate, so many at a time.");
  set.number("total_bytes", total_bytes, 1, 1u << 30,
             "Bytes of a rate, as far as that is more than one operation.");
  set.number("poll_rounds", poll_rounds, 1, 1000,
             "Not cpu: rounds of a thread over its queues to one look at completions (CN-U06).");
  set.number("threads", threads, 1, STRETTO_SHMEM_MAX_THREADS,
             "Not cpu: harts, or threads of the host, that serve queues (CN-U07).");
}

std::string OneSidedKind::first_error() const {
  if (warm_up >= rounds) return "needs warm_up below rounds";
  return max_bytes < min_bytes ? "needs max_bytes that is not below min_bytes" : "";
}

namespace {

std::vector<std::pair<std::string, std::string>> modes() {
  std::vector<std::pair<std::string, std::string>> all = {
      {"cpu", "host programs post work to the NIC and poll its completions"}};
  for (auto& mode : shmem_modes()) all.push_back(std::move(mode));
  return all;
}

}  // namespace

const KindInfo& OneSidedKind::info() const {
  static const KindInfo info{
      .name = "one_sided",
      .sentence = "Servers that read or write the memory of others: latency in parts, and rate.",
      .modes = modes(),
      .spans_servers = true,
      .machine_of_mode = shmem_machines()};
  return info;
}

std::map<std::string, uint64_t> OneSidedKind::shape() const {
  return {{"min_bytes", min_bytes}, {"max_bytes", max_bytes},     {"factor", factor},
          {"rounds", rounds},       {"warm_up", warm_up},         {"messages", messages},
          {"window", window},       {"total_bytes", total_bytes}, {"poll_rounds", poll_rounds},
          {"threads", threads}};
}

void OneSidedKind::check(const JobRequest& request) const {
  const MachineSpec& spec = request.spec;
  check_servers(request, 2);
  const HeapPlan heap(*this, spec.servers);
  if (by_kernels(request.mode)) {
    if (memory != OneSidedMemory::gpu)
      throw UserError(
          fmt::format("{}: one_sided.memory=host is for mode cpu: kernels have their heap "
                      "in GPU memory",
                      request.subject()));
    check_kernels("shmem_probe", {"shmem_probe"});
    check_service_threads(request, threads);
  }
  if (memory == OneSidedMemory::gpu) {
    check_memory(request, heap.total() + kPage, "the heap", heap.total(), "one_sided.max_bytes");
  } else if (heap.total() > STRETTO_HOST_JOB_BYTES - kHostHeap) {
    throw UserError(
        fmt::format("{}: does not fit: the heap has {} bytes, in host memory at most {}; make "
                    "one_sided.max_bytes smaller",
                    request.subject(), heap.total(), STRETTO_HOST_JOB_BYTES - kHostHeap));
  }
}

std::vector<std::string> OneSidedKind::claims(const JobRequest&) const {
  return {kNetworkInterface};
}

std::vector<std::string> OneSidedKind::kernel_files(const JobRequest& request) const {
  if (!by_kernels(request.mode)) return {};
  return {kernel_path("shmem_probe")};
}

std::unique_ptr<Job> OneSidedKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<OneSidedJob>(*this, request, std::move(memories));
}

}  // namespace stretto
