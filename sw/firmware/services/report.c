// SPDX-License-Identifier: Apache-2.0
// Console messages and the end of a failed run: see report.h.
#include "sw/firmware/services/report.h"

#include "sw/firmware/hal/dma.h"
#include "sw/firmware/hal/end_run.h"
#include "sw/firmware/hal/uart.h"
#include "sw/include/formats/nic.h"
#include "sw/include/formats/send_request.h"

static unsigned this_gpu;

void report_init(unsigned gpu) { this_gpu = gpu; }

static void begin(void) {
  uart_text("firmware: gpu ");
  uart_decimal(this_gpu);
  uart_text(": ");
}

static void labelled(const char* label, uint64_t value) {
  uart_text(label);
  uart_decimal(value);
}

const char* report_status_name(fw_result_t status) {
  switch (status) {
    case STRETTO_OK: return "ok";
    case STRETTO_ERROR_PACKET: return "unknown packet";
    case STRETTO_ERROR_ARGUMENT: return "a field is out of range";
    case STRETTO_ERROR_OVERLAP: return "overlaps an earlier map";
    case STRETTO_ERROR_UNMAPPED: return "outside of the configured output or of this GPU's memory";
    case STRETTO_ERROR_TABLE_FULL: return "table full";
    case STRETTO_ERROR_RESOURCES: return "the kernel needs more than a compute unit has";
    case STRETTO_ERROR_KERNEL: return "no kernel descriptor there";
    case STRETTO_ERROR_DEVICE: return "a device reported an error";
    case STRETTO_ERROR_FAULT: return "fault";
    case STRETTO_ERROR_STATE: return "not possible now";
  }
  return "unknown status";
}

// Why a packet is refused, if its status does not say it all.
static enum { REASON_STATUS, REASON_L2_LIMIT, REASON_ROOM } reason;
static uint64_t l2_wanted FW_NOINIT, l2_least FW_NOINIT, l2_most FW_NOINIT;
static pipeline_room_t pipeline_room FW_NOINIT;

void reason_l2_limit(uint64_t wanted, uint64_t least, uint64_t most) {
  l2_wanted = wanted;
  l2_least = least;
  l2_most = most;
  reason = REASON_L2_LIMIT;
}

void reason_pipeline_room(const pipeline_room_t* room) {
  pipeline_room = *room;
  reason = REASON_ROOM;
}

static void tell_room(const pipeline_room_t* room) {
  uart_decimal(room->work_groups);
  labelled(" work-groups of member ", room->member);
  labelled(" need ", room->each);
  uart_text(" ");
  uart_text(room->resource);
  labelled(" each, ", room->all);
  labelled(" in all with the members before; ", room->cus);
  labelled(" units have ", room->unit);
  labelled(" each, room for ", room->unit / room->each * (uint64_t)room->cus);
}

void report_refused(unsigned queue, uint64_t index, const char* what, fw_result_t status) {
  begin();
  labelled("queue ", queue);
  labelled(" packet ", index);
  uart_text(" (");
  uart_text(what);
  uart_text("): refused: ");
  if (reason == REASON_ROOM) {
    tell_room(&pipeline_room);
  } else if (reason == REASON_L2_LIMIT) {
    uart_decimal(l2_wanted);
    labelled(" bytes of the L2 for pinned ranges: ", l2_least);
    labelled(" to ", l2_most);
    uart_text(" are possible");
  } else {
    uart_text(report_status_name(status));
  }
  reason = REASON_STATUS;
  uart_text("\n");
}

void report_pipeline_refused(uint32_t members, uint32_t slot, uint32_t cause) {
  static const char* const names[] = {
      "no reason",          "needs above the capacity", "range or start",   "gates",
      "another is waiting", "too many work-groups",     "never co-resident"};
  begin();
  labelled("pipeline of ", members);
  labelled(" kernels from slot ", slot);
  uart_text(" on: refused by the scheduler: ");
  uart_text(names[cause < sizeof names / sizeof names[0] ? cause : 0]);
  uart_text("\n");
}

void report_fault(const gpu_fault_t* fault) {
  begin();
  uart_text("wavefront fault: ");
  uart_text(gpu_fault_name(fault->kind));
  uart_text(" at ");
  uart_hex(fault->address);
  labelled(", work-group ", fault->work_group);
  labelled(" wavefront ", fault->wavefront);
  labelled(" on unit ", fault->cu);
  labelled(", kernel slot ", fault->slot);
  uart_text(", pc ");
  uart_hex(fault->pc);
  uart_text("\n");
}

void report_dma_error(uint32_t errors, uint64_t info) {
  begin();
  uart_text("DMA error: ");
  uart_text(dma_error_name(errors));
  labelled(", work-group ", info & 0xFFFFFFFF);
  labelled(" wavefront ", (info >> 32) & 7);
  labelled(", index ", info >> 48);
  uart_text("\n");
}

void report_send_failure(uint64_t request, const char* why) {
  begin();
  uart_text("send request ");
  uart_hex(request);
  labelled(": buffer ", STRETTO_SR_GET(request, SOURCE));
  labelled(" -> ", STRETTO_SR_GET(request, DESTINATION));
  labelled(", connection ", STRETTO_SR_GET(request, CONNECTION));
  labelled(", offset ", STRETTO_SR_GET(request, OFFSET));
  labelled(", length ", STRETTO_SR_GET(request, LENGTH));
  uart_text(": ");
  uart_text(why);
  uart_text("\n");
  end_run(((uint64_t)FAIL_SEND << 1) | 1);
}

void report_network_failure(const queue_service_failure_t* failure) {
  static const char* const names[] = {"operation", "put", "get", "fetch-add", "compare-swap"};
  begin();
  labelled("work-group ", failure->work_group);
  uart_text(": ");
  uart_text(names[failure->operation <= STRETTO_NIC_COMPARE_SWAP ? failure->operation : 0]);
  labelled(" of ", failure->bytes);
  labelled(" bytes, PE ", failure->pe);
  uart_text(" at ");
  uart_hex(failure->remote);
  uart_text(failure->is_value ? ", value " : ", here at ");
  uart_hex(failure->local);
  uart_text(": ");
  uart_text(failure->why);
  uart_text("\n");
  end_run(((uint64_t)FAIL_NETWORK << 1) | 1);
}

void report_fail(fail_code_t code, const char* text) {
  begin();
  uart_text(text);
  uart_text("\n");
  end_run(((uint64_t)code << 1) | 1);
}
