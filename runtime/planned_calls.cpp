// SPDX-License-Identifier: Apache-2.0
// Decodes the calls of a load plan. Nothing in it is believed: number and kinds of the arguments are checked against the kernel's schema,
// what a call reads and overwrites against what was written and what it may.
#include "runtime/load_plan.h"
#include "runtime/schema.h"

namespace deuteron {
namespace {

constexpr uint32_t kBytesPerStep = 16;  // as in call.cpp

constexpr uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

constexpr uint32_t operands_of(uint32_t ready) { return (ready & (kReadyCall - 1)) >> 8; }

}  // namespace

bool WrittenRanges::cover(uintptr_t from, uintptr_t to) const {
  for (uint32_t i = 0; i < count; ++i)
    if (begin[i] <= from && to <= end[i]) return true;
  return false;
}

bool WrittenRanges::add(uintptr_t from, uintptr_t to) {
  for (uint32_t i = 0; i < count;) {
    if (end[i] < from || to < begin[i]) {
      ++i;
      continue;
    }
    if (begin[i] <= from && to <= end[i]) return true;
    if (begin[i] < from) from = begin[i];
    if (end[i] > to) to = end[i];
    --count;
    begin[i] = begin[count], end[i] = end[count];
  }
  if (count == kMost) return false;
  begin[count] = from, end[count++] = to;
  return true;
}

namespace {

bool lies_in_planned(const Tensor& t) { return !t.constant && t.numel > 0; }
uintptr_t begin_of(const Tensor& t) { return reinterpret_cast<uintptr_t>(t.data); }
uintptr_t end_of(const Tensor& t) { return begin_of(t) + static_cast<uintptr_t>(t.numel) * element_bytes(t.type); }

}  // namespace

bool WrittenRanges::cover(const Tensor& t) const { return !lies_in_planned(t) || cover(begin_of(t), end_of(t)); }
bool WrittenRanges::add(const Tensor& t) { return !lies_in_planned(t) || add(begin_of(t), end_of(t)); }

PlannedCalls::PlannedCalls(const Plan& plan, const CallRoom& room_, const CallSize& size)
    : parts(plan),
      room(room_),
      values_end(room_.values + size.values),
      tensors_end(room_.tensors + size.tensors),
      items_end(room_.items + size.items),
      most_args(size.args),
      most_operands(least(kMostOperands, least(size.args, size.tensors))),
      at(reinterpret_cast<const uint32_t*>(plan.reader.bytes + plan.instructions.at)),
      end(reinterpret_cast<const uint32_t*>(plan.reader.bytes + plan.reader.size - sizeof(LoadPlanEnd))),
      memories{{0, plan.planned_bytes, plan.planned},
               {static_cast<uint32_t>(plan.constants_at), static_cast<uint32_t>(plan.constants_bytes),
                const_cast<uint8_t*>(plan.reader.bytes) + plan.constants_at}},
      steps_left(plan.reader.tables_left) {
  for (uint32_t i = 0; i < size.args; ++i) room.args[i] = room.values + i;  // argument i of every call is value i
}

template <bool known>
[[gnu::always_inline]] inline bool PlannedCalls::add_tensor(uint32_t index, Value* v, uint32_t use) {
  Tensor* const t = tensor;
  if (t == tensors_end || index >= parts.tensor_count) return false;
  parts.place(index, t);
  v->kind = Kind::tensor;
  v->tensor = t;
  tensor = t + 1;
  if (known) return true;
  const uint32_t bytes = static_cast<uint32_t>(t->numel) * kElementBytes[static_cast<uint8_t>(t->type)];
  if (t->constant) {
    steps += bytes / kBytesPerStep + 1;
    return !(use & kWrites);
  }
  if (bytes == 0) return true;
  const auto begin = reinterpret_cast<uintptr_t>(t->data);
  *range++ = {begin, begin + bytes, t->numel, use};
  return true;
}

// An argument that is neither a small number nor a tensor nor a list of integers; `args_end` is behind the last argument of the call. Gives
// its kind; after a fault that of a string, which no plan has. Values of arguments grow upwards, those of list items downwards.
template <bool known>
[[gnu::noinline]] Kind PlannedCalls::add_rare(uint32_t word, Value* v, const Value* args_end, uint32_t use) {
  const auto kind = static_cast<LoadPlanKind>(word & 15);
  const uint32_t number = word >> 4;
  if (kind == LoadPlanKind::none) return v->kind = Kind::none;
  if (kind == LoadPlanKind::yes || kind == LoadPlanKind::no) {
    v->boolean = kind == LoadPlanKind::yes;
    return v->kind = Kind::boolean;
  }
  if (number >= parts.detail_words) return Kind::string;
  const uint32_t *detail = parts.details + number, left = parts.detail_words - number;
  if (kind == LoadPlanKind::wide || kind == LoadPlanKind::real) {
    if (left < 2) return Kind::string;
    __builtin_memcpy(&v->integer, detail, sizeof v->integer);
    return v->kind = kind == LoadPlanKind::wide ? Kind::integer : Kind::real;
  }
  const uint32_t items = *detail++;
  if (kind != LoadPlanKind::tensors || items >= left || items > static_cast<size_t>(items_end - item) ||
      items > static_cast<size_t>(items_begin - args_end))
    return Kind::string;
  items_begin -= items;
  v->list = {item, nullptr, static_cast<int32_t>(items)};
  for (uint32_t i = 0; i < items; *item++ = items_begin + i++)
    if (!add_tensor<known>(detail[i], items_begin + i, use)) return Kind::string;
  return v->kind = Kind::tensor_list;
}

// `known`: they are good, and no schema is asked. It runs for every argument of a program.
template <bool known>
[[gnu::always_inline]] inline bool PlannedCalls::decode_arguments(const char* schema) {
  const uint32_t *word = arguments, *const words_end = word + count;
  if (static_cast<uint32_t>(count) > most_args) return false;
  Value* v = room.values;
  const Value* const args_end = v + count;
  tensor = room.tensors, item = room.items, items_begin = values_end, range = ranges, steps = 1 + static_cast<uint32_t>(count);
  for (; word < words_end; ++word, ++v) {
    const uint32_t w = *word, number = w >> 4, use = known ? UINT32_MAX : kinds_of(*schema++);  // at the schema's end nothing is taken
    switch (static_cast<LoadPlanKind>(w & 15)) {
      case LoadPlanKind::small:
        v->kind = Kind::integer;
        v->integer = static_cast<int32_t>(w) >> 4;
        if (!(use & bit_of(Kind::integer))) return false;
        break;
      case LoadPlanKind::tensor:
        if (!(use & bit_of(Kind::tensor)) || !add_tensor<known>(number, v, use)) return false;
        break;
      case LoadPlanKind::integers: {
        const uint32_t *detail = parts.details + number, room_left = parts.detail_words - number;  // with their count
        if (!(use & bit_of(Kind::int_list)) || number >= parts.detail_words || *detail > (room_left - 1) / 2) return false;
        v->kind = Kind::int_list;
        v->list = {nullptr, detail + 1, static_cast<int32_t>(*detail)};
        steps += *detail;
        break;
      }
      default:
        if (const Kind kind = add_rare<known>(w, v, args_end, use); kind == Kind::string || !(use & bit_of(kind))) return false;
    }
  }
  return known || *schema == 0;
}

// Apart, both read, or one is read and the other, which is not wider, written in its place.
[[gnu::always_inline]] inline bool PlannedCalls::may_overlap(const Range& a, const Range& b, bool in_place) const {
  if (a.end <= b.begin || b.end <= a.begin || !((a.use | b.use) & kWrites)) return true;
  const Range &out = a.use & kWrites ? a : b, &in = a.use & kWrites ? b : a;
  return in_place && !(in.use & kWrites) && out.begin == in.begin && out.numel == in.numel && out.end <= in.end;
}

// What a call does to the planned memory: what it writes lies apart from all else but as `in_place` allows (the rule of Kernel), and what
// it reads was written before, by inputs or calls. Scratch holds nothing behind it.
bool PlannedCalls::check_ranges(bool in_place) {
  const Range *r = ranges, *const last = range;
  for (; r < last && !(r->use & kWrites); ++r)  // most calls read first, and then write
    if (!written.cover(r->begin, r->end)) return false;
  const Range* const first_write = r;
  for (; r < last; ++r) {
    if (!(r->use & kWrites) && !written.cover(r->begin, r->end)) return false;
    for (const Range* other = ranges; other < r; ++other)
      if (!may_overlap(*r, *other, in_place)) return false;
  }
  for (r = first_write; r < last; ++r) {
    if ((r->use & (kWrites | kIsScratch)) != kWrites) continue;
    // Soon all of the memory has been written, and is one range.
    if ((written.count == 0 || r->begin < written.begin[0] || r->end > written.end[0]) && !written.add(r->begin, r->end)) return false;
  }
  return true;
}

bool PlannedCalls::decode(const Kernel& called) {
  if (!decode_arguments<false>(called.schema) || !check_ranges(called.in_place) || steps > steps_left) return false;
  steps_left -= steps;
  return true;
}

[[gnu::always_inline]] inline bool PlannedCalls::add_operand(const LoadPlanOperand& from, Operand* to, uint32_t use) {
  const bool constant = from.offset & kConstantOperand;
  const OperandMemory& memory = memories[constant];
  const uint32_t at_byte = (from.offset & ~kConstantOperand) - memory.begin, bytes = from.bytes;  // before it: larger than any memory
  if (at_byte > memory.bytes || bytes > memory.bytes - at_byte) return false;
  uint8_t* const data = memory.data + at_byte;
  *to = {data, static_cast<int32_t>(bytes), constant};
  if (constant) {
    steps += bytes / kBytesPerStep;
    return !(use & kWrites);
  }
  if (bytes == 0) return true;
  const auto address = reinterpret_cast<uintptr_t>(data);
  *range++ = {address, address + bytes, to->bytes, use};
  return true;
}

bool PlannedCalls::decode_ready(const Kernel& called, ReadyCall* call) {
  const uint32_t operand_count = operands_of(ready), operand_words = operand_count * kOperandWords;
  if (called.ready.words == 0 || operand_count > most_operands || operand_words + called.ready.words != static_cast<uint32_t>(count))
    return false;
  const uint32_t* word = arguments;
  range = ranges, steps = static_cast<uint32_t>(count);
  const char* letter = called.ready.operands;  // at its end nothing is taken
  for (Operand *operand = operands, *const last = operands + operand_count; operand < last; ++operand, word += kOperandWords) {
    const uint32_t use = kinds_of(*letter++);
    if (use == 0 || !add_operand(*reinterpret_cast<const LoadPlanOperand*>(word), operand, use)) return false;
  }
  if (*letter != 0 || !check_ranges(called.in_place) || steps > steps_left) return false;
  steps_left -= steps;
  call->words = word, call->operands = operands;
  return true;
}

bool PlannedCalls::decode_known_ready() {
  static const uint8_t kOrder = 0;
  const uint32_t operand_count = operands_of(ready);
  if (operand_count > most_operands || count < 0) return false;
  if (operand_count * kOperandWords > static_cast<uint32_t>(count)) return false;
  const auto* from = reinterpret_cast<const LoadPlanOperand*>(arguments);
  range = ranges;
  for (uint32_t i = 0; i < operand_count; ++i) {
    Operand o;
    if (!add_operand(from[i], &o, 0)) return false;
    range = ranges;
    room.tensors[i] = {o.data, reinterpret_cast<const int32_t*>(&from[i].bytes), &kOrder, o.bytes, 1, ScalarType::u8, o.constant};
    room.values[i].kind = Kind::tensor;
    room.values[i].tensor = &room.tensors[i];
  }
  count = static_cast<int32_t>(operand_count);
  return true;
}

bool PlannedCalls::decode_known() { return ready ? decode_known_ready() : decode_arguments<true>(nullptr); }

const Value* const* known_planned_call(const Plan& plan, uint32_t k, const CallRoom& room, int32_t* count, bool* ready) {
  PlannedCalls calls(plan, room, planned_call_size(plan));
  bool is_there = true;
  for (uint32_t i = 0; i <= k && is_there; ++i) is_there = calls.next();
  *count = is_there && calls.decode_known() ? calls.count : 0;
  *ready = calls.ready != 0;
  return room.args;
}

}  // namespace deuteron
