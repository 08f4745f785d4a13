// SPDX-License-Identifier: Apache-2.0
// Tensors as they lie, somewhere else or in another order: how a program writes its state, joins,
// cuts and turns.
#pragma once
#include <cstdint>

namespace deuteron {

// x and y do not overlap.
void copy_bytes(int32_t bytes, const int8_t* x, int8_t* y);

// y[sum of index * out_steps] = x[sum of index * in_steps] for every index of `sizes`.
// Shapes   `rank` sizes and steps, 0..16; the last dimension is the inner loop, fastest where both
// its steps are 1 Units    steps in elements, negative or 0 too; element_bytes 1, 2, 4 or 8 Scratch
// none   Errors  none   Aliasing  the elements written overlap nothing that is read
void copy_elements(int rank, int element_bytes, const int32_t* sizes, const int32_t* in_steps,
                   const int32_t* out_steps, const void* x, void* y);

// The same with its numbers beside each other, as a C program has them; absent dimensions stand
// first and are 1.
inline constexpr int kCopyDimensions = 5;
struct StridesArgs {
  int32_t size[kCopyDimensions], in_step[kCopyDimensions], out_step[kCopyDimensions], element_bytes;
};
void copy_strided(const StridesArgs& a, const int8_t* x, int8_t* y);

}  // namespace deuteron
