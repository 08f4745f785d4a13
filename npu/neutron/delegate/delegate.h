// SPDX-License-Identifier: Apache-2.0
// The backend `NeutronBackend`: runs the payloads of Neutron delegates through the driver interface
// of npu/neutron/machine/driver.h, whoever implements it. No heap: handle and pointers lie in the
// program's tables; scratch, profile, debug, fetched weights and transposed copies in the
// delegate's scratch argument, or in planned memory behind the file's buffers (payload.h).
#pragma once
#include "npu/neutron/delegate/payload.h"
#include "npu/neutron/machine/driver.h"
#include "runtime/backend.h"

namespace deuteron {

// The driver's functions, so that tests and systems with two drivers can choose.
struct NeutronDriver {
  NeutronError (*init)(void);
  NeutronError (*deinit)(void);
  size_t (*context_bytes)(void);
  NeutronError (*prepare)(const NeutronModelConfig*, NeutronModelHandle*);
  NeutronError (*unprepare)(NeutronModelHandle);
  NeutronError (*run)(NeutronModelHandle, const NeutronDataConfig*);
  NeutronError (*set_config)(NeutronConfig*);
  NeutronError (*resume)(void);  // around every run; null: the clock is left alone, which is what
                                 // the stock runtime does unless told otherwise
  NeutronError (*suspend)(void);
  NeutronConfig* fetching;  // how constants come from flash, for models that fetch
  uint32_t timeout_seconds;
};

// Over the driver that the program is linked with (linked_driver.cpp). With
// DEUTERON_NEUTRON_POWER_GATING its clock runs during runs only.
extern const Backend kNeutronBackend;

// Copies with memcpy, waits for nothing.
extern NeutronConfig kNeutronFetchByMemcpy;

// What a delegate's state has left after a run: valid until the next call that writes to the
// workspace.
struct NeutronBuffers {
  const uint8_t *profile = nullptr, *debug = nullptr;
  uint32_t profile_bytes = 0, debug_bytes = 0;
};
NeutronBuffers neutron_buffers(const PreparedDelegate& delegate);
// The payload of a call in a loaded program; one without inputs and outputs for a delegate that is
// not ours.
NeutronPayload neutron_payload(const PreparedDelegate& delegate);

// The parts of a driver's error number.
struct NeutronFault {
  int component, category, code;
};
constexpr NeutronFault fault_of(int32_t error) {
  const uint32_t e = static_cast<uint32_t>(error);
  return {static_cast<int>(e & 7), static_cast<int>(e >> 3 & 31),
          static_cast<int>(e >> 8 & 0x7FFFFF)};
}
const char* explain_neutron_error(int32_t error);  // "the driver: timeout"

// The functions of the backend; context: a NeutronDriver.
Status neutron_start(const void* context);
Status neutron_check(const DelegateCall& call, uint32_t* workspace_bytes);
Use neutron_use(const DelegateCall& call, int32_t argument);
Status neutron_prepare(DelegateCall& call, void** state);
Status neutron_open(void* state);
Status neutron_run(void* state);
void neutron_close(void* state);
void neutron_stop(const void* context);

// The backend over any driver.
constexpr Backend neutron_backend(const NeutronDriver* driver) {
  return {kNeutronBackendId, driver,       neutron_start, neutron_check, neutron_use,
          neutron_prepare,   neutron_open, neutron_run,   neutron_close, neutron_stop};
}

}  // namespace deuteron
