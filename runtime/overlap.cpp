// SPDX-License-Identifier: Apache-2.0
// Proves that no value is overwritten before its last reader, and that no call reads what none has
// written, by walking through the program once with a map of the planned memory: which tensor wrote
// each byte last. Every read of a tensor must see bytes that it wrote itself or, for a tensor that
// nothing writes (a view), bytes of tensors whose range lies in its own or around it, or else bytes
// of tensors none of which has lost a byte within the view: rows of a whole that was written in
// other bands of rows, and whose first rows may be gone. Inputs are written before the first call,
// outputs read after the last. A call's scratch is written by nobody. A state is written before the
// inputs are, and at the end its bytes must be its own. Work: calls times the number of segments,
// which is about the number of tensors alive; it is paid for step by step.
#include "runtime/plan.h"
#include "runtime/schema.h"

namespace deuteron {
namespace {

constexpr const char kOverwritten[] =
    "the tensor's bytes were overwritten by another tensor before this call reads them";
constexpr const char kStateLost[] =
    "a state is overwritten by another tensor, so that the next run would not find it";
constexpr const char kOnConstants[] = "a tensor is written where a copy of constants lies";
constexpr const char kNeverWritten[] = "the tensor is read before anything was written to it";

// The range that a value takes in planned memory; false for constants and tensors without bytes.
bool planned_use(const Plan& plan, uint32_t value, TensorUse* use) {
  const ValueView v = known_value(plan, value);
  if (v.tag != ValueTag::tensor) return false;
  const DataPlace p = known_place(plan, value, v.payload);
  if (p.place != Place::planned) return false;
  Tensor tensor;
  const uint32_t bytes = known_shape(plan, v.payload, &tensor);
  if (bytes == 0) return false;
  use->begin = p.offset;
  use->end = p.offset + bytes;
  use->value = value;
  use->numel = tensor.numel;
  return true;
}

// To a place that may overlap; mostly they stay or move by one. For so few the C library takes six
// times as long.
void move_segments(const Segment* from, Segment* to, uint32_t count) {
  if (to < from)
    for (uint32_t i = 0; i < count; ++i) to[i] = from[i];
  else if (to > from)
    while (count-- > 0) to[count] = from[count];
}

struct MemoryMap {
  Plan& plan;
  const OverlapRoom& room;
  uint32_t count = 0;  // segments, in order of address, without overlap

  bool is_written(uint32_t value) const { return room.written[value / 8] >> (value % 8) & 1; }
  void mark_written(uint32_t value) const {
    room.written[value / 8] = static_cast<uint8_t>(room.written[value / 8] | 1u << (value % 8));
  }

  // The first segment that ends after `at`.
  uint32_t find(uint32_t at) const {
    uint32_t low = 0, high = count;
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (room.segments[middle].end > at) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  // Adds at most two segments. Pays for moving those behind.
  void write(uint32_t begin, uint32_t end, uint32_t value) {
    if constexpr (kMostMemories > 1)
      if (is_copy_at(plan, begin, end)) plan.reader.fail(Code::overlap, kOnConstants);
    Segment* s = room.segments;
    const uint32_t first = find(begin);
    uint32_t last = first;  // one past the segments that are touched
    while (last < count && s[last].begin < end) ++last;
    Segment fresh[3];
    uint32_t added = 0;
    if (first < last && s[first].begin < begin)
      fresh[added++] = {s[first].begin, begin, s[first].writer};
    fresh[added++] = {begin, end, value};
    if (first < last && s[last - 1].end > end)
      fresh[added++] = {end, s[last - 1].end, s[last - 1].writer};
    plan.reader.charge((count - last) / 4 + 1);
    move_segments(s + last, s + first + added, count - last);
    for (uint32_t i = 0; i < added; ++i) s[first + i] = fresh[i];
    count = count - (last - first) + added;
  }

  // Whether the segment's writer lies inside [begin, end) or around it; and whether all that it
  // wrote there is still there.
  struct Relation {
    bool nested, intact;
  };
  Relation relation_to(const Segment& segment, uint32_t begin, uint32_t end) const {
    if (segment.writer == kNobody) return {false, false};
    TensorUse w = {};  // gcc cannot see that a writer is always planned
    planned_use(plan, segment.writer, &w);
    const uint32_t w_begin = w.begin, w_end = w.end;
    return {(w_begin >= begin && w_end <= end) || (w_begin <= begin && w_end >= end),
            (segment.begin == w_begin || segment.begin <= begin) &&
                (segment.end == w_end || segment.end >= end)};
  }

  bool pays_for(uint32_t writer) const {
    return plan.reader.charge(placement_steps(plan, known_value(plan, writer).payload));
  }

  // Null if the read is good, or if plan.reader has a fault.
  const char* read(uint32_t begin, uint32_t end, uint32_t value) const {
    uint32_t at = begin;
    const bool is_view = !is_written(value);
    bool nested = true, intact = true;
    for (uint32_t i = find(begin); at < end; ++i) {
      if (i == count || room.segments[i].begin > at || room.segments[i].writer == kNobody)
        return kNeverWritten;
      if (!pays_for(room.segments[i].writer)) return nullptr;
      if (!is_view && room.segments[i].writer != value) return kOverwritten;
      if (is_view) {
        const Relation r = relation_to(room.segments[i], begin, end);
        nested = nested && r.nested;
        intact = intact && r.intact;
      }
      at = room.segments[i].end;
    }
    return nested || intact ? nullptr : kOverwritten;
  }
};

uint32_t collect_delegate_uses(const Plan& plan, const CallView& call, const Backend& backend,
                               TensorUse* uses) {
  const DelegateCall d = known_delegate_call(plan, call, backend);
  uint32_t count = 0;
  for (int32_t i = 0; i < d.count; ++i) {
    const Use how = backend.use(d, i);
    TensorUse& use = uses[count];
    if (how == Use::none ||
        !planned_use(plan, plan.reader.item<uint32_t>(call.args, static_cast<uint32_t>(i)), &use))
      continue;
    use.argument = static_cast<int16_t>(i);
    use.write = how != Use::read;
    use.scratch = how == Use::scratch;
    ++count;
  }
  return count;
}

// All planned tensors of a call of a kernel, one entry for each argument or list item.
uint32_t collect_uses(const Plan& plan, const CallView& call, const char* schema, TensorUse* uses) {
  const FlatReader& r = plan.reader;
  uint32_t count = 0;
  for (int16_t i = 0; schema[i]; ++i) {
    const char letter = schema[i];
    if (!holds_tensors(letter)) continue;
    const uint32_t value = r.item<uint32_t>(call.args, static_cast<uint32_t>(i));
    const bool list = letter == 'V' || letter == 'v' || letter == 'W';
    const FlatVector items =
        list ? r.known_vector(known_value(plan, value).payload, 0) : FlatVector{0, 1};
    for (uint32_t k = 0; k < items.count; ++k) {
      TensorUse& use = uses[count];
      const uint32_t item = list ? r.item<uint32_t>(items, k) : value;
      if (item >= plan.values.count || !planned_use(plan, item, &use))
        continue;  // an item may be none
      use.argument = i;
      use.write = is_out(letter) || letter == 'W';
      use.scratch = letter == 'X';
      ++count;
    }
  }
  return count;
}

// Within one call: what it writes must not lie on anything else of it, unless the kernel works in
// place.
const char* conflict_within(FlatReader& r, const TensorUse* uses, uint32_t count, bool in_place,
                            int16_t* argument) {
  for (uint32_t w = 0; w < count; ++w) {
    if (!uses[w].write) continue;
    if (!r.charge(count)) return nullptr;
    *argument = uses[w].argument;
    for (uint32_t k = 0; k < count; ++k) {
      const TensorUse &a = uses[w], &b = uses[k];
      if (k == w || a.end <= b.begin || b.end <= a.begin) continue;
      if (b.write) return "two outs of the call overlap";
      if (!in_place)
        return "the call writes over its own input, and its kernel does not work in place";
      if (a.begin != b.begin || a.numel != b.numel || a.end > b.end)
        return "the call writes over its own input, and they do not match element by element";
    }
  }
  return nullptr;
}

void mark_all_written(MemoryMap& map, const Prepared* calls) {
  const FlatReader& r = map.plan.reader;
  for (uint32_t i = 0; map.plan.states > 0 && i < map.plan.values.count; ++i)
    if (is_state(map.plan, i)) map.mark_written(i);
  for (uint32_t i = 0; i < map.plan.inputs.count; ++i)
    map.mark_written(r.item<uint32_t>(map.plan.inputs, i));
  for (uint32_t k = 0; k < map.plan.instructions.count; ++k) {
    const CallView call = known_arguments(map.plan, k);
    const FlatVector args = call.args;
    if (call.delegate) {
      const Backend& backend = *static_cast<const Backend*>(calls[k].args);
      const DelegateCall d = known_delegate_call(map.plan, call, backend);
      for (uint32_t i = 0; i < args.count; ++i)
        if (backend.use(d, static_cast<int32_t>(i)) == Use::write)
          map.mark_written(r.item<uint32_t>(args, i));
      continue;
    }
    const char* schema = static_cast<const Kernel*>(calls[k].args)->schema;
    for (uint32_t i = 0; schema[i]; ++i) {
      const uint32_t value = r.item<uint32_t>(args, i);
      if (schema[i] == 'O') map.mark_written(value);
      if (schema[i] != 'W') continue;
      const FlatVector items = r.known_vector(known_value(map.plan, value).payload, 0);
      for (uint32_t n = 0; n < items.count; ++n) map.mark_written(r.item<uint32_t>(items, n));
    }
  }
}

}  // namespace

OverlapRoom take_overlap_room(Arena& arena, const Plan& plan, uint32_t writes,
                              uint32_t most_tensors) {
  OverlapRoom room;
  room.uses = arena.make<TensorUse>(most_tensors > 0 ? most_tensors : 1);
  room.segments = arena.make<Segment>(2 * size_t{writes} + 3);
  room.written = arena.make<uint8_t>(size_t{plan.values.count} / 8 + 1);
  return room;
}

bool check_overlap(Plan& plan, const Prepared* calls, const OverlapRoom& room, Status* where) {
  FlatReader& r = plan.reader;
  __builtin_memset(room.written, 0, size_t{plan.values.count} / 8 + 1);
  MemoryMap map{plan, room};
  mark_all_written(map, calls);
  TensorUse use;
  for (uint32_t i = 0; plan.states > 0 && i < plan.values.count && r.charge(1); ++i)
    if (is_state(plan, i) && planned_use(plan, i, &use)) map.write(use.begin, use.end, use.value);
  for (uint32_t i = 0; i < plan.inputs.count; ++i)
    if (planned_use(plan, r.item<uint32_t>(plan.inputs, i), &use))
      map.write(use.begin, use.end, use.value);
  for (uint32_t k = 0; k < plan.instructions.count && !r.fault; ++k) {
    const CallView call = known_arguments(plan, k);
    const Kernel* kernel = call.delegate ? nullptr : static_cast<const Kernel*>(calls[k].args);
    where->instruction = static_cast<int32_t>(k);
    const uint32_t count =
        call.delegate ? collect_delegate_uses(
                            plan, call, *static_cast<const Backend*>(calls[k].args), room.uses)
                      : collect_uses(plan, call, kernel->schema, room.uses);
    const char* fault =
        conflict_within(r, room.uses, count, kernel && kernel->in_place, &where->argument);
    for (uint32_t i = 0; i < count && !fault; ++i) {
      if (room.uses[i].write) continue;
      where->argument = room.uses[i].argument;
      fault = map.read(room.uses[i].begin, room.uses[i].end, room.uses[i].value);
    }
    if (fault && !r.fault) {
      where->op = known_call(plan, k).op;
      return r.fail(Code::overlap, fault), false;
    }
    for (uint32_t i = 0; i < count; ++i)
      if (room.uses[i].write)
        map.write(room.uses[i].begin, room.uses[i].end,
                  room.uses[i].scratch ? kNobody : room.uses[i].value);
  }
  *where = Status{};
  for (uint32_t i = 0; i < plan.outputs.count && !r.fault; ++i)
    if (planned_use(plan, r.item<uint32_t>(plan.outputs, i), &use))
      if (map.read(use.begin, use.end, use.value) && !r.fault)
        r.fail(Code::overlap, "an output is overwritten, or never written, before the end");
  for (uint32_t i = 0; plan.states > 0 && i < plan.values.count && !r.fault && r.charge(1); ++i)
    if (is_state(plan, i) && planned_use(plan, i, &use))
      if (map.read(use.begin, use.end, use.value) && !r.fault) r.fail(Code::overlap, kStateLost);
  return !r.fault;
}

}  // namespace deuteron
