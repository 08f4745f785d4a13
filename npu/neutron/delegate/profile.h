// SPDX-License-Identifier: Apache-2.0
// The profile that a Neutron delegate's last run has left: for Trace::delegate_events
// (runtime/trace.h).
#pragma once
#include "npu/neutron/delegate/delegate.h"
#include "runtime/trace.h"

namespace deuteron {

// Event `index` of the kernels of the last run, in their order, in ticks of the NPU from the
// beginning of the run; behind the last kernel one more, with code 0: the dump of the profile.
// False behind that, for a payload that was compiled without --profile, and for delegates that are
// not ours.
bool neutron_events(const PreparedDelegate& delegate, uint32_t index, DelegateEvent* event);

// Ticks of the NPU in a second, as the payload's machine says; 0: a vendor's payload, which does
// not say.
uint64_t neutron_clock_hz(const PreparedDelegate& delegate);
// Of the first Neutron delegate of a program.
uint64_t neutron_clock_hz(const Program& program);

}  // namespace deuteron
