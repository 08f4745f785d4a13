// SPDX-License-Identifier: Apache-2.0
// Calls of delegates in a program file: the payload, the options and the arguments, as a backend
// sees them; starting and stopping backends.
#include "runtime/plan.h"

namespace deuteron {
namespace {

bool same_text(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}

// A delegate's payload, inline or in a segment.
bool check_payload(Plan& plan, FlatTable delegate) {
  FlatReader& r = plan.reader;
  const FlatTable processed = r.table(delegate, 1);
  if (!r.fault && !processed) return r.corrupt("a delegate has no payload"), false;
  const int8_t location = r.scalar<int8_t>(processed, 0);
  const uint32_t index = r.scalar<uint32_t>(processed, 1);
  if (r.fault) return false;
  if (location == 0) {
    if (index >= plan.inline_payloads.count)
      return r.corrupt("a delegate's inline payload does not exist"), false;
    const FlatTable inline_payload = r.table(plan.inline_payloads, index);
    const FlatVector data = r.vector(inline_payload, 0, 1);
    if (!r.fault && !data) r.corrupt("a delegate's inline payload has no data");
    return !r.fault;
  }
  if (location != 1 || index >= plan.segments.count)
    return r.corrupt("a delegate's payload is in a segment that does not exist"), false;
  const FlatTable segment = r.table(plan.segments, index);
  const uint64_t offset = r.scalar<uint64_t>(segment, 0), bytes = r.scalar<uint64_t>(segment, 1);
  if (r.fault) return false;
  const uint64_t room = plan.segment_end - plan.segment_base;
  if (plan.segment_base == 0 || offset > room || bytes > room - offset)
    return r.corrupt("a delegate's payload lies outside the file"), false;
  return true;
}

Tensor tensor_of(const DelegateCall& call, int32_t i) {
  const Plan& plan = *static_cast<const Plan*>(call.origin);
  const uint32_t value = plan.reader.item<uint32_t>(
      {call.args_at, static_cast<uint32_t>(call.count)}, static_cast<uint32_t>(i));
  Tensor t{};
  known_tensor(plan, value, known_value(plan, value).payload, &t);
  return t;
}

const uint8_t* option_of(const DelegateCall& call, const char* key, uint32_t* bytes) {
  const Plan& plan = *static_cast<const Plan*>(call.origin);
  const FlatReader& r = plan.reader;
  const FlatVector specs = r.known_vector(r.known_table(plan.delegates, call.delegate), 2);
  for (uint32_t k = 0; k < specs.count; ++k) {
    const FlatTable spec = r.known_table(specs, k);
    if (!same_text(reinterpret_cast<const char*>(r.bytes + r.known_vector(spec, 0).at), key))
      continue;
    const FlatVector value = r.known_vector(spec, 1);
    *bytes = value.count;
    return r.bytes + value.at;
  }
  return nullptr;
}

}  // namespace

bool check_delegates(Plan& plan) {
  if (!kHasDelegates) return true;  // a call of one is refused, whatever it is
  FlatReader& r = plan.reader;
  for (uint32_t i = 0; i < plan.delegates.count; ++i) {
    const FlatTable delegate = r.table(plan.delegates, i);
    const char* id = r.string(delegate, 0);
    if (!r.fault && !id) r.corrupt("a delegate has no name");
    if (r.fault || !check_payload(plan, delegate)) return false;
    const FlatVector specs = r.vector(delegate, 2, 4);
    for (uint32_t k = 0; k < specs.count && !r.fault; ++k) {
      const FlatTable spec = r.table(specs, k);
      const char* key = r.string(spec, 0);
      const FlatVector value = r.vector(spec, 1, 1);
      if (!r.fault && (!key || !value))
        r.corrupt("a delegate's compile option has no key or value");
    }
    if (r.fault) return false;
  }
  return true;
}

Payload known_payload(const Plan& plan, uint32_t delegate) {
  const FlatReader& r = plan.reader;
  const FlatTable table = r.known_table(plan.delegates, delegate),
                  processed = r.known_table(table, 1);
  const FlatVector id = r.known_vector(table, 0);
  const uint32_t index = r.known_scalar<uint32_t>(processed, 1);
  Payload p;
  p.id = reinterpret_cast<const char*>(r.bytes + id.at);
  if (r.known_scalar<int8_t>(processed, 0) == 0) {
    const FlatVector data = r.known_vector(r.known_table(plan.inline_payloads, index), 0);
    p.data = r.bytes + data.at;
    p.bytes = data.count;
  } else {
    const FlatTable segment = r.known_table(plan.segments, index);
    p.data = r.bytes + plan.segment_base + r.known_scalar<uint64_t>(segment, 0);
    p.bytes = static_cast<uint32_t>(r.known_scalar<uint64_t>(segment, 1));
  }
  return p;
}

DelegateCall known_delegate_call(const Plan& plan, const CallView& call, const Backend& backend) {
  const Payload payload = known_payload(plan, call.op_index);
  DelegateCall d;
  d.id = payload.id;
  d.payload = payload.data;
  d.payload_bytes = payload.bytes;
  d.count = static_cast<int32_t>(call.args.count);
  d.context = backend.context;
  d.tensor_of = tensor_of;
  d.option_of = option_of;
  d.origin = &plan;
  d.delegate = call.op_index;
  d.args_at = call.args.at;
  return d;
}

const Backend* find_backend(const KernelTable& table, const char* id) {
  for (int32_t i = 0; i < table.backend_count; ++i)
    if (same_text(table.backends[i]->id, id)) return table.backends[i];
  return nullptr;
}

Status start_backends(const KernelTable& kernels) {
  for (int32_t i = 0; i < kernels.backend_count; ++i) {
    const Backend& b = *kernels.backends[i];
    if (!b.start) continue;
    Status s = b.start(b.context);
    if (s.ok()) continue;
    s.op = b.id;
    while (i-- > 0)
      if (kernels.backends[i]->stop) kernels.backends[i]->stop(kernels.backends[i]->context);
    return s;
  }
  return Status{};
}

void stop_backends(const KernelTable& kernels) {
  for (int32_t i = kernels.backend_count; i-- > 0;)
    if (kernels.backends[i]->stop) kernels.backends[i]->stop(kernels.backends[i]->context);
}

}  // namespace deuteron
