// SPDX-License-Identifier: Apache-2.0
// A call as a program's loader makes it, of arguments that C wrote down. What the loader proves was
// proved when they were written.
#include "deuteron_call.h"

#include <new>

#include "runtime/kernel.h"

namespace deuteron {
namespace {

const Tensor* tensor_of(const deuteron_tensor* t, Arena& arena) {
  void* room = arena.make<Tensor>();
  if (room == nullptr || t == nullptr) return nullptr;
  return new (room)
      Tensor{t->data,    t->sizes, t->order, t->elements, t->rank, static_cast<ScalarType>(t->type),
             t->constant};
}

const deuteron_tensor* item(const deuteron_value& v, int32_t k) {
  return static_cast<const deuteron_tensor* const*>(v.items)[k];
}

Value* empty_value(Arena& arena, Kind kind) {
  void* room = arena.make<Value>();
  if (room == nullptr) return nullptr;
  Value* value = new (room) Value;
  value->kind = kind;
  return value;
}

bool add_tensors(const deuteron_value& v, List& list, Arena& arena) {
  const Value** items = arena.make<const Value*>(static_cast<size_t>(v.count));
  if (items == nullptr) return false;
  for (int32_t k = 0; k < v.count; ++k) {
    const deuteron_tensor* t = item(v, k);
    Value* one = empty_value(arena, t != nullptr ? Kind::tensor : Kind::none);
    if (one == nullptr) return false;
    if (t != nullptr) one->tensor = tensor_of(t, arena);
    items[k] = one;
  }
  list.items = items;
  return true;
}

const Value* value_of(const deuteron_value& v, Arena& arena) {
  Value* value = empty_value(arena, static_cast<Kind>(v.kind));
  if (value == nullptr) return nullptr;
  switch (value->kind) {
    case Kind::none:
      break;
    case Kind::integer:
      value->integer = v.number;
      break;
    case Kind::real:
      __builtin_memcpy(&value->real, &v.number, sizeof value->real);
      break;
    case Kind::boolean:
      value->boolean = v.number != 0;
      break;
    case Kind::string:
      value->string = static_cast<const char*>(v.items);
      break;
    case Kind::tensor:
      value->tensor = tensor_of(item(v, 0), arena);
      return value->tensor != nullptr ? value : nullptr;
    case Kind::int_list:
    case Kind::real_list:
    case Kind::bool_list:
      value->list = {nullptr, v.items, v.count};
      break;
    case Kind::tensor_list:
      value->list = {nullptr, nullptr, v.count};
      return add_tensors(v, value->list, arena) ? value : nullptr;
  }
  return value;
}

}  // namespace

// 0: done. It fails only where the memory is less than what was counted.
int run_call_of_c(const Kernel& kernel, const deuteron_call& c) {
  Arena arena{static_cast<uint8_t*>(c.memory), c.memory_bytes, 0};
  const Value** args = arena.make<const Value*>(static_cast<size_t>(c.count));
  if (args == nullptr) return -1;
  for (int32_t k = 0; k < c.count; ++k)
    if ((args[k] = value_of(c.arguments[k], arena)) == nullptr) return -1;
  Call call{args, c.count, &arena, static_cast<Isa>(c.isa)};
  Prepared prepared;
  if (!kernel.prepare(call, &prepared).ok()) return -1;
  prepared.run(prepared.args);
  return 0;
}

}  // namespace deuteron
