// SPDX-License-Identifier: Apache-2.0
// The check of every value of a program file at load: after it, decode.cpp reads them without
// checks.
#include <initializer_list>

#include "runtime/plan.h"

namespace deuteron {
namespace {

constexpr uint8_t kValueWidths[] = {1, 4}, kTensorWidths[] = {1, 4, 4, 4, 1, 4, 4, 1, 1, 4},
                  kAllocationWidths[] = {4, 4, 4}, kNumberWidths[] = {8};
struct ValueShapes {
  FlatShape value{kValueWidths, sizeof kValueWidths}, tensor{kTensorWidths, sizeof kTensorWidths};
  FlatShape allocation{kAllocationWidths, sizeof kAllocationWidths},
      number{kNumberWidths, sizeof kNumberWidths};
};

constexpr const char kIsaMarker[] = "deuteron:isa=", kCopyMarker[] = "deuteron:copy=";

// Multiplies `bytes`, which is one element's, by the number of elements.
bool check_shape(FlatReader& r, FlatTable t, int64_t* bytes) {
  const FlatVector sizes = r.vector_from(r.known_field(t, kSizes), 4),
                   order = r.vector_from(r.known_field(t, kDimOrder), 1);
  if (r.fault) return false;
  if (!sizes || !order || sizes.count != order.count)
    return r.corrupt("a tensor's sizes and dimension order do not match"), false;
  if (sizes.count > kMaxRank)
    return r.fail(Code::unsupported, "a tensor has more than 16 dimensions"), false;
  int64_t numel = 1,
          span = 1;  // span: the product without empty dimensions, so that partial products fit too
  uint32_t seen = 0;
  for (uint32_t i = 0; i < sizes.count; ++i) {
    const int32_t size = r.item<int32_t>(sizes, i);
    const uint8_t dim = r.item<uint8_t>(order, i);
    if (size < 0) return r.corrupt("a tensor has a negative size"), false;
    if (dim >= sizes.count || (seen >> dim & 1))
      return r.corrupt("a tensor's dimension order is not a permutation"), false;
    seen |= 1u << dim;
    numel *= size;
    span *= size > 0 ? size : 1;
    if (span > INT32_MAX) return r.corrupt("a tensor has more than 2^31 elements"), false;
  }
  *bytes *= numel;
  if (*bytes > INT32_MAX) return r.corrupt("a tensor has more than 2^31 bytes"), false;
  return true;
}

bool check_planned(Plan& plan, FlatTable allocation, uint32_t element, int64_t bytes) {
  FlatReader& r = plan.reader;
  const uint32_t id = r.known_scalar<uint32_t>(allocation, kMemoryId),
                 low = r.known_scalar<uint32_t>(allocation, kOffsetLow);
  const uint32_t high = r.known_scalar<uint32_t>(allocation, kOffsetHigh);
  if (id == 0 || id >= plan.buffer_sizes.count)
    return r.corrupt("a tensor lies in a planned buffer that does not exist"), false;
  const int64_t room = r.item<int64_t>(plan.buffer_sizes, id);
  if (high != 0 || low > room || bytes > room - low)
    return r.corrupt("a tensor lies outside its planned buffer"), false;
  if ((low & (element - 1)) != 0)
    return r.corrupt("a planned tensor is not aligned for its elements"), false;
  return r.charge(id);  // finding the buffer will take so many steps
}

bool check_constant(Plan& plan, uint32_t index, uint32_t element, int64_t bytes) {
  FlatReader& r = plan.reader;
  if (index >= plan.constant_offsets.count)
    return r.corrupt(plan.constant_offsets.count > 1
                         ? "a constant has an index that does not exist"
                         : "a constant lies in the old inline table, or nowhere"),
           false;
  const uint64_t offset = r.item<uint64_t>(plan.constant_offsets, index);
  if (offset > plan.constants_bytes || static_cast<uint64_t>(bytes) > plan.constants_bytes - offset)
    return r.corrupt("a constant runs past the end of its segment"), false;
  if (((plan.constants_at + offset) & (element - 1)) != 0)
    return r.corrupt("a constant is not aligned for its elements"), false;
  return true;
}

// What a state begins with lies in a segment of its own.
bool check_initial(Plan& plan, uint32_t index, int64_t bytes) {
  FlatReader& r = plan.reader;
  if (index >= plan.state_offsets.count)
    return r.corrupt("a state begins with contents that do not exist"), false;
  const uint64_t offset = r.item<uint64_t>(plan.state_offsets, index);
  if (offset > plan.states_bytes || static_cast<uint64_t>(bytes) > plan.states_bytes - offset)
    return r.corrupt("what a state begins with runs past the end of its segment"), false;
  ++plan.states;
  return r.charge(1);
}

bool check_tensor(Plan& plan, FlatTable t, ValueShapes& shapes) {
  FlatReader& r = plan.reader;
  const uint32_t element =
      element_bytes(static_cast<ScalarType>(r.known_scalar<int8_t>(t, kScalarType)));
  if (element == 0)
    return r.fail(Code::unsupported,
                  "a tensor has an element type that this runtime does not know"),
           false;
  if (r.known_scalar<int32_t>(t, kStorageOffset) != 0)
    return r.fail(Code::unsupported, "a tensor has a storage offset"), false;
  if (r.known_scalar<int8_t>(t, kLayout) != 0)
    return r.fail(Code::unsupported, "a tensor is not strided"), false;
  if (r.known_scalar<uint8_t>(t, kDynamism) > 1)
    return r.fail(Code::unsupported, "a tensor's shape has no upper bound"), false;
  int64_t bytes = element;
  if (!check_shape(r, t, &bytes)) return false;
  if (const FlatTable extra = r.table_from(r.known_field(t, kExtra))) {
    if (r.scalar<int8_t>(extra, kLocation) != 0)
      return r.fail(Code::unsupported, "a tensor's data lie in another file (.ptd)"), false;
    if (r.scalar<uint64_t>(extra, kMutableIndex) != 0)
      return r.corrupt("a state begins with contents that do not exist"), false;
    if (r.scalar<int8_t>(extra, kDevice) != 0)
      return r.fail(Code::unsupported, "a tensor lies on another device than the CPU"), false;
  }
  const uint32_t data_index = r.known_scalar<uint32_t>(t, kDataIndex);
  const FlatTable allocation = r.table_from(r.known_field(t, kAllocation), shapes.allocation);
  if (r.fault) return false;
  if (allocation && data_index != 0 && !check_initial(plan, data_index, bytes)) return false;
  if (allocation) return check_planned(plan, allocation, element, bytes);
  return data_index == 0 || check_constant(plan, data_index, element, bytes);
}

bool begins(const char* text, const char* with) {
  while (*with && *text == *with) ++text, ++with;
  return *with == 0;
}

bool read_marker(Plan& plan, const char* text) {
  if constexpr (kMostMemories > 1)
    if (begins(text, kCopyMarker)) return read_copy(plan, text + sizeof kCopyMarker - 1);
  for (int i = 0; kIsaMarker[i]; ++i)
    if (text[i] != kIsaMarker[i]) return true;
  const char* name = text + sizeof kIsaMarker - 1;
  for (int isa = 0; isa < 3; ++isa) {
    const char* known = name_of(static_cast<Isa>(isa));
    int i = 0;
    while (known[i] && known[i] == name[i]) ++i;
    if (known[i] != name[i]) continue;
    plan.isa = static_cast<Isa>(isa);
    if (accepted_isas() >> isa & 1) return true;
    static const char* const kMadeFor[] = {
        "the program was made for the scalar instruction set (cortex-m0, m3, m23), not for this "
        "processor's",
        "the program was made for the DSP instruction set (cortex-m4, m7, m33), not for this "
        "processor's",
        "the program was made for the MVE instruction set (cortex-m55, m85), not for this "
        "processor's"};
    return plan.reader.fail(Code::wrong_isa, kMadeFor[isa]), false;
  }
  return plan.reader.fail(
             Code::wrong_isa,
             "the program was made for an instruction set that this runtime does not know"),
         false;
}

// Elements of a list must come before it and have the right type; -1 is `none` where that is
// allowed.
template <class Index>
bool check_items(Plan& plan, uint32_t list, FlatVector items, ValueTag tag, bool optional) {
  FlatReader& r = plan.reader;
  for (uint32_t i = 0; i < items.count; ++i) {
    const int64_t item = r.item<Index>(items, i);
    if (optional && item == -1) continue;
    if (item < 0 || item >= list)
      return r.corrupt("a list refers to a value that does not come before it"), false;
    if (!r.charge(1)) return false;
    if (known_value(plan, static_cast<uint32_t>(item)).tag != tag)
      return r.corrupt("a list holds a value of the wrong type"), false;
  }
  return true;
}

bool check_value(Plan& plan, uint32_t index, ValueShapes& shapes) {
  FlatReader& r = plan.reader;
  const FlatTable value = r.table_from(plan.values.at + 4 * index, shapes.value);
  if (!value) return false;
  const uint8_t number = r.known_scalar<uint8_t>(value, 0);
  const ValueTag tag = static_cast<ValueTag>(number);
  if (number == 0 || tag > ValueTag::optional_tensor_list)
    return r.corrupt("a value has no known type"), false;
  if (tag == ValueTag::null) return true;
  const uint32_t field = r.known_field(value, 1);
  if (!field) return r.corrupt("a value is empty"), false;
  FlatTable payload;
  if (tag == ValueTag::tensor) payload = r.table_from(field, shapes.tensor);
  else if (tag == ValueTag::integer || tag == ValueTag::real)
    payload = r.table_from(field, shapes.number);
  else payload = r.table_from(field);
  if (!payload) return false;
  switch (tag) {
    case ValueTag::tensor:
      return check_tensor(plan, payload, shapes);
    case ValueTag::boolean:
      r.field(payload, 0, 1);
      break;
    case ValueTag::string: {
      const char* text = r.string(payload, 0);
      if (!r.fault && !text) r.corrupt("a string value has no text");
      return !r.fault && read_marker(plan, text);
    }
    case ValueTag::int_list:
      return check_items<int64_t>(plan, index, r.vector(payload, 0, 8), ValueTag::integer, false) &&
             !r.fault;
    case ValueTag::real_list:
      r.vector(payload, 0, 8);
      break;
    case ValueTag::bool_list:
      r.vector(payload, 0, 1);
      break;
    case ValueTag::tensor_list:
    case ValueTag::optional_tensor_list:
      return check_items<int32_t>(plan, index, r.vector(payload, 0, 4), ValueTag::tensor,
                                  tag == ValueTag::optional_tensor_list) &&
             !r.fault;
    default:
      break;
  }
  return !r.fault;
}

}  // namespace

bool check_values(Plan& plan) {
  ValueShapes shapes;
  for (uint32_t i = 0; i < plan.values.count; ++i)
    if (!check_value(plan, i, shapes)) return false;
  return true;
}

bool check_inputs_and_outputs(Plan& plan) {
  FlatReader& r = plan.reader;
  if (plan.inputs.count > kMostPorts || plan.outputs.count > kMostPorts)
    return r.fail(Code::unsupported, "more than 1024 inputs or outputs"), false;
  int64_t end = plan.file_planned_bytes;
  for (const FlatVector list : {plan.inputs, plan.outputs}) {
    const bool input = list.at == plan.inputs.at;
    for (uint32_t i = 0; i < list.count; ++i) {
      const uint32_t index = r.item<uint32_t>(list, i);
      if (index >= plan.values.count)
        return r.corrupt("an input or output refers to a value that does not exist"), false;
      const ValueView v = known_value(plan, index);
      if (v.tag == ValueTag::null && !input) continue;
      if (v.tag != ValueTag::tensor)
        return r.fail(Code::unsupported, "an input or output is not a tensor"), false;
      if (!r.charge(placement_steps(plan, v.payload) + (input ? i / 8 : 0)))
        return false;  // of finding its memory, and its repetition
      end += added_bytes(plan, index);
      if (end > INT32_MAX)
        return r.fail(Code::unsupported, "inputs and outputs need more than 2 GiB"), false;
      if (!input) continue;
      if (r.known_scalar<uint32_t>(v.payload, kDataIndex) != 0)
        return r.corrupt("an input is a constant"), false;
      for (uint32_t k = 0; k < i; ++k)
        if (r.item<uint32_t>(list, k) == index) return r.corrupt("an input is listed twice"), false;
    }
  }
  plan.ports_end = plan.planned_bytes = static_cast<uint32_t>(end);
  return !r.fault;
}

}  // namespace deuteron
