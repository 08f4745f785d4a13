#include "ops/copy/kernel.h"

#include <cstddef>

#include "ops/copy/walk.h"

namespace deuteron {
namespace {

template <class T>
void copy_rows(int rank, const int32_t* sizes, const int32_t* in_steps, const int32_t* out_steps, const void* x, void* y) {
  const int outer = rank > 0 ? rank - 1 : 0;
  const int32_t count = rank > 0 ? sizes[outer] : 1;
  const int32_t in_step = rank > 0 ? in_steps[outer] : 1, out_step = rank > 0 ? out_steps[outer] : 1;
  const int32_t* const strides[] = {in_steps, out_steps};
  walk<2>(outer, sizes, strides, [&](const int32_t* at) {
    const T* from = static_cast<const T*>(x) + at[0];
    T* to = static_cast<T*>(y) + at[1];
    if (in_step == 1 && out_step == 1) {
      __builtin_memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
      return;
    }
    for (int32_t i = count; i > 0; --i, from += in_step, to += out_step) __builtin_memcpy(to, from, sizeof(T));
  });
}

}  // namespace

void copy_bytes(int32_t bytes, const int8_t* x, int8_t* y) { __builtin_memcpy(y, x, static_cast<uint32_t>(bytes)); }

void copy_elements(int rank, int element_bytes, const int32_t* sizes, const int32_t* in_steps, const int32_t* out_steps, const void* x,
                   void* y) {
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
