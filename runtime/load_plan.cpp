// Reads a load plan. Nothing in it is believed: each part, shape, tensor and argument is checked against the file, the planned memory and
// the kernel's schema before it is used, so that a plan made by somebody else can only make a program that loads no better than a file.
#include "runtime/load_plan.h"

#include <initializer_list>

#include "runtime/schema.h"
#include "runtime/signature.h"

namespace deuteron {
namespace {

constexpr uint32_t kSmallestFile = 64, kBytesPerStep = 16;  // as in open.cpp and call.cpp
constexpr uint32_t kLeastSteps = 1 << 16;
constexpr uint32_t kIdentifier = 0x32315445;  // "ET12"

const uint8_t* plan_at(const Plan& plan) { return plan.reader.bytes + plan.segment_base; }
const LoadPlanHeader& header_of(const Plan& plan) { return *reinterpret_cast<const LoadPlanHeader*>(plan_at(plan)); }

bool parts_lie_in_order(const LoadPlanHeader& h) {
  uint32_t end = sizeof(LoadPlanHeader);
  for (const uint32_t at : {h.kernels_at, h.shapes_at, h.tensors_at, h.ports_at, h.calls_at}) {
    if (at < end || at % 4 != 0) return false;
    end = at;
  }
  const uint32_t last = h.bytes - static_cast<uint32_t>(sizeof(LoadPlanEnd));
  if (h.calls_at > last) return false;
  if (h.shapes * 4 * load_plan_shape_words(h.most_rank) > h.tensors_at - h.shapes_at ||
      h.tensors > (h.ports_at - h.tensors_at) / sizeof(LoadPlanTensor))
    return false;
  return (uint32_t{h.inputs} + h.outputs) * 2 <= h.calls_at - h.ports_at;
}

// One kernel's record, or null where it does not end before `end`.
const LoadPlanKernel* kernel_record(const uint8_t* at, const uint8_t* end) {
  if (end - at < 12) return nullptr;
  const auto* k = reinterpret_cast<const LoadPlanKernel*>(at);
  const uint32_t bytes = 4u * k->words;
  if (k->words < 3 || bytes > static_cast<uint32_t>(end - at) || at[bytes - 1] != 0 || k->overload_at + 8u >= bytes) return nullptr;
  return k;
}

[[gnu::always_inline]] inline void place_tensor(const PlannedTensors& tensors, uint32_t index, Tensor* t) {
  const LoadPlanTensor record = tensors.records[index];
  const uint32_t* shape = tensors.shapes + size_t{tensors.shape_words} * record.shape;
  t->numel = static_cast<int32_t>(shape[1]);
  t->sizes = reinterpret_cast<const int32_t*>(shape + 2);
  t->dim_order = reinterpret_cast<const uint8_t*>(shape + tensors.order_at);
  t->rank = static_cast<uint8_t>(shape[0]);
  t->type = static_cast<ScalarType>(record.type);
  t->constant = (record.place & static_cast<uint8_t>(Place::constant)) != 0;
  t->data = tensors.bases[record.place] + record.offset;
}

// An argument that is neither a small number, a tensor nor a list; `next` lies behind its first word `w`. Null after a fault, else what
// follows.
const uint32_t* read_rare(uint32_t w, const uint32_t* next, const uint32_t* end, Value* v) {
  const auto kind = static_cast<LoadPlanKind>(w & 15);
  if (kind == LoadPlanKind::yes || kind == LoadPlanKind::no) {
    v->kind = Kind::boolean;
    v->boolean = kind == LoadPlanKind::yes;
    return next;
  }
  v->kind = Kind::none;
  if (kind == LoadPlanKind::none) return next;
  if ((kind != LoadPlanKind::wide && kind != LoadPlanKind::real) || end - next < 2) return nullptr;
  v->kind = kind == LoadPlanKind::wide ? Kind::integer : Kind::real;
  __builtin_memcpy(&v->integer, next, sizeof v->integer);
  return next + 2;
}

// What a call does to the planned memory: it writes no constant, what it writes lies apart from all else but as `in_place` allows (the rule
// of Kernel), and what it reads was written before, by inputs or calls.
struct Uses {
  struct Range {
    uintptr_t begin, end;
    int32_t numel;
    bool scratch;
  };
  const bool in_place;
  uint32_t steps;  // and what reading its constants may cost
  WrittenRanges& written;
  Range *read = reads, *write = writes;  // behind the last one
  Range reads[kMostPlannedTensors], writes[kMostPlannedTensors];

  Uses(bool in_place_, uint32_t least_steps, WrittenRanges& written_) : in_place(in_place_), steps(least_steps), written(written_) {}

  // Apart, or one is read and the other, which is not wider, written in its place.
  bool may_be(const Range& out, const Range& in) const {
    if (out.end <= in.begin || in.end <= out.begin) return true;
    return in_place && out.begin == in.begin && out.numel == in.numel && out.end <= in.end;
  }

  // `letter`: of the schema; of a list's tensor the list's.
  bool add(const Tensor& t, char letter) {
    const uint32_t bytes = static_cast<uint32_t>(t.numel) * element_bytes(t.type);
    const bool is_written = is_out(letter) || letter == 'W';
    if (t.constant) {
      steps += bytes / kBytesPerStep + 1;
      return !is_written;
    }
    if (bytes == 0) return true;
    const uintptr_t begin = reinterpret_cast<uintptr_t>(t.data);
    const Range range{begin, begin + bytes, t.numel, letter == 'X'};
    if (!is_written && !written.cover(range.begin, range.end)) return false;
    for (const Range* w = writes; w < write; ++w)
      if (is_written ? range.end > w->begin && w->end > range.begin : !may_be(*w, range)) return false;
    for (const Range* r = reads; r < read && is_written; ++r)
      if (!may_be(range, *r)) return false;
    *(is_written ? write : read)++ = range;
    return true;
  }

  // Behind the call, which itself reads nothing that it writes. Scratch holds nothing then.
  bool finish() const {
    for (const Range* w = writes; w < write; ++w)
      if (!w->scratch && !written.add(w->begin, w->end)) return false;
    return true;
  }
};

// Decodes arguments into the room of one call and gives their number, -1 after a fault. `known`: they are good, and no schema is
// asked. It runs for every argument of a program: the cursors are registers.
template <bool known>
[[gnu::always_inline]] inline int32_t decode_arguments(const PlannedTensors& tensors, const PlannedCall& call, const char* schema,
                                                       const CallRoom& room, const CallSize& size, Uses* uses) {
  const uint32_t *at = call.at, *const end = call.end;
  // Values of arguments grow upwards, those of list items downwards.
  Value *value = room.values, *args_end = value + size.args, *items_begin = value + size.values;
  const Value **item = room.items, **const items_end = item + size.items;
  Tensor *tensor = room.tensors, *const tensors_end = tensor + size.tensors;
  const auto add_tensor = [&](uint32_t index, Value * v, char letter) __attribute__((always_inline)) {
    if (tensor == tensors_end || index >= tensors.count) return false;
    place_tensor(tensors, index, tensor);
    v->kind = Kind::tensor;
    v->tensor = tensor;
    if constexpr (!known)
      if (!uses->add(*tensor, letter)) return false;
    ++tensor;
    return true;
  };
  while (true) {
    char letter = 0;
    if constexpr (!known) {
      letter = *schema++;
      if (letter == 0) break;
    } else if (at == end) {
      break;
    }
    const auto is_taken = [&](Kind kind) __attribute__((always_inline)) { return known || takes(letter, kind); };
    if (at >= end || value == args_end) return -1;
    const uint32_t w = *at++, number = w >> 4;
    Value* v = value++;
    switch (static_cast<LoadPlanKind>(w & 15)) {
      case LoadPlanKind::small:
        v->kind = Kind::integer;
        v->integer = static_cast<int32_t>(w) >> 4;
        if (!is_taken(Kind::integer)) return -1;
        break;
      case LoadPlanKind::tensor:
        if (!is_taken(Kind::tensor) || !add_tensor(number, v, letter)) return -1;
        break;
      case LoadPlanKind::integers:
        if (!is_taken(Kind::int_list) || number > static_cast<size_t>(end - at) / 2) return -1;
        v->kind = Kind::int_list;
        v->list = {nullptr, at, static_cast<int32_t>(number)};
        at += size_t{2} * number;
        break;
      case LoadPlanKind::tensors:
        if (!is_taken(Kind::tensor_list) || number > static_cast<size_t>(end - at)) return -1;
        if (number > static_cast<size_t>(items_end - item) || number > static_cast<size_t>(items_begin - value)) return -1;
        items_begin -= number;
        if (items_begin < args_end) args_end = items_begin;
        v->kind = Kind::tensor_list;
        v->list = {item, nullptr, static_cast<int32_t>(number)};
        for (uint32_t i = 0; i < number; *item++ = items_begin + i++)
          if (!add_tensor(*at++, items_begin + i, letter)) return -1;
        break;
      default:
        if ((at = read_rare(w, at, end, v)) == nullptr || !is_taken(v->kind)) return -1;
    }
  }
  return at == end ? static_cast<int32_t>(value - room.values) : -1;
}

}  // namespace

// The plan with which the bytes of `file` end.
static const LoadPlanHeader* plan_at_end(File file) {
  const auto* bytes = static_cast<const uint8_t*>(file.data);
  if (!bytes || reinterpret_cast<uintptr_t>(bytes) % 16 != 0 || file.bytes % 4 != 0) return nullptr;
  if (file.bytes < kSmallestFile + sizeof(LoadPlanHeader) + sizeof(LoadPlanEnd) || file.bytes > INT32_MAX) return nullptr;
  if (reinterpret_cast<const uint32_t*>(bytes)[1] != kIdentifier) return nullptr;
  const auto& end = *reinterpret_cast<const LoadPlanEnd*>(bytes + file.bytes - sizeof(LoadPlanEnd));
  if (end.magic != kLoadPlanMagic || end.bytes < sizeof(LoadPlanHeader) + sizeof(LoadPlanEnd)) return nullptr;
  if (end.bytes > file.bytes - kSmallestFile || (file.bytes - end.bytes) % 16 != 0) return nullptr;
  const auto* h = reinterpret_cast<const LoadPlanHeader*>(bytes + file.bytes - end.bytes);
  if (h->magic != kLoadPlanMagic || h->bytes != end.bytes || h->file_bytes != file.bytes) return nullptr;
  if (h->isa > 2 || !(accepted_isas() >> h->isa & 1) || h->planned_bytes > INT32_MAX || h->kernels > kMostPlannedKernels) return nullptr;
  if (h->most_tensors > kMostPlannedTensors || h->most_args > h->most_values || h->most_rank > kMaxRank ||
      h->constants_begin > h->constants_end || h->constants_end > file.bytes)
    return nullptr;
  if (h->hash != load_plan_hash(&h->hash + 1, h->bytes / 4 - 2)) return nullptr;
  return parts_lie_in_order(*h) ? h : nullptr;
}

const LoadPlanHeader* find_load_plan(File file) {
  const LoadPlanHeader* h = plan_at_end(file);
  return !h && find_signature(file) ? plan_at_end(without_signature(file)) : h;
}

void open_load_plan(File file, const LoadPlanHeader& h, Plan* plan) {
  plan->reader.bytes = static_cast<const uint8_t*>(file.data);
  const auto at = static_cast<uint32_t>(reinterpret_cast<const uint8_t*>(&h) - plan->reader.bytes);
  plan->reader.size = at + h.bytes;
  plan->reader.tables_left = kLeastSteps + plan->reader.size;
  plan->segment_base = at;
  plan->operators = {at + h.kernels_at, h.kernels};
  plan->constant_offsets = {at + h.shapes_at, h.shapes};
  plan->values = {at + h.tensors_at, h.tensors};
  plan->inputs = {at + h.ports_at, h.inputs};
  plan->outputs = {at + h.ports_at + 2u * h.inputs, h.outputs};
  plan->instructions = {at + h.calls_at, h.calls};
  plan->constants_at = h.constants_begin;
  plan->constants_bytes = h.constants_end - h.constants_begin;
  plan->planned_bytes = h.planned_bytes;
  plan->isa = static_cast<Isa>(h.isa);
  plan->is_load_plan = true;
}

bool find_planned_kernels(Plan& plan, const KernelTable& table, const Kernel** kernels) {
  const uint8_t *at = plan.reader.bytes + plan.operators.at, *end = plan.reader.bytes + plan.constant_offsets.at;
  int32_t guess = 0;  // a table of few kernels has them in the order of the complete one
  for (uint32_t i = 0; i < plan.operators.count; ++i) {
    const LoadPlanKernel* k = kernel_record(at, end);
    if (!k) return false;
    if (k->index < table.count && table.kernels[k->index]->id == k->id) guess = k->index;
    else if (guess >= table.count || table.kernels[guess]->id != k->id)
      for (guess = 0; guess < table.count; ++guess)
        if (!plan.reader.charge(1) || table.kernels[guess]->id == k->id) break;
    if (guess >= table.count || plan.reader.fault) return false;
    kernels[i] = table.kernels[guess++];
    at += size_t{4} * k->words;
  }
  return true;
}

bool check_planned_shapes(const Plan& plan) {
  const uint32_t most_rank = header_of(plan).most_rank, words = load_plan_shape_words(most_rank);
  const auto* shape = reinterpret_cast<const uint32_t*>(plan.reader.bytes + plan.constant_offsets.at);
  for (uint32_t left = plan.constant_offsets.count; left > 0; --left, shape += words) {
    const uint32_t rank = shape[0], *sizes = shape + 2, *const sizes_end = sizes + rank;
    const auto* order = reinterpret_cast<const uint8_t*>(sizes + most_rank);
    if (rank > most_rank) return false;
    uint32_t seen = 0, span = 1;  // of the extents that are not 0, so that no view of it is too large
    bool empty = false;
    while (sizes < sizes_end) {
      const uint32_t size = *sizes++, axis = *order++;
      if (axis >= rank) return false;
      seen |= 1u << axis;
      if (size == 0) {
        empty = true;
        continue;
      }
      const uint64_t wider = uint64_t{span} * size;
      if (wider > INT32_MAX) return false;
      span = static_cast<uint32_t>(wider);
    }
    if (seen != (1u << rank) - 1 || (empty ? 0 : span) != shape[1]) return false;
  }
  return true;
}

bool check_planned_tensors(const Plan& plan) {
  const PlannedTensors tensors(plan);
  const auto constants_at = static_cast<uint32_t>(plan.constants_at), constants_bytes = static_cast<uint32_t>(plan.constants_bytes);
  const LoadPlanTensor *t = tensors.records, *const end = t + tensors.count;
  for (; t < end; ++t) {
    const uint32_t element = element_bytes(static_cast<ScalarType>(t->type)), offset = t->offset;
    if (element == 0 || t->shape >= plan.constant_offsets.count || (offset & (element - 1)) != 0) return false;
    const uint64_t bytes = uint64_t{tensors.shapes[tensors.shape_words * t->shape + 1]} * element;
    if (bytes > INT32_MAX) return false;
    // Where its memory begins, and how much that is.
    uint32_t begin = 0, room = 0;
    if (t->place == static_cast<uint8_t>(Place::planned)) room = plan.planned_bytes;
    else if (t->place == static_cast<uint8_t>(Place::constant)) begin = constants_at, room = constants_bytes;
    else if (t->place != static_cast<uint8_t>(Place::nowhere)) return false;
    if (offset < begin || offset - begin > room || bytes > room - (offset - begin)) return false;
  }
  return true;
}

PlannedTensors::PlannedTensors(const Plan& plan)
    : records(reinterpret_cast<const LoadPlanTensor*>(plan.reader.bytes + plan.values.at)),
      count(plan.values.count),
      shapes(reinterpret_cast<const uint32_t*>(plan.reader.bytes + plan.constant_offsets.at)),
      shape_words(load_plan_shape_words(header_of(plan).most_rank)),
      order_at(2 + header_of(plan).most_rank),
      bases{nullptr, plan.planned, const_cast<uint8_t*>(plan.reader.bytes)} {}

void PlannedTensors::place(uint32_t index, Tensor* t) const { place_tensor(*this, index, t); }

bool planned_port(const Plan& plan, const PlannedTensors& tensors, uint32_t port, Tensor* tensor) {
  const uint32_t index = plan.reader.item<uint16_t>({plan.inputs.at, 0}, port);
  if (index >= tensors.count) return false;
  tensors.place(index, tensor);
  return port >= plan.inputs.count || !tensor->constant;
}

PlannedCalls::PlannedCalls(const Plan& plan)
    : at(reinterpret_cast<const uint32_t*>(plan.reader.bytes + plan.instructions.at)),
      end(reinterpret_cast<const uint32_t*>(plan_at(plan) + header_of(plan).bytes - sizeof(LoadPlanEnd))) {}

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

void point_at_values(const CallRoom& room, const CallSize& size) {
  for (uint32_t i = 0; i < size.args; ++i) room.args[i] = room.values + i;
}

bool decode_planned_call(Plan& plan, const PlannedTensors& tensors, const PlannedCall& call, const Kernel& kernel, const CallRoom& room,
                         const CallSize& size, WrittenRanges& written, int32_t* count) {
  Uses uses(kernel.in_place, static_cast<uint32_t>(call.end - call.at) + 1, written);
  *count = decode_arguments<false>(tensors, call, kernel.schema, room, size, &uses);
  return *count >= 0 && uses.finish() && plan.reader.charge(uses.steps);
}

namespace {

PlannedCall known_call_at(const Plan& plan, uint32_t k) {
  PlannedCall call{};
  PlannedCalls calls(plan);
  for (uint32_t i = 0; i <= k && calls.next(&call); ++i) {}
  return call;
}

}  // namespace

const Value* const* known_planned_call(const Plan& plan, uint32_t k, const CallRoom& room, int32_t* count) {
  const LoadPlanHeader& h = header_of(plan);
  const PlannedCall call = known_call_at(plan, k);
  const CallSize size{h.most_args, h.most_values, h.most_tensors, h.most_items, 0};
  point_at_values(room, size);
  *count = decode_arguments<true>(PlannedTensors(plan), call, nullptr, room, size, nullptr);
  return room.args;
}

CallName planned_call_name(const Plan& plan, uint32_t k) {
  uint32_t kernel = known_call_at(plan, k).kernel;
  const uint8_t* at = plan.reader.bytes + plan.operators.at;
  for (; kernel > 0; --kernel) at += size_t{4} * reinterpret_cast<const LoadPlanKernel*>(at)->words;
  const auto* record = reinterpret_cast<const LoadPlanKernel*>(at);
  const char* op = reinterpret_cast<const char*>(record + 1);
  return {op, record->overload_at ? op + record->overload_at : nullptr};
}

}  // namespace deuteron
