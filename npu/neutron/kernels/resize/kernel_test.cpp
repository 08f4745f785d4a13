// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "npu/neutron/kernels/resize/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

ResizeCall resize_call(int n, int h, int w, int c, int out_h, int out_w, int corners, int centers) {
  ResizeCall a{};
  a.n = n, a.h = h, a.w = w, a.c = c, a.out_h = out_h, a.out_w = out_w, a.align_corners = corners,
  a.half_pixel_centers = centers;
  return a;
}

const std::array<std::array<int32_t, 6>, 6> kResizes = {{{1, 3, 5, 7, 6, 10},
                                                         {2, 4, 3, 2, 9, 7},
                                                         {3, 7, 5, 1, 3, 2},
                                                         {1, 1, 1, 4, 5, 3},
                                                         {2, 5, 7, 3, 5, 7},
                                                         {1, 2, 3, 8, 16, 24}}};

TEST(NeutronResize, Nearest) {
  for (const auto& [n, h, w, c, out_h, out_w] : kResizes)
    for (int mode = 0; mode < 3; ++mode) {
      Model model;
      ResizeCall a = resize_call(n, h, w, c, out_h, out_w, mode == 1, mode == 2);
      a.x = model.input(n * h * w * c), a.y = model.output(n * out_h * out_w * c);
      model.call(Kind::kResizeNearest, a);
      const Bytes x = Random(7).bytes(n * h * w * c);
      // The element whose position is nearest in exact arithmetic where that is no tie: halves go
      // up, as floor(v + 1/2).
      const auto nearest = [mode](int i, int in, int out) {
        if (mode == 1 && out > 1)
          return std::min((2 * i * (in - 1) + (out - 1)) / (2 * (out - 1)), in - 1);
        if (mode == 2) return std::min((2 * i + 1) * in / (2 * out), in - 1);
        return std::min(i * in / out, in - 1);
      };
      Bytes want;
      for (int b = 0; b < n; ++b)
        for (int i = 0; i < out_h; ++i)
          for (int j = 0; j < out_w; ++j)
            for (int k = 0; k < c; ++k)
              want.push_back(
                  x[z(((b * h + nearest(i, h, out_h)) * w + nearest(j, w, out_w)) * c + k)]);
      SCOPED_TRACE(testing::Message()
                   << h << "x" << w << " to " << out_h << "x" << out_w << " mode " << mode);
      test::expect_same(test::result_of(model, {x}), want);
    }
}

// Within one step of the interpolation in double: positions are rounded to 1/1024. The bits are
// compared with the TFLite interpreter elsewhere.
TEST(NeutronResize, Bilinear) {
  for (const auto& [n, h, w, c, out_h, out_w] : kResizes)
    for (int mode = 0; mode < 3; ++mode) {
      Model model;
      ResizeCall a = resize_call(n, h, w, c, out_h, out_w, mode == 1, mode == 2);
      a.x = model.input(n * h * w * c), a.y = model.output(n * out_h * out_w * c);
      model.call(Kind::kResizeBilinear, a);
      const Bytes x = Random(8).bytes(n * h * w * c), y = test::result_of(model, {x});
      const auto where = [mode](int i, int in, int out) {
        const double scale = mode == 1 && out > 1 ? static_cast<double>(in - 1) / (out - 1)
                                                  : static_cast<double>(in) / out;
        return std::clamp(mode == 2 ? (i + 0.5) * scale - 0.5 : i * scale, 0.0, in - 1.0);
      };
      size_t at = 0;
      for (int b = 0; b < n; ++b)
        for (int i = 0; i < out_h; ++i)
          for (int j = 0; j < out_w; ++j)
            for (int k = 0; k < c; ++k, ++at) {
              const double u = where(i, h, out_h), v = where(j, w, out_w);
              const int top = static_cast<int>(u), left = static_cast<int>(v),
                        bottom = std::min(top + 1, h - 1), right = std::min(left + 1, w - 1);
              const auto pixel = [&, h = h, w = w, c = c](int row, int column) {
                return x[z(((b * h + row) * w + column) * c + k)];
              };
              const double p = u - top, q = v - left;
              const double want = (1 - p) * ((1 - q) * pixel(top, left) + q * pixel(top, right)) +
                                  p * ((1 - q) * pixel(bottom, left) + q * pixel(bottom, right));
              ASSERT_NEAR(int{y[at]}, want, 2.0) << h << "x" << w << " to " << out_h << "x" << out_w
                                                 << " mode " << mode << " at " << at;
            }
    }
}

}  // namespace
}  // namespace deuteron::neutron
