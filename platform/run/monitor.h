// SPDX-License-Identifier: Apache-2.0
// Watches a run from outside the machine: progress line, time limit, SIGINT, SIGTERM and SIGHUP.
// What stops a run is in base/stop_request.h. Looks at the host clock every simulated microsecond;
// it changes nothing in the machine.
#ifndef STRETTO_PLATFORM_RUN_MONITOR_H_
#define STRETTO_PLATFORM_RUN_MONITOR_H_

#include <systemc>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "models/common/event_queue.h"

namespace stretto {

class Monitor final : public sc_core::sc_module {
 public:
  struct Spec {
    double time_limit_s = 0;  // 0 = none.
    bool progress = false;    // From the start; else after two seconds.
    std::string title;
  };
  // `work` says how far the run is: "1234 work-groups"; `share` of it that is done, 0 .. 1, if
  // known, of which percents and the time that is left are told. Installs signal handlers, which
  // the destructor takes back.
  Monitor(sc_core::sc_module_name name, const Spec& spec, std::function<std::string()> work,
          std::function<std::optional<double>()> share);
  ~Monitor() override;

  // `look` is called with the machine's time, every microsecond of it, while no partition runs.
  void also(std::function<void(Time)> look) { also_ = std::move(look); }

  double elapsed_s() const;
  // The simulation is over: ends the progress line and the time limit.
  void finish();

 private:
  void start_of_simulation() override;
  void look();
  void print_progress(double elapsed);

  const Spec spec_;
  std::function<std::string()> work_;
  std::function<std::optional<double>()> share_;
  std::function<void(Time)> also_;
  const std::chrono::steady_clock::time_point start_;
  const bool terminal_;
  double next_print_ = 0;
  bool printed_ = false;
  unsigned looks_since_stop_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RUN_MONITOR_H_
