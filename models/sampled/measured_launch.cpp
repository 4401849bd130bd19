// SPDX-License-Identifier: Apache-2.0
#include "models/sampled/measured_launch.h"

namespace stretto {

MeasuredLaunch::Counts MeasuredLaunch::begin() {
  if (!any_ended_) return Counts::first;
  if (phase_ == Phase::settling) return Counts::early;
  if (phase_ != Phase::noting) return Counts::behind;
  ++noting_;
  if (--to_note_ == 0) phase_ = Phase::filling;
  return Counts::noted;
}

void MeasuredLaunch::forget(Counts counts) {
  if (counts != Counts::noted) return;
  --noting_;
  ++to_note_;
  if (phase_ == Phase::filling) phase_ = Phase::noting;
}

MeasuredLaunch::Change MeasuredLaunch::end(Counts counts, const MeasuredBody& body,
                                           uint64_t moved) {
  any_ended_ = true;
  switch (counts) {
    case Counts::first: first_.push_back(body); break;
    case Counts::early: early_.push_back(body); break;
    case Counts::noted: noted_.push_back(body); break;
    case Counts::behind: behind_.push_back(body); break;
  }
  if (counts == Counts::noted && --noting_ == 0 && phase_ == Phase::filling) {
    phase_ = Phase::passing;
    return Change::passes;
  }
  if (phase_ != Phase::settling || moved < settled_) return Change::none;
  phase_ = Phase::noting;
  return Change::settles;
}

std::vector<MeasuredBody> MeasuredLaunch::rest() const {
  std::vector<MeasuredBody> rest = noted_;
  if (passes()) return rest;
  rest.insert(rest.end(), early_.begin(), early_.end());
  rest.insert(rest.end(), behind_.begin(), behind_.end());
  return rest;
}

}  // namespace stretto
