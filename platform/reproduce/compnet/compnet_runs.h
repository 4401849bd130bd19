// SPDX-License-Identifier: Apache-2.0
// The simulations behind ComP-Net's results: what runs, where its result lies, and what it says.
#ifndef STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_RUNS_H_
#define STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_RUNS_H_

#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "platform/campaign/campaign.h"

namespace stretto {

// Designs, by the modes that run them.
inline constexpr const char* kCompnetDesign = "compnet";
inline constexpr const char* kGpuQueueDesign = "dgpu";        // The dGPU, its queue in GPU memory,
inline constexpr const char* kHostQueueDesign = "dgpu-host";  // or in host memory (CN-D7).
inline constexpr const char* kApuDesign = "apu";
inline constexpr const char* kInterKernelDesign = "inter-kernel";
inline constexpr const char* kCpuDesign = "cpu";
inline constexpr std::array kServedDesigns{kCompnetDesign, kApuDesign, kGpuQueueDesign,
                                           kHostQueueDesign};
inline constexpr std::array kAllDesigns{kCompnetDesign,   kApuDesign,         kGpuQueueDesign,
                                        kHostQueueDesign, kInterKernelDesign, kCpuDesign};

inline constexpr unsigned kHarts = 2;                           // Of a GPU that serve queues.
inline constexpr std::array<unsigned, 4> kThreads{1, 2, 4, 8};  // Of the host.
// Fig 4: work-groups of a GPU with 64 units.
inline constexpr std::array<unsigned, 5> kQueueGroups{1, 8, 64, 256, 1024};
// Fig 9: elements of a side and server.
inline constexpr std::array<unsigned, 7> kSides{16, 64, 128, 256, 512, 1024, 2048};
// Fig 10.
inline constexpr std::array<unsigned, 4> kReduceServers{2, 4, 8, 16};
inline constexpr unsigned kReduceBytes = 64u << 20;
inline constexpr unsigned kRings = 24;  // All that a GPU has room for.
// 5.4: the ideal number depends on the size. Of small ones each design has its best of these.
std::vector<unsigned> reduce_rings(const std::string& design, unsigned bytes);
// Fig 11: bytes of an all-reduce at 8 servers; the largest is one of Fig 10.
inline constexpr std::array<unsigned, 5> kTrainingBytes{4u << 10, 64u << 10, 1u << 20, 8u << 20,
                                                        kReduceBytes};
inline constexpr unsigned kTrainingServers = 8;

enum class CompnetSource {
  get,
  message,
  launch,
  queues,
  loaded,
  jacobi,
  all_reduce,
  training,
  llc
};

std::vector<CampaignRun> compnet_runs(CompnetSource source);
// What a result changes with, one parameter at a time: title, value, simulation.
struct CompnetVariant {
  std::string parameter, value, what;
  CampaignRun run;
};
std::vector<CompnetVariant> compnet_variants();

// The result of a simulation by folder; null: it has none.
using CompnetResults = std::function<const ResultFile*(const std::string& folder)>;

// What simulations say; MissingSimulations if one has no result.
ResultValue compnet_job(const CompnetResults& results, const std::string& folder);
std::string get_folder(const std::string& design);
std::string loaded_folder(const std::string& design, unsigned threads, unsigned rounds);
std::string reduce_folder(const std::string& design, unsigned servers, unsigned bytes,
                          unsigned rings = kRings);
// Latency of a get in microseconds by size.
std::map<double, double> get_us(const CompnetResults& results, const std::string& design);
// Of a put of 8 B between memories of hosts, and between the end and the begin of two kernels.
double message_us(const CompnetResults& results);
double launch_gap_us(const CompnetResults& results);
// Mean time of an entry that needs no NIC.
double queue_us(const CompnetResults& results, const std::string& design, unsigned groups,
                unsigned threads);
// Of 480 work-groups, from the first call to the last end.
double loaded_us(const CompnetResults& results, const std::string& design, unsigned threads);
// Of an iteration behind the first.
double jacobi_us(const CompnetResults& results, const std::string& design, unsigned side);
double reduce_us(const CompnetResults& results, const std::string& design, unsigned servers,
                 unsigned bytes = kReduceBytes);
// Whether a value is there; measure() may throw MissingSimulations.
bool has_result(const std::function<double()>& measure);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_COMPNET_COMPNET_RUNS_H_
