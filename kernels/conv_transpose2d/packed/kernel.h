// SPDX-License-Identifier: Apache-2.0
// int8 transposed 2-D convolution with weights packed ahead of time. Outputs whose distance is a
// multiple of the stride see the same taps: each of the stride_h * stride_w phases is a convolution
// of ops/packed_conv2d over its own taps, whose results lie that far apart.
//   y[n,oh,ow,oc] = clamp(y_zero + rq(first[oc] + sum over kh,kw,c of x[n,ih,iw,c] *
//   weight[oc,kh,kw,c]), -128, 127)
//     over the taps with ih*stride_h + kh - pad_h = oh, iw likewise; outside x, ih and iw read as
//     x_zero, which first[] takes out again
// Shapes   x [n,in_h,in_w,in_c]   y [n,out_h,out_w,out_c]   storage order, no gaps; packed:
// packed_conv_transpose2d_bytes(), phase after
//          phase, rows of phases first; a phase's taps stand as ops/packed_conv2d wants them, from
//          the last one to the first
// Units    x_zero, y_zero -128..127
// Limits   why_not_packed_conv_transpose2d() is null, proved by prepare(); for each phase those of
// kernels/conv2d/packed/kernel.h, without shifts Scratch  the most that a phase wants, or the most
// that one needs at least: packed_conv_transpose2d_scratch_bytes(), .._least_.. Errors   none
// Aliasing  y overlaps nothing   Source  TFLite 8-bit quantization specification, TRANSPOSE_CONV
#pragma once
#include "kernels/conv2d/packed/kernel.h"
#include "kernels/image/window.h"

namespace deuteron {

struct PackedConvTranspose2dArgs {
  int32_t n, in_h, in_w, in_c;
  int32_t out_h, out_w, out_c;
  int32_t kernel_h, kernel_w;
  int32_t stride_h, stride_w, pad_h, pad_w;
  int32_t x_zero, y_zero;
};

inline constexpr int32_t kMostPhases = 8;  // of an axis: loading walks through all of them

// What the outputs p, p + stride, .. of one axis see: `taps` of them, the last one `first_tap`, the
// others each `stride` more.
struct AxisPhase {
  int32_t taps, first_tap, pad,
      outputs;  // pad: how far the first window begins before the image; may be negative
};
inline AxisPhase phase_of(int32_t p, int32_t kernel, int32_t stride, int32_t pad, int32_t out) {
  const int32_t first = (p + pad) % stride,
                taps = first < kernel ? (kernel - 1 - first) / stride + 1 : 0;
  return {taps, first, taps - 1 - (p + pad - first) / stride,
          p < out ? (out - 1 - p) / stride + 1 : 0};
}

// The convolution of a phase of one image.
inline PackedConv2dArgs packed_phase(const PackedConvTranspose2dArgs& a, const AxisPhase& h,
                                     const AxisPhase& w) {
  PackedConv2dArgs c{};
  c.n = 1, c.in_h = a.in_h, c.in_w = a.in_w, c.in_c = a.in_c, c.out_h = h.outputs,
  c.out_w = w.outputs, c.out_c = a.out_c;
  c.kernel_h = h.taps, c.kernel_w = w.taps,
  c.stride_h = c.stride_w = c.dilation_h = c.dilation_w = 1, c.pad_h = h.pad, c.pad_w = w.pad;
  c.x_zero = a.x_zero, c.y_zero = a.y_zero, c.y_step = a.stride_w * a.out_c,
  c.y_row = a.stride_h * a.out_w * a.out_c;
  return c;
}

// visit(phase, packed bytes before it, bytes of y before its first result), for each phase that has
// results.
template <class Visit>
void for_each_phase(const PackedConvTranspose2dArgs& a, Packing p, const Visit& visit) {
  int64_t at = 0;
  for (int32_t ph = 0; ph < a.stride_h && ph < a.out_h; ++ph)
    for (int32_t pw = 0; pw < a.stride_w && pw < a.out_w; ++pw) {
      const PackedConv2dArgs c =
          packed_phase(a, phase_of(ph, a.kernel_h, a.stride_h, a.pad_h, a.out_h),
                       phase_of(pw, a.kernel_w, a.stride_w, a.pad_w, a.out_w));
      visit(c, at, (ph * a.out_w + pw) * a.out_c);
      at += packed_bytes(p, a.out_c, c.length());
    }
}

inline const char* why_not_packed_conv_transpose2d(const PackedConvTranspose2dArgs& a, Packing p) {
  if (int64_t{a.kernel_h} * a.kernel_w > (1 << 20) / a.in_c)
    return "has filters of more than 2^20 elements";
  if (a.stride_h > kMostPhases || a.stride_w > kMostPhases) return "has a stride of more than 8";
  if (int64_t{a.stride_h} * a.out_w * a.out_c > INT32_MAX) return "has a result that is too large";
  const char* why = nullptr;
  for_each_phase(a, p, [&](const PackedConv2dArgs& c, int64_t, int32_t) {
    if (why) return;
    if (c.kernel_h == 0 || c.kernel_w == 0) why = "has outputs that no tap reaches";
    else if (c.pad_h < 0 || c.pad_w < 0) why = "has more padding than taps";
    else if ((why = why_not_window(c.in_h, c.out_h, c.kernel_h, 1, c.pad_h, 1)) == nullptr &&
             (why = why_not_window(c.in_w, c.out_w, c.kernel_w, 1, c.pad_w, 1)) == nullptr)
      why = why_not_packed_conv2d(c, p);
  });
  return why;
}

inline int64_t packed_conv_transpose2d_bytes(const PackedConvTranspose2dArgs& a, Packing p) {
  int64_t bytes = 0;
  for_each_phase(a, p, [&](const PackedConv2dArgs& c, int64_t at, int32_t) {
    bytes = at + packed_bytes(p, a.out_c, c.length());
  });
  return bytes;
}
inline int64_t packed_conv_transpose2d_scratch_bytes(const PackedConvTranspose2dArgs& a,
                                                     Packing p) {
  int64_t most = 0;
  for_each_phase(a, p, [&](const PackedConv2dArgs& c, int64_t, int32_t) {
    const int64_t bytes = packed_conv2d_scratch_bytes(c, p);
    if (bytes > most) most = bytes;
  });
  return most;
}
inline int64_t packed_conv_transpose2d_least_scratch_bytes(const PackedConvTranspose2dArgs& a,
                                                           Packing p) {
  int64_t most = 0;
  for_each_phase(a, p, [&](const PackedConv2dArgs& c, int64_t, int32_t) {
    const int64_t bytes = packed_conv2d_least_scratch_bytes(c, p);
    if (bytes > most) most = bytes;
  });
  return most;
}

// Every phase of every image by run(phase, x, packed, y).
template <class Run>
void run_packed_phases(const PackedConvTranspose2dArgs& a, Packing p, const int8_t* x,
                       const int8_t* packed, int8_t* y, const Run& run) {
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c, y += a.out_h * a.out_w * a.out_c)
    for_each_phase(a, p, [&](const PackedConv2dArgs& c, int64_t at, int32_t first) {
      run(c, x, packed + at, y + first);
    });
}

template <Packing p>
void packed_conv_transpose2d_s8(const PackedConvTranspose2dArgs& a, const int8_t* x,
                                const int8_t* packed, int8_t* y);

// The same with the M-profile Vector Extension, for mve_4x16. Reads nothing beyond its operands.
void packed_conv_transpose2d_s8_mve(const PackedConvTranspose2dArgs& a, const int8_t* x,
                                    const int8_t* packed, void* scratch, int32_t scratch_bytes,
                                    int8_t* y);
// The same with the DSP extension, for dsp_4x4.
void packed_conv_transpose2d_s8_dsp(const PackedConvTranspose2dArgs& a, const int8_t* x,
                                    const int8_t* packed, void* scratch, int32_t scratch_bytes,
                                    int8_t* y);

}  // namespace deuteron
