// SPDX-License-Identifier: Apache-2.0
// Calls of the NPU from C, through the same backend that the runtime has. What the loader proves
// was proved when this was made.
#include "deuteron_npu.h"

#include "npu/neutron/delegate/delegate.h"

namespace {

using namespace deuteron;

const deuteron_npu_call& call_of(const DelegateCall& c) {
  return *static_cast<const deuteron_npu_call*>(c.origin);
}

Tensor tensor_of(const DelegateCall& c, int32_t i) {
  const deuteron_npu_tensor& t = call_of(c).arguments[i];
  return {t.data, t.sizes, t.order, t.elements, t.rank, static_cast<ScalarType>(t.type), false};
}

// The one option that the backend asks for: the index of the scratch argument, which C has as
// decimals.
const uint8_t* option_of(const DelegateCall& c, const char*, uint32_t* bytes) {
  const char* digits = call_of(c).scratch;
  *bytes = 0;
  while (digits != nullptr && digits[*bytes] != 0) ++*bytes;
  return reinterpret_cast<const uint8_t*>(digits);
}

int run_prepared(void* state) {
  Status s = neutron_open(state);
  if (!s.ok()) return s.error != 0 ? s.error : -1;
  s = neutron_run(state);
  neutron_close(state);
  return s.ok() ? 0 : s.error != 0 ? s.error : -1;
}

}  // namespace

int deuteron_npu_start(void) {
  const Status s = neutron_start(kNeutronBackend.context);
  return s.ok() ? 0 : s.error != 0 ? s.error : -1;
}
void deuteron_npu_stop(void) { neutron_stop(kNeutronBackend.context); }

int deuteron_npu_run(const deuteron_npu_call* call) {
  Arena arena{static_cast<uint8_t*>(call->state), call->state_bytes, 0};
  DelegateCall c;
  c.id = kNeutronBackendId;
  c.payload = call->payload;
  c.payload_bytes = call->payload_bytes;
  c.count = call->count;
  c.context = kNeutronBackend.context;
  c.arena = &arena;
  c.workspace = call->workspace;
  c.tensor_of = tensor_of;
  c.option_of = option_of;
  c.origin = call;
  void* state = nullptr;
  return neutron_prepare(c, &state).ok() ? run_prepared(state) : -1;
}
