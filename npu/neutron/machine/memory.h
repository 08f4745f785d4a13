// SPDX-License-Identifier: Apache-2.0
// Where the operands of a run lie, and the walk over tensors with strides that several kernels
// share.
#pragma once
#include <cstdint>

#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// The memories of one run. All operands were checked when the model was prepared.
struct Memory {
  const void* const* inputs;
  void* const* outputs;
  int8_t* scratch;
  const int8_t* weights;
  int8_t* sram_weights;
  // The application's way to copy constants, or null.
  void (*copy)(void* to, void* from, uint32_t bytes, uint32_t channel);
  void (*wait)(uint32_t channel);

  int8_t* write(const Operand& o) const {
    switch (region_of(o)) {
      case Region::kOutput:
        return static_cast<int8_t*>(outputs[index_of(o)]) + o.offset;
      case Region::kScratch:
        return scratch + o.offset;
      case Region::kSramWeights:
        return sram_weights + o.offset;
      case Region::kNone:
      case Region::kInput:
      case Region::kWeights:
        break;
    }
    return nullptr;
  }
  const int8_t* read(const Operand& o) const {
    if (region_of(o) == Region::kInput)
      return static_cast<const int8_t*>(inputs[index_of(o)]) + o.offset;
    if (region_of(o) == Region::kWeights) return weights + o.offset;
    return write(o);
  }
};

// The axes of a walk over up to three tensors at once, without those of extent 1 and with those
// joined that lie one behind the other in all.
struct Walk {
  int32_t rank = 0;  // at least 1
  int32_t extent[kMaxRank] = {};
  int32_t stride[3][kMaxRank] = {};
};

inline Walk walk_of(const int32_t (&extent)[kMaxRank], const int32_t* first, const int32_t* second,
                    const int32_t* third) {
  const int32_t* strides[3] = {first, second, third};
  Walk walk;
  for (int i = 0; i < kMaxRank; ++i) {
    if (extent[i] == 1) continue;
    bool joins = walk.rank > 0;
    for (int t = 0; t < 3 && joins; ++t)
      joins = strides[t] == nullptr ||
              int64_t{walk.stride[t][walk.rank - 1]} == int64_t{strides[t][i]} * extent[i];
    const int at = joins ? walk.rank - 1 : walk.rank++;
    walk.extent[at] = joins ? walk.extent[at] * extent[i] : extent[i];
    for (int t = 0; t < 3; ++t) walk.stride[t][at] = strides[t] != nullptr ? strides[t][i] : 0;
  }
  if (walk.rank == 0) walk.extent[walk.rank++] = 1;
  return walk;
}

// Calls row(offset in the first tensor, in the second, in the third) for each row along the last
// axis, in order.
template <class Row>
void for_each_row(const Walk& walk, Row row) {
  int32_t index[kMaxRank] = {}, at[3] = {};
  const int last = walk.rank - 1;
  for (;;) {
    row(at[0], at[1], at[2]);
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      if (++index[axis] < walk.extent[axis]) break;
      index[axis] = 0;
      for (int t = 0; t < 3; ++t) at[t] -= walk.stride[t][axis] * (walk.extent[axis] - 1);
    }
    if (axis < 0) return;
    for (int t = 0; t < 3; ++t) at[t] += walk.stride[t][axis];
  }
}

// Strides of a tensor of these extents without gaps.
struct Strides {
  int32_t of[kMaxRank];
};
inline Strides dense_strides(const int32_t (&extent)[kMaxRank]) {
  Strides strides{};
  int32_t step = 1;
  for (int i = kMaxRank - 1; i >= 0; --i) {
    strides.of[i] = step;
    step *= extent[i];
  }
  return strides;
}

}  // namespace deuteron::neutron
