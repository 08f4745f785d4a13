// SPDX-License-Identifier: Apache-2.0
// The value table of a program under construction: each distinct literal, list, tensor and vector
// is written once.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ops/kernel_call/kernel_call.h"
#include "write/pte/program_generated.h"

namespace deuteron {

// Where a tensor lies and how it is seen.
struct TensorPlace {
  DType dtype;
  Face face;
  i64 constant = 0;  // index into constant_segment.offsets; 0: planned
  i64 offset = 0;    // planned: in its buffer
  i32 owner = -1;    // planned: tensors of different owners are different values even at one place
  i64 initial = 0;   // planned: index into mutable_data_segments' offsets; 0: no state
  i64 buffer = 1;    // planned: memory ids count from 1
  auto operator<=>(const TensorPlace& o) const {
    return std::tie(dtype, face.sizes, face.order, constant, offset, owner, initial, buffer) <=>
           std::tie(o.dtype, o.face.sizes, o.face.order, o.constant, o.offset, o.owner, o.initial,
                    o.buffer);
  }
};

class ValueTable {
 public:
  explicit ValueTable(flatbuffers::FlatBufferBuilder& builder) : builder_(builder) {}

  i32 null();
  i32 integer(i64 v);
  i32 boolean(bool v);
  i32 real(double v);
  i32 integers(const std::vector<i64>& items);  // its elements come before it
  i32 tensors(const std::vector<i32>& items);   // likewise
  i32 optional_tensors(const std::vector<i32>& items);  // -1: none
  i32 string(const std::string& text);
  i32 tensor(const TensorPlace& place);

  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<pte::EValue>>> finish() {
    return builder_.CreateVector(values_);
  }

  // A vector that other tables may share.
  flatbuffers::Offset<flatbuffers::Vector<i32>> indexes(const std::vector<i32>& items);

 private:
  template <class T>
  i32 add(pte::ValueUnion kind, flatbuffers::Offset<T> table) {
    values_.push_back(pte::CreateEValue(builder_, kind, table.Union()));
    return static_cast<i32>(values_.size()) - 1;
  }

  flatbuffers::FlatBufferBuilder& builder_;
  std::vector<flatbuffers::Offset<pte::EValue>> values_;
  i32 null_ = -1, boolean_[2] = {-1, -1};
  std::map<i64, i32> integer_;
  std::map<uint64_t, i32> real_;  // by bits
  std::map<std::vector<i64>, i32> integers_;
  std::map<TensorPlace, i32> tensor_;
  std::map<std::pair<i64, i64>, flatbuffers::Offset<pte::AllocationDetails>>
      allocation_;  // by buffer and offset
  std::map<std::vector<i32>, flatbuffers::Offset<flatbuffers::Vector<i32>>> indexes_;
  std::map<std::vector<uint8_t>, flatbuffers::Offset<flatbuffers::Vector<uint8_t>>> orders_;
};

}  // namespace deuteron
