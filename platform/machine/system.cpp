// SPDX-License-Identifier: Apache-2.0
#include "platform/machine/system.h"

#include <algorithm>
#include <vector>

#include "models/common/elf_image.h"
#include "models/common/error.h"
#include "platform/base/installation.h"
#include "platform/jobs/job.h"
#include "platform/machine/card_node.h"
#include "platform/machine/collect.h"
#include "platform/machine/gpu_node.h"
#include "platform/machine/switch_node.h"
#include "platform/machine/wiring.h"

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
    cards_.resize(spec_.card.count);
    for (unsigned i = 0; i < spec_.card.count; ++i) {
      const unsigned card = spec_.sim.reverse_elaboration ? spec_.card.count - 1 - i : i;
      cards_[card] = std::make_unique<CardNode>(("card" + std::to_string(card)).c_str(), spec_,
                                                card, request.options.impl, conductor_);
    }
    if (has_switch(spec_)) switch_ = std::make_unique<SwitchNode>("switch", spec_, conductor_);
    if (timeline != nullptr) conductor_.on_window([timeline] { timeline->flush(); });
    tohost_.resize(count);
    load_firmware();
    if (request_.has_workload) start_workload();
  }

  Conductor& conductor() { return conductor_; }

  uint64_t work_groups_retired() const {
    uint64_t sum = 0;
    for (const auto& gpu : gpus_) sum += gpu->gpu.sum(&ComputeUnitCounters::retired);
    return sum;
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
    if (job_ == nullptr) return text;
    for (const std::string& line : job_->waiting_on()) text += "\n  " + line;
    return text;
  }

  CheckReport check() const { return job_ == nullptr ? CheckReport{} : job_->check(); }

  void collect(Results& results) {
    results.machine = request_.machine.name();
    results.workload = request_.workload.name;
    results.mode = request_.options.mode;
    results.data = request_.options.data;
    results.seed = request_.options.seed;
    results.gpus = spec_.gpus;
    if (request_.has_workload) {
      results.shape = request_.workload.kind->shape();
      results.work = request_.workload.kind->work(request_.options.mode);
    }
    results.parameters = request_.workload.parameters;
    results.rtl = rtl_sources();
    for (const auto& [block, impl] : request_.options.impl) {
      results.impl[block] = impl_name(impl);
      if (impl == Impl::model) results.rtl.erase(block);
    }
    results.firmware_sha256 = firmware_->sha256();
    results.total = job_ != nullptr && results.status == "complete"
                        ? job_->ended()
                        : sc_core::sc_time_stamp().value();
    if (job_ != nullptr) {
      for (const auto& [name, sum] : job_->kernel_sha256()) results.kernel_sha256[name] = sum;
      results.table = job_->table();
      results.job = job_->details();
    }
    std::vector<Node*> nodes;
    for (const auto& gpu : gpus_) nodes.push_back(gpu.get());
    for (const auto& card : cards_) nodes.push_back(card.get());
    if (switch_ != nullptr) nodes.push_back(switch_.get());
    collect_machine(nodes, switch_ == nullptr ? nullptr : &switch_->crossbar, host_.get(),
                    job_.get(), results);
    for (const auto& gpu : gpus_) results.cp_instructions += gpu->cp.instructions();
    if (job_ == nullptr || results.status != "complete") return;
    AuditSink audit;
    for (uint32_t rank = 0; rank < gpus_.size(); ++rank) {
      audit.set_where("gpu" + std::to_string(rank));
      job_->audit(rank, audit);
    }
    results.audit.insert(results.audit.end(), audit.all().begin(), audit.all().end());
  }

 private:
  // A bare-metal program computes for as long as it likes: only running empty is a deadlock then.
  ConductorSpec conductor_spec() const {
    ConductorSpec spec = spec_.sim.conductor;
    if (!request_.has_workload) spec.progress_limit_us = 0;
    return spec;
  }

  void load_firmware() {
    const std::string& given = request_.options.firmware;
    firmware_ = std::make_shared<ElfImage>(
        ElfImage::load(given.empty() ? software_folder() + "/firmware/main.elf" : given));
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

  void start_workload() {
    std::vector<uint8_t> pcie_ports;
    Memories memories;
    for (const auto& gpu : gpus_) {
      pcie_ports.push_back(
          static_cast<uint8_t>(gpu->router.ports() - 1));  // The last, see RouterSpec.
      memories.push_back(&gpu->memory);
    }
    host_ = std::make_unique<Host>("host", spec_.host, host_wiring(spec_, pcie_ports), conductor_);
    conductor_.attach_host(*host_);
    job_ = request_.workload.kind->make_job(request_.jobs[0], memories);
    job_->set_meter([this] {
      uint64_t bytes = 0;
      for (const auto& gpu : gpus_) bytes += gpu->router.bytes_sent();
      return bytes;
    });
    job_->place_contents();
    if (spec_.sim.mirror) gpus_[0]->router.set_mirror(job_->mirror().value());
    job_->add_programs(*host_);
  }

  const RunRequest request_;
  const MachineSpec& spec_;
  Conductor conductor_;
  std::vector<uint64_t> tohost_;  // By simulated GPU: what its firmware wrote there; 0 = nothing.
  std::vector<std::unique_ptr<GpuNode>> gpus_;
  std::vector<std::unique_ptr<CardNode>> cards_;
  std::unique_ptr<SwitchNode> switch_;  // Null without a switch.
  std::shared_ptr<const ElfImage> firmware_;
  std::unique_ptr<Host> host_;
  std::unique_ptr<Job> job_;
};

System::System(const RunRequest& request, Timeline* timeline, Waves* waves)
    : state_(std::make_unique<State>(request, timeline, waves)) {}
System::~System() = default;
Conductor& System::conductor() { return state_->conductor(); }
uint64_t System::work_groups_retired() const { return state_->work_groups_retired(); }
std::string System::firmware_end() const { return state_->firmware_end(); }
uint64_t System::tohost_failure() const { return state_->tohost_failure(); }
std::string System::progress_text() const { return state_->progress_text(); }
std::string System::waiting_text() const { return state_->waiting_text(); }
CheckReport System::check() const { return state_->check(); }
void System::collect(Results& results) { state_->collect(results); }

}  // namespace stretto
