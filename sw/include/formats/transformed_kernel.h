// SPDX-License-Identifier: Apache-2.0
// What a launch gives to a kernel that sw/transform has rewritten: further arguments behind the
// original ones, and of the preemptive form a control block that outlives the launch.
#ifndef STRETTO_SW_INCLUDE_FORMATS_TRANSFORMED_KERNEL_H_
#define STRETTO_SW_INCLUDE_FORMATS_TRANSFORMED_KERNEL_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

// Words of the descriptor's `reserved`: the form, and where the original code begins, from the start
// of the image. Both are 0 in a kernel that was not rewritten.
#define STRETTO_RESERVED_FORM 0
#define STRETTO_RESERVED_BODY 1

// Forms.
#define STRETTO_FORM_ORIGINAL 0
#define STRETTO_FORM_SLICE 1    // A launch runs work-groups first .. first + its grid - 1.
#define STRETTO_FORM_PREEMPT 2  // A launch's work-groups are workers that take tasks in a loop.

// Right in front of a rewritten kernel's entry, for tools that have to do with its body.
#define STRETTO_FRAME_MAGIC 0x46545253u  // "SRTF"
typedef struct stretto_transformed_frame {
  uint32_t magic;
  uint32_t behind;  // Where a task ends, from the start of the image; 0: where its wavefronts do.
  uint32_t arguments;    // Bytes of the original's arguments.
  uint32_t reserved;     // 0
  uint8_t original[32];  // SHA-256 of the original image (code_identity.h).
} stretto_transformed_frame_t;

// The last bytes of the kernel's arguments.
typedef struct stretto_transformed_arguments {
  uint64_t control;  // Preemptive: address of a stretto_task_control_t, mapped uncached.
  uint64_t first;    // Sliced: the first work-group of this launch.
  uint64_t tasks;    // Work-groups of the original grid ...
  uint64_t grid_x;   // ... and its sizes.
  uint64_t grid_y;
  uint64_t grid_z;
} stretto_transformed_arguments_t;

// Zero before the first launch. Both lie in one word, so that a worker that takes a task sees
// in the same access whether it is to stop. To stop, write 1 to the four bytes of `preempt`: every
// worker ends its task and leaves. A worker that has seen it gives the task that it took back, so
// that none is lost. When the launch has ended, all that has begun is complete and tasks from `next`
// on have not begun: clear the four bytes of `preempt` alone and launch again. Cleared before, a
// task that is on its way back would run twice and another never. All is done when a launch ends
// with `next` >= tasks.
typedef struct stretto_task_control {
  uint32_t next;  // Each worker adds one; at the end at most one a worker beyond tasks.
  uint32_t preempt;
} stretto_task_control_t;

// Preemptive kernels of the stock instruction set: from 64 bytes behind the start of the control
// block on lie as many bytes for each worker. Whatever they are.
#define STRETTO_WORKER_MAIL_BYTES 64

#endif  // STRETTO_SW_INCLUDE_FORMATS_TRANSFORMED_KERNEL_H_
