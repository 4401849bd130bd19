// SPDX-License-Identifier: Apache-2.0
// See tenant_rate.h.
#include "sw/apps/tenants/tenant_rate.h"

static uint64_t word(const stretto_host_ops_t* ops, uint64_t address) {
  uint64_t value = 0;
  ops->read(ops->context, address, &value, sizeof value);
  return value;
}

static void tell(const tenant_rate_t* rate, const stretto_host_ops_t* ops,
                 tenant_rate_record_t record) {
  if (rate->log == NULL) return;
  record.time_ns = ops->now_ns(ops->context);
  rate->log(rate->log_context, &record);
}

void tenant_rate_count(const tenant_rate_t* rate, const stretto_host_ops_t* ops, uint64_t* count,
                       uint32_t groups) {
  *count += groups;
  ops->store(ops->context, rate->count_word, *count);
}

int tenant_rate_wait(const tenant_rate_t* rate, const stretto_host_ops_t* ops, tenant_turn_t* turn,
                     uint32_t client, uint32_t groups) {
  const uint64_t window_ns = rate_window_ns(&rate->policy);
  for (;;) {
    const uint64_t limit = word(ops, rate->limit_word);
    const uint64_t window = ops->now_ns(ops->context) / window_ns;
    if (window != turn->window) *turn = (tenant_turn_t){.window = window};
    if (turn->used < tenant_rate_share(limit, rate->clients)) {
      turn->used += groups;
      tell(rate, ops,
           (tenant_rate_record_t){
               .event = TENANT_RATE_LAUNCH, .client = client, .groups = groups, .limit = limit});
      return 1;
    }
    const stretto_host_word_t words[] = {{rate->ended_word, STRETTO_WAIT_NOT_EQUAL, 0},
                                         {rate->limit_word, STRETTO_WAIT_NOT_EQUAL, limit}};
    if (ops->wait_any(ops->context, words, 2, (window + 1) * window_ns) == 0) return 0;
  }
}

static void set_limit(const tenant_rate_t* rate, const stretto_host_ops_t* ops, uint64_t limit) {
  ops->store(ops->context, rate->limit_word, limit);
  tell(rate, ops, (tenant_rate_record_t){.event = TENANT_RATE_LIMIT, .groups = limit});
}

void tenant_rate_control(const tenant_rate_t* rate, const stretto_host_ops_t* ops) {
  rate_state_t state = {0};
  set_limit(rate, ops, RATE_UNLIMITED);
  ops->wait(ops->context, rate->count_word, STRETTO_WAIT_AT_LEAST, 1);
  set_limit(rate, ops, 0);
  const stretto_host_word_t ended = {rate->ended_word, STRETTO_WAIT_NOT_EQUAL, 0};
  uint64_t at_ns = ops->now_ns(ops->context), before = 0;
  for (;;) {
    at_ns += rate->policy.period_ns;
    if (ops->wait_any(ops->context, &ended, 1, at_ns) == 0) return;
    const uint64_t count = word(ops, rate->count_word);
    rate_update(&rate->policy, &state, count - before);
    before = count;
    set_limit(rate, ops, state.limit);
  }
}
