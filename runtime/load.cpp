// SPDX-License-Identifier: Apache-2.0
// Loading: the checks in their order, the tables in the caller's memory, and what they need.
#include <initializer_list>
#include <new>

#include "runtime/plan.h"

namespace deuteron {
namespace {

// What all calls together need.
struct Totals {
  CallSize largest;           // of each kind the most that one call has
  uint32_t writes = 0;        // out arguments of all calls
  uint32_t most_tensors = 0;  // of one call
  uint32_t delegates = 0;     // calls of them
};

// "ns::op" + "." + "overload", or only "ns::op", against a kernel's full name.
bool is_named(const char* kernel, const char* op, const char* overload) {
  while (*op && *op == *kernel) ++op, ++kernel;
  if (*op) return false;
  if (!overload || !*overload) return *kernel == 0;
  if (*kernel++ != '.') return false;
  while (*overload && *overload == *kernel) ++overload, ++kernel;
  return *overload == 0 && *kernel == 0;
}

// Finds kernels by operator; remembers the first operators of the file, which are few and used
// often.
struct KernelFinder {
  const KernelTable& table;
  static constexpr uint32_t kRemembered = 64;
  int16_t known[kRemembered] = {};  // index + 1

  const Kernel* find(FlatReader& r, uint32_t op_index, const CallView& call) {
    const bool remembers = op_index < kRemembered;
    if (remembers && known[op_index]) return table.kernels[known[op_index] - 1];
    if (!r.charge(static_cast<uint32_t>(table.count))) return nullptr;
    for (int32_t i = 0; i < table.count; ++i)
      if (is_named(table.kernels[i]->name, call.op, call.overload)) {
        if (remembers && i < INT16_MAX) known[op_index] = static_cast<int16_t>(i + 1);
        return table.kernels[i];
      }
    return nullptr;
  }
};

uint32_t most(uint32_t a, uint32_t b) { return a > b ? a : b; }

// The kernel or the backend of a call, checked; null with a fault.
const void* check_any_call(Plan& plan, KernelFinder& finder, const CallView& call, CallSize* size,
                           uint32_t* workspace, Status* where) {
  if (call.delegate) {
    const Backend* backend = find_backend(finder.table, call.op);
    if (!backend)
      return plan.reader.fail(Code::missing_backend,
                              "calls a delegate, and no backend of this name is linked in"),
             nullptr;
    return check_delegate_call(plan, call, *backend, size, workspace, where) ? backend : nullptr;
  }
  const Kernel* kernel = finder.find(plan.reader, call.op_index, call);
  if (!kernel && plan.reader.fault) return nullptr;
  if (!kernel)
    return plan.reader.fail(Code::missing_kernel, "no kernel of this name is linked in"), nullptr;
  return check_call(plan, call, *kernel, size, where) ? kernel : nullptr;
}

// What it takes to decode a call and to prepare it. A file whose calls all share one table asks for
// that with four bytes a call.
constexpr uint32_t kStepsOfACall = 16, kStepsOfAnArgument = 8;

// `calls`, unless null, gets the kernels and backends.
bool check_calls(Plan& plan, KernelFinder& finder, Prepared* calls, Totals* totals, Status* where) {
  totals->writes = plan.inputs.count + plan.states;
  uint32_t most_workspace = 0;
  for (uint32_t k = 0; k < plan.instructions.count; ++k) {
    CallView call;
    if (!read_call(plan, k, &call, where)) return false;
    if (!call.delegate && !plan.reader.charge(kStepsOfACall + kStepsOfAnArgument * call.args.count))
      return false;
    CallSize size;
    uint32_t workspace = 0;
    const void* called = check_any_call(plan, finder, call, &size, &workspace, where);
    if (!called) return false;
    if (workspace > INT32_MAX - 15 - plan.ports_end)
      return plan.reader.fail(Code::unsupported, "a delegate needs more than 2 GiB"), false;
    most_workspace = most(most_workspace, (workspace + 15) / 16 * 16);
    totals->delegates += call.delegate;
    totals->largest.args = most(totals->largest.args, size.args);
    totals->largest.values = most(totals->largest.values, size.values);
    totals->largest.tensors = most(totals->largest.tensors, size.tensors);
    totals->largest.items = most(totals->largest.items, size.items);
    totals->most_tensors = most(totals->most_tensors, size.tensors);
    totals->writes += size.writes;
    if (calls) calls[k].args = called;
  }
  plan.planned_bytes = plan.ports_end + most_workspace;
  *where = Status{};
  return true;
}

bool check_structure(Plan& plan, KernelFinder& finder, Prepared* calls, Totals* totals,
                     Status* where) {
  return check_values(plan) && check_inputs_and_outputs(plan) && check_delegates(plan) &&
         check_operators(plan) && check_calls(plan, finder, calls, totals, where);
}

Status status_of(const Plan& plan, Status where) {
  where.code = plan.reader.code;
  where.detail = plan.reader.fault;
  return where;
}

void do_nothing(const void*) {}

Status prepare(DelegateCall& call, const Backend& backend, const Status& where,
               Prepared* prepared) {
  PreparedDelegate* d = call.arena->make<PreparedDelegate>();
  void* state = nullptr;
  Status s = backend.prepare(call, &state);
  s.instruction = where.instruction;
  s.op = where.op;
  if (!s.ok()) return s;
  if (!d) return out_of_memory();
  *d = {&backend, state};
  *prepared = {nullptr, d};
  return s;
}

Status prepare(const Kernel& kernel, const Value* const* args, int32_t count, Isa isa, Arena& arena,
               const Status& where, Prepared* prepared) {
  Call call{args, count, &arena, isa};
  Status s = kernel.prepare(call, prepared);
  s.instruction = where.instruction;
  s.op = where.op;
  if (s.ok() && !prepared->run) prepared->run = do_nothing;
  return s;
}

// What stays for the life of a program, but for the prepared calls' own structs.
struct Tables {
  Plan* plan;
  const Tensor** ports;  // inputs, then outputs
  Tensor* tensors;       // behind them
  Prepared* calls;
  StateTensor* states;
};

Tables take_tables(Arena& arena, const Plan& plan) {
  const size_t ports = size_t{plan.inputs.count} + plan.outputs.count;
  Tables t;
  t.plan = arena.make<Plan>();
  t.ports = arena.make<const Tensor*>(ports);
  t.tensors = arena.make<Tensor>(ports);
  t.calls = arena.make<Prepared>(plan.instructions.count);
  t.states = nullptr;  // their number is known once the values are checked
  return t;
}

// A call's struct while measuring: contract in kernel.h.
constexpr size_t kPreparedBytes = 256, kPreparedBytesPerItem = 256,
                 kItemsOfValue = 3;  // integers of lists: values_of_integers

// Prepares every call in memory of its own, only to learn how much it takes. Calls with very long
// lists are estimated.
bool measure_calls(Plan& plan, KernelFinder& finder, size_t* bytes, Status* status) {
  constexpr uint32_t kValues = 64, kTensors = 16;
  Value values[kValues];
  Tensor tensors[kTensors];
  const Value* items[kValues];
  const Value* args[kValues];
  const CallRoom room{args, values, tensors, items};
  alignas(16) uint8_t scratch[kPreparedBytes + kPreparedBytesPerItem * 4];
  size_t shared = 0;
  for (uint32_t k = 0; k < plan.instructions.count; ++k) {
    CallView call;
    CallSize size;
    Status where;
    uint32_t workspace = 0;
    if (!read_call(plan, k, &call, &where)) return false;
    const void* called = check_any_call(plan, finder, call, &size, &workspace, &where);
    if (!called) return false;
    Arena arena{scratch, sizeof scratch, 0};
    Prepared prepared;
    if (call.delegate) {
      const Backend& backend = *static_cast<const Backend*>(called);
      DelegateCall d = known_delegate_call(plan, call, backend);
      d.arena = &arena;
      d.workspace = planned_address(plan, plan.ports_end);
      *status = prepare(d, backend, where, &prepared);
      if (!status->ok() && status->code != Code::out_of_memory) return false;
      *status = Status{};
      *bytes +=
          (arena.used + 15) / 16 * 16 + 16;  // it may begin anywhere between two multiples of 16
      continue;
    }
    const Kernel& kernel = *static_cast<const Kernel*>(called);
    if (size.values > kValues || size.tensors > kTensors) {
      *bytes += kPreparedBytes + kPreparedBytesPerItem * kItemsOfValue * size_t{size.values};
      continue;
    }
    int32_t count = 0;
    decode_call(plan, call, room, &count);
    *status = prepare(kernel, args, count, plan.isa, arena, where, &prepared);
    if (!status->ok() && status->code != Code::out_of_memory) return false;
    *status = Status{};
    *bytes += (arena.used + 7) / 8 * 8;
    if (arena.shared > shared) shared = arena.shared;
  }
  *bytes += shared;
  return true;
}

}  // namespace

Status measure(File file, const KernelTable& kernels, Needs* needs) {
  *needs = {};
  FilePlan plan;
  Totals totals;
  Status status;
  KernelFinder finder{kernels};
  if (!open_plan(file, &plan) || !check_structure(plan, finder, nullptr, &totals, &status))
    return status_of(plan, status);
  Arena arena;
  take_tables(arena, plan);
  keep_several_memories(arena, plan);
  arena.make<StateTensor>(plan.states);
  const size_t before = arena.used;
  take_overlap_room(arena, plan, totals.writes, totals.most_tensors);
  const size_t checking = arena.used;
  arena.used = before;
  take_room(arena, totals.largest);
  size_t bytes = (arena.used + 7) / 8 * 8;
  plan.planned = reinterpret_cast<uint8_t*>(uintptr_t{1} << 16);  // an address that nobody follows
  if (!measure_calls(plan, finder, &bytes, &status))
    return status.ok() ? status_of(plan, status) : status;
  if (bytes < checking) bytes = checking;
  bytes = (bytes + 15) / 16 * 16;
  if (bytes > UINT32_MAX) bytes = UINT32_MAX;
  needs->planned_bytes = plan.planned_bytes;
  needs->tables_bytes = static_cast<uint32_t>(bytes);
  needs->inputs = static_cast<int32_t>(plan.inputs.count);
  needs->outputs = static_cast<int32_t>(plan.outputs.count);
  needs->instructions = static_cast<int32_t>(plan.instructions.count);
  return status;
}

struct Loader {
  Program& program;
  const KernelTable& kernels;
  Arena arena;
  Plan plan;
  Totals totals;
  Tables tables;
  CallRoom room;
  Status status;
  uint32_t opened = 0;  // calls that are prepared, and their delegates opened

  // The status with the amount that would have been enough, or the other fault that stands in the
  // way.
  Status tables_too_small(File file) const {
    Needs needs;
    Status s = measure(file, kernels, &needs);
    if (!s.ok()) return s;
    s = out_of_memory();
    s.bytes_needed = needs.tables_bytes;
    return s;
  }

  Status load(File file, const Memory* planned, int32_t memories) {
    KernelFinder finder{kernels};
#ifndef DEUTERON_ONE_MEMORY
    SeveralMemories several;
    plan.several = &several;
#endif
    if (!open_plan(file, &plan)) return status_of(plan, status);
    tables = take_tables(arena, plan);
    if (!arena.fits()) return tables_too_small(file);
    if (!check_structure(plan, finder, tables.calls, &totals, &status))
      return status_of(plan, status);
    keep_several_memories(arena, plan);
    if (!arena.fits()) return tables_too_small(file);
    if (Status s = take_memories(plan, planned, memories); !s.ok()) return s;
    tables.states = arena.make<StateTensor>(plan.states);
    if (!arena.fits()) return tables_too_small(file);
    const size_t before = arena.used;
    const OverlapRoom overlap = take_overlap_room(arena, plan, totals.writes, totals.most_tensors);
    if (!arena.fits()) return tables_too_small(file);
    if (!check_overlap(plan, tables.calls, overlap, &status)) return status_of(plan, status);
    arena.used = before;
    room = take_room(arena, totals.largest);
    if (!arena.fits()) return tables_too_small(file);
    copy_constants(plan);
    decode_ports();
    decode_states();
    const Status s = prepare_calls();
    if (s.ok()) return publish(), s;
    close_delegates();
    return s.code == Code::out_of_memory ? tables_too_small(file) : s;
  }

  void close_delegates() {
    while (kHasDelegates && opened-- > 0) {
      if (tables.calls[opened].run) continue;
      const PreparedDelegate& d = *static_cast<const PreparedDelegate*>(tables.calls[opened].args);
      d.backend->close(d.state);
    }
  }

  // What an output that is none looks like: no bytes.
  static Tensor none() {
    static const int32_t kSize = 0;
    static const uint8_t kOrder = 0;
    return {nullptr, &kSize, &kOrder, 0, 1, ScalarType::u8, false};
  }

  void decode_ports() {
    const FlatReader& r = plan.reader;
    uint32_t port = 0;
    for (const FlatVector list : {plan.inputs, plan.outputs})
      for (uint32_t i = 0; i < list.count; ++i, ++port) {
        const uint32_t value = r.item<uint32_t>(list, i);
        const ValueView v = known_value(plan, value);
        if (v.tag == ValueTag::null) tables.tensors[port] = none();
        else known_tensor(plan, value, v.payload, &tables.tensors[port]);
        tables.ports[port] = &tables.tensors[port];
      }
  }

  void decode_states() {
    for (uint32_t i = 0, k = 0; k < plan.states; ++i) {
      if (!is_state(plan, i)) continue;
      const ValueView v = known_value(plan, i);
      known_tensor(plan, i, v.payload, &tables.states[k].tensor);
      tables.states[k++].initial = known_initial(plan, v.payload);
    }
  }

  Status prepare_calls() {
    for (uint32_t k = 0; k < plan.instructions.count; ++k) {
      const CallView call = known_call(plan, k);
      Status where;
      where.instruction = static_cast<int32_t>(k);
      where.op = call.op;
      Prepared prepared;
      Status s = call.delegate ? prepare_delegate(call, k, where, &prepared)
                               : prepare_kernel(call, k, where, &prepared);
      if (!s.ok()) return s;
      if (!arena.fits()) return out_of_memory();
      if (call.delegate) s = open(*static_cast<const PreparedDelegate*>(prepared.args), where);
      if (!s.ok()) return s;
      tables.calls[k] = prepared;
      opened = k + 1;
    }
    return Status{};
  }

  Status prepare_kernel(const CallView& call, uint32_t k, const Status& where, Prepared* prepared) {
    int32_t count = 0;
    const Value* const* args = decode_call(plan, call, room, &count);
    return prepare(*static_cast<const Kernel*>(tables.calls[k].args), args, count, plan.isa, arena,
                   where, prepared);
  }

  Status prepare_delegate(const CallView& call, uint32_t k, const Status& where,
                          Prepared* prepared) {
    const Backend& backend = *static_cast<const Backend*>(tables.calls[k].args);
    DelegateCall d = known_delegate_call(plan, call, backend);
    d.arena = &arena;
    d.workspace = planned_address(plan, plan.ports_end);
    return prepare(d, backend, where, prepared);
  }

  static Status open(const PreparedDelegate& d, const Status& where) {
    Status s = d.backend->open(d.state);
    s.instruction = where.instruction;
    s.op = where.op;
    return s.ok() ? Status{} : s;
  }

  void publish() {
    *tables.plan = plan;
    program.plan_ = tables.plan;
    program.inputs_ = tables.ports;
    program.outputs_ = tables.ports + plan.inputs.count;
    program.states_ = tables.states;
    program.calls_ = tables.calls;
    program.room_args_ = room.args;
    program.room_values_ = room.values;
    program.room_tensors_ = room.tensors;
    program.room_items_ = room.items;
    program.input_count_ = static_cast<int32_t>(plan.inputs.count);
    program.output_count_ = static_cast<int32_t>(plan.outputs.count);
    program.instruction_count_ = static_cast<int32_t>(plan.instructions.count);
    program.state_count_ = static_cast<int32_t>(plan.states);
    program.reset_state();
    program.delegate_calls_ = static_cast<int32_t>(totals.delegates);
  }
};

Status Program::load(File file, const KernelTable& kernels, Memory tables, Memory planned) {
  return load(file, kernels, tables, &planned, 1);
}

Status Program::load(File file, const KernelTable& kernels, Memory tables, const Memory* planned,
                     int32_t memories) {
  unload();
  if (const char* why = why_not_memory(file, tables, planned, memories)) {
    Status s;
    s.code = Code::bad_input;
    s.detail = why;
    return s;
  }
  const Arena arena{static_cast<uint8_t*>(tables.data), tables.data ? tables.bytes : 0, 0};
  return Loader{*this, kernels, arena, {}, {}, {}, {}, {}, 0}.load(file, planned, memories);
}

}  // namespace deuteron
