// SPDX-License-Identifier: Apache-2.0
// Clients that share a GPU, through the executable: two on 8 units, run and what they left.
#ifndef STRETTO_TESTS_SYSTEM_TENANTS_RUNS_H_
#define STRETTO_TESTS_SYSTEM_TENANTS_RUNS_H_

#include <string>

#include <catch2/catch.hpp>

#include "tests/support/run_json.h"
#include "tests/unit/platform/result_folder.h"

namespace stretto::test {

// Six requests if `set` does not say how many.
inline RunResult run_small(const std::string& mode, const std::string& set = "") {
  const Scratch scratch;
  const bool counted = set.find("tenants.requests=") != std::string::npos;
  const Finished finished = run_stretto("run tally/small --mode " + mode + " --impl all=model" +
                                        (counted ? "" : " --set tenants.requests=6") + set +
                                        " --out " + scratch.path + "/r");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  RunResult result(stats(scratch.path + "/r"), finished.output);
  CHECK(result.number("check.mismatches") == 0);
  CHECK(result.number("audit.violations") == 0);
  return result;
}

inline const boost::json::value& client(const RunResult& result, size_t number) {
  return result.at("job.clients").as_array().at(number);
}

// Clients' outputs, however they were computed.
inline void expect_same_outputs(const RunResult& a, const RunResult& b) {
  for (const size_t i : {0u, 1u}) {
    REQUIRE(client(a, i).at("requests").to_number<uint64_t>() != 0);
    CHECK(client(a, i).at("outputs_sha256") == client(b, i).at("outputs_sha256"));
  }
}

inline double p99(const RunResult& result) {
  return client(result, 0).at("service_us").at("p99").to_number<double>();
}

// Of a kernel each; two requests of the first, behind one of the other.
inline std::string two_clients(const Scratch& scratch, const std::string& high,
                               const std::string& best_effort) {
  const auto client_of = [&](const std::string& name, const std::string& kernel) {
    return scratch.file(name + ".yaml",
                        "tenants:\n  kernels: \"" + kernel + "\"\nmodes: [ideal]\n");
  };
  return " --set tenants.requests=2 --set tenants.lead=1 --set tenants.high=" +
         client_of("high", high) +
         " --set tenants.best_effort=" + client_of("best_effort", best_effort);
}

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SYSTEM_TENANTS_RUNS_H_
