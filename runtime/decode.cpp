// SPDX-License-Identifier: Apache-2.0
// Reads values of a program file that check_values has passed: what each one is, and where a tensor
// lies.
#include <initializer_list>

#include "runtime/plan.h"

namespace deuteron {
namespace {

void set_data(const Plan& plan, const DataPlace& p, uint32_t bytes, Tensor* tensor) {
  tensor->constant = p.place == Place::constant;
  tensor->data = nullptr;
  if (p.place == Place::planned && plan.planned) tensor->data = planned_address(plan, p.offset);
  if (p.place != Place::constant) return;
  tensor->data = const_cast<uint8_t*>(plan.reader.bytes) + p.offset;
  if (const SeveralMemories* m = plan.several)
    for (uint32_t k = 0; m->are_copied && k < m->copy_count; ++k) {
      const ConstantCopy& c = m->copies[k];
      if (p.offset >= c.from && p.offset - c.from <= c.bytes &&
          bytes <= c.bytes - (p.offset - c.from))
        tensor->data = planned_address(plan, c.at + (p.offset - c.from));
    }
}

// The place of such a tensor: in the order of the inputs, then the outputs. False if it is neither.
bool find_added_memory(const Plan& plan, uint32_t index, uint32_t* offset) {
  uint32_t at = plan.file_planned_bytes;
  for (const FlatVector list : {plan.inputs, plan.outputs})
    for (uint32_t i = 0; i < list.count; ++i) {
      const uint32_t value = plan.reader.item<uint32_t>(list, i);
      if (value == index) return *offset = at, true;
      at += static_cast<uint32_t>(added_bytes(plan, value));
    }
  return false;
}

}  // namespace

int64_t added_bytes(const Plan& plan, uint32_t index) {
  const FlatReader& r = plan.reader;
  const ValueView v = known_value(plan, index);
  if (v.tag != ValueTag::tensor || r.known_field(v.payload, kAllocation) != 0 ||
      r.known_scalar<uint32_t>(v.payload, kDataIndex) != 0)
    return 0;
  const FlatVector sizes = r.known_vector(v.payload, kSizes);
  int64_t bytes =
      element_bytes(static_cast<ScalarType>(r.known_scalar<int8_t>(v.payload, kScalarType)));
  for (uint32_t i = 0; i < sizes.count; ++i) bytes *= r.item<int32_t>(sizes, i);
  return (bytes + 15) / 16 * 16;
}

uint64_t known_tag_and_payload(const Plan& plan, uint32_t index) {
  const FlatReader& r = plan.reader;
  const uint32_t slot = plan.values.at + 4 * index, at = slot + r.load<uint32_t>(slot),
                 vtable = at - r.load<uint32_t>(at);
  const uint64_t tag = r.load<uint8_t>(
      at +
      r.load<uint16_t>(vtable + 4));  // check_value found both fields, but in `null` the second
  if (tag == static_cast<uint64_t>(ValueTag::null)) return tag << 32;
  const uint32_t field = at + r.load<uint16_t>(vtable + 6);
  return tag << 32 | (field + r.load<uint32_t>(field));
}

DataPlace known_place(const Plan& plan, uint32_t index, FlatTable t) {
  const FlatReader& r = plan.reader;
  DataPlace p;
  if (const FlatTable allocation = r.known_table(t, kAllocation)) {
    p.place = Place::planned;
    p.offset = r.known_scalar<uint32_t>(allocation, kOffsetLow) +
               buffer_at(plan, r.known_scalar<uint32_t>(allocation, kMemoryId));
  } else if (const uint32_t data_index = r.known_scalar<uint32_t>(t, kDataIndex)) {
    p.place = Place::constant;
    p.offset = static_cast<uint32_t>(plan.constants_at +
                                     r.item<uint64_t>(plan.constant_offsets, data_index));
  } else if (find_added_memory(plan, index, &p.offset)) {
    p.place = Place::planned;
  }
  return p;
}

bool is_state(const Plan& plan, uint32_t index) {
  const FlatReader& r = plan.reader;
  const ValueView v = known_value(plan, index);
  return v.tag == ValueTag::tensor && r.known_field(v.payload, kAllocation) != 0 &&
         r.known_scalar<uint32_t>(v.payload, kDataIndex) != 0;
}

const uint8_t* known_initial(const Plan& plan, FlatTable t) {
  const FlatReader& r = plan.reader;
  return r.bytes + plan.states_at +
         r.item<uint64_t>(plan.state_offsets, r.known_scalar<uint32_t>(t, kDataIndex));
}

uint32_t placement_steps(const Plan& plan, FlatTable t) {
  const FlatReader& r = plan.reader;
  if (const FlatTable allocation = r.known_table(t, kAllocation))
    return 1 + r.known_scalar<uint32_t>(allocation, kMemoryId);
  return r.known_scalar<uint32_t>(t, kDataIndex) ? 1 : 1 + plan.inputs.count + plan.outputs.count;
}

uint32_t known_shape(const Plan& plan, FlatTable t, Tensor* tensor) {
  const FlatReader& r = plan.reader;
  const FlatVector sizes = r.known_vector(t, kSizes), order = r.known_vector(t, kDimOrder);
  tensor->sizes = reinterpret_cast<const int32_t*>(r.bytes + sizes.at);
  tensor->dim_order = r.bytes + order.at;
  tensor->rank = static_cast<uint8_t>(sizes.count);
  tensor->numel = 1;
  for (uint32_t i = 0; i < sizes.count; ++i) tensor->numel *= tensor->sizes[i];
  tensor->type = static_cast<ScalarType>(r.known_scalar<int8_t>(t, kScalarType));
  return static_cast<uint32_t>(tensor->numel) * element_bytes(tensor->type);
}

void known_tensor(const Plan& plan, uint32_t index, FlatTable t, Tensor* tensor) {
  const uint32_t bytes = known_shape(plan, t, tensor);
  set_data(plan, known_place(plan, index, t), bytes, tensor);
}

}  // namespace deuteron
