// SPDX-License-Identifier: Apache-2.0
// Scratch CSRs of a transformed kernel: 0x800 has the task, 0x801 the stack pointer with which each
// body begins. Above it, if the kernel needs them, lie the task's ids of dimensions and where its
// tasks end, for code in which other kernels end too.
#include "sw/transform/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "sw/include/tile.h"

namespace stretto::transform {
namespace {

using namespace encode;

constexpr uint32_t kFrameBytes = 48;  // x, y, z, end of a task, count of arrivals.
constexpr int kEndAt = 24, kCountAt = 32;
constexpr int kMailTask = 8;  // In a worker's mail: count of arrivals at barriers, task.
constexpr uint32_t kMinPrivate = 256;
constexpr int kReach = 2040;  // Of an addition's immediate, a multiple of 8.

constexpr size_t field_of_size(unsigned csr) {
  switch (csr) {
    case TILE_CSR_GRID: return offsetof(stretto_transformed_arguments_t, tasks);
    case TILE_CSR_GRID_X: return offsetof(stretto_transformed_arguments_t, grid_x);
    case TILE_CSR_GRID_Y: return offsetof(stretto_transformed_arguments_t, grid_y);
    default: return offsetof(stretto_transformed_arguments_t, grid_z);
  }
}

bool is_size(unsigned csr) {
  return csr == TILE_CSR_GRID || (csr >= TILE_CSR_GRID_X && csr <= TILE_CSR_GRID_Z);
}

bool is_place(unsigned csr) { return csr >= TILE_CSR_WG_X && csr <= TILE_CSR_WG_Z; }

const char* name_of(unsigned csr) {
  switch (csr) {
    case TILE_CSR_GRID: return "work-groups of the grid";
    case TILE_CSR_GRID_X: return "grid's x";
    case TILE_CSR_GRID_Y: return "grid's y";
    case TILE_CSR_GRID_Z: return "grid's z";
    case TILE_CSR_WG_X: return "id in x";
    case TILE_CSR_WG_Y: return "id in y";
    default: return "id in z";
  }
}

bool is_below_stack(const Instruction& i) {
  const bool forms = i.name == std::string_view("addi") && i.rd() != kSp;
  return i.rs1() == kSp && i.immediate < 0 &&
         (forms || i.kind == Kind::load || i.kind == Kind::store);
}

uint32_t vote(unsigned rd, unsigned rs1) { return tile_control(TILE_CONTROL_VOTE, rd, rs1, 0); }

}  // namespace

Rewrite::Rewrite(const Kernel& kernel, const Analysis& analysis,
                 const std::set<uint64_t>& shared_ends, const Options& options)
    : kernel_(kernel),
      analysis_(analysis),
      shared_ends_(shared_ends),
      options_(options),
      descriptor_(kernel.fields) {
  arguments_at_ = (descriptor_.kernarg_bytes + 7) / 8 * 8;
  descriptor_.kernarg_bytes =
      arguments_at_ + static_cast<uint32_t>(sizeof(stretto_transformed_arguments_t));
  has_place_ = std::any_of(analysis.reads.begin(), analysis.reads.end(), is_place);
  has_shared_end_ = options.form == Form::preempt &&
                    std::any_of(analysis.code.begin(), analysis.code.end(),
                                [&](const auto& step) { return shared_ends.contains(step.first); });
  if (is_stock() && analysis.votes) throw Refused("uses tile.vote, which the stock ISA has not");
  if (is_stock() && analysis.barriers &&
      std::any_of(analysis.code.begin(), analysis.code.end(),
                  [](const auto& step) { return is_below_stack(step.second); }))
    throw Refused("keeps words below sp, where barriers of the stock ISA keep theirs");
  has_frame_ = has_place_ || has_shared_end_ || is_stock();
  if (has_frame_) {
    if (descriptor_.private_bytes >= kMaxPrivate)
      throw Refused("no room in private memory for 48 bytes more");
    descriptor_.private_bytes = std::max(kMinPrivate, 2 * descriptor_.private_bytes);
  }
  descriptor_.reserved[STRETTO_RESERVED_FORM] = static_cast<uint32_t>(options.form);
  descriptor_.reserved[STRETTO_RESERVED_BODY] = static_cast<uint32_t>(kernel.fields.entry);
  for (const auto& [address, instruction] : analysis.code) change(address, instruction);
}

void Rewrite::change(uint64_t address, const Instruction& i) {
  if (i.kind == Kind::csr) change_csr(address, i);
  if (options_.form != Form::preempt) return;
  if (i.is_control(TILE_CONTROL_END) && shared_ends_.contains(address)) {
    changes_[address] = {"end of a task of several kernels",
                         0,
                         {csrr(kT0, TILE_CSR_SCRATCH1), ld(kT0, kT0, kEndAt), jr(kT0)},
                         false,
                         false};
  } else if (i.is_control(TILE_CONTROL_END)) {
    changes_[address] = {fmt::format("end of a task of {}", kernel_.name), 0, {}, true, false};
  } else if (i.is_control(TILE_CONTROL_BARRIER) && is_stock()) {
    changes_[address] = {
        fmt::format("barrier: meets those that returned, argument {}", arguments_at_), 0,
        stock_barrier(), false, false};
  } else if (i.is_control(TILE_CONTROL_BARRIER) && !analysis_.votes) {
    changes_[address] = {"barrier: a vote for going on", vote(kZero, kSp), {}, false, true};
  } else if (i.is_control(TILE_CONTROL_BARRIER)) {
    changes_[address] = {"barrier beside votes: a vote for going on, a vote",
                         0,
                         {vote(kZero, kSp), vote(kZero, kZero)},
                         false,
                         false};
  } else if (i.is_control(TILE_CONTROL_VOTE)) {
    changes_[address] = {
        "vote: a vote for going on, the vote", 0, {vote(kZero, kSp), i.word}, false, false};
  }
}

void Rewrite::change_csr(uint64_t address, const Instruction& i) {
  const unsigned rd = i.rd(), csr = i.csr();
  if (rd == kZero) return;
  if (csr == TILE_CSR_WG_ID) {
    changes_[address] = {"id: the task", csrr(rd, TILE_CSR_SCRATCH0), {}, false, false};
  } else if (is_place(csr)) {
    const int at = 8 * static_cast<int>(csr - TILE_CSR_WG_X);
    changes_[address] = {
        name_of(csr), 0, {csrr(rd, TILE_CSR_SCRATCH1), ld(rd, rd, at)}, false, false};
  } else if (is_size(csr)) {
    changes_[address] = {fmt::format("{}, argument {}", name_of(csr), arguments_at_), 0,
                         argument(rd, field_of_size(csr)), false, false};
  }
}

// rd <- one of the further arguments.
std::vector<uint32_t> Rewrite::argument(unsigned rd, size_t field) const {
  std::vector<uint32_t> words = {csrr(rd, TILE_CSR_KERNARG)};
  int at = static_cast<int>(arguments_at_ + field);
  for (; at > kReach; at -= kReach) words.push_back(addi(rd, rd, kReach));
  words.push_back(ld(rd, rd, at));
  return words;
}

void Rewrite::load_argument(Assembler& out, unsigned rd, size_t field, const char* what) const {
  for (const uint32_t word : argument(rd, field)) out.emit(word, what);
}

uint64_t Rewrite::frame_code(Assembler& out) {
  const uint64_t entry = out.here();
  if (has_frame_)
    out.emit(addi(kSp, kSp, -static_cast<int>(kFrameBytes)), "room for ids and the end of a task");
  out.emit(csrw(TILE_CSR_SCRATCH1, kSp), "the stack of each body");
  if (options_.form == Form::preempt) {
    take_tasks(out);
  } else {
    load_argument(out, kT1, offsetof(stretto_transformed_arguments_t, first),
                  "the slice's first work-group");
    out.emit(csrr(kT0, TILE_CSR_WG_ID), "");
    out.emit(add(kT1, kT1, kT0), "");
    begin_body(out);
  }
  out.resolve();
  return entry;
}

void Rewrite::take_tasks(Assembler& out) {
  const Assembler::Label behind = out.label();
  if (has_shared_end_) {
    out.address(kT0, behind, "where a task ends");
    out.emit(sd(kT0, kSp, kEndAt), "");
  }
  if (is_stock()) {
    for (const uint32_t word : mail(kT2, kT3)) out.emit(word, "the worker's mail");
    out.emit(ld(kT1, kT2, 0), "arrivals so far");
    out.emit(sd(kT1, kSp, kCountAt), "");
  }
  const uint64_t loop = out.here();
  const Assembler::Label share = out.label(), taken = out.label(), none = out.label(),
                         leave = out.label();
  out.emit(csrr(kT0, TILE_CSR_WF_ID), "wavefront 0 takes a task");
  out.emit(addi(kT1, kZero, 0), "none");
  out.branch(kNotEqual, kT0, kZero, share, "");
  load_argument(out, kT2, offsetof(stretto_transformed_arguments_t, control), "control block");
  out.emit(addi(kT3, kZero, 1), "");
  out.emit(amoadd(kT1, kT3, kT2), "next task; above its 32 bits: to stop?");
  load_argument(out, kT3, offsetof(stretto_transformed_arguments_t, tasks), "tasks");
  out.branch(kBelow, kT1, kT3, taken, "a task, and not to stop");
  out.emit(srli(kT3, kT1, 32), "");
  out.branch(kEqual, kT3, kZero, none, "");
  out.emit(addi(kT3, kZero, -1), "");
  out.emit(amoadd(kZero, kT3, kT2), "to stop: the task goes back");
  out.bind(none);
  out.emit(addi(kT1, kZero, -1), "none is left");
  out.bind(taken);
  out.emit(addi(kT1, kT1, 1), "0: none; else task + 1");
  out.bind(share);
  share_task(out);
  out.branch(kEqual, kT1, kZero, leave, "");
  out.emit(addi(kT1, kT1, -1), "which task");
  begin_body(out);
  out.bind(leave);
  out.emit(tile_control(TILE_CONTROL_END, 0, 0, 0), "the worker ends");
  out.bind(behind);
  behind_task_ = out.here();
  end_task(out, loop);
}

// The task is in t1.
void Rewrite::begin_body(Assembler& out) const {
  out.emit(csrw(TILE_CSR_SCRATCH0, kT1), "task");
  if (options_.form == Form::preempt) out.emit(csrr(kSp, TILE_CSR_SCRATCH1), "");
  if (has_place_) {
    load_argument(out, kT3, offsetof(stretto_transformed_arguments_t, grid_x), "grid's x");
    out.emit(remu(kT4, kT1, kT3), "id in x");
    out.emit(sd(kT4, kSp, 0), "");
    out.emit(divu(kT1, kT1, kT3), "");
    load_argument(out, kT3, offsetof(stretto_transformed_arguments_t, grid_y), "grid's y");
    out.emit(remu(kT4, kT1, kT3), "id in y");
    out.emit(sd(kT4, kSp, 8), "");
    out.emit(divu(kT4, kT1, kT3), "id in z");
    out.emit(sd(kT4, kSp, 16), "");
  }
  if (options_.form == Form::preempt && analysis_.writes.contains(TILE_CSR_SCOPE))
    out.emit(csrwi(TILE_CSR_SCOPE, TILE_SCOPE_DEVICE), "scope as at the start");
  if (options_.form == Form::preempt && analysis_.writes.contains(TILE_CSR_FLAG))
    out.emit(csrwi(TILE_CSR_FLAG, 0), "flag as at the start");
  if (options_.zero_private && kernel_.fields.private_bytes != 0) zero_private(out);
  out.jump(kernel_.fields.entry, "body of " + kernel_.name);
}

void Rewrite::zero_private(Assembler& out) const {
  const uint32_t bytes = kernel_.fields.private_bytes;
  const Assembler::Label next = out.label();
  out.emit(lui(kT2, (bytes + 0x800) >> 12), "private memory");
  out.emit(addi(kT2, kT2, static_cast<int>(bytes << 20) >> 20), "");
  out.emit(sub(kT2, kSp, kT2), "its first byte");
  out.emit(addi(kT3, kSp, 0), "");
  out.bind(next);
  out.emit(addi(kT3, kT3, -8), "");
  out.emit(sd(kZero, kT3, 0), "zero");
  out.branch(kNotEqual, kT3, kT2, next, "");
}

// From wavefront 0's t1 to everyone's; its id is in t0.
void Rewrite::share_task(Assembler& out) const {
  if (!is_stock()) {
    out.emit(vote(kT1, kT1), "the task, for all wavefronts");
    return;
  }
  const Assembler::Label take = out.label();
  for (const uint32_t word : mail(kT2, kT3)) out.emit(word, "the worker's mail");
  out.branch(kNotEqual, kT0, kZero, take, "");
  out.emit(sd(kT1, kT2, kMailTask), "the task, for all wavefronts");
  out.bind(take);
  out.emit(tile_control(TILE_CONTROL_BARRIER, 0, 0, 0), "");
  out.emit(ld(kT1, kT2, kMailTask), "");
}

std::vector<uint32_t> Rewrite::mail(unsigned rd, unsigned other) const {
  std::vector<uint32_t> words = argument(rd, offsetof(stretto_transformed_arguments_t, control));
  words.push_back(csrr(other, TILE_CSR_WG_ID));
  words.push_back(slli(other, other, 6));
  words.push_back(add(rd, rd, other));
  words.push_back(addi(rd, rd, STRETTO_WORKER_MAIL_BYTES));
  return words;
}

// Counts an arrival, so that those that have returned see that someone has not. Both wait twice: to
// see all arrivals of this round, and that nobody begins the next before all have seen them. Words
// below sp are free: the RISC-V psABI has no red zone.
std::vector<uint32_t> Rewrite::stock_barrier() const {
  constexpr uint32_t kBarrier = tile_control(TILE_CONTROL_BARRIER, 0, 0, 0);
  std::vector<uint32_t> words = {sd(kT0, kSp, -8), sd(kT1, kSp, -16), sd(kT2, kSp, -24)};
  const std::vector<uint32_t> place = mail(kT0, kT1);
  words.insert(words.end(), place.begin(), place.end());
  for (const uint32_t word : {addi(kT1, kZero, 1), amoadd(kT2, kT1, kT0), kBarrier, ld(kT1, kT0, 0),
                              csrr(kT2, TILE_CSR_SCRATCH1), sd(kT1, kT2, kCountAt), kBarrier,
                              ld(kT0, kSp, -8), ld(kT1, kSp, -16), ld(kT2, kSp, -24)})
    words.push_back(word);
  return words;
}

// Until a round in which nobody arrives at a barrier.
void Rewrite::hold_returned(Assembler& out) const {
  const Assembler::Label hold = out.label();
  for (const uint32_t word : mail(kT0, kT1)) out.emit(word, "the worker's mail");
  out.emit(csrr(kT2, TILE_CSR_SCRATCH1), "");
  out.emit(ld(kT3, kT2, kCountAt), "arrivals until now");
  out.bind(hold);
  out.emit(addi(kT4, kT3, 0), "");
  out.emit(tile_control(TILE_CONTROL_BARRIER, 0, 0, 0), "meets those at barriers");
  out.emit(ld(kT3, kT0, 0), "");
  out.emit(tile_control(TILE_CONTROL_BARRIER, 0, 0, 0), "");
  out.branch(kNotEqual, kT3, kT4, hold, "someone has not");
  out.emit(sd(kT3, kT2, kCountAt), "");
}

// All returns and barriers meet here: wavefronts that returned vote 0 until all have.
void Rewrite::end_task(Assembler& out, uint64_t loop) const {
  const Assembler::Label hold = out.label(), done = out.label();
  out.emit(tile_control(TILE_CONTROL_WAIT, 0, 0, 0), "this wavefront's loads and stores");
  const uint64_t held = out.here();
  out.bind(hold);
  if (is_stock()) {
    hold_returned(out);
  } else if (analysis_.votes) {
    out.emit(vote(kT0, kZero), "returned: 0; at a barrier: its stack");
    out.branch(kEqual, kT0, kZero, done, "all have returned");
    out.emit(vote(kZero, kZero), "beside a vote of others");
    out.jump(held, "");
  } else {
    out.emit(vote(kT0, kZero), "returned: 0; at a barrier: its stack");
    out.branch(kNotEqual, kT0, kZero, hold, "someone has not");
  }
  out.bind(done);
  if (analysis_.tiles && !is_stock()) {
    const Assembler::Label again = out.label();
    out.emit(csrr(kT0, TILE_CSR_WF_ID), "");
    out.branch(kNotEqual, kT0, kZero, again, "");
    out.emit(tile_control(TILE_CONTROL_RELEASE, 0, 0, 0), "the task's tiles");
    out.bind(again);
  }
  out.jump(loop, "next task");
}

}  // namespace stretto::transform
