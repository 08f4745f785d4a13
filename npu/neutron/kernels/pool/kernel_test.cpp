// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "npu/neutron/kernels/pool/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

TEST(NeutronPool, AgainstTheDefinition) {
  struct Case {
    const char* name;
    int n, h, w, c, kh, kw, out_h, out_w, sh = 1, sw = 1, dh = 1, dw = 1, top = 0, left = 0,
                                          x_gap = 0, y_gap = 0;
  };
  const Case cases[] = {
      {"2x2, stride 2", 1, 6, 8, 16, 2, 2, 3, 4, 2, 2},
      {"padded, two images", 2, 7, 5, 3, 3, 2, 4, 3, 2, 2, 1, 1, 1, 1},
      {"one window for the map", 3, 5, 6, 37, 5, 6, 1, 1},
      {"a row as the window", 2, 9, 4, 5, 1, 3, 9, 2, 1, 2, 1, 1, 0, 1},
      {"gaps between pixels", 1, 4, 5, 6, 3, 3, 4, 5, 1, 1, 1, 1, 1, 1, 5, 2},
      {"the window is larger than the map", 2, 3, 3, 2, 9, 8, 3, 3, 1, 1, 1, 1, 4, 4},
      {"dilated", 2, 9, 8, 5, 3, 2, 5, 5, 1, 1, 2, 3, 0, 0},
      {"a window of 5001 columns", 1, 2, 5003, 2, 1, 5001, 2, 3},
      {"dilated and padded", 1, 9, 8, 5, 3, 2, 9, 8, 1, 1, 2, 3, 2, 1},
  };
  for (const Kind kind : {Kind::kMaxPool, Kind::kAvgPool})
    for (const Case& k : cases) {
      if (kind == Kind::kAvgPool && (k.dh > 1 || k.dw > 1)) continue;
      PoolCall a{};
      a.n = k.n, a.h = k.h, a.w = k.w, a.c = k.c, a.x_pitch = k.c + k.x_gap, a.kernel_h = k.kh,
      a.kernel_w = k.kw;
      a.stride_h = k.sh, a.stride_w = k.sw, a.dilation_h = k.dh, a.dilation_w = k.dw,
      a.pad_top = k.top, a.pad_left = k.left;
      a.out_h = k.out_h, a.out_w = k.out_w, a.y_pitch = k.c + k.y_gap, a.y_min = -60, a.y_max = 70;
      Model model;
      const Bytes x = Random(5).bytes((k.n * k.h * k.w - 1) * a.x_pitch + k.c);
      const int y_bytes = (k.n * k.out_h * k.out_w - 1) * a.y_pitch + k.c;
      a.x = model.input(static_cast<int64_t>(x.size())), a.y = model.output(y_bytes);
      model.call(kind, a);
      Bytes want(z(y_bytes), test::kCleared);
      for (int n = 0; n < k.n; ++n)
        for (int oh = 0; oh < k.out_h; ++oh)
          for (int ow = 0; ow < k.out_w; ++ow)
            for (int c = 0; c < k.c; ++c) {
              int most = -128, sum = 0, taps = 0;
              for (int kh = 0; kh < k.kh; ++kh)
                for (int kw = 0; kw < k.kw; ++kw) {
                  const int h = oh * k.sh + kh * k.dh - k.top, w = ow * k.sw + kw * k.dw - k.left;
                  if (h < 0 || w < 0 || h >= k.h || w >= k.w) continue;
                  const int v = x[z(((n * k.h + h) * k.w + w) * a.x_pitch + c)];
                  most = std::max(most, v);
                  sum += v;
                  ++taps;
                }
              const int mean = static_cast<int>(std::lround(static_cast<double>(sum) / taps));
              want[z(((n * k.out_h + oh) * k.out_w + ow) * a.y_pitch + c)] =
                  static_cast<int8_t>(std::clamp(kind == Kind::kMaxPool ? most : mean, -60, 70));
            }
      SCOPED_TRACE(testing::Message() << name_of(kind) << ": " << k.name);
      test::expect_same(test::result_of(model, {x}), want);
    }
}

}  // namespace
}  // namespace deuteron::neutron
