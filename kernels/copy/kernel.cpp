// SPDX-License-Identifier: Apache-2.0
#include "kernels/copy/kernel.h"

#include <cstddef>

#include "kernels/copy/row.h"
#include "kernels/copy/walk.h"

namespace deuteron {
namespace {

// Rows of the two innermost dimensions in loops of their own: walking costs as much as a short row.
template <class T>
void copy_rows(int rank, const int32_t* sizes, const int32_t* in_steps, const int32_t* out_steps,
               const void* x, void* y) {
  const int outer = rank > 1 ? rank - 2 : 0;
  const bool has_rows = rank > 1, has_columns = rank > 0;
  const int32_t rows = has_rows ? sizes[outer] : 1, count = has_columns ? sizes[rank - 1] : 1;
  const int32_t in_row = has_rows ? in_steps[outer] : 0, out_row = has_rows ? out_steps[outer] : 0;
  const int32_t in_step = has_columns ? in_steps[rank - 1] : 1,
                out_step = has_columns ? out_steps[rank - 1] : 1;
  const int32_t* const strides[] = {in_steps, out_steps};
  walk<2>(outer, sizes, strides, [&](const int32_t* at) {
    const T* from = static_cast<const T*>(x) + at[0];
    T* to = static_cast<T*>(y) + at[1];
    if (in_step == 1 && out_step == 1) {
      constexpr auto kSize = static_cast<ptrdiff_t>(sizeof(T));
      copy_rows_of({reinterpret_cast<const uint8_t*>(from), reinterpret_cast<uint8_t*>(to),
                    in_row * kSize, out_row * kSize, rows},
                   static_cast<size_t>(count) * sizeof(T));
      return;
    }
    for (int32_t r = rows; r > 0; --r, from += in_row, to += out_row) {
      const T* element = from;
      T* place = to;
      for (int32_t i = count; i > 0; --i, element += in_step, place += out_step)
        __builtin_memcpy(place, element, sizeof(T));
    }
  });
}

}  // namespace

void copy_bytes(int32_t bytes, const int8_t* x, int8_t* y) {
  __builtin_memcpy(y, x, static_cast<uint32_t>(bytes));
}

void copy_elements(int rank, int element_bytes, const int32_t* sizes, const int32_t* in_steps,
                   const int32_t* out_steps, const void* x, void* y) {
  switch (element_bytes) {
    case 1:
      return copy_rows<uint8_t>(rank, sizes, in_steps, out_steps, x, y);
    case 2:
      return copy_rows<uint16_t>(rank, sizes, in_steps, out_steps, x, y);
    case 4:
      return copy_rows<uint32_t>(rank, sizes, in_steps, out_steps, x, y);
    default:
      return copy_rows<uint64_t>(rank, sizes, in_steps, out_steps, x, y);
  }
}

void copy_strided(const StridesArgs& a, const int8_t* x, int8_t* y) {
  copy_elements(kCopyDimensions, a.element_bytes, a.size, a.in_step, a.out_step, x, y);
}

}  // namespace deuteron
