// SPDX-License-Identifier: Apache-2.0
#include "platform/machine/system.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "models/common/error.h"
#include "models/host/host_group.h"
#include "platform/base/installation.h"
#include "platform/config/body_machine_sum.h"
#include "platform/config/peaks.h"
#include "platform/jobs/code_owner.h"
#include "platform/jobs/job.h"
#include "platform/jobs/nic_watcher.h"
#include "platform/jobs/queue_owner.h"
#include "platform/machine/bodies.h"
#include "platform/machine/card_node.h"
#include "platform/machine/collect.h"
#include "platform/machine/gpu_node.h"
#include "platform/machine/loaded_code.h"
#include "platform/machine/nic_node.h"
#include "platform/machine/queue_fill.h"
#include "platform/machine/switch_node.h"
#include "platform/machine/wiring.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/formats/queue.h"

namespace stretto {

class System::State {
 public:
  State(const RunRequest& request, Timeline* timeline, Waves* waves)
      : request_(request),
        spec_(request.machine.spec()),
        conductor_("conductor", conductor_spec(), lookahead_ns(spec_) * kNanosecond) {
    const unsigned count = spec_.sim.mirror ? 1 : spec_.gpus;
    gpus_.resize(count);
    for (unsigned i = 0; i < count; ++i) {
      const unsigned gpu = spec_.sim.reverse_elaboration ? count - 1 - i : i;
      gpus_[gpu] = std::make_unique<GpuNode>(
          ("gpu" + std::to_string(gpu)).c_str(), spec_, gpu, request.options.impl, conductor_,
          timeline == nullptr ? nullptr : &timeline->page(gpu), waves);
    }
    for (unsigned gpu = 0; gpu < count; ++gpu)
      gpus_[gpu]->gpu.front_end.on_fault([this, gpu](const GpuFault& fault) { fail(gpu, fault); });
    if (is_sampled()) sample();
    const unsigned cards = spec_.has_smartnics() ? 0 : spec_.card.count;
    cards_.resize(cards);
    for (unsigned i = 0; i < cards; ++i) {
      const unsigned card = spec_.sim.reverse_elaboration ? cards - 1 - i : i;
      cards_[card] = std::make_unique<CardNode>(("card" + std::to_string(card)).c_str(), spec_,
                                                card, request.options.impl, conductor_);
    }
    make_network();
    conductor_.on_window([timeline] {
      if (timeline != nullptr) timeline->flush();
    });
    use_.resize(count, UseWindows(peak_use()));
    for (unsigned gpu = 0; gpu < count; ++gpu)
      gpus_[gpu]->partition.on_each(UseWindows::kWindow,
                                    [this, gpu](Time at) { read_use(gpu, at); });
    if (timeline != nullptr) {
      timeline->set_kernel_names(
          [this](unsigned gpu, uint64_t code) { return owned_name(gpu, code); });
    }
    tohost_.resize(count);
    load_firmware();
    if (request_.has_workload) start_workload(timeline);
  }

  Conductor& conductor() { return conductor_; }

  bool is_sampled() const { return spec_.gpu.executor != Executor::iss; }

  std::optional<BodyTable> measured_bodies() const {
    if (spec_.gpu.executor == Executor::sampled && spec_.sampled.correct)
      return gpus_[0]->sampled->corrected();
    if (spec_.gpu.executor != Executor::measured) return std::nullopt;
    BodyTable all;
    all.machine = body_machine_sum(request_.machine);
    all.l2_bytes = spec_.l2.bytes;
    for (size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      BodyTable one;
      one.kernels = gpus_[gpu]->sampled->measured();
      for (const auto& [key, entry] : gpus_[gpu]->sampled->entries()) {
        const auto kernel = one.kernels.find(key);
        if (kernel != one.kernels.end())
          kernel->second.name = code_.at(static_cast<unsigned>(gpu), entry);
      }
      all.merge(one);
    }
    return all;
  }

  uint64_t work_groups_retired() const {
    uint64_t sum = 0;
    for (const auto& gpu : gpus_) sum += gpu->gpu.front_end.retired();
    return sum;
  }

  std::optional<double> done_share() const {
    if (jobs_.size() != 1) return std::nullopt;
    return jobs_[0]->done_share(work_groups_retired());
  }

  std::string progress_text() const {
    return "stopped at " + std::to_string(sc_core::sc_time_stamp().value() / kNanosecond) + " ns";
  }

  uint64_t tohost_failure() const {
    for (const uint64_t value : tohost_) {
      if (value > 1) return value;
    }
    return 0;
  }

  std::string firmware_end() const {
    for (size_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      if (tohost_[gpu] == 0) continue;
      const std::string words = gpus_[gpu]->cp.last_words();
      return "the firmware of gpu" + std::to_string(gpu) + " ended the run: it wrote " +
             std::to_string(tohost_[gpu]) + " to tohost" + (words.empty() ? "" : ", after: ") +
             words;
    }
    return "";
  }

  std::string waiting_text() const {
    std::string text;
    for (const auto& job : jobs_) {
      for (const std::string& line : job->waiting_on()) text += "\n  " + label(*job) + line;
    }
    return text;
  }

  // Of all jobs: the first mismatch of the first that has one.
  CheckReport check() {
    CheckReport all;
    checks_.clear();
    for (const auto& job : jobs_) {
      const CheckReport& one = checks_.emplace_back(job->check());
      if (one.elements == 0) throw CheckError(label(*job) + "no element was checked");
      if (all.first.empty() && !one.first.empty()) all.first = label(*job) + one.first;
      if (all.limit.empty() && !one.limit.empty()) all.limit = label(*job) + one.limit;
      all.elements += one.elements;
      all.mismatches += one.mismatches;
      all.max_error = std::max(all.max_error, one.max_error);
      all.error_bound = std::max(all.error_bound, one.error_bound);
    }
    return all;
  }

  void collect(Results& results) {
    for (const auto& gpu : gpus_) gpu->hbm.trace_end();
    results.machine = request_.machine.name();
    results.workload = request_.workload.name;
    results.mode = request_.options.mode;
    results.data = request_.options.data;
    results.seed = request_.options.seed;
    results.gpus = spec_.gpus;
    results.executor = request_.machine.parameters().find("gpu.executor")->get();
    results.rtl = rtl_sources();
    for (const auto& [block, impl] : request_.options.impl) {
      results.impl[block] = impl_name(impl);
      if (impl == Impl::model) results.rtl.erase(block);
    }
    results.firmware_sha256 = firmware_->sha256();
    Time ended = 0;
    for (const auto& job : jobs_) ended = std::max(ended, job->ended().value_or(0));
    results.total =
        !jobs_.empty() && results.status == RunStatus::complete ? ended : conductor_.ended_at();
    collect_jobs(results);
    std::vector<Node*> nodes;
    for (const auto& gpu : gpus_) nodes.push_back(gpu.get());
    for (const auto& card : cards_) nodes.push_back(card.get());
    MachineParts parts;
    for (const auto& nic : nics_) {
      nodes.push_back(nic.get());
      parts.nics.push_back(&nic->nic);
    }
    for (const auto& one : switches_) {
      nodes.push_back(one.get());
      parts.switches.push_back(one.get());
    }
    for (const auto& host : hosts_) parts.hosts.push_back(host.get());
    for (const auto& smartnic : smartnics_) parts.hosts.push_back(smartnic.get());
    parts.nodes = std::move(nodes);
    collect_machine(parts, accounts_of_jobs(), phases_of_jobs(), results);
    collect_use(results);
    for (const auto& gpu : gpus_) results.cp_instructions += gpu->cp.instructions();
    if (jobs_.empty() || results.status != RunStatus::complete) return;
    AuditSink audit;
    for (uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      audit_memory(gpu, audit);
    }
    results.audit.insert(results.audit.end(), audit.all().begin(), audit.all().end());
  }

 private:
  void sample() {
    const BodyTable table = load_bodies(request_.machine);
    const BodyRates rates = body_rates(spec_);
    for (unsigned gpu = 0; gpu < gpus_.size(); ++gpu) {
      gpus_[gpu]->sample(spec_, rates, table, [this, gpu](const std::string& key, uint64_t entry) {
        throw UserError(
            missing_body(request_.machine, request_.options.workload, code_.at(gpu, entry), key));
      });
    }
  }

  // A bare-metal program computes for as long as it likes: only running empty is a deadlock then.
  ConductorSpec conductor_spec() const {
    ConductorSpec spec = spec_.sim.conductor;
    if (!request_.has_workload) spec.progress_limit_us = 0;
    return spec;
  }

  // The order of construction shows nowhere.
  void make_network() {
    const unsigned servers = spec_.has_network() ? spec_.servers : 0;
    nics_.resize(servers);
    for (unsigned i = 0; i < servers; ++i) {
      const unsigned server = spec_.sim.reverse_elaboration ? servers - 1 - i : i;
      nics_[server] = std::make_unique<NicNode>(of_server(spec_, "nic", server).c_str(), spec_,
                                                server, conductor_);
    }
    std::vector<SwitchWiring> wiring = switch_wiring(spec_);
    switches_.resize(wiring.size());
    for (size_t i = 0; i < wiring.size(); ++i) {
      const size_t which = spec_.sim.reverse_elaboration ? wiring.size() - 1 - i : i;
      switches_[which] =
          std::make_unique<SwitchNode>(wiring[which].name.c_str(), wiring[which], conductor_);
    }
  }

  void make_hosts(Timeline* timeline) {
    std::vector<uint8_t> pcie_ports;
    for (const auto& gpu : gpus_) {
      pcie_ports.push_back(
          static_cast<uint8_t>(gpu->router.ports() - 1));  // The last, see RouterSpec.
    }
    hosts_.resize(spec_.servers);
    for (unsigned i = 0; i < spec_.servers; ++i) {
      const unsigned server = spec_.sim.reverse_elaboration ? spec_.servers - 1 - i : i;
      hosts_[server] = std::make_unique<Host>(of_server(spec_, "host", server).c_str(), spec_.host,
                                              host_wiring(spec_, server, pcie_ports), conductor_);
    }
    std::vector<Host*> all;
    for (const auto& host : hosts_) {
      host->on_code([this](uint64_t base, const void* elf, uint64_t bytes) {
        const uint8_t* const first = static_cast<const uint8_t*>(elf);
        code_.add(base, {first, first + bytes});
      });
      if (timeline != nullptr)
        host->set_trace(&timeline->page(static_cast<unsigned>(gpus_.size() + all.size())));
      all.push_back(host.get());
    }
    make_smartnics();
    for (const auto& smartnic : smartnics_) all.push_back(smartnic.get());
    if (all.size() > 1) group_ = std::make_unique<HostGroup>(conductor_, all);
  }

  // Processors of cards.
  void make_smartnics() {
    const unsigned count = spec_.has_smartnics() ? spec_.card.count : 0;
    smartnics_.resize(count);
    for (unsigned i = 0; i < count; ++i) {
      const unsigned card = spec_.sim.reverse_elaboration ? count - 1 - i : i;
      smartnics_[card] =
          std::make_unique<Host>(("smartnic" + std::to_string(card)).c_str(), spec_.smartnic,
                                 card_port(card, spec_.gpus, spec_.pcie), conductor_,
                                 static_cast<uint8_t>(kCardNode + card));
    }
  }

  // On the host of each server in which it has GPUs.
  void add_programs(Job& job) {
    std::optional<uint32_t> last;
    std::vector<uint32_t> gpus = job.request().share.gpus;
    std::sort(gpus.begin(), gpus.end());
    for (const uint32_t gpu : gpus) {
      const uint32_t server = spec_.server_of(gpu);
      if (server != last) job.add_programs(*hosts_[server], server);
      last = server;
    }
    const std::vector<uint32_t>& of_rank = job.request().share.gpus;
    for (uint32_t rank = 0; rank < of_rank.size(); ++rank) {
      if (of_rank[rank] < smartnics_.size())
        job.add_smartnic_programs(*smartnics_[of_rank[rank]], rank);
    }
  }

  // What a GPU has at most in a window.
  std::array<double, kUsedParts> peak_use() const {
    const double us = static_cast<double>(UseWindows::kWindow) / kMicrosecond;
    const double unit_clocks = us * spec_.gpu.clock_mhz * spec_.gpu.cus;
    return {unit_clocks, unit_clocks, unit_clocks * spec_.gpu.issue_ports,
            1e3 * us * peaks_of(spec_).hbm_gb_s};
  }

  void read_use(size_t gpu, Time at) {
    const GpuNode& node = *gpus_[gpu];
    UseCounts counts{};
    for (const auto& unit : node.gpu.units) {
      counts[kUsedTensor] += unit->counters().tensor.busy;
      counts[kUsedSimt] += unit->counters().simt.busy;
      counts[kUsedIssue] += unit->instructions();
    }
    const auto [read, written] = node.hbm.bytes();
    counts[kUsedDram] = read + written;
    use_[gpu].read(at, counts);
  }

  // From the begin of the first phase that does not prepare to the end of the last one.
  void collect_use(Results& results) {
    for (size_t gpu = 0; gpu < gpus_.size(); ++gpu)
      read_use(gpu, gpus_[gpu]->partition.queue().now());
    Time begin = kNever, end = 0;
    for (const PhaseRule& rule : phases_of_jobs()) {
      for (const PhaseTime& phase : results.phases) {
        if (rule.prepares || phase.name != rule.name) continue;
        for (const auto& [from, to] : phase.spans) {
          begin = std::min(begin, from);
          end = std::max(end, to);
        }
      }
    }
    for (const UseWindows& of_gpu : use_) results.use.add(of_gpu.of(begin, end));
  }

  void load_firmware() {
    firmware_ = std::make_shared<ElfImage>(
        ElfImage::load(firmware_file(request_.options.firmware, spec_.cp.private_memory)));
    for (const auto& gpu : gpus_) {
      Partition& partition = gpu->partition;
      gpu->cp.load(firmware_);
      uint64_t& kept = tohost_[partition.services().gpu];
      gpu->cp.on_end([&partition, &kept](uint64_t tohost) {
        kept = tohost;
        partition.finish(tohost == 1 ? 0 : 1);
      });
      gpu->cp.start();
    }
  }

  std::vector<Account> accounts_of_jobs() const {
    std::vector<Account> all;
    for (const auto& job : jobs_) {
      const JobShare& share = job->request().share;
      for (const Account& one : job->accounts())
        all.push_back(
            {static_cast<uint8_t>(one.number + share.account_base), share.prefix + one.name});
    }
    return all;
  }

  std::vector<PhaseRule> phases_of_jobs() const {
    std::vector<PhaseRule> all;
    for (const auto& job : jobs_) {
      const JobShare& share = job->request().share;
      for (PhaseRule rule : job->phases()) {
        rule.name = share.prefix + rule.name;
        for (std::vector<Moment>* moments : {&rule.begin, &rule.end}) {
          for (Moment& moment : *moments)
            if (moment.account >= STRETTO_ACCOUNT_JOB)
              moment.account = static_cast<uint8_t>(moment.account + share.account_base);
        }
        all.push_back(std::move(rule));
      }
    }
    return all;
  }

  // Who says or has something, where there are several jobs.
  std::string label(const Job& job) const {
    return job.request().place.empty() ? "" : job.request().name() + ": ";
  }

  void collect_jobs(Results& results) const {
    for (size_t i = 0; i < jobs_.size(); ++i) {
      const Job& job = *jobs_[i];
      const JobRequest& request = job.request();
      for (const std::string& line : job.requests())
        results.requests.push_back(std::to_string(i) + "," + line);
      for (const auto& [name, sum] : job.kernel_sha256()) results.kernel_sha256[name] = sum;
      if (request.place.empty()) {
        results.shape = request.kind->shape();
        results.work = request.kind->work(request.mode);
        results.parameters = request.parameters;
        results.contents = job.contents();
        results.table = job.table();
        results.job = job.details();
        return;
      }
      results.jobs.push_back({request.workload, request.kind->info().name, request.mode,
                              request.share.gpus, job.ended(), request.kind->shape(),
                              request.parameters, job.details(),
                              i < checks_.size() ? checks_[i] : CheckReport{}});
      const std::optional<Time> ended = job.ended();
      results.table += label(job) +
                       (ended ? "ended at " + std::to_string(*ended / kNanosecond) + " ns\n"
                              : "has not ended\n") +
                       job.table();
    }
  }

  // All jobs on a GPU are held to what the firmware and they were given together.
  void audit_memory(uint32_t gpu, AuditSink& audit) const {
    const std::string where = "gpu" + std::to_string(gpu);
    MemoryPlan all;
    all.add("firmware", 0, STRETTO_SYSTEM_BYTES);
    for (const auto& job : jobs_) {
      const std::vector<uint32_t>& of_job = job->request().share.gpus;
      const auto found = std::find(of_job.begin(), of_job.end(), gpu);
      if (found == of_job.end()) continue;
      const uint32_t rank = static_cast<uint32_t>(found - of_job.begin());
      all.add(job->layout(rank));
      audit.set_where(where);
      if (!is_sampled()) job->audit(rank, audit);
    }
    all.audit(gpus_[gpu]->memory, audit, where);
  }

  // "client1 gemm", where jobs have several clients.
  std::string owned_name(unsigned gpu, uint64_t code) const {
    std::string name = code_.at(gpu, code);
    if (name.empty()) return name;
    for (const auto& job : jobs_)
      if (const auto* const owner = dynamic_cast<const CodeOwner*>(job.get()); owner != nullptr)
        if (const std::string client = owner->client_at(gpu, code & STRETTO_OFFSET_MASK);
            !client.empty())
          return client + " " + name;
    return name;
  }

  // A fault of a kernel ends the run.
  [[noreturn]] void fail(unsigned gpu, const GpuFault& fault) const {
    const std::string symbol = code_.at(gpu, fault.pc);
    std::string text = describe_fault(gpu, fault) + (symbol.empty() ? "" : ", in " + symbol);
    for (const auto& job : jobs_) {
      auto* const owner = dynamic_cast<CodeOwner*>(job.get());
      const std::string whose =
          owner == nullptr ? "" : owner->faulted(gpu, fault.pc & STRETTO_OFFSET_MASK);
      if (!whose.empty()) text += ", a kernel of " + whose;
    }
    // What the user asked for does not fit, see throw_status().
    if (fault.kind == FaultKind::kernel_too_large) throw UserError(text);
    throw CheckError(text);
  }

  void start_workload(Timeline* timeline) {
    make_hosts(timeline);
    for (const JobRequest& request : request_.jobs) {
      Memories memories;
      for (const uint32_t gpu : request.share.gpus)
        if (gpu < gpus_.size()) memories.push_back(&gpus_[gpu]->memory);
      jobs_.push_back(request.kind->make_job(request, std::move(memories)));
      if (jobs_.back()->watches_kernels()) watch_kernels(*jobs_.back());
      if (auto* const owner = dynamic_cast<QueueOwner*>(jobs_.back().get()))
        watch_queues(*owner, request.share.gpus, timeline);
      if (auto* const watcher = dynamic_cast<NicWatcher*>(jobs_.back().get())) watch_nics(*watcher);
      for (const Account& one : jobs_.back()->accounts()) {
        if (one.number >= STRETTO_ACCOUNT_JOB + request.share.accounts)
          throw UserError(request.subject() + ": account " + one.name + " is one more than the " +
                          std::to_string(request.share.accounts) + " of its kind");
      }
      if (request.share.has_company) continue;
      jobs_.back()->set_meter([this, &request] {
        uint64_t bytes = 0;
        for (const uint32_t gpu : request.share.gpus)
          if (gpu < gpus_.size()) bytes += gpus_[gpu]->router.bytes_sent();
        return bytes;
      });
    }
    for (const auto& job : jobs_) job->place_contents();
    if (spec_.sim.mirror) gpus_[0]->router.set_mirror(jobs_[0]->mirror().value());
    for (const auto& job : jobs_) add_programs(*job);
  }

  void watch_queues(QueueOwner& owner, const std::vector<uint32_t>& gpus, Timeline* timeline) {
    for (uint32_t rank = 0; rank < gpus.size() && gpus[rank] < gpus_.size(); ++rank) {
      RaceLaw& races = gpus_[gpus[rank]]->gpu.races;
      races.set_names(
          {.place = [&owner, rank](uint64_t offset) { return owner.queue_at(rank, offset); },
           .stage = [&owner, rank](uint64_t offset) { return owner.stage_at(rank, offset); }});
      std::vector<RaceLaw::Range> ranges;
      for (const QueueOwner::Range& range : owner.watched(rank))
        ranges.push_back({range.begin, range.bytes});
      if (!ranges.empty()) races.watch_always(ranges);
      if (timeline == nullptr) continue;
      const auto fill = std::make_shared<QueueFill>(
          "gpu" + std::to_string(gpus[rank]),
          [&owner, rank](uint64_t offset) { return owner.word_at(rank, offset); },
          timeline->page(gpus[rank]));
      races.on_atomic(
          [fill, clock = ClockDomain(spec_.gpu.clock_mhz)](uint64_t offset, RaceLaw::Cycle at) {
            fill->add(offset, clock.edge(at));
          });
    }
    owner.set_queue_meter({.traffic =
                               [this, &gpus](uint32_t rank, uint64_t offset, uint64_t bytes) {
                                 const RaceLaw::Traffic all =
                                     gpus_[gpus[rank]]->gpu.races.traffic(offset, bytes);
                                 return QueueTraffic{all.written, all.read};
                               },
                           .evictions =
                               [this, &gpus](uint32_t rank) {
                                 return gpus_[gpus[rank]]->gpu.l2.counters().pinned_evictions;
                               },
                           .fetched_past =
                               [this, &gpus](uint32_t rank) {
                                 return gpus_[gpus[rank]]->gpu.l2.counters().fetched_past;
                               },
                           .left =
                               [this, &gpus](uint32_t rank) {
                                 const L2Cache& l2 = gpus_[gpus[rank]]->gpu.l2;
                                 const L2Counters& so_far = l2.counters();
                                 return L2Tags::kSectorBytes *
                                        (l2.total(so_far.write_backs) - so_far.pinned_evictions -
                                         so_far.unpinned_write_backs + l2.dirty_sectors());
                               }});
  }

  void watch_nics(NicWatcher& watcher) {
    for (uint32_t server = 0; server < nics_.size(); ++server)
      nics_[server]->nic.set_watch(
          [&watcher, server](const NicMoment& moment) { watcher.on_nic(server, moment); });
  }

  void watch_kernels(Job& job) {
    const JobShare& share = job.request().share;
    for (uint32_t rank = 0; rank < share.gpus.size(); ++rank) {
      if (share.gpus[rank] >= gpus_.size()) continue;
      GpuNode& node = *gpus_[share.gpus[rank]];
      node.gpu.front_end.on_kernel(
          [&job, &node, &share, rank](bool ended, uint8_t account, Time at) {
            const int of_job = account - static_cast<int>(share.account_base);
            if (of_job < STRETTO_ACCOUNT_JOB ||
                of_job >= static_cast<int>(STRETTO_ACCOUNT_JOB + share.accounts))
              return;
            KernelMoment moment{rank, static_cast<uint8_t>(of_job), ended, at, {}};
            GpuActivity& so_far = moment.so_far;
            so_far.multiply_adds = node.gpu.sum(&ComputeUnitCounters::multiply_adds);
            for (const auto& unit : node.gpu.units)
              so_far.simt_cycles += unit->counters().simt.busy;
            so_far.l2_bytes = node.gpu.sum(&ComputeUnitCounters::load_bytes) +
                              node.gpu.sum(&ComputeUnitCounters::store_bytes);
            std::tie(so_far.dram_read_bytes, so_far.dram_written_bytes) = node.hbm.bytes();
            job.on_kernel(moment);
          });
    }
  }

  const RunRequest request_;
  const MachineSpec& spec_;
  Conductor conductor_;
  std::vector<uint64_t> tohost_;  // By simulated GPU: what its firmware wrote there; 0 = nothing.
  std::vector<std::unique_ptr<GpuNode>> gpus_;
  std::vector<std::unique_ptr<CardNode>> cards_;
  std::vector<std::unique_ptr<NicNode>> nics_;  // By server.
  std::vector<std::unique_ptr<SwitchNode>> switches_;
  std::shared_ptr<const ElfImage> firmware_;
  LoadedCode code_;
  std::vector<std::unique_ptr<Host>> hosts_;      // By server; none without a workload.
  std::vector<std::unique_ptr<Host>> smartnics_;  // By card, likewise.
  std::unique_ptr<HostGroup> group_;              // Of several.
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<CheckReport> checks_;  // By job; of check().
  std::vector<UseWindows> use_;      // By simulated GPU.
};

System::System(const RunRequest& request, Timeline* timeline, Waves* waves)
    : state_(std::make_unique<State>(request, timeline, waves)) {}
System::~System() = default;
unsigned System::timeline_pages(const MachineSpec& spec) {
  return (spec.sim.mirror ? 1 : spec.gpus) + spec.servers;
}
Conductor& System::conductor() { return state_->conductor(); }
uint64_t System::work_groups_retired() const { return state_->work_groups_retired(); }
std::optional<double> System::done_share() const { return state_->done_share(); }
std::string System::firmware_end() const { return state_->firmware_end(); }
uint64_t System::tohost_failure() const { return state_->tohost_failure(); }
std::string System::progress_text() const { return state_->progress_text(); }
std::string System::waiting_text() const { return state_->waiting_text(); }
bool System::is_sampled() const { return state_->is_sampled(); }
std::optional<BodyTable> System::measured_bodies() const { return state_->measured_bodies(); }
CheckReport System::check() { return state_->check(); }
void System::collect(Results& results) { state_->collect(results); }

}  // namespace stretto
