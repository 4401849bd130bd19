// SPDX-License-Identifier: Apache-2.0
#include "platform/system.h"

#include <algorithm>
#include <vector>

#include "models/common/elf_image.h"
#include "models/common/error.h"
#include "platform/collect.h"
#include "platform/gpu_node.h"
#include "platform/yaml_file.h"

namespace stretto {

class System::Impl {
 public:
  Impl(const SystemRequest& request, TraceSink* trace)
      : request_(request), spec_(request.machine.spec()),
        conductor_("conductor", spec_.sim.conductor, lookahead()) {
    const unsigned count = spec_.sim.mirror ? 1 : spec_.gpus;
    gpus_.resize(count);
    for (unsigned i = 0; i < count; ++i) {
      const unsigned gpu = spec_.sim.reverse_elaboration ? count - 1 - i : i;
      gpus_[gpu] = std::make_unique<GpuNode>(("gpu" + std::to_string(gpu)).c_str(), spec_, gpu, request.options.impl,
                                             conductor_, trace);
    }
    load_firmware();
  }

  Conductor& conductor() { return conductor_; }

  uint64_t work_groups_retired() const { return 0; }

  std::string progress_text() const {
    return "stopped at " + std::to_string(sc_core::sc_time_stamp().value() / kNanosecond) + " ns";
  }

  CheckReport check() const { return {}; }

  void collect(Results& results) {
    results.machine = request_.machine.name();
    results.workload = request_.workload.name;
    results.mode = request_.options.mode;
    results.data = request_.options.data;
    results.seed = request_.options.seed;
    results.gpus = spec_.gpus;
    for (const auto& [block, impl] : request_.options.impl) results.impl[block] = impl_name(impl);
    results.firmware_sha256 = firmware_->sha256();
    collect_machine(gpus_, results);
  }

 private:
  Time lookahead() const {
    const uint32_t link = spec_.gpus > 1 ? spec_.link.latency_ns : spec_.pcie.latency_ns;
    return std::min(link, spec_.pcie.latency_ns) * kNanosecond;
  }

  void load_firmware() {
    const std::string& given = request_.options.firmware;
    firmware_ = std::make_shared<ElfImage>(ElfImage::load(given.empty() ? software_folder() + "/firmware/main.elf" : given));
    for (const auto& gpu : gpus_) {
      Partition& partition = gpu->partition;
      gpu->cp.load(firmware_);
      gpu->cp.on_end([&partition](uint64_t tohost) { partition.finish(tohost == 1 ? 0 : static_cast<int>(tohost)); });
      gpu->cp.start();
    }
  }

  const SystemRequest request_;
  const MachineSpec& spec_;
  Conductor conductor_;
  std::vector<std::unique_ptr<GpuNode>> gpus_;
  std::shared_ptr<const ElfImage> firmware_;
};

System::System(const SystemRequest& request, TraceSink* trace) : impl_(std::make_unique<Impl>(request, trace)) {}
System::~System() = default;
Conductor& System::conductor() { return impl_->conductor(); }
uint64_t System::work_groups_retired() const { return impl_->work_groups_retired(); }
std::string System::progress_text() const { return impl_->progress_text(); }
CheckReport System::check() const { return impl_->check(); }
void System::collect(Results& results) { impl_->collect(results); }

}  // namespace stretto
