// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/depthwise/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

TEST(NeutronDepthwise, AgainstTheDefinition) {
  struct Case {
    const char* name;
    Kind kind;
    int n, h, w, c, m, kh, kw, out_h, out_w, sh = 1, sw = 1, dh = 1, dw = 1, top = 0, left = 0,
                                             x_gap = 0, y_gap = 0;
  };
  const Case cases[] = {
      {"3x3, padded", Kind::kConv2DDepthwiseV1, 1, 7, 9, 16, 1, 3, 3, 7, 9, 1, 1, 1, 1, 1, 1},
      {"three images, stride 2", Kind::kConv2DDepthwiseV1, 3, 11, 6, 13, 1, 3, 5, 5, 3, 2, 2, 1, 1,
       0, 2},
      {"2x2, for an average", Kind::kConv2DDepthwiseV2, 2, 8, 5, 3, 1, 2, 2, 4, 2, 2, 2},
      {"dense, dilated", Kind::kConv2DDepthwiseDense, 2, 5, 4, 11, 1, 3, 2, 5, 5, 1, 1, 2, 1, 2, 1},
      {"five results for each channel", Kind::kConv2DDepthwiseV1, 2, 6, 7, 3, 5, 3, 4, 6, 4, 1, 2,
       1, 2, 1, 3},
      {"one column", Kind::kConv2DDepthwiseV1, 1, 9, 1, 8, 2, 5, 1, 5, 1},
      {"gaps between pixels", Kind::kConv2DDepthwiseV1, 2, 5, 6, 9, 1, 3, 3, 3, 4, 1, 1, 1, 1, 0, 0,
       7, 2},
      {"some windows lie outside", Kind::kConv2DDepthwiseV1, 1, 3, 3, 4, 1, 3, 3, 9, 9, 1, 1, 1, 1,
       5, 4},
  };
  uint32_t seed = 200;
  for (const Case& k : cases) {
    SCOPED_TRACE(testing::Message() << name_of(k.kind) << ": " << k.name);
    Random random(seed++);
    const int channels = k.c * k.m;
    DepthwiseCall a{};
    a.n = k.n, a.h = k.h, a.w = k.w, a.c = k.c, a.x_pitch = k.c + k.x_gap, a.multiplier = k.m;
    a.kernel_h = k.kh, a.kernel_w = k.kw, a.stride_h = k.sh, a.stride_w = k.sw, a.dilation_h = k.dh,
    a.dilation_w = k.dw;
    a.pad_top = k.top, a.pad_left = k.left, a.out_h = k.out_h, a.out_w = k.out_w,
    a.y_pitch = channels + k.y_gap;
    a.x_zero = random.in(-128, 127), a.y_zero = random.in(-40, 40), a.y_min = -99, a.y_max = 120;
    const Bytes x = random.bytes((k.n * k.h * k.w - 1) * a.x_pitch + k.c),
                weight = random.bytes(k.kh * k.kw * channels);  // [kh,kw,oc]
    const std::vector<int32_t> params = random_params(random, channels);
    Bytes packed(static_cast<size_t>(depthwise_weight_bytes(a)));
    for (int oc = 0; oc < channels; ++oc)
      for (int tap = 0; tap < k.kh * k.kw; ++tap)
        packed[static_cast<size_t>((oc / 8 * k.kh * k.kw + tap) * 8 + oc % 8)] =
            weight[static_cast<size_t>(tap * channels + oc)];
    Model model;
    const int64_t y_bytes = int64_t{k.n * k.out_h * k.out_w - 1} * a.y_pitch + channels;
    a.x = model.input(static_cast<int64_t>(x.size())), a.y = model.output(y_bytes);
    a.weights = model.constant(packed), a.params = model.params(params);
    model.call(k.kind, a);
    Bytes want(static_cast<size_t>(y_bytes), test::kCleared);
    for (int n = 0; n < k.n; ++n)
      for (int oh = 0; oh < k.out_h; ++oh)
        for (int ow = 0; ow < k.out_w; ++ow)
          for (int oc = 0; oc < channels; ++oc) {
            int64_t sum = params[static_cast<size_t>(3 * oc)];
            for (int kh = 0; kh < k.kh; ++kh)
              for (int kw = 0; kw < k.kw; ++kw) {
                const int ih = oh * k.sh + kh * k.dh - k.top, iw = ow * k.sw + kw * k.dw - k.left;
                if (ih < 0 || iw < 0 || ih >= k.h || iw >= k.w) continue;
                sum +=
                    int64_t{
                        x[static_cast<size_t>(((n * k.h + ih) * k.w + iw) * a.x_pitch + oc / k.m)] -
                        a.x_zero} *
                    weight[static_cast<size_t>((kh * k.kw + kw) * channels + oc)];
              }
            want[static_cast<size_t>(((n * k.out_h + oh) * k.out_w + ow) * a.y_pitch + oc)] =
                end_of(sum, params[static_cast<size_t>(3 * oc + 1)],
                       params[static_cast<size_t>(3 * oc + 2)], a.y_zero, a.y_min, a.y_max);
          }
    test::expect_same(test::result_of(model, {x}), want);
  }
}

}  // namespace
}  // namespace deuteron::neutron
