// SPDX-License-Identifier: Apache-2.0
/* The parts of a model that the NPU runs, as C sees them. The driver of the NPU is the vendor's
   library or the open model of the machine: whichever is linked. */
#ifndef DEUTERON_NPU_H
#define DEUTERON_NPU_H
#include <stdint.h>

/* An argument of a call: `elements` of the program format's type `type`; order[k]: the axis at
 * storage position k. */
struct deuteron_npu_tensor {
  void* data;
  const int32_t* sizes;
  const uint8_t* order;
  int32_t elements;
  uint8_t rank;
  int8_t type;
};

/* `scratch`: which argument is memory for the run, as decimals; null: `workspace` is it. `state`:
 * memory of the call's own, at a multiple of 16. */
struct deuteron_npu_call {
  const uint8_t* payload;
  uint32_t payload_bytes;
  const struct deuteron_npu_tensor* arguments;
  int32_t count;
  const char* scratch;
  void *workspace, *state;
  uint32_t state_bytes;
};

#ifdef __cplusplus
extern "C" {
#endif
/* Once before the first model with such parts runs, and after the last: what the driver wants for a
 * process. 0: done. */
int deuteron_npu_start(void);
void deuteron_npu_stop(void);
/* Prepares, runs and closes the call: nothing is left behind. 0: done; else the driver's error. */
int deuteron_npu_run(const struct deuteron_npu_call* call);
#ifdef __cplusplus
}
#endif
#endif
