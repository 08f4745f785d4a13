// SPDX-License-Identifier: Apache-2.0
// The images of a call and the windows that slide over them, checked at load. A kernel's struct
// begins with n, in_h, in_w, the input's channels, out_h, out_w; of what comes in two directions
// the field of the width stands behind that of the height.
#pragma once
#include "kernels/common/row.h"

namespace deuteron {

// Argument 0 and `out`, both images: fills the first six fields.
bool read_images(const Call& call, int out, int32_t* fields, Status* why);

struct WindowFields {
  uint8_t kernel, stride, pad, dilation;  // dilation: kNoField where it is 1
};
template <class Args, class = void>
inline constexpr uint8_t kDilationField = kNoField;
template <class Args>
inline constexpr uint8_t kDilationField<Args, std::void_t<decltype(Args::dilation_h)>> =
    DEUTERON_FIELD(dilation_h);
template <class Args>
inline constexpr WindowFields kWindowFields = {DEUTERON_FIELD(kernel_h), DEUTERON_FIELD(stride_h),
                                               DEUTERON_FIELD(pad_h), kDilationField<Args>};

// why_not_window() of both directions and why_not_steps() with channels and rows (0: no kernel
// steps that far), which is told of argument `stride`.
bool windows_fit(int32_t* fields, const WindowFields& at, int out, int stride, int32_t channels,
                 int32_t rows, Status* why);

// Of an Args whose images and numbers are read.
template <class Args>
bool windows_fit(Args& a, int out, int stride, int32_t channels, int32_t rows, Status* why) {
  return windows_fit(&a.n, kWindowFields<Args>, out, stride, channels, rows, why);
}

}  // namespace deuteron
