// SPDX-License-Identifier: Apache-2.0
// What the checks of bilinear resizing have in common, whatever the elements are.
#pragma once
#include "kernels/common/row.h"
#include "kernels/resize2d/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Resize2dArgs, n, in_h, in_w, channels, out_h, out_w)

// {first, weight} of one element along an axis of `in` elements.
inline const char* why_not_position(int32_t first, int32_t weight, int32_t in) {
  if (!lies_in(first, 0, in - 1)) return "has a position outside the axis";
  return lies_in(weight, 0, first == in - 1 ? 0 : 1 << kResizeBits) ? nullptr
                                                                    : "has a weight out of range";
}

// For each of `out` elements.
template <const char* (*why_not)(int32_t, int32_t, int32_t)>
const char* why_not_positions(const Tensor& t, int32_t in, int32_t out) {
  if (const char* why = why_not_dense(t, ScalarType::s32, 2)) return why;
  if (t.sizes[0] != out || t.sizes[1] != 2)
    return "must have a position and a weight for each element along the axis";
  if (!is_aligned(t, 4)) return "must be 4-aligned";
  if (!t.constant) return "must be a constant";
  const int32_t* v = static_cast<const int32_t*>(t.data);
  for (int32_t i = 0; i < out; ++i)
    if (const char* why = why_not(v[2 * i], v[2 * i + 1], in)) return why;
  return nullptr;
}

enum { kResizeX, kResizeRows, kResizeColumns, kResizeOut };
template <Is image>
inline constexpr Argument kResizeRow[] = {input(image), input(Is::any), input(Is::any),
                                          output(image)};

// `image`: what both images must be; `place`: what an entry of a table must be.
// Of a result without elements the tables are not looked at.
template <Is image, const char* (*place)(int32_t, int32_t, int32_t)>
Status read_resize2d(const Call& call, Resize2dArgs& a) {
  const Tensor &x = call.tensor(kResizeX), &y = call.tensor(kResizeOut);
  if (Status s = read_row(call, kResizeRow<image>, nullptr); !s.ok()) return s;
  a = {x.sizes[0], x.sizes[2], x.sizes[3], x.sizes[1], y.sizes[2], y.sizes[3]};
  if (y.sizes[0] != a.n || y.sizes[1] != a.channels)
    return bad_argument(kResizeOut, "must have the batch and the channels of the input");
  if (y.numel == 0) return Status{};
  if (x.numel == 0) return bad_argument(kResizeX, "has no elements");
  if (const char* why = why_not_positions<place>(call.tensor(kResizeRows), a.in_h, a.out_h))
    return bad_argument(kResizeRows, why);
  if (const char* why = why_not_positions<place>(call.tensor(kResizeColumns), a.in_w, a.out_w))
    return bad_argument(kResizeColumns, why);
  return Status{};
}

// prepare() of a kernel on elements T, or of the portable one and that with MVE.
template <class T, Is image, const char* (*place)(int32_t, int32_t, int32_t), auto portable,
          auto mve = portable>
Status prepare_resize2d(Call& call, Prepared* prepared) {
  Resize2dArgs a;
  if (Status s = read_resize2d<image, place>(call, a); !s.ok()) return s;
  if (call.tensor(kResizeOut).numel == 0) return keep_nothing(prepared);
  const auto* x = static_cast<const T*>(call.tensor(kResizeX).data);
  const auto* rows = static_cast<const int32_t*>(call.tensor(kResizeRows).data);
  const auto* columns = static_cast<const int32_t*>(call.tensor(kResizeColumns).data);
  return keep_fastest<portable, mve>(call, prepared, a, x, rows, columns,
                                     static_cast<T*>(call.tensor(kResizeOut).data));
}

}  // namespace deuteron
