// SPDX-License-Identifier: Apache-2.0
// Images as portable kernels see them: [n, c, h, w] or [n, c, w], any memory order; a missing
// height counts as 1.
#pragma once
#include "kernels/portable/strided.h"

namespace deuteron::portable {

struct Image {
  int32_t n, c, h, w;
  int32_t stride_n, stride_c, stride_h, stride_w;
  int32_t at(int32_t in, int32_t ic, int32_t ih, int32_t iw) const {
    return in * stride_n + ic * stride_c + ih * stride_h + iw * stride_w;
  }
};

// rank 3 or 4, or 3 without the leading n where `batched` is false.
inline Image image_of(const Tensor& t) {
  int32_t s[kMaxRank];
  strides_of(t, s);
  if (t.rank == 4) return {t.sizes[0], t.sizes[1], t.sizes[2], t.sizes[3], s[0], s[1], s[2], s[3]};
  return {t.sizes[0], t.sizes[1], 1, t.sizes[2], s[0], s[1], 0, s[2]};
}

// One number for each spatial dimension of a list argument; `h` keeps its value where there is only
// a width. A single number counts for all, no number means `absent` for all where that is allowed.
inline const char* read_window(const Call& call, int argument, int spatial, int32_t low,
                               int32_t high, int32_t* h, int32_t* w) {
  const int count = call.list(argument).count;
  if (count != spatial && count != 1) return "must have one number for each spatial dimension";
  const int64_t b = call.list_integer(argument, count - 1),
                a = count > 1 ? call.list_integer(argument, 0) : b;
  if (!lies_in(a, low, high) || !lies_in(b, low, high)) return "is out of range";
  if (spatial == 2) *h = static_cast<int32_t>(a);
  *w = static_cast<int32_t>(b);
  return nullptr;
}

inline constexpr int32_t kMostWindow = 1 << 15;  // so that positions fit in int32

}  // namespace deuteron::portable
