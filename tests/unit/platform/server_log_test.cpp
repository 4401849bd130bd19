// SPDX-License-Identifier: Apache-2.0
// Question: does each law on what Tally's server tells fire at the fault that it is for, and at no
// sound log? Logs are written by hand: a high-priority client 0 and best effort 1; one fault each.
#include "platform/kinds/tenants/tenant_time.h"

#include <catch2/catch.hpp>

#include <bit>
#include <map>
#include <numeric>

#include "platform/kinds/tenants/tenant_figures.h"

using namespace stretto;

namespace {

constexpr uint64_t kControl = 0x1000;

ServerRecord record(tally_record_kind_t kind, uint64_t time_ns, uint32_t client,
                    uint64_t launch = 0) {
  ServerRecord one{};
  one.told.kind = kind;
  one.told.time_ns = time_ns;
  one.told.client = client;
  one.told.launch = launch;
  return one;
}

ServerRecord launched(uint64_t time_ns, uint64_t launch, uint32_t form, uint32_t first,
                      uint32_t groups, uint32_t work_groups, uint64_t control = 0) {
  ServerRecord one = record(TALLY_LAUNCHED, time_ns, 1, launch);
  one.told.form = form;
  one.told.first = first;
  one.told.groups = groups;
  one.told.work_groups = work_groups;
  one.told.control = control;
  return one;
}

ServerRecord ended(uint64_t time_ns, uint64_t launch, bool last) {
  ServerRecord one = record(TALLY_ENDED, time_ns, 1, launch);
  one.told.is_last = last;
  return one;
}

// Three slices of kernel 7, then kernel 9 in preemptive form, stopped and gone on with; high priority
// is active from 100 to 200.
ServerLog sound_log() {
  return {launched(10, 7, STRETTO_FORM_SLICE, 0, 4, 10),
          ended(20, 7, false),
          launched(21, 7, STRETTO_FORM_SLICE, 4, 4, 10),
          ended(30, 7, false),
          launched(31, 7, STRETTO_FORM_SLICE, 8, 2, 10),
          ended(40, 7, true),
          launched(50, 9, STRETTO_FORM_PREEMPT, 0, 3, 20, kControl),
          record(TALLY_HIGH_ACTIVE, 100, 0),
          record(TALLY_STOPPED, 101, 1, 9),
          ended(130, 9, false),
          record(TALLY_HIGH_IDLE, 200, 0),
          launched(300, 9, STRETTO_FORM_PREEMPT, 0, 3, 20, kControl),
          ended(400, 9, true)};
}

ServerLaws laws(const ServerLog& log, uint32_t next = 23, uint32_t flag = 0) {
  const auto control = std::bit_cast<uint64_t>(stretto_task_control_t{next, flag});
  const std::map<uint64_t, uint64_t> memory{{kControl, control}};
  return laws_of(
      log, [&](uint64_t address) { return memory.at(address); }, true);
}

uint64_t violations(const ServerLaws& l) {
  return l.ids + l.unfinished + l.counters + l.flags + l.overlapping + l.early + l.modified;
}

TEST_CASE("a sound log violates no law") {
  const ServerLaws l = laws(sound_log());
  CHECK(l.kernels == 2);
  CHECK(l.controls == 1);
  CHECK(violations(l) == 0);
  CHECK(violations(laws(sound_log(), 20)) == 0);  // Nobody asked for more than there are.
}

TEST_CASE("a slice that is launched twice, or not at all, shows in its ids") {
  ServerLog log = sound_log();
  log[2].told.first = 0;
  CHECK(laws(log).ids == 8);  // 0 to 3 twice, 4 to 7 never.
  log = sound_log();
  log[4].told.groups = 1;
  CHECK(laws(log).ids == 1);
}

TEST_CASE("a kernel that never ends is seen") {
  ServerLog log = sound_log();
  log.pop_back();
  CHECK(laws(log).unfinished == 1);
}

TEST_CASE("a task counter that has not come to the end, or went on alone, is seen") {
  CHECK(laws(sound_log(), 19).counters == 1);
  CHECK(laws(sound_log(), 24).counters == 1);
}

TEST_CASE("a flag that stays up behind a resume is seen, and one that came too late may be up") {
  CHECK(laws(sound_log(), 23, 1).flags == 1);
  ServerLog log = sound_log();
  log.insert(log.end() - 1, record(TALLY_STOPPED, 390, 1, 9));
  CHECK(laws(log, 23, 1).flags == 0);
  CHECK(laws(log, 23, 0).flags == 1);
}

TEST_CASE("two best-effort kernels in flight are seen") {
  ServerLog log = sound_log();
  log.insert(log.begin() + 7, launched(60, 11, STRETTO_FORM_ORIGINAL, 0, 5, 5));
  log.push_back(ended(500, 11, true));
  CHECK(laws(log).overlapping == 1);
  CHECK(violations(laws(log)) == 1);
}

TEST_CASE("a best-effort launch while high priority is active is seen") {
  ServerLog log = sound_log();
  std::swap(log[10], log[11]);
  CHECK(laws(log).early == 1);
}

TEST_CASE("a high-priority kernel that is not launched whole and as it is shows", "[TL-SCHED-01]") {
  for (const auto& [form, groups] : {std::pair(STRETTO_FORM_ORIGINAL, 8u),
                                     {STRETTO_FORM_ORIGINAL, 7u},
                                     {STRETTO_FORM_PREEMPT, 8u}}) {
    ServerLog log = sound_log();
    ServerRecord high = launched(105, 3, form, 0, groups, 8);
    high.told.client = 0;
    log.insert(log.begin() + 8, high);
    CHECK(laws(log).modified == (form == STRETTO_FORM_ORIGINAL && groups == 8 ? 0 : 1));
  }
}

TEST_CASE("a best-effort kernel that begins long after high priority became active is seen") {
  const std::vector<HostSpan> active = active_spans(sound_log(), UINT64_MAX);
  REQUIRE(active.size() == 1);
  CHECK((active[0].begin_ns == 100 && active[0].end_ns == 200));
  CHECK(late_begins(active, {99, 100, 120, 200, 210}, 20) == 0);
  CHECK(late_begins(active, {121, 199}, 20) == 2);
  ServerLog open = sound_log();
  open.erase(open.begin() + 10);
  CHECK(late_begins(active_spans(open, UINT64_MAX), {5'000}, 20) == 1);
}

TEST_CASE("launches, slices, tasks, preemptions and drains are counted") {
  const ServerCounts c = counts_of(sound_log());
  CHECK(c.launches == 2);
  CHECK(c.originals == 0);
  CHECK(c.slices == 3);
  CHECK(c.tasks == 20);
  CHECK(c.preemptions == 1);
  CHECK(c.relaunches == 1);
  CHECK(c.drain_ns == std::vector<uint64_t>{29});
}

TEST_CASE("each nanosecond of a span is somebody's, and the parts add up") {
  // Best effort 0..50 and 120..200, told to stop from 190; high priority 30..60 and 150..160.
  const std::vector<TenantMoment> moments{
      {0, false, false},   {30, true, false},  {50, false, true}, {60, true, true},
      {120, false, false}, {150, true, false}, {160, true, true}, {200, false, true}};
  const TenantOwners o = owners_of(moments, {{190, 220}}, {{25, 70}, {140, 170}}, {10, 210});
  CHECK(o.span_ns == 200);
  CHECK(o.best_effort_ns == 20 + 30 + 30);
  CHECK(o.both_ns == 20 + 10);
  CHECK(o.high_ns == 10);
  CHECK(o.boundary_ns == 10);
  CHECK(o.draining_ns == 10);
  CHECK(o.idle_ns == 50 + 10);
  CHECK(o.sum_ns() == o.span_ns);
}

TEST_CASE("percentiles interpolate, and their interval holds them") {
  std::vector<double> values(101);
  std::iota(values.begin(), values.end(), 0);
  CHECK(percentile(values, 50) == 50);
  CHECK(percentile(values, 99) == 99);
  CHECK(percentile({1, 2}, 50) == Approx(1.5));
  CHECK(percentile({7}, 99) == 7);
  const auto [low, high] = bootstrap_interval(values, 50);
  CHECK(low < 50);
  CHECK(high > 50);
  CHECK(high - low < 40);  // A standard error of some 6.
}

TEST_CASE("requests that the ends of a span cut count by their share") {
  tenant_request_t requests[2]{{0, 0, 100}, {100, 100, 200}};
  tenant_result_t result{};
  result.request = requests;
  result.requests = 2;
  CHECK(requests_within(result, 10, {50, 200}) == Approx(1.5));
  result.steps = 5;  // Half of a third one, from 200 to 260.
  result.cut_begin_ns = 200;
  result.end_ns = 260;
  CHECK(requests_within(result, 10, {0, 260}) == Approx(2.5));
  CHECK(requests_within(result, 10, {0, 230}) == Approx(2.25));
}

TEST_CASE("kernels of high priority one behind and beside the other are spans of their own") {
  const std::vector<TenantMoment> moments{{10, true, false}, {15, false, false}, {20, true, false},
                                          {30, true, true},  {40, true, true},   {50, true, false},
                                          {60, true, true}};
  const std::vector<HostSpan> spans = high_kernel_spans(moments, 0);
  REQUIRE(spans.size() == 2);
  CHECK((spans[0].begin_ns == 10 && spans[0].end_ns == 40));
  CHECK((spans[1].begin_ns == 50 && spans[1].end_ns == 60));
  CHECK(late_begins(spans, {15, 45}, 0) == 1);
  CHECK(late_begins(high_kernel_spans(moments, 5), {15, 44, 45, 64, 65}, 0) == 3);
}

}  // namespace
