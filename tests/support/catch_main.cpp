// SPDX-License-Identifier: Apache-2.0
// Main program of every test executable: SystemC's main calls sc_main, which runs the Catch2
// session.
//
// A test case that elaborates SystemC must be alone in its process (a second elaboration dies with
// E529); CTest runs each test case by itself, and so does anyone who names one on the command line.
// A test case without a check, and a name that matches no test case, is a failure.
// The seed of seeded_rng.h is printed once per run so that a failure can be replayed.

#include <cstdlib>

#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <systemc>

#include "tests/support/seeded_rng.h"

namespace {

// SystemC prints its banner before sc_main; CTest reads the list of tests from our standard output.
const int kBannerIsOff = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);

}  // namespace

int sc_main(int argc, char* argv[]) {
  if (kBannerIsOff != 0) return EXIT_FAILURE;
  // As the executable: one unit is a femtosecond (models/README.md, contract (a)).
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  Catch::Session session;
  if (const int status = session.applyCommandLine(argc, argv); status != 0) return status;
  auto& config = session.configData();
  config.warnings = static_cast<Catch::WarnAbout::What>(Catch::WarnAbout::NoAssertions |
                                                        Catch::WarnAbout::NoTests);
  if (!config.listTests && !config.listTestNamesOnly && !config.listReporters && !config.listTags) {
    stretto::test::print_seed();
  }
  return session.run();
}
