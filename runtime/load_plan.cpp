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
constexpr char kIdentifier[] = "ET12";

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
  if (h.shapes > (h.tensors_at - h.shapes_at) / 4 || h.tensors > (h.ports_at - h.tensors_at) / sizeof(LoadPlanTensor)) return false;
  return (uint32_t{h.inputs} + h.outputs) * 2 <= h.calls_at - h.ports_at;
}

bool is_text(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}

// "op\0overload\0" against "op.overload"; the text ends within `bytes`: proved by the caller.
bool is_named(const char* kernel, const char* op, uint32_t overload_at) {
  const char* rest = op;
  while (*rest && *rest == *kernel) ++rest, ++kernel;
  if (*rest) return false;
  return overload_at == 0 ? *kernel == 0 : *kernel == '.' && is_text(kernel + 1, op + overload_at);
}

// One kernel's record, or null where it does not end before `end`.
const LoadPlanKernel* kernel_record(const uint8_t* at, const uint8_t* end) {
  if (end - at < 8) return nullptr;
  const auto* k = reinterpret_cast<const LoadPlanKernel*>(at);
  const uint32_t bytes = 4u * k->words;
  if (k->words < 2 || bytes > static_cast<uint32_t>(end - at) || at[bytes - 1] != 0 || k->overload_at + 4u >= bytes) return nullptr;
  return k;
}

// Decodes arguments into the room of one call. All of it is inlined, so that its members are registers: it runs for every argument of a
// program. After a fault `bad` is set, and what is decoded means nothing.
#define INLINE [[gnu::always_inline]] inline
struct ArgumentReader {
  const Plan& plan;
  const uint32_t *at, *end;
  Value *next_value, *values_end;
  Tensor *next_tensor, *tensors_end;
  const Value **next_item, **items_end;
  bool bad = false;

  ArgumentReader(const Plan& of, const PlannedCall& call, const CallRoom& room, const CallSize& size)
      : plan(of),
        at(call.at),
        end(call.end),
        next_value(room.values),
        values_end(room.values + size.values),
        next_tensor(room.tensors),
        tensors_end(room.tensors + size.tensors),
        next_item(room.items),
        items_end(room.items + size.items) {}

  template <class T>
  INLINE T two_words() {
    T value{};
    if (end - at < 2) return bad = true, value;
    __builtin_memcpy(&value, at, sizeof value);
    at += 2;
    return value;
  }

  INLINE void read_tensor(uint32_t index, Value* v) {
    if (next_tensor == tensors_end || index >= plan.values.count) {
      bad = true;
      return;
    }
    known_planned_tensor(plan, index, next_tensor);
    v->kind = Kind::tensor;
    v->tensor = next_tensor++;
  }

  // The argument that begins with word `w`, which is no list.
  INLINE void read_one(uint32_t w, Value* v) {
    const auto kind = static_cast<LoadPlanKind>(w & 15);
    v->kind = Kind::integer;
    v->integer = static_cast<int32_t>(w) >> 4;
    if (kind == LoadPlanKind::small) return;
    if (kind == LoadPlanKind::tensor) {
      read_tensor(w >> 4, v);
    } else if (kind == LoadPlanKind::none) {
      v->kind = Kind::none;
    } else if (kind == LoadPlanKind::yes || kind == LoadPlanKind::no) {
      v->kind = Kind::boolean;
      v->boolean = kind == LoadPlanKind::yes;
    } else if (kind == LoadPlanKind::wide) {
      v->integer = two_words<int64_t>();
    } else if (kind == LoadPlanKind::real) {
      v->kind = Kind::real;
      v->real = two_words<double>();
    } else {
      bad = true;
    }
  }

  // The next argument, unless `bad`.
  INLINE const Value* read() {
    if (at >= end || next_value == values_end) return bad = true, nullptr;
    const uint32_t w = *at++;
    const auto kind = static_cast<LoadPlanKind>(w & 15);
    Value* v = next_value++;
    if (kind != LoadPlanKind::integers && kind != LoadPlanKind::tensors) return read_one(w, v), v;
    const uint32_t count = w >> 4;
    if (count > static_cast<size_t>(items_end - next_item) || count > static_cast<size_t>(values_end - next_value)) return bad = true, v;
    const Kind want = kind == LoadPlanKind::integers ? Kind::integer : Kind::tensor;
    v->kind = kind == LoadPlanKind::integers ? Kind::int_list : Kind::tensor_list;
    v->list = {next_item, nullptr, static_cast<int32_t>(count)};
    for (uint32_t i = 0; i < count; ++i) {
      if (at >= end) return bad = true, v;
      read_one(*at++, next_value);
      bad |= next_value->kind != want;
      *next_item++ = next_value++;
    }
    return v;
  }
};
#undef INLINE

// What one call does to the planned memory.
struct Uses {
  uintptr_t begin[kMostPlannedTensors], end[kMostPlannedTensors];
  int32_t numel[kMostPlannedTensors];
  uint32_t writes = 0;  // bit i: use i
  uint32_t count = 0;

  // False: a constant would be written, or there are too many.
  bool add(Plan& plan, const Tensor& t, bool written) {
    const uint32_t bytes = static_cast<uint32_t>(t.numel) * element_bytes(t.type);
    if (t.constant) return !written && plan.reader.charge(bytes / kBytesPerStep + 1);
    if (bytes == 0) return true;
    if (count == kMostPlannedTensors) return false;
    begin[count] = reinterpret_cast<uintptr_t>(t.data);
    end[count] = begin[count] + bytes;
    numel[count] = t.numel;
    writes |= static_cast<uint32_t>(written) << count++;
    return true;
  }

  // The rule of Kernel (runtime/kernel.h).
  bool are_apart(bool in_place) const {
    for (uint32_t w = 0; w < count; ++w) {
      if (!(writes >> w & 1)) continue;
      for (uint32_t k = 0; k < count; ++k) {
        if (k == w || end[w] <= begin[k] || end[k] <= begin[w]) continue;
        if ((writes >> k & 1) || !in_place || begin[w] != begin[k] || numel[w] != numel[k] || end[w] > end[k]) return false;
      }
    }
    return true;
  }
};

}  // namespace

// The plan with which the bytes of `file` end.
static const LoadPlanHeader* plan_at_end(File file) {
  const auto* bytes = static_cast<const uint8_t*>(file.data);
  if (!bytes || reinterpret_cast<uintptr_t>(bytes) % 16 != 0 || file.bytes % 4 != 0) return nullptr;
  if (file.bytes < kSmallestFile + sizeof(LoadPlanHeader) + sizeof(LoadPlanEnd) || file.bytes > INT32_MAX) return nullptr;
  if (__builtin_memcmp(bytes + 4, kIdentifier, 4) != 0) return nullptr;
  const auto& end = *reinterpret_cast<const LoadPlanEnd*>(bytes + file.bytes - sizeof(LoadPlanEnd));
  if (end.magic != kLoadPlanMagic || end.bytes < sizeof(LoadPlanHeader) + sizeof(LoadPlanEnd)) return nullptr;
  if (end.bytes > file.bytes - kSmallestFile || (file.bytes - end.bytes) % 16 != 0) return nullptr;
  const auto* h = reinterpret_cast<const LoadPlanHeader*>(bytes + file.bytes - end.bytes);
  if (h->magic != kLoadPlanMagic || h->bytes != end.bytes || h->file_bytes != file.bytes) return nullptr;
  if (h->isa > 2 || !(accepted_isas() >> h->isa & 1) || h->planned_bytes > INT32_MAX || h->kernels > kMostPlannedKernels) return nullptr;
  if (h->constants_begin > h->constants_end || h->constants_end > file.bytes) return nullptr;
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
    const char* op = reinterpret_cast<const char*>(k + 1);
    if (k->index < table.count && is_named(table.kernels[k->index]->name, op, k->overload_at)) guess = k->index;
    else if (guess >= table.count || !is_named(table.kernels[guess]->name, op, k->overload_at))
      for (guess = 0; guess < table.count; ++guess)
        if (!plan.reader.charge(1) || is_named(table.kernels[guess]->name, op, k->overload_at)) break;
    if (guess >= table.count || plan.reader.fault) return false;
    kernels[i] = table.kernels[guess++];
    at += 4u * k->words;
  }
  return true;
}

bool check_planned_shapes(const Plan& plan) {
  const auto* words = reinterpret_cast<const uint32_t*>(plan_at(plan));
  const uint32_t end = (plan.values.at - static_cast<uint32_t>(plan.segment_base)) / 4;
  uint32_t at = (plan.constant_offsets.at - static_cast<uint32_t>(plan.segment_base)) / 4 + plan.constant_offsets.count;
  for (uint32_t i = 0; i < plan.constant_offsets.count; ++i) {
    if (plan.reader.item<uint32_t>(plan.constant_offsets, i) != at || end - at < 2) return false;
    const uint32_t rank = words[at], whole = 2 + rank + (rank + 3) / 4;
    if (rank > kMaxRank || whole > end - at) return false;
    const uint32_t* sizes = words + at + 2;
    const auto* order = reinterpret_cast<const uint8_t*>(sizes + rank);
    uint32_t seen = 0;
    uint64_t numel = 1, span = 1;
    for (uint32_t d = 0; d < rank; ++d) {
      if (sizes[d] > INT32_MAX || order[d] >= rank) return false;
      seen |= 1u << order[d];
      numel *= sizes[d];
      span *= sizes[d] > 0 ? sizes[d] : 1;
      if (span > INT32_MAX) return false;
    }
    if (seen != (1u << rank) - 1 || numel != words[at + 1]) return false;
    at += whole;
  }
  return true;
}

bool check_planned_tensors(const Plan& plan) {
  const auto* records = reinterpret_cast<const LoadPlanTensor*>(plan.reader.bytes + plan.values.at);
  const auto* words = reinterpret_cast<const uint32_t*>(plan_at(plan));
  const uint64_t constants_end = plan.constants_at + plan.constants_bytes;
  for (uint32_t i = 0; i < plan.values.count; ++i) {
    const LoadPlanTensor& t = records[i];
    const uint32_t element = element_bytes(static_cast<ScalarType>(t.type));
    if (element == 0 || t.shape >= plan.constant_offsets.count || (t.offset & (element - 1)) != 0) return false;
    const uint64_t bytes = uint64_t{words[plan.reader.item<uint32_t>(plan.constant_offsets, t.shape) + 1]} * element;
    if (bytes > INT32_MAX) return false;
    switch (static_cast<Place>(t.place)) {
      case Place::planned:
        if (t.offset + bytes > plan.planned_bytes) return false;
        break;
      case Place::constant:
        if (t.offset < plan.constants_at || t.offset + bytes > constants_end) return false;
        break;
      case Place::nowhere:
        if (bytes != 0) return false;
        break;
      default:
        return false;
    }
  }
  return true;
}

void known_planned_tensor(const Plan& plan, uint32_t index, Tensor* t) {
  const auto& record = reinterpret_cast<const LoadPlanTensor*>(plan.reader.bytes + plan.values.at)[index];
  const uint32_t* shape =
      reinterpret_cast<const uint32_t*>(plan_at(plan)) + plan.reader.item<uint32_t>(plan.constant_offsets, record.shape);
  t->rank = static_cast<uint8_t>(shape[0]);
  t->numel = static_cast<int32_t>(shape[1]);
  t->sizes = reinterpret_cast<const int32_t*>(shape + 2);
  t->dim_order = reinterpret_cast<const uint8_t*>(shape + 2 + shape[0]);
  t->type = static_cast<ScalarType>(record.type);
  const Place place = static_cast<Place>(record.place);
  t->constant = place == Place::constant;
  t->data = nullptr;
  if (place == Place::planned && plan.planned) t->data = plan.planned + record.offset;
  if (t->constant) t->data = const_cast<uint8_t*>(plan.reader.bytes) + record.offset;
}

bool planned_port(const Plan& plan, uint32_t port, Tensor* tensor) {
  const uint32_t index = plan.reader.item<uint16_t>({plan.inputs.at, 0}, port);
  if (index >= plan.values.count) return false;
  known_planned_tensor(plan, index, tensor);
  return port >= plan.inputs.count || !tensor->constant;
}

const uint32_t* read_planned_call(const Plan& plan, const uint32_t* at, PlannedCall* call) {
  const auto* end = reinterpret_cast<const uint32_t*>(plan_at(plan) + header_of(plan).bytes - sizeof(LoadPlanEnd));
  if (at >= end) return nullptr;
  const uint32_t words = *at >> 16;
  *call = {*at & 0xffff, at + 1, at + 1 + words};
  return words <= static_cast<uint32_t>(end - at - 1) ? call->end : nullptr;
}

const uint32_t* first_planned_call(const Plan& plan) { return reinterpret_cast<const uint32_t*>(plan.reader.bytes + plan.instructions.at); }

bool decode_planned_call(Plan& plan, const PlannedCall& call, const Kernel& kernel, const CallRoom& room, const CallSize& size,
                         int32_t* count) {
  ArgumentReader reader(plan, call, room, size);
  Uses uses;
  uint32_t args = 0;
  for (; kernel.schema[args]; ++args) {
    if (args == size.args) return false;
    const char letter = kernel.schema[args];
    const Value* v = reader.read();
    if (reader.bad || !takes(letter, v->kind)) return false;
    room.args[args] = v;
    if (v->kind == Kind::tensor && !uses.add(plan, *v->tensor, is_out(letter))) return false;
    if (v->kind != Kind::tensor_list) continue;
    for (int32_t i = 0; i < v->list.count; ++i)
      if (!uses.add(plan, *v->list.items[i]->tensor, letter == 'W')) return false;
  }
  *count = static_cast<int32_t>(args);
  return reader.at == reader.end && plan.reader.charge(static_cast<uint32_t>(call.end - call.at) + 1) && uses.are_apart(kernel.in_place);
}

namespace {

PlannedCall known_call_at(const Plan& plan, uint32_t k) {
  PlannedCall call{};
  const uint32_t* at = first_planned_call(plan);
  for (uint32_t i = 0; i <= k; ++i) at = read_planned_call(plan, at, &call);
  return call;
}

}  // namespace

const Value* const* known_planned_call(const Plan& plan, uint32_t k, const CallRoom& room, int32_t* count) {
  const LoadPlanHeader& h = header_of(plan);
  const PlannedCall call = known_call_at(plan, k);
  ArgumentReader reader(plan, call, room, {h.most_args, h.most_values, h.most_tensors, h.most_items, 0});
  int32_t n = 0;
  while (reader.at < reader.end) room.args[n++] = reader.read();
  return *count = n, room.args;
}

CallName planned_call_name(const Plan& plan, uint32_t k) {
  uint32_t kernel = known_call_at(plan, k).kernel;
  const uint8_t* at = plan.reader.bytes + plan.operators.at;
  for (; kernel > 0; --kernel) at += 4u * at[2];
  const auto* record = reinterpret_cast<const LoadPlanKernel*>(at);
  const char* op = reinterpret_cast<const char*>(record + 1);
  return {op, record->overload_at ? op + record->overload_at : nullptr};
}

}  // namespace deuteron
