// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/tenants/tenants_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>
#include <cstdlib>
#include <new>

#include "models/common/error.h"
#include "platform/config/peaks.h"
#include "platform/jobs/code_owner.h"
#include "platform/jobs/operands.h"
#include "platform/jobs/server_report.h"
#include "platform/jobs/shared_gpu.h"
#include "platform/kinds/tenants/profiles.h"
#include "platform/kinds/tenants/tenant_alone.h"
#include "platform/kinds/tenants/tenant_figures.h"
#include "platform/kinds/tenants/tenant_modes.h"
#include "platform/kinds/tenants/tenant_plan.h"
#include "platform/kinds/tenants/tenant_rates.h"
#include "platform/kinds/tenants/tenant_time.h"
#include "platform/kinds/tenants/tenants_kind.h"

namespace stretto {

namespace json = boost::json;

namespace {

const Account kHigh{TENANT_ACCOUNT_HIGH, "high"},
    kBestEffort{TENANT_ACCOUNT_BEST_EFFORT, "best_effort"},
    kServer{TENANT_ACCOUNT_SERVER, "server"};

constexpr uint64_t kMiB = uint64_t{1} << 20;
// Room for results of clients that have no number of requests.
constexpr uint32_t kMostRequests = 1 << 20;
constexpr std::array kPercentiles{50.0, 90.0, 95.0, 99.0};

// For the states of the work-groups that a context has on the GPU, and once more for those that have
// not come back to a unit when its slice ends.
uint64_t save_bytes(const MachineSpec& spec) {
  const GpuSpec& gpu = spec.gpu;
  constexpr uint64_t kOfWavefront = 512, kRest = 128;  // Of ComputeUnit::saved_bytes().
  return uint64_t{2} * gpu.cus *
         (gpu.registers_bytes + gpu.lds_bytes + gpu.wavefront_slots * kOfWavefront +
          gpu.workgroup_slots * kRest);
}

// In a shorter slice what the units may hold does not come back from memory: nobody would get on.
void check_slice(const MachineSpec& spec, uint64_t slice_ns) {
  const Peaks peaks = peaks_of(spec);
  const auto bytes = static_cast<double>(peaks.registers_bytes + peaks.lds_bytes);
  const auto least_ns = static_cast<uint64_t>(std::ceil(bytes / peaks.hbm_gb_s));
  if (slice_ns >= least_ns) return;
  throw UserError(
      fmt::format("tenants.slice_ns: {} is shorter than {} ns, in which registers and LDS of all "
                  "units ({:.1f} MB) come back from memory ({:.0f} GB/s): clients would not get on",
                  slice_ns, least_ns, bytes / 1e6, peaks.hbm_gb_s));
}

using Requests = std::unique_ptr<tenant_request_t, decltype(&std::free)>;

// From pages that the host gives when they are used: most of kMostRequests are not.
Requests zeroed_requests(size_t count) {
  auto* const all = static_cast<tenant_request_t*>(std::calloc(count, sizeof(tenant_request_t)));
  if (all == nullptr) throw std::bad_alloc();
  return {all, &std::free};
}

using TenantPlans = std::vector<std::unique_ptr<TenantPlan>>;

TenantPlans plans_of(const TenantsKind& kind, const JobRequest& request, const SharedGpu& gpu,
                     const std::vector<TenantText>& texts) {
  TenantPlans plans;
  for (const TenantText& text : texts) {
    const size_t number = plans.size();
    plans.push_back(std::make_unique<TenantPlan>(
        text.name, text.kernels, kind.least_times, kind.most_times, request.spec,
        request.seed + number, gpu.clients[number], text.where));
  }
  return plans;
}

// In windows that are the whole memory: in their own ones things lie likewise.
TenantPlans unplaced_plans(const TenantsKind& kind, const JobRequest& request,
                           const std::vector<TenantText>& texts) {
  SharedGpu whole;
  whole.clients.assign(texts.size(), client_options(request, 0));
  return plans_of(kind, request, whole, texts);
}

// Each client has what it needs; throws UserError if that is more than there is.
SharedGpu shared_by(const TenantsKind& kind, const JobRequest& request,
                    const std::vector<TenantText>& texts) {
  std::vector<uint64_t> bytes;
  std::string largest;
  uint64_t needed = 0, most = 0;
  for (const auto& plan : unplaced_plans(kind, request, texts)) {
    const uint64_t one = plan->memory().end - request.share.memory_begin;
    bytes.push_back(one + kModuleBytes + kMiB);
    needed += bytes.back();
    if (one <= most) continue;
    most = one;
    largest = "what client " + plan->name() + " allocates";
  }
  if (tenant_mode(request.mode).is_sliced) {
    check_slice(request.spec, kind.slice_ns);
    needed += texts.size() * save_bytes(request.spec);
  }
  const uint64_t has = request.share.memory_end - request.share.memory_begin;
  check_memory(request, needed + has - bytes_for_clients(request), largest, most, "its kernels");
  return share_gpu(request, bytes);
}

class Tenants final : public Job, public CodeOwner {
 public:
  Tenants(const TenantsKind& kind, const JobRequest& request, const std::vector<TenantText>& texts,
          Memories memories)
      : Job(request, std::move(memories)),
        kind_(kind),
        mode_(tenant_mode(request.mode)),
        scheduler_(scheduler_policy_of(kind, mode_)),
        alone_(request.mode == "ideal"),
        gpu_(shared_by(kind, request, texts)),
        plans_(plans_of(kind, request, gpu_, texts)),
        arrivals_(plans_.size()),
        alone_figures_(alone_of(kind, request, texts)),
        parameters_(plans_.size()),
        results_(plans_.size()),
        server_(server_parameters(request, gpu_, mode_.how, mode_.stock_isa, kind.policy)) {
    for (const TenantText& text : texts)
      contents_.push_back(contents_of(kind, text, contents_.size()));
    const auto count = static_cast<uint32_t>(plans_.size());
    rate_.policy = kind.rate;
    rate_.clients = count;
    tenant_rate_place(&rate_, request.share.number);
    rate_.log_context = this;
    rate_.log = [](void* self, const tenant_rate_record_t* record) {
      static_cast<Tenants*>(self)->rates_.push_back(*record);
    };
    for (uint32_t i = 0; i < count; ++i) set_client(i);
    server_.high_account = kHigh.number;
    server_.best_effort_account = kBestEffort.number;
    server_.own_account = kServer.number;
    if (!kind.profiles.empty()) {
      known_ = read_profiles(kind.profiles, request);
      server_.known = known_.data();
      server_.known_count = static_cast<uint32_t>(known_.size());
    }
    server_.log_context = &log_;
    server_.log = note_record;
    if (mode_.by_server)
      layouts_[0].add("server", server_.own.memory_begin,
                      server_.own.memory_end - server_.own.memory_begin);
  }

  std::vector<Account> accounts() const override {
    if (!mode_.by_server) return {kHigh, kBestEffort};
    return {kHigh, kBestEffort, kServer};
  }
  std::vector<PhaseRule> phases() const override {
    if (!mode_.by_server) return {work_of(kHigh), work_of(kBestEffort)};
    return {work_of(kHigh), work_of(kBestEffort), preparation_of(kServer)};
  }

  std::map<std::string, std::string> contents() const override {
    // Figures are printed beside those alone, whose work is the same without; and how clients share.
    std::map<std::string, std::string> none{
        {"alone", ""}, {"profiles", ""}, {"order", ""}, {"priority", ""}, {"slice_ns", ""}};
    add_policy(none);
    return none;
  }

  void place_contents() override {
    for (const auto& plan : plans_) plan->place_contents(*memories_[0]);
  }

  void add_programs(Host& host, uint32_t) override {
    if (mode_.by_server) {
      add_program(host, "server", [this](HostCore& core) {
        run_app(core, [this](const stretto_host_ops_t* ops, char* error) {
          return tally_server_run(&server_, ops, &served_, error);
        });
      });
    }
    if (mode_.is_limited) {
      add_program(host, "controller", [this](HostCore& core) {
        run_app(core, [this](const stretto_host_ops_t* ops, char*) {
          tenant_rate_control(&rate_, ops);
          return STRETTO_OK;
        });
      });
    }
    for (uint32_t i = 0; i < plans_.size(); ++i) {
      add_program(host, fmt::format("client{}", i), [this, i](HostCore& core) {
        run_app(core, [this, i](const stretto_host_ops_t* ops, char* error) {
          return tenant_run(&parameters_[i], ops, &results_[i], error);
        });
      });
    }
  }

  bool watches_kernels() const override { return true; }
  void on_kernel(const KernelMoment& moment) override {
    moments_.push_back({moment.at / kNanosecond, moment.account == kHigh.number, moment.ended});
  }

  CheckReport check() const override {
    CheckReport report;
    for (uint32_t i = 0; i < plans_.size(); ++i)
      plans_[i]->check(*memories_[0], results_[i], report);
    return report;
  }

  void audit(uint32_t, AuditSink& sink) const override {
    const TenantOwners owners = owners_of_run();
    sink.equal("time by owner adds up to the span", owners.sum_ns(), owners.span_ns);
    if (mode_.is_sliced)
      sink.equal("ns in which kernels of the first client and of others ran", owners.both_ns, 0);
    if (mode_.by_firmware)
      sink.equal(
          "best-effort kernels that began while high priority ran or had not rested",
          late_begins(high_kernel_spans(moments_, kind_.policy.min_idle_before_best_effort_ns),
                      best_effort_begins(), 0),
          0);
    if (mode_.is_limited) {
      sink.equal("best-effort launches beyond the limit of their window",
                 launches_beyond_limit(rates_, rate_), 0);
      const auto is_launch = [](const tenant_rate_record_t& one) {
        return one.event == TENANT_RATE_LAUNCH;
      };
      sink.equal("best-effort kernels launched within limits = begun",
                 static_cast<uint64_t>(std::count_if(rates_.begin(), rates_.end(), is_launch)),
                 best_effort_begins().size());
    }
    if (!mode_.by_server) return;
    for (uint32_t i = 0; i < plans_.size(); ++i) {
      const std::string client = fmt::format("client {}: messages ", i);
      sink.equal(client + "sent = received", results_[i].messages, served_.messages[i]);
      sink.equal(client + "in bytes", results_[i].message_bytes, served_.message_bytes[i]);
    }
    audit_server(server_, laws_of_run(), sink);
    if (mode_.how == TALLY_FORWARD) return;
    sink.equal(
        "best-effort kernels that began later than tenants.launch_latency_ns allows",
        late_begins(active_spans(log_, UINT64_MAX), best_effort_begins(), kind_.launch_latency_ns),
        0);
  }

  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    std::map<std::string, std::string> all;
    for (const auto& plan : plans_)
      for (uint32_t i = 0; i < plan->files().size(); ++i)
        all[plan->files()[i]] = sha256_hex(plan->elf(i).data(), plan->elf(i).size());
    return {all.begin(), all.end()};
  }

  std::string table() const override {
    std::string text = fmt::format("  {:<28}  {:>8}", "client", "requests");
    for (const double p : kPercentiles) text += fmt::format("  {:>10}", fmt::format("p{} us", p));
    text += fmt::format("  {:>21}  {:>12}  {:>12}", "95 % of p99", "p99 response", "requests/s");
    if (!alone_figures_.empty()) text += fmt::format("  {:>10}  {:>9}", "normalised", "p99/alone");
    text += "\n";
    for (uint32_t i = 0; i < plans_.size(); ++i) text += row(i);
    const TenantOwners owners = owners_of_run();
    const auto share = [&](uint64_t ns) {
      return 100 * static_cast<double>(ns) / static_cast<double>(owners.span_ns);
    };
    if (owners.span_ns != 0)
      text += fmt::format(
          "  time: high priority {:.3f} %, best effort {:.3f} %, both {:.3f} %, draining {:.3f} %, "
          "boundary {:.3f} %, idle {:.3f} %\n",
          share(owners.high_ns), share(owners.best_effort_ns), share(owners.both_ns),
          share(owners.draining_ns), share(owners.boundary_ns), share(owners.idle_ns));
    if (mode_.by_server) text += server_text(server_, served_, log_);
    if (mode_.is_limited) text += rates_text();
    return text;
  }

  json::object details() const override {
    json::array clients;
    for (uint32_t i = 0; i < plans_.size(); ++i) clients.push_back(client_details(i));
    const TenantOwners o = owners_of_run();
    json::object all{{"scope", machine_scope(request_)}, {"clients", std::move(clients)}};
    if (o.span_ns != 0)
      all["time_ns"] = json::object{
          {"span", o.span_ns}, {"high", o.high_ns},         {"best_effort", o.best_effort_ns},
          {"both", o.both_ns}, {"draining", o.draining_ns}, {"boundary", o.boundary_ns},
          {"idle", o.idle_ns}};
    if (kind_.windows != 0) all["windows"] = windows();
    if (mode_.is_limited) {
      json::array limits;
      for (const tenant_rate_record_t& one : rates_)
        if (one.event == TENANT_RATE_LIMIT)
          limits.push_back(json::array{one.time_ns, one.groups >= RATE_UNLIMITED
                                                        ? json::value(nullptr)
                                                        : json::value(one.groups)});
      all["tgs"] = json::object{{"window_ns", rate_window_ns(&rate_.policy)},
                                {"limit_from_ns", std::move(limits)}};
    }
    if (!mode_.by_server) return all;
    all["server"] = server_details(server_, served_, log_, laws_of_run());
    return all;
  }
  std::string faulted(uint32_t gpu, uint64_t offset) override {
    const auto client = stretto::client_at(gpu_, gpu, offset);
    return client ? fmt::format("client {} ({})", *client, plans_[*client]->name()) : "";
  }
  std::string client_at(uint32_t gpu, uint64_t offset) const override {
    const auto client = stretto::client_at(gpu_, gpu, offset);
    return client && plans_.size() > 1 ? fmt::format("client{}", *client) : "";
  }
  std::vector<std::string> requests() const override {
    std::vector<std::string> lines;
    for (size_t i = 0; i < results_.size(); ++i)
      for (uint32_t k = 0; k < results_[i].requests; ++k) {
        const tenant_request_t& one = results_[i].request[k];
        lines.push_back(
            fmt::format("{},{},{},{},{}", i, k, one.arrival_ns, one.begin_ns, one.end_ns));
      }
    return lines;
  }

 private:
  json::array windows() const {
    HostSpan span = span_of(0);
    if (kind_.time_ns != 0) span.end_ns = span.begin_ns + kind_.time_ns;
    json::array all;
    for (const TenantWindow& one : windows_of(span, kind_.windows, results_[0], moments_)) {
      json::object window{{"begin_ns", one.span.begin_ns - span.begin_ns},
                          {"end_ns", one.span.end_ns - span.begin_ns},
                          {"requests", one.requests}};
      if (one.requests != 0) window["service_us"] = {{"p50", one.p50_us}, {"p99", one.p99_us}};
      window["best_effort_share"] = one.best_effort_share;
      all.push_back(std::move(window));
    }
    return all;
  }

  void set_client(uint32_t i) {
    const auto count = static_cast<uint32_t>(plans_.size());
    TenantPlan& plan = *plans_[i];
    tenant_parameters_t& p = parameters_[i];
    p.job = request_.share.number;
    p.number = i;
    p.clients = count;
    p.alone = alone_;
    p.client = gpu_.clients[i];
    p.memory = plan.memory();
    p.by_server = mode_.by_server;
    p.priority = i == 0 ? TALLY_HIGH_PRIORITY : TALLY_BEST_EFFORT;
    p.stream_priority = i == 0 ? mode_.stream_priority : 0;
    p.files = static_cast<uint32_t>(plan.files().size());
    for (uint32_t file = 0; file < p.files; ++file)
      p.file[file] = {plan.elf(file).data(), plan.elf(file).size()};
    p.steps = plan.steps().data();
    p.step_count = static_cast<uint32_t>(plan.steps().size());
    p.kernel_count = plan.kernels();
    std::vector<uint64_t>& arrivals = arrivals_[i];
    if (i == 0) {
      arrivals = arrivals_of(kind_, request_.seed);
    } else if (kind_.best_effort_interval_ns != 0) {
      arrivals = poisson_arrivals(kind_.best_effort_interval_ns, kMostRequests, request_.seed + i);
    }
    p.arrival_ns = arrivals.empty() ? nullptr : arrivals.data();
    p.requests = i == 0 ? kind_.requests : 0;
    p.most_requests = i == 0 ? kind_.requests : kMostRequests;
    p.time_ns = i == 0 ? kind_.time_ns : 0;
    p.least_requests = kind_.least_requests;
    p.lead = i == 0 && !alone_ ? kind_.lead : 0;
    p.host_ns = host_ns_of(kind_, i);
    p.policy = i == 0 && sets_policy(kind_, mode_) ? &scheduler_ : nullptr;
    p.rate = mode_.is_limited ? &rate_ : nullptr;
    if (mode_.by_firmware && i == 0) p.share = share_of_queues();
    if (mode_.is_sliced && i == 0) {
      for (const stretto_client_options_t& one : gpu_.clients)
        p.context[p.contexts++] = 1u << one.first_queue;
      p.slice_ns = kind_.slice_ns;
      p.save_bytes = save_bytes(spec_);
    }
    requests_.push_back(zeroed_requests(p.most_requests));
    results_[i].request = requests_.back().get();
    layouts_[0].add(p.memory, kModuleBytes + p.contexts * p.save_bytes);
  }

  stretto_share_t share_of_queues() const {
    stretto_share_t share{};
    share.high = 1u << gpu_.clients[0].first_queue;
    for (uint32_t i = 1; i < gpu_.clients.size(); ++i)
      share.best_effort |= 1u << gpu_.clients[i].first_queue;
    share.min_idle_ns = kind_.policy.min_idle_before_best_effort_ns;
    if (share.best_effort == 0) share.high = 0;
    return share;
  }

  ServerLaws laws_of_run() const { return laws_of(server_, log_, *memories_[0]); }

  std::vector<uint64_t> best_effort_begins() const {
    std::vector<uint64_t> begins;
    for (const TenantMoment& one : moments_)
      if (!one.high && !one.ended) begins.push_back(one.at_ns);
    return begins;
  }

  // That figures are about: all requests of the first client; alone, each client's own.
  HostSpan span_of(uint32_t client) const {
    const tenant_result_t& of = results_[alone_ ? client : 0];
    if (of.end_ns != 0 || of.requests == 0) return {of.begin_ns, std::max(of.begin_ns, of.end_ns)};
    return {of.begin_ns, of.request[of.requests - 1].end_ns};  // The run was interrupted.
  }
  TenantOwners owners_of_run() const {
    std::vector<HostSpan> requests;
    for (uint32_t i = 0; i < results_[0].requests; ++i)
      requests.push_back({results_[0].request[i].begin_ns, results_[0].request[i].end_ns});
    return owners_of(moments_, draining_spans(log_, UINT64_MAX), requests, span_of(0));
  }

  struct Figures {
    std::array<double, kPercentiles.size()> service_us{}, response_us{};
    std::pair<double, double> p99_us;
    double per_s = 0;
  };
  // REQUIRES: a complete request.
  Figures figures(uint32_t client) const {
    const tenant_result_t& r = results_[client];
    std::vector<double> service, response;
    for (uint32_t i = 0; i < r.requests; ++i) {
      const tenant_request_t& one = r.request[i];
      service.push_back(static_cast<double>(one.end_ns - one.begin_ns) / 1000);
      response.push_back(static_cast<double>(one.end_ns - one.arrival_ns) / 1000);
    }
    Figures figures;
    figures.p99_us = bootstrap_interval(service, 99);
    std::sort(service.begin(), service.end());
    std::sort(response.begin(), response.end());
    for (size_t i = 0; i < kPercentiles.size(); ++i) {
      figures.service_us[i] = percentile(service, kPercentiles[i]);
      figures.response_us[i] = percentile(response, kPercentiles[i]);
    }
    return figures;
  }
  double per_s(uint32_t client) const {
    const HostSpan span = span_of(client);
    if (span.end_ns == span.begin_ns) return 0;
    return requests_within(results_[client], parameters_[client].step_count, span) * 1e9 /
           static_cast<double>(span.end_ns - span.begin_ns);
  }

  std::string row(uint32_t client) const {
    std::string name = plans_[client]->name();
    if (name.size() > 28) name = "..." + name.substr(name.size() - 25);
    std::string text = fmt::format("  {:<28}  {:8}", name, results_[client].requests);
    if (results_[client].requests == 0)
      return text + fmt::format("{:71}  {:>12}  {}", "", "", figure(per_s(client), 12)) +
             beside_alone(client, 0);
    const Figures f = figures(client);
    for (const double us : f.service_us) text += fmt::format("  {:10.3f}", us);
    return text +
           fmt::format("  {:10.3f}-{:10.3f}  {:12.3f}  {:12.3f}", f.p99_us.first, f.p99_us.second,
                       f.response_us.back(), per_s(client)) +
           beside_alone(client, f.service_us.back());
  }
  // The end of a row.
  std::string beside_alone(uint32_t client, double p99_us) const {
    if (alone_figures_.empty()) return "\n";
    const TenantAlone& alone = alone_figures_[client];
    return fmt::format("  {}  {}\n", figure(ratio(per_s(client), alone.per_s), 10),
                       figure(ratio(p99_us, alone.p99_us), 9));
  }
  static double ratio(double a, double b) { return b > 0 ? a / b : 0; }

  std::string rates_text() const {
    uint64_t periods = 0, launches = 0;
    for (const tenant_rate_record_t& one : rates_)
      ++(one.event == TENANT_RATE_LIMIT ? periods : launches);
    return fmt::format("  tgs: {} limits set, {} best-effort kernels launched within them\n",
                       periods, launches);
  }

  json::object client_details(uint32_t client) const {
    const tenant_result_t& r = results_[client];
    json::object one{{"name", plans_[client]->name()},
                     {"contents", contents_[client]},
                     {"requests", r.requests},
                     {"kernels", parameters_[client].step_count},
                     {"work_groups", plans_[client]->work_groups()}};
    if (span_of(client).end_ns != span_of(client).begin_ns) one["requests_per_s"] = per_s(client);
    if (mode_.by_server) one["messages"] = r.messages;
    if (spec_.gpu.tile_values)
      one["outputs_sha256"] = plans_[client]->outputs_sha256(*memories_[0]);
    if (!alone_figures_.empty())
      one["normalised_throughput"] = ratio(per_s(client), alone_figures_[client].per_s);
    if (r.requests == 0) return one;
    const Figures f = figures(client);
    if (!alone_figures_.empty())
      one["p99_slowdown"] = ratio(f.service_us.back(), alone_figures_[client].p99_us);
    json::object service, response;
    for (size_t i = 0; i < kPercentiles.size(); ++i) {
      service[fmt::format("p{}", kPercentiles[i])] = f.service_us[i];
      response[fmt::format("p{}", kPercentiles[i])] = f.response_us[i];
    }
    one["service_us"] = std::move(service);
    one["service_p99_interval_us"] = json::array{f.p99_us.first, f.p99_us.second};
    one["response_us"] = std::move(response);
    return one;
  }

  const TenantsKind& kind_;
  const TenantMode& mode_;
  const stretto_scheduler_policy_t scheduler_;
  const bool alone_;
  const SharedGpu gpu_;
  const TenantPlans plans_;
  std::vector<std::string> contents_;
  std::vector<std::vector<uint64_t>> arrivals_;   // By client.
  const std::vector<TenantAlone> alone_figures_;  // By client; empty: not known.
  std::vector<tenant_parameters_t> parameters_;
  std::vector<tenant_result_t> results_;
  std::vector<Requests> requests_;
  tally_server_parameters_t server_;
  tally_server_result_t served_{};
  std::vector<tally_known_t> known_;
  ServerLog log_;
  std::vector<TenantMoment> moments_;
  tenant_rate_t rate_{};
  std::vector<tenant_rate_record_t> rates_;
};

}  // namespace

uint32_t accounts_of_tenants(const std::string& mode) {
  return tenant_mode(mode).by_server ? 3 : 2;
}

void check_tenants(const TenantsKind& kind, const JobRequest& request,
                   const std::vector<TenantText>& texts) {
  if (!kind.profiles.empty()) {
    const TenantMode& mode = tenant_mode(request.mode);
    if (mode.how != TALLY_TRANSFORMED)
      throw UserError(
          fmt::format("{}: tenants.profiles is of modes that transform (tally, "
                      "tally-stock-isa), not of {}",
                      request.subject(), request.mode));
    read_profiles(kind.profiles, request);
  }
  if (kind.order == Order::launch && tenant_mode(request.mode).by_server)
    throw UserError(fmt::format("{}: tenants.order=launch is of modes without a server, not of {}",
                                request.subject(), request.mode));
  if (kind.priority != Passing::strict && !tenant_mode(request.mode).has_priorities())
    throw UserError(fmt::format(
        "{}: tenants.priority=work_conserving is of modes with stream priorities ({}), not of {}",
        request.subject(), modes_with_priorities(), request.mode));
  alone_of(kind, request, texts);
  shared_by(kind, request, texts);
}

std::vector<std::string> files_of_tenants(const TenantsKind& kind, const JobRequest& request,
                                          const std::vector<TenantText>& texts) {
  std::set<std::string> files;
  for (const auto& plan : unplaced_plans(kind, request, texts))
    for (const std::string& name : plan->files()) files.insert(kernel_path(name));
  return {files.begin(), files.end()};
}

std::unique_ptr<Job> make_tenants_job(const TenantsKind& kind, const JobRequest& request,
                                      const std::vector<TenantText>& texts, Memories memories) {
  return std::make_unique<Tenants>(kind, request, texts, std::move(memories));
}

}  // namespace stretto
