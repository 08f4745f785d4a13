// SPDX-License-Identifier: Apache-2.0
// Calls of a program file: the instruction, its operator, its arguments against the kernel's
// schema, and their decoding.
#include "runtime/plan.h"
#include "runtime/schema.h"

namespace deuteron {
namespace {

bool is_tensor_list(ValueTag tag) {
  return tag == ValueTag::tensor_list || tag == ValueTag::optional_tensor_list;
}

// What the value becomes when it is decoded.
Kind kind_of(ValueTag tag) {
  switch (tag) {
    case ValueTag::integer:
      return Kind::integer;
    case ValueTag::boolean:
      return Kind::boolean;
    case ValueTag::real:
      return Kind::real;
    case ValueTag::tensor:
      return Kind::tensor;
    case ValueTag::string:
      return Kind::string;
    case ValueTag::int_list:
      return Kind::int_list;
    case ValueTag::real_list:
      return Kind::real_list;
    case ValueTag::bool_list:
      return Kind::bool_list;
    case ValueTag::tensor_list:
    case ValueTag::optional_tensor_list:
      return Kind::tensor_list;
    default:
      return Kind::none;
  }
}

// Whether a value may stand where the schema has `letter`. Only `v` has items that may be none.
bool fits(char letter, ValueTag tag) {
  return takes(letter, kind_of(tag)) && (tag != ValueTag::optional_tensor_list || letter == 'v');
}

bool has_elements(const FlatReader& r, FlatTable tensor) {
  const FlatVector sizes = r.known_vector(tensor, kSizes);
  for (uint32_t i = 0; i < sizes.count; ++i)
    if (r.item<int32_t>(sizes, i) == 0) return false;
  return true;
}

// Kernels may look at every constant when they are prepared, and backends at their payload: a step
// for so many bytes.
constexpr uint32_t kBytesPerStep = 16;

uint32_t known_bytes(const Plan& plan, FlatTable payload) {
  Tensor tensor;
  return known_shape(plan, payload, &tensor);
}

// A tensor that a call uses must have memory, unless it has no bytes. Pays for finding it.
bool check_tensor(Plan& plan, uint32_t index, FlatTable payload, bool written) {
  FlatReader& r = plan.reader;
  if (!r.charge(placement_steps(plan, payload))) return false;
  const DataPlace p = known_place(plan, index, payload);
  if (p.place == Place::constant && !r.charge(known_bytes(plan, payload) / kBytesPerStep))
    return false;
  if (p.place == Place::nowhere && has_elements(r, payload))
    return r.corrupt("the tensor has neither memory nor data and is no input or output"), false;
  if (written && p.place == Place::constant)
    return r.fail(Code::bad_argument, "a constant in the file would be overwritten"), false;
  return true;
}

// Whether the list `returned` holds the out arguments, or the items of the list of outs.
bool returns_outs(Plan& plan, const CallView& call, uint32_t count, const char* schema,
                  FlatTable returned) {
  FlatReader& r = plan.reader;
  const FlatVector items = r.known_vector(returned, 0);
  if (items.count == 0 || count == 0) return false;
  FlatVector outs = call.args;
  uint32_t first = count - items.count;
  if (schema[count - 1] == 'W') {
    outs = r.known_vector(known_value(plan, r.item<uint32_t>(call.args, count - 1)).payload, 0);
    first = 0;
    if (items.count != outs.count) return false;
  } else if (items.count > count) {
    return false;
  }
  for (uint32_t i = 0; i < items.count; ++i) {
    if (schema[count - 1] != 'W' && !is_out(schema[first + i])) return false;
    if (r.item<uint32_t>(items, i) != r.item<uint32_t>(outs, first + i)) return false;
  }
  return true;
}

// The argument that the return value repeats: the last out, wherever it stands.
uint32_t returned_argument(const char* schema, uint32_t count) {
  for (uint32_t i = count; i-- > 0;)
    if (is_out(schema[i])) return i;
  return count - 1;
}

// The value after the last argument repeats the out, or lists all outs.
bool check_return_value(Plan& plan, const CallView& call, uint32_t count, const char* schema) {
  FlatReader& r = plan.reader;
  const uint32_t returned = r.item<uint32_t>(call.args, count);
  if (count != 0 && returned == r.item<uint32_t>(call.args, returned_argument(schema, count)))
    return true;
  const ValueView v = known_value(plan, returned);
  if (v.tag == ValueTag::tensor_list && returns_outs(plan, call, count, schema, v.payload))
    return true;
  return r.corrupt("the call's return value is not its out argument"), false;
}

// Values whose room so many integers take: of the smallest, with pointers of 32 bits, which hold
// three.
constexpr uint32_t values_of_integers(uint32_t count) { return (count + 2) / 3; }
static_assert(sizeof(Value) >= 3 * sizeof(int64_t), "three integers fit where a Value lies");

struct CallDecoder {
  const Plan& plan;
  Value* values;
  Tensor* tensors;
  const Value** items;

  // Decodes value `index` into the next free Value.
  const Value* decode(uint32_t index) {
    const FlatReader& r = plan.reader;
    Value* value = values++;
    *value = Value{};
    const ValueView v = known_value(plan, index);
    value->kind = kind_of(v.tag);
    switch (v.tag) {
      case ValueTag::integer:
        value->integer = r.known_scalar<int64_t>(v.payload, 0);
        break;
      case ValueTag::boolean:
        value->boolean = r.known_scalar<uint8_t>(v.payload, 0) != 0;
        break;
      case ValueTag::real:
        value->real = r.known_scalar<double>(v.payload, 0);
        break;
      case ValueTag::string:
        value->string = reinterpret_cast<const char*>(r.bytes + r.known_vector(v.payload, 0).at);
        break;
      case ValueTag::tensor:
        decode_tensor(index, value);
        break;
      case ValueTag::int_list:
        decode_integers(v.payload, &value->list);
        break;
      case ValueTag::tensor_list:
      case ValueTag::optional_tensor_list:
        decode_items(v.payload, &value->list);
        break;
      case ValueTag::real_list:
      case ValueTag::bool_list:
        inline_list(v.payload, &value->list);
        break;
      default:
        break;
    }
    return value;
  }
  void decode_tensor(uint32_t index, Value* value) {
    value->kind = Kind::tensor;
    known_tensor(plan, index, known_value(plan, index).payload, tensors);
    value->tensor = tensors++;
  }
  // The numbers lie in the room of the Values that the next ones would have.
  void decode_integers(FlatTable payload, List* list) {
    const FlatReader& r = plan.reader;
    const FlatVector v = r.known_vector(payload, 0);
    auto* at = reinterpret_cast<uint8_t*>(values);
    *list = {nullptr, at, static_cast<int32_t>(v.count)};
    for (uint32_t i = 0; i < v.count; ++i, at += 8) {
      const FlatTable item =
          known_value(plan, static_cast<uint32_t>(r.item<int64_t>(v, i))).payload;
      const int64_t number = r.known_scalar<int64_t>(item, 0);
      __builtin_memcpy(at, &number, sizeof number);
    }
    values += values_of_integers(v.count);
  }
  // Elements are tensors or (a negative index) none, checked at load: nothing here calls itself.
  void decode_items(FlatTable payload, List* list) {
    const FlatVector v = plan.reader.known_vector(payload, 0);
    const Value** at = items;
    items += v.count;
    for (uint32_t i = 0; i < v.count; ++i) {
      const auto item = plan.reader.item<int32_t>(v, i);
      *values = Value{};
      if (item >= 0) decode_tensor(static_cast<uint32_t>(item), values);
      at[i] = values++;
    }
    *list = {at, nullptr, static_cast<int32_t>(v.count)};
  }
  void inline_list(FlatTable payload, List* list) {
    const FlatVector v = plan.reader.known_vector(payload, 0);
    *list = {nullptr, plan.reader.bytes + v.at, static_cast<int32_t>(v.count)};
  }
};

// Adds what decoding a list of ints or tensors takes beside its own value.
void add_items(ValueTag tag, uint32_t count, CallSize* size) {
  size->values += is_tensor_list(tag) ? count : values_of_integers(count);
  if (!is_tensor_list(tag)) return;
  size->items += count;
  size->tensors += count;
}

// The tensors of a list that a call uses; an item may be none only where values.cpp lets it.
bool check_tensors(Plan& plan, FlatVector items, bool written) {
  FlatReader& r = plan.reader;
  if (!r.charge(items.count)) return false;
  for (uint32_t k = 0; k < items.count; ++k) {
    const uint32_t item = r.item<uint32_t>(items, k);
    if (item < plan.values.count &&
        !check_tensor(plan, item, known_value(plan, item).payload, written))
      return false;
  }
  return true;
}

// One argument of a kernel's call, and what it adds to `size`.
bool check_argument(Plan& plan, uint32_t index, char letter, CallSize* size) {
  FlatReader& r = plan.reader;
  const ValueView v = known_value(plan, index);
  if (!fits(letter, v.tag)) return r.fail(Code::bad_argument, expected(letter)), false;
  size->values += 1;
  if (v.tag == ValueTag::tensor) {
    size->tensors += 1;
    size->writes += is_out(letter);
    return check_tensor(plan, index, v.payload, is_out(letter));
  }
  if (v.tag != ValueTag::int_list && !is_tensor_list(v.tag)) return true;
  const FlatVector items = r.known_vector(v.payload, 0);
  add_items(v.tag, items.count, size);
  if (v.tag == ValueTag::int_list) return r.charge(items.count);  // decoded one by one later
  if (letter == 'W') size->writes += items.count;
  return check_tensors(plan, items, letter == 'W');
}

}  // namespace

bool check_operators(Plan& plan) {
  FlatReader& r = plan.reader;
  for (uint32_t i = 0; i < plan.operators.count; ++i) {
    const FlatTable op = r.table(plan.operators, i);
    const char* name = r.string(op, 0);
    r.string(op, 1);
    if (!r.fault && !name) r.corrupt("an operator has no name");
    if (r.fault) return false;
  }
  return true;
}

#ifdef DEUTERON_NO_DELEGATES
static bool read_delegate_call(Plan& plan, uint32_t delegate, FlatTable, CallView*, Status* where) {
  FlatReader& r = plan.reader;
  // null after a fault, which stays the first
  where->op = r.string(r.table(plan.delegates, delegate), 0);
  return r.fail(Code::missing_backend,
                "calls a delegate, and no backend of this name is linked in"),
         false;
}
#else
static bool read_delegate_call(Plan& plan, uint32_t delegate, FlatTable body, CallView* call,
                               Status* where) {
  FlatReader& r = plan.reader;
  call->delegate = true;
  call->op_index = delegate;
  call->op = known_payload(plan, delegate).id;  // by check_delegates
  where->op = call->op;
  call->args = r.vector(body, 1, 4);
  if (!r.fault && !call->args) r.corrupt("a call has no list of arguments");
  return !r.fault;
}
#endif

bool read_call(Plan& plan, uint32_t index, CallView* call, Status* where) {
  FlatReader& r = plan.reader;
  *call = {};
  where->instruction = static_cast<int32_t>(index);
  const FlatTable instruction = r.table(plan.instructions, index);
  const uint8_t tag = r.scalar<uint8_t>(instruction, 0);
  const FlatTable body = r.table(instruction, 1);
  if (r.fault) return false;
  if (tag == 0 || tag > static_cast<uint8_t>(InstructionTag::free_call) || !body)
    return r.corrupt("an instruction has no known type"), false;
  switch (static_cast<InstructionTag>(tag)) {
    case InstructionTag::delegate_call: {
      const uint32_t delegate = r.scalar<uint32_t>(body, 0);
      if (!r.fault && delegate >= plan.delegates.count)
        r.corrupt("a call refers to a delegate that does not exist");
      if (r.fault) return false;
      return read_delegate_call(plan, delegate, body, call, where);
    }
    case InstructionTag::move_call:
      return r.fail(Code::unsupported, "a MoveCall instruction (control flow)"), false;
    case InstructionTag::jump_false_call:
      return r.fail(Code::unsupported, "a JumpFalseCall instruction (control flow)"), false;
    case InstructionTag::free_call:
      return r.fail(Code::unsupported, "a FreeCall instruction"), false;
    default:
      break;
  }
  const uint32_t op = r.scalar<uint32_t>(body, 0);
  if (!r.fault && op >= plan.operators.count)
    r.corrupt("a call refers to an operator that does not exist");
  if (r.fault) return false;
  const FlatTable name = r.known_table(plan.operators, op);  // by check_operators
  const FlatVector text = r.known_vector(name, 0), overload = r.known_vector(name, 1);
  call->op_index = op;
  call->op = reinterpret_cast<const char*>(r.bytes + text.at);
  call->overload = overload ? reinterpret_cast<const char*>(r.bytes + overload.at) : nullptr;
  where->op = call->op;
  call->args = r.vector(body, 1, 4);
  if (!r.fault && !call->args) r.corrupt("a call has no list of arguments");
  return !r.fault;
}

CallView known_arguments(const Plan& plan, uint32_t index) {
  const FlatReader& r = plan.reader;
  const FlatTable instruction = r.known_table(plan.instructions, index),
                  body = r.known_table(instruction, 1);
  CallView call;
#ifndef DEUTERON_NO_DELEGATES
  call.delegate = r.known_scalar<uint8_t>(instruction, 0) ==
                  static_cast<uint8_t>(InstructionTag::delegate_call);
#endif
  call.op_index = r.known_scalar<uint32_t>(body, 0);
  call.args = r.known_vector(body, 1);
  return call;
}

CallView known_call(const Plan& plan, uint32_t index) {
  const FlatReader& r = plan.reader;
  CallView call = known_arguments(plan, index);
  const FlatTable name =
      r.known_table(call.delegate ? plan.delegates : plan.operators, call.op_index);
  call.op = reinterpret_cast<const char*>(r.bytes + r.known_vector(name, 0).at);
  return call;
}

bool check_call(Plan& plan, const CallView& call, const Kernel& kernel, CallSize* size,
                Status* where) {
  FlatReader& r = plan.reader;
  uint32_t count = 0;
  while (kernel.schema[count]) ++count;
  if (call.args.count != count + 1)
    return r.fail(Code::bad_argument, "the call has another number of arguments than the kernel"),
           false;
  *size = {};
  size->args = count;
  if (!r.charge(count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    where->argument = static_cast<int16_t>(i);
    const uint32_t index = r.item<uint32_t>(call.args, i);
    if (index >= plan.values.count)
      return r.corrupt("an argument refers to a value that does not exist"), false;
    if (!check_argument(plan, index, kernel.schema[i], size)) return false;
  }
  where->argument = -1;
  if (r.item<uint32_t>(call.args, count) >= plan.values.count)
    return r.corrupt("a return value does not exist"), false;
  return check_return_value(plan, call, count, kernel.schema);
}

bool check_delegate_call(Plan& plan, const CallView& call, const Backend& backend, CallSize* size,
                         uint32_t* workspace_bytes, Status* where) {
  FlatReader& r = plan.reader;
  *size = {};
  if (call.args.count > INT16_MAX)
    return r.fail(Code::unsupported, "a delegate is called with more than 32767 arguments"), false;
  const DelegateCall d = known_delegate_call(plan, call, backend);
  const uint32_t options = r.known_vector(r.known_table(plan.delegates, call.op_index), 2).count;
  if (!r.charge(16 * call.args.count) || !r.charge(d.payload_bytes / kBytesPerStep) ||
      !r.charge(options))
    return false;
  for (uint32_t i = 0; i < call.args.count; ++i) {
    where->argument = static_cast<int16_t>(i);
    const uint32_t index = r.item<uint32_t>(call.args, i);
    if (index >= plan.values.count)
      return r.corrupt("an argument refers to a value that does not exist"), false;
    const ValueView v = known_value(plan, index);
    if (v.tag != ValueTag::tensor)
      return r.fail(Code::bad_argument, "a delegate takes tensors only"), false;
    if (!r.charge(4 * placement_steps(plan, v.payload)))
      return false;  // backends look at an argument several times
    size->values += 1;
    size->tensors += 1;
  }
  where->argument = -1;
  size->args = call.args.count;
  if (Status s = backend.check(d, workspace_bytes); !s.ok()) {
    s.instruction = where->instruction;
    s.op = where->op;
    *where = s;
    return r.fail(s.code, s.detail), false;
  }
  for (uint32_t i = 0; i < call.args.count; ++i) {
    where->argument = static_cast<int16_t>(i);
    const Use use = backend.use(d, static_cast<int32_t>(i));
    const bool writes = use == Use::write || use == Use::scratch;
    const uint32_t index = r.item<uint32_t>(call.args, i);
    if (use != Use::none && !check_tensor(plan, index, known_value(plan, index).payload, writes))
      return false;
    size->writes += writes;
  }
  where->argument = -1;
  return true;
}

CallRoom take_room(Arena& arena, const CallSize& largest) {
  CallRoom room;
  room.values = arena.make<Value>(largest.values);
  room.args = arena.make<const Value*>(largest.args);
  room.items = arena.make<const Value*>(largest.items);
  room.tensors = arena.make<Tensor>(largest.tensors);
  return room;
}

const Value* const* decode_call(const Plan& plan, const CallView& call, const CallRoom& room,
                                int32_t* count) {
  *count = static_cast<int32_t>(call.args.count) - !call.delegate;
  CallDecoder decoder{plan, room.values, room.tensors, room.items};
  for (int32_t i = 0; i < *count; ++i)
    room.args[i] = decoder.decode(plan.reader.item<uint32_t>(call.args, static_cast<uint32_t>(i)));
  return room.args;
}

}  // namespace deuteron
