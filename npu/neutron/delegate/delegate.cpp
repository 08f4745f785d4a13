// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/delegate/delegate.h"

#include "npu/neutron/delegate/missing_kernel.h"
#include "npu/neutron/delegate/reorder.h"

namespace deuteron {
namespace {

// An input or output that the CPU brings from one memory order to the other.
struct Transposition {
  Tensor tensor;
  void* machine;       // in the workspace
  bool channels_last;  // there
};

struct State {
  const NeutronDriver* driver;
  NeutronModelConfig model;
  const char* subgraph;  // newer drivers read one field more behind the config: null is the default
  void* context;         // the handle's memory, null if the driver wants none
  NeutronModelHandle handle;
  NeutronDataConfig data;
  Transposition *before, *after;
  int32_t before_count, after_count;
  const uint8_t* payload;
  uint32_t payload_bytes;
  bool fetches;
};

Status failed(const char* step, NeutronError error) {
  Status s;
  s.code = Code::delegate_failed;
  s.step = step;
  s.error = error;
  s.detail = explain_neutron_error(error);
  return s;
}

bool is_in_map(const uint8_t* map, int32_t count, int32_t value) {
  for (int32_t i = 0; i < count; ++i)
    if (map[i] == value) return true;
  return false;
}

// The scratch argument, -1: none, -2: the option is no index of an unused argument.
int32_t scratch_argument(const DelegateCall& call, const NeutronPayload& p) {
  uint32_t digits = 0;
  const uint8_t* text = call.option(kNeutronScratchOption, &digits);
  if (!text) return -1;
  if (digits > 0 && text[digits - 1] == 0) --digits;  // writers may count the end of the string
  int32_t index = 0;
  if (digits == 0 || digits > 3) return -2;
  for (uint32_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return -2;
    index = 10 * index + (text[i] - '0');
  }
  return index < p.arguments && !is_in_map(p.input_map, p.inputs, index) ? index : -2;
}

// Port: an input, or behind the inputs an output.
int32_t argument_of_port(const NeutronPayload& p, int32_t port) {
  return port < p.inputs ? p.input_map[port] : p.arguments + p.output_map[port - p.inputs];
}
bool is_channels_last(const NeutronPayload& p, int32_t port) {
  return (port < p.inputs ? p.input_flags[port] : p.output_flags[port - p.inputs]) != 0;
}

bool needs_transposition(const Tensor& t, bool channels_last) {
  uint8_t order[kMaxRank];
  payload_order(t.rank, channels_last, order);
  return !is_same_order(t, t.dim_order, order);
}

uint32_t bytes_of(const Tensor& t) {
  return static_cast<uint32_t>(t.numel) * element_bytes(t.type);
}

// Bytes of the copies that the CPU transposes, and the number of inputs and outputs among them.
struct Copies {
  uint64_t bytes = 0;
  int32_t inputs = 0, outputs = 0;
};
Copies copies_of(const DelegateCall& call, const NeutronPayload& p) {
  Copies c;
  for (int32_t port = 0; port < p.inputs + p.outputs; ++port) {
    const Tensor t = call.tensor(argument_of_port(p, port));
    if (!needs_transposition(t, is_channels_last(p, port))) continue;
    c.bytes += round_up_16(bytes_of(t));
    ++(port < p.inputs ? c.inputs : c.outputs);
  }
  return c;
}

Status check_ports(const DelegateCall& call, const NeutronPayload& p) {
  for (int32_t port = 0; port < p.inputs + p.outputs && p.is_open_model; ++port) {
    const int32_t argument = argument_of_port(p, port);
    const Tensor t = call.tensor(argument);
    if (t.type != ScalarType::s8 && t.type != ScalarType::u8)
      return bad_argument(argument, "the payload's inputs and outputs are int8 or uint8");
    if (bytes_of(t) == p.bytes_of_port(port)) continue;
    Status s = bad_argument(argument, "has another number of bytes than the payload says");
    s.bytes_needed = p.bytes_of_port(port);
    return s;
  }
  return Status{};
}

Status check_scratch(const DelegateCall& call, int32_t argument, uint64_t needed) {
  const Tensor t = call.tensor(argument);
  if (t.type != ScalarType::s8 && t.type != ScalarType::u8)
    return bad_argument(argument, "the scratch argument must be of bytes");
  if (bytes_of(t) >= needed) return Status{};
  Status s = bad_argument(argument, "the scratch argument is smaller than what the payload needs");
  s.bytes_needed = static_cast<uint32_t>(needed);
  return s;
}

// Cuts the workspace into its parts.
struct Cutter {
  uint8_t* at;
  void* take(uint64_t bytes) {
    void* p = at;
    at += round_up_16(bytes);
    return p;
  }
};

void copy_by_memmove(void* to, void* from, uint32_t bytes, uint32_t) {
  __builtin_memmove(to, from, bytes);
}
void wait_for_nothing(uint32_t) {}

}  // namespace

NeutronConfig kNeutronFetchByMemcpy = {copy_by_memmove, wait_for_nothing};

const char* explain_neutron_error(int32_t error) {
  static const char* const kDriver[] = {
      "the driver: a generic error",
      "the driver: not supported",
      "the driver: the microcode has another magic word or version",
      "the driver: an invalid argument",
      "the driver: a bad handle",
      "the driver: no memory",
      "the driver: an internal fault",
      "the driver: an unknown architecture",
      "the driver: the trace was not run",
      "the driver: timeout"};
  static const char* const kFirmware[] = {
      "the firmware: a generic error",   "the firmware: the microcode",
      "the firmware: a buffer overflow", "the firmware: a null pointer",
      "the firmware: an interrupt",      "the firmware: the data mover"};
  const NeutronFault f = fault_of(error);
  if (f.component == 1) return "the driver's library";
  if (f.component == 2)
    return f.category < 6 ? kFirmware[f.category] : "the firmware: an error that is not known";
  if (f.component == 3)
    return f.category < 10 ? kDriver[f.category] : "the driver: an error that is not known";
  return "an error that is not the driver's";
}

Status neutron_start(const void* context) {
  const NeutronError error = static_cast<const NeutronDriver*>(context)->init();
  return error == kNeutronOk ? Status{} : failed("init", error);
}

void neutron_stop(const void* context) { static_cast<const NeutronDriver*>(context)->deinit(); }

Status neutron_check(const DelegateCall& call, uint32_t* workspace) {
  NeutronPayload p;
  if (Status s = read_payload(call.payload, call.payload_bytes, &p); !s.ok()) return s;
  if (call.count != p.arguments + p.outputs) {
    Status s;
    s.code = Code::bad_argument;
    s.detail = "the delegate is called with another number of arguments than its payload says";
    return s;
  }
  if (Status s = check_ports(call, p); !s.ok()) return s;
  const uint64_t needed = workspace_bytes(p, copies_of(call, p).bytes);
  if (needed > INT32_MAX) {
    Status s;
    s.code = Code::unsupported;
    s.detail = "the delegate needs more than 2 GiB";
    return s;
  }
  const int32_t scratch = scratch_argument(call, p);
  *workspace = scratch >= 0 ? 0 : static_cast<uint32_t>(needed);
  if (scratch >= 0) return check_scratch(call, scratch, needed);
  if (scratch == -1) return Status{};
  Status s;
  s.code = Code::corrupt;
  s.detail =
      "the compile option deuteron_scratch is not the index of an argument that the payload leaves "
      "alone";
  return s;
}

Use neutron_use(const DelegateCall& call, int32_t argument) {
  NeutronPayload p;
  if (!read_payload(call.payload, call.payload_bytes, &p).ok())
    return Use::none;  // never: check() has passed
  if (argument >= p.arguments) return Use::write;
  if (is_in_map(p.input_map, p.inputs, argument)) return Use::read;
  return argument == scratch_argument(call, p) ? Use::scratch : Use::none;
}

Status neutron_prepare(DelegateCall& call, void** state) {
  NeutronPayload p;
  if (Status s = read_payload(call.payload, call.payload_bytes, &p); !s.ok()) return s;
  const NeutronDriver& driver = *static_cast<const NeutronDriver*>(call.context);
  const Copies copies = copies_of(call, p);
  const int32_t scratch = scratch_argument(call, p);
  uint8_t* workspace =
      static_cast<uint8_t*>(scratch >= 0 ? call.tensor(scratch).data : call.workspace);
  if (reinterpret_cast<uintptr_t>(workspace) % 16 != 0)
    return bad_argument(scratch, "the scratch argument does not lie at a multiple of 16");

  Arena& arena = *call.arena;
  const size_t context_bytes = driver.context_bytes();
  void* context = arena.take(context_bytes, 16);
  State* s = arena.make<State>();
  const void** inputs = arena.make<const void*>(static_cast<size_t>(p.inputs));
  void** outputs = arena.make<void*>(static_cast<size_t>(p.outputs) + 3);
  Transposition* before = arena.make<Transposition>(static_cast<size_t>(copies.inputs));
  Transposition* after = arena.make<Transposition>(static_cast<size_t>(copies.outputs));
  if (!arena.fits()) return out_of_memory();

  Cutter cutter{workspace};
  outputs[p.outputs] = cutter.take(p.scratch_bytes);
  outputs[p.outputs + 1] = cutter.take(p.profile_bytes);
  outputs[p.outputs + 2] = cutter.take(p.debug_bytes);
  *s = {};
  s->data = {inputs, outputs, outputs[p.outputs], cutter.take(p.sram_bytes)};
  s->driver = &driver;
  s->model = {p.microcode, p.weights, p.kernels, driver.timeout_seconds};
  s->context = context_bytes > 0 ? context : nullptr;
  s->before = before;
  s->after = after;
  s->fetches = p.sram_bytes > 0;
  s->payload = call.payload;
  s->payload_bytes = call.payload_bytes;
  for (int32_t port = 0; port < p.inputs + p.outputs; ++port) {
    const bool input = port < p.inputs, channels_last = is_channels_last(p, port);
    const Tensor t = call.tensor(argument_of_port(p, port));
    void* machine = t.data;
    if (needs_transposition(t, channels_last)) {
      machine = cutter.take(bytes_of(t));
      (input ? s->before[s->before_count++] : s->after[s->after_count++]) = {t, machine,
                                                                             channels_last};
    }
    if (input) inputs[port] = machine;
    else outputs[port - p.inputs] = machine;
  }
  *state = s;
  return Status{};
}

Status neutron_open(void* state) {
  State& s = *static_cast<State*>(state);
  s.handle = s.context;
  NeutronError error = s.driver->prepare(&s.model, &s.handle);
  if (error != kNeutronOk) {
    Status status = failed("prepare", error);
    if (const char* name = missing_kernel(s.payload, s.payload_bytes, error)) status.detail = name;
    return status;
  }
  if (!s.fetches || !s.driver->fetching) return Status{};
  error = s.driver->set_config(s.driver->fetching);
  if (error == kNeutronOk) return Status{};
  s.driver->unprepare(s.handle);
  return failed("set fetching", error);
}

Status neutron_run(void* state) {
  const State& s = *static_cast<const State*>(state);
  const NeutronDriver& driver = *s.driver;
  uint8_t order[kMaxRank];
  for (int32_t i = 0; i < s.before_count; ++i) {
    const Transposition& t = s.before[i];
    payload_order(t.tensor.rank, t.channels_last, order);
    copy_reordered(t.tensor, t.tensor.dim_order, order, t.tensor.data, t.machine);
  }
  if (driver.resume)
    if (const NeutronError error = driver.resume(); error != kNeutronOk)
      return failed("resume", error);
  const NeutronError error = driver.run(s.handle, &s.data);
  if (driver.suspend) driver.suspend();  // a clock that goes on costs power, not results
  if (error != kNeutronOk) return failed("run", error);
  for (int32_t i = 0; i < s.after_count; ++i) {
    const Transposition& t = s.after[i];
    payload_order(t.tensor.rank, t.channels_last, order);
    copy_reordered(t.tensor, order, t.tensor.dim_order, t.machine, t.tensor.data);
  }
  return Status{};
}

void neutron_close(void* state) {
  const State& s = *static_cast<const State*>(state);
  s.driver->unprepare(s.handle);
}

NeutronPayload neutron_payload(const PreparedDelegate& delegate) {
  NeutronPayload p;
  if (delegate.backend->run != neutron_run) return p;
  const State& s = *static_cast<const State*>(delegate.state);
  read_payload(s.payload, s.payload_bytes, &p);
  return p;
}

NeutronBuffers neutron_buffers(const PreparedDelegate& delegate) {
  const NeutronPayload p = neutron_payload(delegate);
  if (p.outputs == 0) return {};
  void** outputs = static_cast<const State*>(delegate.state)->data.outputs;
  return {static_cast<const uint8_t*>(outputs[p.outputs + 1]),
          static_cast<const uint8_t*>(outputs[p.outputs + 2]), p.profile_bytes, p.debug_bytes};
}

}  // namespace deuteron
