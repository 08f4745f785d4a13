// SPDX-License-Identifier: Apache-2.0
// int8 2-D convolution with weights packed ahead of time (kernels/dense/packing.h); also fully
// connected layers: rows are then the image.
//   y[n,oh,ow,oc] = clamp(y_zero + rq(first[oc] + sum over kh,kw,c of x[n,ih,iw,c] *
//   weight[oc,kh,kw,c]), -128, 127)
//     ih = oh*stride_h - pad_h + kh*dilation_h, iw likewise; rq(v) = v * multiplier[oc] / 2^31 to
//     nearest, halves up: requantize() with shift 0, or with shift[oc] where the call has shifts
//     (kernels/integer/requantize.h), or requantize_once() with it where that is positive
// Shapes   x [n,in_h,in_w,in_c]   y [n,out_h,out_w,out_c]   storage order, no gaps in x; packed:
// packed_bytes(packing, out_c, length) bytes
//          and packed_shifts_bytes(packing, out_c) where there are shifts, with length = kernel_h *
//          kernel_w * in_c. Elements of a window follow one another by rows of taps,
//          [kernel_h,kernel_w,in_c], for mve_4x16 by columns, [kernel_w,kernel_h,in_c]
// Units    x_zero, y_zero -128..127
// Padding  reads as x_zero, which first[] takes out again; on whichever side: pad_h, pad_w stand
// before the first element, and after the last
//          one lies what out_h and out_w ask for
// Limits   why_not_packed_conv2d() is null, why_not_window(), why_not_steps()
// (kernels/image/window.h) too: proved by prepare(). The compiler proves
//          |first[oc]| + 128 * sum |weight[oc]| < 2^30, and 128 * sum |weight[oc]| < 2^23 for the
//          filters 1 and 3 of a tile of dsp_4x4. With other bytes in `packed` the results are any
//          int8, and nothing else happens
// Scratch  packed_conv2d_scratch_bytes(), or packed_conv2d_least_scratch_bytes() and more, but for
// mve_4x16 4-aligned Errors   none   Aliasing  y overlaps nothing   Source  TFLite 8-bit
// quantization specification, CONV_2D, FULLY_CONNECTED
#pragma once
#include <cstdint>
#include <type_traits>

#include "kernels/common/one_copy.h"
#include "kernels/dense/packing.h"
#include "runtime/instruction_set.h"
#include "runtime/wide_product.h"

namespace deuteron {

struct PackedConv2dArgs {
  int32_t n, in_h, in_w, in_c;
  int32_t out_h, out_w, out_c;
  int32_t kernel_h, kernel_w;
  int32_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  int32_t x_zero, y_zero;
  bool has_shifts;
  int32_t y_step, y_row;  // bytes of y from a pixel to the next, from a row to the next; images
                          // follow one another row by row
  int32_t length() const { return kernel_h * kernel_w * in_c; }
  // before it is known to fit
  int64_t wide_length() const { return wide_product(wide_product(kernel_h, kernel_w), in_c); }
};
inline void set_dense_result(PackedConv2dArgs& a) {
  a.y_step = a.out_c, a.y_row = a.out_w * a.out_c;
}
// Rows of the result follow one another as its pixels do.
inline bool packed_conv2d_is_one_row(const PackedConv2dArgs& a) {
  return a.y_row == a.out_w * a.y_step;
}

// An image of one row, whose taps are apart and whose windows are side by side.
inline bool packed_conv2d_is_apart(const PackedConv2dArgs& a) {
  return a.n == 1 && a.in_h == 1 && a.out_h == 1 && a.kernel_h == 1 && a.pad_h == 0 &&
         a.kernel_w > 1 && a.dilation_w > 1 && a.stride_w == 1;
}

inline bool packed_conv2d_has_one_window(const PackedConv2dArgs& a) {
  return a.n == 1 && a.out_h == 1 && a.out_w == 1;
}
// Every window lies inside x. Int: of the sums. A core asks this of calls alone whose windows
// why_not_window() has seen.
using PackedReach = std::conditional_t<kIsMicrocontroller, int32_t, int64_t>;
template <class Int = PackedReach>
bool packed_conv2d_is_inside(const PackedConv2dArgs& a) {
  return a.pad_h == 0 && a.pad_w == 0 &&
         Int{a.out_h - 1} * a.stride_h + Int{a.kernel_h - 1} * a.dilation_h < a.in_h &&
         Int{a.out_w - 1} * a.stride_w + Int{a.kernel_w - 1} * a.dilation_w < a.in_w;
}
// Every window lies in x as it is wanted: one row of taps side by side.
template <class Int = PackedReach>
bool packed_conv2d_is_in_one_piece(const PackedConv2dArgs& a) {
  return a.kernel_h == 1 && (a.kernel_w == 1 || a.dilation_w == 1) &&
         packed_conv2d_is_inside<Int>(a);
}

// There is one window, and it does.
inline bool packed_conv2d_is_alone(const PackedConv2dArgs& a) {
  return packed_conv2d_has_one_window(a) && packed_conv2d_is_in_one_piece(a);
}

// Every pixel of x is a window: rows of a fully connected layer.
inline bool packed_conv2d_is_rows(const PackedConv2dArgs& a) {
  return a.kernel_h == 1 && a.kernel_w == 1 && a.stride_h == 1 && a.stride_w == 1 && a.pad_h == 0 &&
         a.pad_w == 0 && a.out_h == a.in_h && a.out_w == a.in_w && packed_conv2d_is_one_row(a);
}

// Where filters may have shifts: windows are met one by one then, but for scalar_1x4. For others
// there is ops/packed_conv2d_shifts.
DEUTERON_ONE_COPY inline bool packed_conv2d_takes_shifts(const PackedConv2dArgs& a, Packing p) {
  return p == Packing::scalar_1x4 || packed_conv2d_is_alone(a) || packed_conv2d_is_rows(a);
}

inline constexpr int32_t kFewTaps = 80, kFewTapsBytes = 1024;
// halfwords of widened windows for which a file may have no scratch but with mve_4x16
inline constexpr int32_t kPackedStack = 1024;
// bytes of columns that may, with mve_4x16: eight windows of 3x3 over 16 channels
inline constexpr int32_t kPackedStackColumns = 496;
// elements of a window with dsp_4x4 whose taps are no whole quads
inline constexpr int32_t kPackedRagged = 256;

// Null where the loops of the packing serve the windows of a call.
inline const char* why_not_packed_windows(const PackedConv2dArgs& a, Packing p) {
  const int64_t length = a.wide_length();
  if (length > 1 << 20) return "has filters of more than 2^20 elements";
  if (p == Packing::scalar_1x4) return nullptr;
  const bool is_alone = p == Packing::mve_4x16 ? packed_conv2d_has_one_window(a)
                                               : packed_conv2d_is_alone(a);
  if (a.out_c < kPackedTile && !is_alone) return "has fewer than 4 filters";
  if (p == Packing::mve_4x16)
    return a.dilation_w == 1 || a.kernel_w == 1 || packed_conv2d_is_apart(a)
               ? nullptr
               : "has dilated columns";
  if (length < kPackedQuad) return "has filters of fewer than 4 elements";
  if (a.in_c % kPackedQuad != 0 && length > kPackedRagged && !packed_conv2d_is_in_one_piece(a))
    return "has channels that are no multiple of 4";
  return nullptr;
}

// Null where the kernel of the packing serves a call.
inline const char* why_not_packed_conv2d(const PackedConv2dArgs& a, Packing p) {
  if (a.has_shifts && !packed_conv2d_takes_shifts(a, p))
    return "has shifts and windows that are no rows of x";
  return why_not_packed_windows(a, p);
}

// What a call takes whose why_not_packed_windows() is null, so that a window has at most 2^20
// elements.

// The widened windows of a call with dsp_4x4: two, or one where there is one and it lies in one
// piece. With scalar_1x4: four, or none.
DEUTERON_ONE_COPY inline int32_t packed_conv2d_windows_bytes(const PackedConv2dArgs& a, Packing p) {
  const int32_t bytes = (a.length() + kPackedQuad - 1) / kPackedQuad * kPackedQuad * 2;
  const bool is_alone = packed_conv2d_is_alone(a);
  return p == Packing::dsp_4x4 ? (is_alone ? bytes : 2 * bytes) : is_alone ? 0 : 4 * bytes;
}

// mve_4x16: windows of a row that are met as columns of taps, and not where they lie. Of windows of
// one row of taps these are the ones that reach outside at either end.
inline int32_t packed_conv2d_row_of_columns(const PackedConv2dArgs& a) {
  if (packed_conv2d_is_apart(a)) return (a.out_w - 1) / a.dilation_w + 1;
  const int32_t inside = a.in_w - a.kernel_w;
  if (a.kernel_h > 1 || a.pad_h > 0 || inside < 0) return a.out_w;
  const int32_t left = (a.pad_w + a.stride_w - 1) / a.stride_w,
                behind = a.out_w - (inside + a.pad_w) / a.stride_w - 1;
  const int32_t most = left > behind ? left : behind;
  return most < 1 ? 1 : most < a.out_w ? most : a.out_w;
}

// mve_4x16: columns of taps of neighbouring windows, as many as the stock kernel has bytes for four
// windows, at least one window, at most a row; of the short windows of a first layer, whose image
// is not what fills the memory, more of them. The others: the widened windows, with dsp_4x4 unless
// they are in one piece and have no more than 2 KB.
DEUTERON_ONE_COPY inline int64_t packed_conv2d_scratch_bytes(const PackedConv2dArgs& a, Packing p) {
  const int32_t length = a.length();
  const bool in_one_piece = packed_conv2d_is_in_one_piece(a);
  if (p == Packing::mve_4x16) {
    if (in_one_piece) return 0;
    const int64_t row = (int64_t{packed_conv2d_row_of_columns(a) - 1} * a.stride_w + a.kernel_w) *
                        a.kernel_h * a.in_c;
    const int32_t four =
        4 * ((length + kPackedBlock - 1) / kPackedBlock * kPackedBlock) - kPackedBlock;
    const int32_t most = length <= kFewTaps && four < kFewTapsBytes ? kFewTapsBytes : four;
    return (row < most ? row : most) + kPackedBlock;  // what is left of the last block is read
  }
  const int32_t bytes = packed_conv2d_windows_bytes(a, p);
  return p == Packing::dsp_4x4 && in_one_piece && bytes <= 2 * kPackedStack ? 0 : bytes;
}

// The same for mve_4x16, of a call that is not in one piece and that prepare() has taken: in 32
// bits, for the kernel.
inline int32_t packed_conv2d_columns_bytes(const PackedConv2dArgs& a) {
  const int32_t column = a.kernel_h * a.in_c, length = a.kernel_w * column;
  const int32_t pixels = (packed_conv2d_row_of_columns(a) - 1) * a.stride_w + a.kernel_w;
  const int32_t four =
      4 * ((length + kPackedBlock - 1) / kPackedBlock * kPackedBlock) - kPackedBlock;
  const int32_t most = length <= kFewTaps && four < kFewTapsBytes ? kFewTapsBytes : four;
  return (pixels > most / column ? most : pixels * column) + kPackedBlock;
}

// None where there is room elsewhere: on the stack for one window with mve_4x16, which then meets
// the filters with fewer neighbours; for all with the others, in the tables or on the stack.
DEUTERON_ONE_COPY inline int64_t packed_conv2d_least_scratch_bytes(const PackedConv2dArgs& a,
                                                                   Packing p) {
  const int64_t bytes = packed_conv2d_scratch_bytes(a, p);
  if (p != Packing::mve_4x16) return bytes <= 2 * kPackedStack ? 0 : bytes;
  const int32_t window = a.length() + kPackedBlock;
  return bytes == 0 || window <= kPackedStackColumns ? 0 : window;
}

template <Packing p>
void packed_conv2d_s8(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int8_t* y);

// Whether windows of 3x3 over whole blocks of channels are met four at a time on MVE. `room`: bytes
// of columns. Some of the last four are met twice where a row has no multiple of four: then two at
// a time are fewer, unless rows are long.
inline bool packed_conv2d_meets_rows(const PackedConv2dArgs& a, int32_t room) {
  return a.kernel_h == 3 && a.kernel_w == 3 && a.stride_w == 1 && a.in_c % kPackedBlock == 0 &&
         a.out_c >= kPackedTile && a.out_w >= 4 && (a.out_w > 20 || (a.out_w + 1) % 4 < 2) &&
         room >= (4 + 2) * 3 * a.in_c;
}

// The same with the M-profile Vector Extension, for mve_4x16. Reads nothing beyond its operands.
void packed_conv2d_s8_mve(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                          void* scratch, int32_t scratch_bytes, int8_t* y);

// Windows whose columns lie in `room` bytes at a time, which hold at least those of one: two by
// two, since one alone takes longer than half of two.
inline int32_t packed_conv2d_windows_in(const PackedConv2dArgs& a, int32_t room) {
  const int32_t column = a.kernel_h * a.in_c, step = a.stride_w * column;
  const int32_t fit = (room - a.kernel_w * column) / step + 1;
  return fit >= a.out_w || fit == 1 ? fit : fit / 2 * 2;
}

// What that comes to for a call whose scratch is known. A C program calls it by this name, and has
// none of the other loops.
enum class PackedMve {
  any,       // the kernel above, which chooses
  alone,     // one window, which lies in x as it is wanted
  in_place,  // windows that do
  columns,   // others, in scratch
  apart,     // those of packed_conv2d_is_apart()
  rows,      // those of packed_conv2d_meets_rows()
};
inline PackedMve packed_conv2d_mve_form(const PackedConv2dArgs& a, int32_t scratch_bytes) {
  if (packed_conv2d_is_in_one_piece(a))
    return packed_conv2d_has_one_window(a) ? PackedMve::alone : PackedMve::in_place;
  const int32_t most = packed_conv2d_columns_bytes(a),
                bytes = scratch_bytes < most ? scratch_bytes : most;
  if (bytes < most && bytes <= kPackedStackColumns) return PackedMve::any;
  return packed_conv2d_is_apart(a)                           ? PackedMve::apart
         : packed_conv2d_meets_rows(a, bytes - kPackedBlock) ? PackedMve::rows
                                                             : PackedMve::columns;
}
// How many windows meet the filters together in such a call: 4, 2 or 1.
inline int32_t packed_conv2d_mve_meets(const PackedConv2dArgs& a, int32_t scratch_bytes) {
  // but for those at the ends of a row they are met where they lie
  if (a.kernel_h == 1 && a.pad_h == 0 && !packed_conv2d_is_apart(a)) return 2;
  const int32_t most = packed_conv2d_columns_bytes(a),
                on_stack = most < kPackedStackColumns ? most : kPackedStackColumns,
                given = scratch_bytes < most ? scratch_bytes : most;
  const int32_t room = (given > on_stack ? given : on_stack) - kPackedBlock;
  if (packed_conv2d_meets_rows(a, room)) return 4;
  return a.out_w > 1 && packed_conv2d_windows_in(a, room) > 1 ? 2 : 1;
}
void packed_conv2d_s8_mve_alone(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                int8_t* y);
void packed_conv2d_s8_mve_in_place(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                   int8_t* y);
void packed_conv2d_s8_mve_columns(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                  void* scratch, int32_t scratch_bytes, int8_t* y);
void packed_conv2d_s8_mve_apart(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                void* scratch, int32_t scratch_bytes, int8_t* y);
void packed_conv2d_s8_mve_rows(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                               void* scratch, int32_t scratch_bytes, int8_t* y);

// The same with the DSP extension, for dsp_4x4. Windows for which `scratch` is too small lie on the
// stack.
void packed_conv2d_s8_dsp(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                          void* scratch, int32_t scratch_bytes, int8_t* y);
// What that comes to for packed_conv2d_is_alone(), and for others without shifts; for C programs,
// as above.
void packed_conv2d_s8_dsp_alone(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                void* scratch, int32_t scratch_bytes, int8_t* y);
void packed_conv2d_s8_dsp_windows(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                  void* scratch, int32_t scratch_bytes, int8_t* y);
// Nothing on the stack: scratch_bytes is at least packed_conv2d_windows_bytes().
void packed_conv2d_s8_dsp_in_scratch(const PackedConv2dArgs& a, const int8_t* x,
                                     const int8_t* packed, void* scratch, int32_t scratch_bytes,
                                     int8_t* y);

// The same with neither, for scalar_1x4, as with the DSP extension. A window that is
// packed_conv2d_is_alone() is not widened.
void packed_conv2d_s8_scalar(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                             void* scratch, int32_t scratch_bytes, int8_t* y);
void packed_conv2d_s8_scalar_alone(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                   int8_t* y);
void packed_conv2d_s8_scalar_in_scratch(const PackedConv2dArgs& a, const int8_t* x,
                                        const int8_t* packed, void* scratch, int32_t scratch_bytes,
                                        int8_t* y);

}  // namespace deuteron
