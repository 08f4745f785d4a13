// SPDX-License-Identifier: Apache-2.0
#include "write/pte/values.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

namespace deuteron {
namespace {

// Codes of the format's scalar_type.
int8_t scalar_code(DType d) {
  switch (d) {
    case DType::u8:
      return 0;
    case DType::s8:
      return 1;
    case DType::s16:
      return 2;
    case DType::s32:
      return 3;
    case DType::s64:
      return 4;
    case DType::f16:
      return 5;
    case DType::f32:
      return 6;
    case DType::f64:
      return 7;
    case DType::b8:
      return 11;
    case DType::bf16:
      return 15;
  }
  DEUTERON_CHECK(false, std::string(name_of(d)));
}

}  // namespace

i32 ValueTable::null() {
  if (null_ < 0) null_ = add(pte::ValueUnion::Null, pte::CreateNull(builder_));
  return null_;
}

i32 ValueTable::integer(i64 v) {
  const auto [it, added] = integer_.emplace(v, 0);
  if (added) it->second = add(pte::ValueUnion::Int, pte::CreateInt(builder_, v));
  return it->second;
}

i32 ValueTable::boolean(bool v) {
  if (boolean_[v] < 0) boolean_[v] = add(pte::ValueUnion::Bool, pte::CreateBool(builder_, v));
  return boolean_[v];
}

i32 ValueTable::real(double v) {
  const auto [it, added] = real_.emplace(std::bit_cast<uint64_t>(v), 0);
  if (!added) return it->second;
  builder_.ForceDefaults(v == 0 &&
                         std::signbit(v));  // -0.0 equals the default 0.0 and would be left out
  const auto table = pte::CreateDouble(builder_, v);
  builder_.ForceDefaults(false);
  return it->second = add(pte::ValueUnion::Double, table);
}

i32 ValueTable::integers(const std::vector<i64>& items) {
  const auto known = integers_.find(items);
  if (known != integers_.end()) return known->second;
  std::vector<i64> boxed;
  for (const i64 item : items) boxed.push_back(integer(item));
  return integers_[items] = add(pte::ValueUnion::IntList,
                                pte::CreateIntList(builder_, builder_.CreateVector(boxed)));
}

i32 ValueTable::tensors(const std::vector<i32>& items) {
  return add(pte::ValueUnion::TensorList, pte::CreateTensorList(builder_, indexes(items)));
}

i32 ValueTable::optional_tensors(const std::vector<i32>& items) {
  return add(pte::ValueUnion::OptionalTensorList,
             pte::CreateOptionalTensorList(builder_, indexes(items)));
}

i32 ValueTable::string(const std::string& text) {
  return add(pte::ValueUnion::String,
             pte::CreateString(builder_, builder_.CreateSharedString(text)));
}

flatbuffers::Offset<flatbuffers::Vector<i32>> ValueTable::indexes(const std::vector<i32>& items) {
  const auto known = indexes_.find(items);
  if (known != indexes_.end()) return known->second;
  return indexes_[items] = builder_.CreateVector(items);
}

i32 ValueTable::tensor(const TensorPlace& place) {
  const auto known = tensor_.find(place);
  if (known != tensor_.end()) return known->second;

  const Shape& shape = place.face.sizes;
  DEUTERON_CHECK(shape.size() == place.face.order.size(), to_text(shape));
  std::vector<i32> sizes;
  std::vector<uint8_t> order;
  for (const i64 extent : shape) {
    DEUTERON_CHECK(extent >= 0 && extent <= std::numeric_limits<i32>::max(), to_text(shape));
    sizes.push_back(static_cast<i32>(extent));
  }
  for (const i64 axis : place.face.order) {
    DEUTERON_CHECK(axis >= 0 && axis < static_cast<i64>(shape.size()), to_text(place.face.order));
    order.push_back(static_cast<uint8_t>(axis));
  }
  const auto sizes_at = indexes(sizes);
  auto [order_at, new_order] = orders_.emplace(order, 0);
  if (new_order) order_at->second = builder_.CreateVector(order);
  flatbuffers::Offset<pte::AllocationDetails> allocation = 0;
  if (place.constant == 0) {
    DEUTERON_CHECK(place.offset >= 0, fmt::format("a tensor [{}] has no place", to_text(shape)));
    auto [at, added] = allocation_.emplace(std::pair(place.buffer, place.offset), 0);
    const auto bits = static_cast<uint64_t>(place.offset);
    if (added)
      at->second = pte::CreateAllocationDetails(builder_, static_cast<uint32_t>(place.buffer),
                                                static_cast<uint32_t>(bits),
                                                static_cast<uint32_t>(bits >> 32));
    allocation = at->second;
  }
  pte::TensorBuilder tensor(builder_);
  tensor.add_sizes(sizes_at);
  tensor.add_dim_order(order_at->second);
  tensor.add_allocation_info(allocation);
  tensor.add_data_buffer_idx(
      static_cast<uint32_t>(place.constant != 0 ? place.constant : place.initial));
  tensor.add_scalar_type(scalar_code(place.dtype));
  return tensor_[place] = add(pte::ValueUnion::Tensor, tensor.Finish());
}

}  // namespace deuteron
