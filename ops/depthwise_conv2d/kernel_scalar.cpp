// Depthwise convolution for Cortex-M3. 3x3 with stride 1 or 2: by planes of four channels (planes_scalar.h). One input channel: a
// convolution, with the filters turned.
#include <cstring>

#include "ops/conv2d/kernel.h"
#include "ops/depthwise_conv2d/kernel.h"
#include "ops/depthwise_conv2d/planes_scalar.h"
#include "ops/depthwise_conv2d/three_by_three.h"
#include "ops/depthwise_conv2d/turned.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_THUMB2)
namespace deuteron {
namespace {

constexpr int32_t kPlanes = 4, kRows = 10;           // channels, and rows of the input, that lie on the stack at once
constexpr int32_t kPlane = kRows * kScalarPlaneRow;  // elements

int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

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

// The input of `rows` rows of the planes, from row ih and column iw on; what lies outside is 0.
void fill_planes(const Block& b, int32_t ih, int32_t iw, int32_t rows, int32_t columns, int16_t* to) {
  const DepthwiseConv2dArgs& a = b.a;
  const int32_t offset = a.x_offset, step = a.in_c;
  const int32_t left = iw < 0 ? least(-iw, columns) : 0, end = a.in_w - iw < columns ? (a.in_w - iw > left ? a.in_w - iw : left) : columns;
  for (int32_t r = 0; r < rows; ++r, to += kScalarPlaneRow) {
    const bool is_inside = ih + r >= 0 && ih + r < a.in_h;
    if (!is_inside || left > 0 || end < columns)
      for (int32_t p = 0; p < kPlanes; ++p) {
        int16_t* row = to + p * kPlane;
        if (!is_inside) std::memset(row, 0, sizeof(int16_t) * kScalarPlaneRow);
        for (int32_t i = 0; i < left; ++i) row[i] = 0;
        for (int32_t i = end; i < columns; ++i) row[i] = 0;
      }
    if (!is_inside || end <= left) continue;
    const int8_t* from = b.x + ((ih + r) * a.in_w + iw + left) * step;
    int16_t* at = to + left;
    for (int32_t i = end - left; i > 0; --i, from += step, ++at) {
      at[0] = static_cast<int16_t>(from[0] + offset);
      at[kPlane] = static_cast<int16_t>(from[1] + offset);
      at[2 * kPlane] = static_cast<int16_t>(from[2] + offset);
      at[3 * kPlane] = static_cast<int16_t>(from[3] + offset);
    }
  }
}

// Four channels of the outputs begin..begin+width-1 of every row.
void run_columns(Block& b, int32_t begin, int32_t width) {
  const DepthwiseConv2dArgs& a = b.a;
  const int32_t s = a.stride_w, row = a.out_w * a.out_c, at_once = (kRows - 3) / s + 1;
  int16_t planes[kPlanes * kPlane];
  for (int32_t r = 0; r < a.out_h; r += at_once) {
    const int32_t rows = least(at_once, a.out_h - r);
    fill_planes(b, r * s - a.pad_h, begin * s - a.pad_w, (rows - 1) * s + 3, (width - 1) * s + 3, planes);
    for (int32_t p = 0; p < kPlanes; ++p) {
      b.planes[p].rows = rows, b.planes[p].columns = width;
      (s == 1 ? deuteron_depthwise_s1_scalar : deuteron_depthwise_s2_scalar)(planes + p * kPlane, b.y + r * row + begin * a.out_c + p,
                                                                             b.planes + p);
    }
  }
}

void run_planes(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias, int8_t* y) {
  const int32_t most = (kScalarPlaneRow - 3) / a.stride_w + 1;  // outputs that a row of a plane is enough for
  Block b{a, nullptr, nullptr, {}};
  for (int32_t c = 0; c < a.out_c; c += kPlanes) {
    const int32_t first = least(c, a.out_c - kPlanes);  // the last ones overlap
    fill_channels(b, weight, bias, first);
    b.x = x + first, b.y = y + first;
    for (int32_t begin = 0; begin < a.out_w; begin += most) run_columns(b, begin, least(most, a.out_w - begin));
  }
}

}  // namespace

void depthwise_conv2d_s8_scalar(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias, int8_t* y) {
  if (turned_fit(a, 4)) return run_turned<conv2d_s8_scalar>(a, x, weight, bias, y);
  if (a.out_c < kPlanes || !is_three_by_three(a)) return depthwise_conv2d_s8(a, x, weight, bias, y);
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c, y += a.out_h * a.out_w * a.out_c) run_planes(a, x, weight, bias, y);
}

}  // namespace deuteron
#endif
