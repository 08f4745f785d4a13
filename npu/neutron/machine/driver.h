// SPDX-License-Identifier: Apache-2.0
/* The driver's C interface, as NXP's Neutron driver has it (ExecuTorch 1.5,
   backends/nxp/runtime/NeutronDriver.h; field order and types are the binary interface). Two
   libraries implement it: the vendor's, and `neutron_model` in this folder, which computes on an
   open model of the machine. Which one a program gets is decided when it is linked. The functions
   that only Neutron-S has are left out. */
#ifndef DEUTERON_NEUTRON_DRIVER_H
#define DEUTERON_NEUTRON_DRIVER_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0: done. Otherwise bits 0-2 the component (1 library, 2 firmware, 3 driver), bits 3-7 the
 * category, bits 8-30 a code of the library. */
typedef int32_t NeutronError;
enum {
  kNeutronOk = 0,
  kNeutronComponentDriver = 3,
};
/* Categories of the driver. */
enum {
  kNeutronGeneric,
  kNeutronUnsupported,
  kNeutronBadMicrocode, /* wrong magic or version */
  kNeutronInvalidArgument,
  kNeutronBadHandle,
  kNeutronNoMemory,
  kNeutronInternal,
  kNeutronUnknownArchitecture,
  kNeutronTraceNotRun,
  kNeutronTimeout,
};

/* A prepared model. Null is no model. */
typedef void* NeutronModelHandle;

/* The three sections of a payload, each 16-byte aligned. They stay where they are until the model
 * is unprepared. */
typedef struct {
  const void* microcode;
  const void* weights;
  const void* kernels;
  uint32_t timeoutSeconds;
} NeutronModelConfig;

/* The tensors of one run. `outputs` has three entries more than the model has outputs: scratch,
   profile buffer, debug buffer, of the sizes that the microcode says, 16-byte aligned. `scratch` is
   not used: the vendor's runtime leaves it unset. `scratchWeights` is where constants are fetched
   to; only models that fetch read it. */
typedef struct {
  const void** inputs;
  void** outputs;
  void* scratch;
  void* scratchWeights;
} NeutronDataConfig;

/* How constants come from external flash; both are called from within neutronRunBlocking. */
typedef struct {
  void (*copy)(void* dst, void* src, uint32_t size, uint32_t channel);
  void (*wait)(uint32_t channel);
} NeutronConfig;

/* Before the first and after the last use of the driver: the application's business, not the
 * delegate's. */
NeutronError neutronInit(void);
NeutronError neutronDeinit(void);

/* Bytes that a handle points to. */
size_t neutronGetModelContextSize(void);

/* `*handle` points to neutronGetModelContextSize() bytes, aligned like a pointer; null asks the
   driver for memory of its own, which a driver without a heap answers with kNeutronNoMemory. */
NeutronError neutronModelPrepare(const NeutronModelConfig* config, NeutronModelHandle* handle);
NeutronError neutronModelUnprepare(NeutronModelHandle handle);

/* Returns when the outputs are written or the timeout has passed. */
NeutronError neutronRunBlocking(NeutronModelHandle handle, const NeutronDataConfig* data);

NeutronError neutronSetConfig(NeutronConfig* config);

/* Clock gating around a run. */
NeutronError neutronSuspend(void);
NeutronError neutronResume(void);

#ifdef __cplusplus
}
#endif
#endif
