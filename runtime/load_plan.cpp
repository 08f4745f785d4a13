// SPDX-License-Identifier: Apache-2.0
// Reads a load plan. Nothing in it is believed: each part, shape, tensor and argument is checked against the file, the planned memory and
// the kernel's schema before it is used, so that a plan made by somebody else can only make a program that loads no better than a file.
#include "runtime/load_plan.h"

#include <initializer_list>

#include "runtime/schema.h"
#include "runtime/signature.h"
#include "runtime/wide_product.h"

namespace deuteron {
namespace {

constexpr uint32_t kSmallestFile = 64;  // as in open.cpp
constexpr uint32_t kIdentifier = 0x32315445;  // "ET12"

const uint8_t* plan_at(const Plan& plan) { return plan.reader.bytes + plan.segment_base; }
const LoadPlanHeader& header_of(const Plan& plan) { return *reinterpret_cast<const LoadPlanHeader*>(plan_at(plan)); }

bool parts_lie_in_order(const LoadPlanHeader& h) {
  uint32_t end = sizeof(LoadPlanHeader);
  for (const uint32_t at : {h.kernels_at, h.tensors_at, h.ports_at, h.details_at, h.calls_at}) {
    if (at < end || at % 4 != 0) return false;
    end = at;
  }
  const uint32_t last = h.bytes - static_cast<uint32_t>(sizeof(LoadPlanEnd));
  if (h.calls_at > last) return false;
  if (uint64_t{4} * h.tensors * load_plan_tensor_words(h.most_rank) > h.ports_at - h.tensors_at) return false;
  return (uint32_t{h.inputs} + h.outputs) * 2 <= h.details_at - h.ports_at;
}

// One kernel's record, or null where it does not end before `end`.
const LoadPlanKernel* kernel_record(const uint8_t* at, const uint8_t* end) {
  if (end - at < 12) return nullptr;
  const auto* k = reinterpret_cast<const LoadPlanKernel*>(at);
  const uint32_t bytes = 4u * k->words;
  if (k->words < 3 || bytes > static_cast<uint32_t>(end - at) || at[bytes - 1] != 0 || k->overload_at + 8u >= bytes) return nullptr;
  return k;
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
  plan->reader.tables_left = max_load_steps(plan->reader.size);
  plan->segment_base = at;
  plan->operators = {at + h.kernels_at, h.kernels};
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
  const uint8_t *at = plan.reader.bytes + plan.operators.at, *end = plan.reader.bytes + plan.values.at;
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

// A permutation of 0..rank-1.
static bool is_order(const uint8_t* order, uint32_t rank) {
  uint32_t seen = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    if (order[i] >= rank) return false;
    seen |= 1u << order[i];
  }
  return seen == (1u << rank) - 1;
}

// The elements of a shape; 2^31 and more where it, or a view of it without its empty extents, has too many.
static uint32_t elements_of(const uint32_t* sizes, uint32_t rank) {
  uint32_t span = 1, empty = 0;
  for (const uint32_t* const end = sizes + rank; sizes < end; ++sizes) {
    if (*sizes == 0) {
      empty = 1;
      continue;
    }
    const int64_t wider = wide_product(span, *sizes);
    if (wider > INT32_MAX) return UINT32_MAX;
    span = static_cast<uint32_t>(wider);
  }
  return empty ? 0 : span;
}

bool check_planned_tensors(const Plan& plan) {
  const PlannedParts parts(plan);
  const uint32_t most_rank = header_of(plan).most_rank, words = parts.tensor_words, order_at = parts.order_at;
  const auto constants_at = static_cast<uint32_t>(plan.constants_at), constants_bytes = static_cast<uint32_t>(plan.constants_bytes);
  const uint32_t *at = parts.tensors, *const end = at + size_t{words} * parts.tensor_count;
  uint32_t known_order = 0x03020100;  // of an image, the last that was checked: first that of its dimensions
  for (; at < end; at += words) {
    const LoadPlanTensor& t = *reinterpret_cast<const LoadPlanTensor*>(at);
    if (t.rank > most_rank || t.type >= sizeof kElementBytes) return false;
    // Lists of weights and of numbers have an order of one, 0.
    if (t.rank == 1 ? static_cast<uint8_t>(at[order_at]) != 0 : t.rank != 4 || at[order_at] != known_order) {
      if (!is_order(reinterpret_cast<const uint8_t*>(at + order_at), t.rank)) return false;
      if (t.rank == 4) known_order = at[order_at];
    }
    const uint32_t element = kElementBytes[t.type], offset = t.offset;
    if (element == 0 || (offset & (element - 1)) != 0 || elements_of(at + sizeof t / 4, t.rank) != t.elements) return false;
    const int64_t bytes = wide_product(t.elements, element);
    if (bytes > INT32_MAX) return false;
    // Where its memory begins, and how much that is.
    uint32_t begin = 0, room = 0;
    if (t.place == static_cast<uint8_t>(Place::planned)) room = plan.planned_bytes;
    else if (t.place == static_cast<uint8_t>(Place::constant)) begin = constants_at, room = constants_bytes;
    else if (t.place != static_cast<uint8_t>(Place::nowhere)) return false;
    if (t.constant != (t.place == static_cast<uint8_t>(Place::constant))) return false;
    if (offset < begin || offset - begin > room || bytes > room - (offset - begin)) return false;
  }
  return true;
}

PlannedParts::PlannedParts(const Plan& plan)
    : tensors(reinterpret_cast<const uint32_t*>(plan.reader.bytes + plan.values.at)),
      tensor_count(plan.values.count),
      tensor_words(load_plan_tensor_words(header_of(plan).most_rank)),
      order_at(static_cast<uint32_t>(sizeof(LoadPlanTensor) / 4) + header_of(plan).most_rank),
      details(reinterpret_cast<const uint32_t*>(plan_at(plan) + header_of(plan).details_at)),
      detail_words((header_of(plan).calls_at - header_of(plan).details_at) / 4),
      bases{nullptr, plan.planned, const_cast<uint8_t*>(plan.reader.bytes)} {}

bool planned_port(const Plan& plan, const PlannedParts& parts, uint32_t port, Tensor* tensor) {
  const uint32_t index = plan.reader.item<uint16_t>({plan.inputs.at, 0}, port);
  if (index >= parts.tensor_count) return false;
  parts.place(index, tensor);
  return port >= plan.inputs.count || !tensor->constant;
}

CallSize planned_call_size(const Plan& plan) {
  const LoadPlanHeader& h = header_of(plan);
  return {h.most_args, h.most_values, h.most_tensors, h.most_items, 0};
}

CallName planned_call_name(const Plan& plan, uint32_t k) {
  const auto* call = reinterpret_cast<const uint32_t*>(plan.reader.bytes + plan.instructions.at);
  for (; k > 0; --k) call += 1 + (*call >> 16);
  uint32_t kernel = *call & 0xff;
  const uint8_t* at = plan.reader.bytes + plan.operators.at;
  for (; kernel > 0; --kernel) at += size_t{4} * reinterpret_cast<const LoadPlanKernel*>(at)->words;
  const auto* record = reinterpret_cast<const LoadPlanKernel*>(at);
  const char* op = reinterpret_cast<const char*>(record + 1);
  return {op, record->overload_at ? op + record->overload_at : nullptr};
}

}  // namespace deuteron
