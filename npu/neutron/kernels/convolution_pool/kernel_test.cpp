// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "npu/neutron/kernels/convolution/test_convolution.h"
#include "npu/neutron/kernels/convolution_pool/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

// pool(reference(..)) of a call without gaps; -128 and 127 bound nothing.
Bytes pooled(const ConvPoolCall& p, const Bytes& conv) {
  const ConvCall& a = p.conv;
  Bytes y;
  for (int n = 0; n < a.n; ++n)
    for (int row = 0; row < a.out_h / p.pool_h; ++row)
      for (int column = 0; column < a.out_w / p.pool_w; ++column)
        for (int oc = 0; oc < a.out_c; ++oc) {
          int sum = 0, most = -128;
          for (int i = 0; i < p.pool_h; ++i)
            for (int j = 0; j < p.pool_w; ++j) {
              const int at =
                  ((n * a.out_h + row * p.pool_h + i) * a.out_w + column * p.pool_w + j) * a.out_c +
                  oc;
              sum += conv[static_cast<size_t>(at)],
                  most = std::max<int>(most, conv[static_cast<size_t>(at)]);
            }
          const double mean = static_cast<double>(sum) / (p.pool_h * p.pool_w);
          const int value = p.average != 0 ? static_cast<int>(std::round(mean))
                                           : most;  // round: halves away from zero
          y.push_back(static_cast<int8_t>(std::clamp(value, p.pool_min, p.pool_max)));
        }
  return y;
}

TEST(NeutronConvolutionPool, AgainstTheDefinition) {
  struct Case {
    Kind kind;
    ConvCase conv;
    int pool_h, pool_w;
    bool average;
  };
  const Case cases[] = {
      {Kind::kConv2DStandardV1Pool,
       {"maximum: the fifth row fills no window", Kind::kConv2DStandardV1, 2, 9, 7, 13, 3, 2, 5, 6,
        11, 2, 1, 1, 1, 1, 0},
       2,
       2,
       false},
      {Kind::kConv2DStandardV1Pool,
       {"average of three columns", Kind::kConv2DStandardV1, 1, 6, 5, 8, 3, 3, 4, 3, 8},
       1,
       3,
       true},
      {Kind::kConv2DStandardV1Pool,
       {"average of all of it, in several tiles", Kind::kConv2DStandardV1, 3, 11, 6, 3, 2, 3, 9, 4,
        17, 1, 2, 2, 3, 0, 3},
       9,
       4,
       true},
      {Kind::kConv2DStandardV2Pool,
       {"maximum: by rows", Kind::kConv2DStandardV2, 1, 13, 11, 3, 3, 3, 7, 6, 10, 2, 2, 1, 1, 1,
        1},
       3,
       2,
       false},
      {Kind::kConv2DStandardV2Pool,
       {"average: by rows, one channel", Kind::kConv2DStandardV2, 2, 12, 7, 1, 10, 4, 6, 4, 9, 2, 2,
        1, 1, 4, 1},
       6,
       3,
       true},
      {Kind::kConv2DPointwisePool,
       {"average: pointwise, of all of it", Kind::kConv2DPointwise, 1, 5, 7, 24, 1, 1, 5, 7, 16},
       5,
       7,
       true},
      {Kind::kConv2DPointwisePool,
       {"maximum: pointwise, stride 2", Kind::kConv2DPointwise, 3, 5, 7, 19, 1, 1, 3, 4, 9, 2, 2},
       3,
       4,
       false},
      {Kind::kConv2DPointwisePool,
       {"maximum of one result", Kind::kConv2DPointwise, 2, 3, 5, 7, 1, 1, 3, 5, 5, 1, 1, 1, 1, 0,
        0, 4, 0},
       1,
       1,
       false},
  };
  uint32_t seed = 300;
  for (const Case& k : cases) {
    SCOPED_TRACE(testing::Message() << name_of(k.kind) << ": " << k.conv.name);
    Random random(++seed);
    ConvPoolCall p{};
    ConvCall& a = p.conv = call_of(k.conv, random);
    p.pool_h = k.pool_h, p.pool_w = k.pool_w, p.average = k.average ? 1 : 0, p.pool_min = -90,
    p.pool_max = 70;
    const Bytes weight = random.bytes(a.out_c * a.kernel_h * a.kernel_w * a.c),
                x = random.bytes((a.n * a.h * a.w - 1) * a.x_pitch + a.c);
    const std::vector<int32_t> params = random_params(random, a.out_c);
    const Bytes conv = reference(k.conv.kind, a, x, weight, params,
                                 Bytes(static_cast<size_t>(a.n * a.out_h * a.out_w * a.out_c)));
    const Bytes expected = pooled(p, conv);
    Model model;
    a.x = model.input(static_cast<int64_t>(x.size()));
    a.y = model.output(static_cast<int64_t>(expected.size()));
    a.weights = model.constant(pack(k.conv.kind, a, weight));
    a.params = model.params(params);
    model.call(k.kind, p);
    test::expect_same(test::result_of(model, {x}), expected);
  }
}

}  // namespace
}  // namespace deuteron::neutron
