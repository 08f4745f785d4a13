// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution without vectors. 3x3 with stride 1 or 2: by planes of four channels
// (planes_scalar.h, planes_thumb1_scalar.h). One input channel: a convolution, with the filters
// turned.
#include <cstring>

#include "kernels/conv2d/kernel.h"
#include "kernels/depthwise_conv2d/kernel.h"
#include "kernels/depthwise_conv2d/planes.h"
#include "kernels/depthwise_conv2d/planes_scalar.h"
#include "kernels/depthwise_conv2d/planes_thumb1_scalar.h"
#include "kernels/depthwise_conv2d/three_by_three.h"
#include "kernels/depthwise_conv2d/turned.h"
#include "kernels/image/window.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
namespace deuteron {
namespace {

constexpr int32_t kPlane = kPlaneRows * kScalarPlaneRow;  // elements

struct Block {
  const DepthwiseConv2dArgs& a;
  const int8_t* x;  // the image, at the first of the four channels
  int8_t* y;
  ScalarPlane planes[kPlanes];
};

void fill_channels(Block& b, const int8_t* weight, const int32_t* bias, int32_t c) {
  const DepthwiseConv2dArgs& a = b.a;
  for (int32_t i = 0; i < kPlanes; ++i) {
    ScalarPlane& p = b.planes[i];
    const int32_t m = a.multiplier[c + i], s = a.shift[c + i];
    for (int32_t t = 0; t < 9; ++t) p.weight[t] = weight[t * a.out_c + c + i];
    p.first = bias ? bias[c + i] : 0;
    p.is_plain = s == 0 && m >= 0 && m < 1 << 30 && a.y_min == -128 && a.y_max == 127;
    p.multiplier = p.is_plain ? 2 * m : m;
    p.left = s > 0 ? s : 0, p.right = p.left - s;
    p.y_zero = a.y_zero, p.y_min = a.y_min, p.y_max = a.y_max;
    p.y_step = a.out_c, p.row_step = a.out_w * a.out_c;
  }
}

// The input of `rows` rows of the planes, from row ih on; rows outside are 0.
void fill_planes(const Block& b, const PlaneColumns& k, int32_t ih, int32_t rows,
                 PlaneElement* planes) {
  const DepthwiseConv2dArgs& a = b.a;
  const int32_t offset = a.x_offset, step = a.in_c;
  const Taps inside = taps_inside(ih, rows, 1, a.in_h);
  for (int32_t r = 0; r < rows; ++r)
    if (r < inside.first || r >= inside.end)
      for (int32_t p = 0; p < kPlanes; ++p)
        std::memset(planes + p * kPlane + r * kScalarPlaneRow, 0,
                    sizeof(PlaneElement) * static_cast<size_t>(k.count));
  const int8_t* row =
      b.x + ((ih + inside.first) * a.in_w + k.begin * a.stride_w - a.pad_w + k.left) * step;
  for (int32_t r = inside.first; r < inside.end; ++r, row += a.in_w * step) {
    const int8_t* from = row;
    PlaneElement* at = planes + r * kScalarPlaneRow + k.left;
    for (int32_t i = k.end - k.left; i > 0; --i, from += step, ++at) {
      at[0] = static_cast<PlaneElement>(from[0] + offset);
      at[kPlane] = static_cast<PlaneElement>(from[1] + offset);
      at[2 * kPlane] = static_cast<PlaneElement>(from[2] + offset);
      at[3 * kPlane] = static_cast<PlaneElement>(from[3] + offset);
    }
  }
}

// Four channels of some columns of every row.
void run_columns(Block& b, const PlaneColumns& k, PlaneElement* planes) {
  const DepthwiseConv2dArgs& a = b.a;
  const int32_t s = a.stride_w, row = a.out_w * a.out_c, at_once = (kPlaneRows - 3) / s + 1;
  for (int32_t r = 0; r < a.out_h; r += at_once) {
    const int32_t rows = least(at_once, a.out_h - r);
    fill_planes(b, k, r * s - a.pad_h, (rows - 1) * s + 3, planes);
    for (int32_t p = 0; p < kPlanes; ++p) {
      b.planes[p].rows = rows, b.planes[p].columns = k.width;
      (s == 1 ? deuteron_depthwise_s1_scalar : deuteron_depthwise_s2_scalar)(
          planes + p * kPlane, b.y + r * row + k.begin * a.out_c + p, b.planes + p);
    }
  }
}

void run_planes(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                const int32_t* bias, int8_t* y) {
  // outputs that a row of a plane is enough for
  const int32_t most = (kScalarPlaneRow - 3) / a.stride_w + 1;
  Block b{a, nullptr, nullptr, {}};
  for_planes<PlaneElement, kScalarPlaneRow>(
      a, most,
      [&b, x, weight, bias, y](const PlaneColumns& k, int32_t first, PlaneElement* planes) {
        fill_channels(b, weight, bias, first);
        b.x = x + first, b.y = y + first;
        run_columns(b, k, planes);
      });
}

}  // namespace

void depthwise_conv2d_s8_scalar_3x3(const DepthwiseConv2dArgs& a, const int8_t* x,
                                    const int8_t* weight, const int32_t* bias, int8_t* y) {
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c, y += a.out_h * a.out_w * a.out_c)
    run_planes(a, x, weight, bias, y);
}

void depthwise_conv2d_s8_scalar_turned(const DepthwiseConv2dArgs& a, const int8_t* x,
                                       const int8_t* weight, const int32_t* bias, int8_t* y) {
  run_turned<conv2d_s8_scalar>(a, x, weight, bias, y);
}

void depthwise_conv2d_s8_scalar(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                                const int32_t* bias, int8_t* y) {
  if (turned_fit(a, kScalarTurned)) return depthwise_conv2d_s8_scalar_turned(a, x, weight, bias, y);
  if (has_planes(a)) return depthwise_conv2d_s8_scalar_3x3(a, x, weight, bias, y);
  depthwise_conv2d_s8(a, x, weight, bias, y);
}

}  // namespace deuteron
#endif
