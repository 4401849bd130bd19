// SPDX-License-Identifier: Apache-2.0
// Console messages and the end of a failed run: see report.h.
#include "sw/firmware/services/report.h"

#include "sw/firmware/hal/dma.h"
#include "sw/firmware/hal/end_run.h"
#include "sw/firmware/hal/uart.h"
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

void report_refused(unsigned queue, uint64_t index, const char* what, fw_result_t status) {
  begin();
  labelled("queue ", queue);
  labelled(" packet ", index);
  uart_text(" (");
  uart_text(what);
  uart_text("): refused: ");
  uart_text(report_status_name(status));
  uart_text("\n");
}

void report_l2_limit(uint64_t wanted, uint64_t least, uint64_t most) {
  begin();
  uart_decimal(wanted);
  labelled(" bytes of the L2 for pinned ranges: ", least);
  labelled(" to ", most);
  uart_text(" are possible\n");
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

void report_fail(fail_code_t code, const char* text) {
  begin();
  uart_text(text);
  uart_text("\n");
  end_run(((uint64_t)code << 1) | 1);
}
