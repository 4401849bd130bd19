// SPDX-License-Identifier: Apache-2.0
// What results say of Tally's server, for whatever kind of workload its clients are; and the parameters of its policy.
#ifndef STRETTO_PLATFORM_JOBS_SERVER_REPORT_H_
#define STRETTO_PLATFORM_JOBS_SERVER_REPORT_H_

#include <boost/json/object.hpp>

#include <cstdint>
#include <map>
#include <string>

#include "models/common/component.h"
#include "models/common/memory_image.h"
#include "models/common/spec.h"
#include "platform/jobs/server_log.h"

namespace stretto {

// That of the authors' code, but for what a kernel is measured: the machine is deterministic, so one run says what five
// do, behind one that has warmed the L2.
tally_policy_t default_policy();
void describe_policy(tally_policy_t& policy, ParameterSet& set);

uint32_t form_of(const std::string& name);  // STRETTO_FORM_*, of its name in results.

// Its parameters in Job::contents(): how the work is done, and no part of it.
void add_policy(std::map<std::string, std::string>& contents);

// `server` in `job` of stats.json. `laws`: of the run.
boost::json::object server_details(const tally_server_parameters_t& server,
                                   const tally_server_result_t& served, const ServerLog& log,
                                   const ServerLaws& laws);
// Lines below the table of clients.
std::string server_text(const tally_server_parameters_t& server,
                        const tally_server_result_t& served, const ServerLog& log);

// `memory`: of the GPU.
ServerLaws laws_of(const tally_server_parameters_t& server, const ServerLog& log,
                   MemoryImage& memory);
void audit_server(const tally_server_parameters_t& server, const ServerLaws& laws, AuditSink& sink);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_SERVER_REPORT_H_
