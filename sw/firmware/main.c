// SPDX-License-Identifier: Apache-2.0
// Firmware of the command processor: named start-up steps on hart 0, then one loop a hart. Hart 0
// serves the queues (sleeps until a doorbell or a completion), hart 1 completion interrupts.
// Interrupts are polled after WFI and never taken, so that no code runs in an interrupt handler.
#include <stddef.h>

#include "sw/firmware/hal/intc.h"
#include "sw/firmware/hal/uart.h"
#include "sw/firmware/services/packet_service.h"
#include "sw/firmware/services/report.h"

#define HART_POLL_NS 200
#define HART_POLLS 1000
#define ENABLED (FW_MIE_EXTERNAL | FW_MIE_SOFTWARE)
#define QUEUE_ENABLED (ENABLED | FW_MIE_TIMER)  // A barrier that polls sets the timer.

volatile uint32_t boot_done;                     // Hart 0: the devices are set up.
static volatile uint32_t completion_hart_ready;  // Hart 1.

static shared_t shared;
static trigger_service_t trigger;
static packet_service_t packets;

void trap(uint64_t cause, uint64_t pc, uint64_t value, uint64_t hart) {
  uart_text("firmware: trap on hart ");
  uart_decimal(hart);
  uart_text(": cause ");
  uart_decimal(cause);
  uart_text(", pc ");
  uart_hex(pc);
  uart_text(", value ");
  uart_hex(value);
  uart_text("\n");
  report_fail(FAIL_TRAP, "a hart took an exception");
}

static fw_result_t start_identity(void) {
  const unsigned node = intc_node();
  if (node == 0 || node > STRETTO_MAX_GPUS) return STRETTO_ERROR_DEVICE;
  shared.gpu_id = node - 1;
  report_init(shared.gpu_id);
  return STRETTO_OK;
}

static fw_result_t start_gpu(void) {
  const fw_result_t result = gpu_init(&shared.gpu);
  if (result != STRETTO_OK) return result;
  return gpu_limits(&shared.gpu, &shared.limits);
}

static fw_result_t start_grid_scheduler(void) {
  return grid_scheduler_init(&shared.scheduler, &shared.limits);
}
static fw_result_t start_dma(void) { return dma_init(&shared.dma); }
static fw_result_t start_maps(void) { return trigger_service_init(&trigger, &shared); }
static fw_result_t start_queues(void) { return packet_service_init(&packets, &shared, &trigger); }

// From here on the devices may interrupt.
static fw_result_t start_interrupts(void) {
  static const unsigned kCompletionLines[] = {STRETTO_IRQ_GRID_SCHEDULER, STRETTO_IRQ_DMA,
                                              STRETTO_IRQ_DMA_ERROR, STRETTO_IRQ_FAULT,
                                              STRETTO_IRQ_L2};
  fw_result_t result = intc_enable(QUEUE_HART, STRETTO_IRQ_DOORBELL);
  for (unsigned i = 0;
       i < sizeof kCompletionLines / sizeof kCompletionLines[0] && result == STRETTO_OK; ++i) {
    result = intc_enable(COMPLETION_HART, kCompletionLines[i]);
  }
  return result;
}

// The second hart serves completions: without it nothing would ever end.
static fw_result_t start_completion_hart(void) {
  fence_release();
  boot_done = 1;
  clint_poke(COMPLETION_HART);
  for (unsigned i = 0; i < HART_POLLS && !completion_hart_ready; ++i) {
    clint_sleep(QUEUE_HART, HART_POLL_NS, 0);
  }
  return completion_hart_ready ? STRETTO_OK : STRETTO_ERROR_DEVICE;
}

static const struct {
  const char* name;
  fw_result_t (*run)(void);
} kSteps[] = {
    {"start failed: identity", start_identity},
    {"start failed: gpu", start_gpu},
    {"start failed: grid scheduler", start_grid_scheduler},
    {"start failed: dma", start_dma},
    {"start failed: maps", start_maps},
    {"start failed: queues", start_queues},
    {"start failed: interrupts", start_interrupts},
    {"start failed: hart 1 does not answer; the firmware needs two harts", start_completion_hart},
};

// Acknowledges what woke the hart and acts on it. An interrupt that comes in between is pending at
// the next WFI.
static void queue_hart(void) {
  uint64_t alarm = CLINT_NEVER;
  for (;;) {
    wait_for_interrupt();
    clint_clear(QUEUE_HART);
    for (unsigned line = intc_claim(QUEUE_HART); line != 0; line = intc_claim(QUEUE_HART)) {
      packet_service_doorbell(&packets);
      intc_complete(QUEUE_HART, line);
    }
    packet_service_run(&packets);
    const uint64_t at = packet_service_alarm(&packets);
    if (at == alarm) continue;
    clint_alarm(QUEUE_HART, at);
    alarm = at;
  }
}

static void completion_hart(void) {
  for (;;) {
    wait_for_interrupt();
    clint_clear(COMPLETION_HART);
    completion_service_poke(&shared);
    for (unsigned line = intc_claim(COMPLETION_HART); line != 0;
         line = intc_claim(COMPLETION_HART)) {
      completion_service_irq(&shared, line);
      intc_complete(COMPLETION_HART, line);
    }
    clint_poke(QUEUE_HART);  // A packet may have waited for this.
  }
}

void firmware_main(uint64_t hart) {
  if (hart == QUEUE_HART) {
    for (unsigned i = 0; i < sizeof kSteps / sizeof kSteps[0]; ++i) {
      if (kSteps[i].run() != STRETTO_OK) report_fail(FAIL_BOOT, kSteps[i].name);
    }
    set_interrupt_enable(QUEUE_ENABLED);
    queue_hart();
  }
  clint_clear((unsigned)hart);
  if (hart == COMPLETION_HART) {
    completion_hart_ready = 1;
    set_interrupt_enable(ENABLED);
    completion_hart();
  }
  set_interrupt_enable(0);
  for (;;) wait_for_interrupt();  // Further harts have nothing to do.
}
