// Convolutions, fully connected and matrix products against their definitions, over packed weights; extents are odd and all different.
#include <algorithm>
#include <array>
#include <cmath>

#include "backends/neutron_model/test_model.h"
#include "ops/integer/requantize_reference.h"

namespace deuteron::neutron {
namespace {

using test::Bytes;
using test::Model;
using test::Random;

int8_t end_of(int64_t sum, int64_t multiplier, int shift, int64_t y_zero, int64_t low, int64_t high) {
  return static_cast<int8_t>(std::clamp(y_zero + requantize_reference(sum, multiplier, shift), low, high));
}

std::vector<int32_t> random_params(Random& random, int32_t channels) {
  std::vector<int32_t> params;
  for (int32_t i = 0; i < channels; ++i) params.insert(params.end(), {random.in(-30000, 30000), random.multiplier(), random.in(-12, -5)});
  return params;
}

// weight [oc,kh,kw,c] as microcode.h says that it is packed.
Bytes pack(Kind kind, const ConvCall& a, const Bytes& weight) {
  Bytes packed(static_cast<size_t>(conv_weight_bytes(kind, a)));
  const bool rows = kind == Kind::kConv2dStandardV2;
  const int32_t blocks = (rows ? a.kernel_w * a.c + 7 : a.c + 7) / 8;
  for (int32_t oc = 0; oc < a.out_c; ++oc)
    for (int32_t kh = 0; kh < a.kernel_h; ++kh)
      for (int32_t kw = 0; kw < a.kernel_w; ++kw)
        for (int32_t c = 0; c < a.c; ++c) {
          const int32_t lane = rows ? kw * a.c + c : c;
          const int32_t tap = rows ? kh : kh * a.kernel_w + kw, taps = rows ? a.kernel_h : a.kernel_h * a.kernel_w;
          const size_t at = static_cast<size_t>((((oc / 8 * taps + tap) * blocks + lane / 8) * 8 + oc % 8) * 8 + lane % 8);
          packed[at] = weight[static_cast<size_t>(((oc * a.kernel_h + kh) * a.kernel_w + kw) * a.c + c)];
        }
  return packed;
}

// By scattering for the transposed kind and gathering for the others, with the pitches of the call.
Bytes reference(Kind kind, const ConvCall& a, const Bytes& x, const Bytes& weight, const std::vector<int32_t>& params, Bytes y) {
  const bool transposed = kind == Kind::kConv2dTransposed;
  std::vector<int64_t> sums(static_cast<size_t>(a.n * a.out_h * a.out_w * a.out_c));
  for (int n = 0; n < a.n; ++n)
    for (int row = 0; row < (transposed ? a.h : a.out_h); ++row)
      for (int column = 0; column < (transposed ? a.w : a.out_w); ++column)
        for (int kh = 0; kh < a.kernel_h; ++kh)
          for (int kw = 0; kw < a.kernel_w; ++kw) {
            const int h = row * a.stride_h + kh * a.dilation_h - a.pad_top, w = column * a.stride_w + kw * a.dilation_w - a.pad_left;
            const int ih = transposed ? row : h, iw = transposed ? column : w, oh = transposed ? h : row, ow = transposed ? w : column;
            if (ih < 0 || iw < 0 || oh < 0 || ow < 0 || ih >= a.h || iw >= a.w || oh >= a.out_h || ow >= a.out_w) continue;
            for (int oc = 0; oc < a.out_c; ++oc)
              for (int c = 0; c < a.c; ++c)
                sums[static_cast<size_t>(((n * a.out_h + oh) * a.out_w + ow) * a.out_c + oc)] +=
                    int64_t{x[static_cast<size_t>(((n * a.h + ih) * a.w + iw) * a.x_pitch + c)] - a.x_zero} *
                    weight[static_cast<size_t>(((oc * a.kernel_h + kh) * a.kernel_w + kw) * a.c + c)];
          }
  for (size_t i = 0; i < sums.size(); ++i) {
    const size_t pixel = i / static_cast<size_t>(a.out_c), oc = i % static_cast<size_t>(a.out_c);
    y[pixel * static_cast<size_t>(a.y_pitch) + oc] =
        end_of(sums[i] + params[3 * oc], params[3 * oc + 1], params[3 * oc + 2], a.y_zero, a.y_min, a.y_max);
  }
  return y;
}

struct ConvCase {
  Kind kind;
  int n, h, w, c, kh, kw, out_h, out_w, oc, sh = 1, sw = 1, dh = 1, dw = 1, top = 0, left = 0, x_gap = 0, y_gap = 0;
};

ConvCall call_of(const ConvCase& k, Random& random) {
  ConvCall a{};
  a.n = k.n, a.h = k.h, a.w = k.w, a.c = k.c, a.x_pitch = k.c + k.x_gap;
  a.kernel_h = k.kh, a.kernel_w = k.kw, a.stride_h = k.sh, a.stride_w = k.sw, a.dilation_h = k.dh, a.dilation_w = k.dw;
  a.pad_top = k.top, a.pad_left = k.left, a.out_h = k.out_h, a.out_w = k.out_w, a.out_c = k.oc, a.y_pitch = k.oc + k.y_gap;
  a.x_zero = random.in(-128, 127), a.y_zero = random.in(-40, 40), a.y_min = -113, a.y_max = 101;
  return a;
}

void check(const ConvCase& k, uint32_t seed) {
  SCOPED_TRACE(testing::Message() << name_of(k.kind) << " case " << seed);
  Random random(seed);
  ConvCall a = call_of(k, random);
  const Bytes weight = random.bytes(k.oc * k.kh * k.kw * k.c), x = random.bytes(((k.n * k.h * k.w) - 1) * a.x_pitch + k.c);
  const std::vector<int32_t> params = random_params(random, k.oc);
  Model model;
  a.x = model.input(static_cast<int64_t>(x.size()));
  const int64_t y_bytes = int64_t{k.n * k.out_h * k.out_w - 1} * a.y_pitch + k.oc;
  a.y = model.output(y_bytes);
  a.weights = model.constant(pack(k.kind, a, weight));
  a.params = model.params(params);
  model.call(k.kind, a);
  test::expect_same(test::result_of(model, {x}), reference(k.kind, a, x, weight, params, Bytes(static_cast<size_t>(y_bytes), int8_t{99})));
}

constexpr Kind kV1 = Kind::kConv2dStandardV1, kV2 = Kind::kConv2dStandardV2, kOne = Kind::kConv2dPointwise, kBack = Kind::kConv2dTransposed;

TEST(NeutronDense, Convolutions) {
  const ConvCase cases[] = {
      {kV1, 1, 5, 7, 16, 3, 3, 3, 5, 8},
      {kV1, 2, 9, 7, 13, 3, 2, 5, 6, 11, 2, 1, 1, 1, 1, 0},
      {kV1, 3, 11, 6, 3, 2, 3, 9, 4, 17, 1, 2, 2, 3, 0, 3},
      {kV1, 1, 1, 40, 9, 1, 5, 1, 20, 5, 1, 2, 1, 1, 0, 2},
      {kV1, 2, 4, 5, 20, 7, 9, 4, 5, 6, 1, 1, 1, 1, 3, 4},
      {kV1, 1, 6, 5, 8, 3, 3, 4, 3, 8, 1, 1, 1, 1, 0, 0, 16, 8},
      {kV1, 1, 7, 6, 5, 3, 2, 3, 3, 3, 2, 2, 1, 1, -1, -2},  // cropped
      {kV1, 1, 3, 3, 2, 3, 3, 9, 8, 4, 1, 1, 1, 1, 5, 4},    // some windows lie outside
      {kV2, 1, 13, 11, 3, 3, 3, 7, 6, 10, 2, 2, 1, 1, 1, 1},
      {kV2, 2, 12, 7, 1, 10, 4, 6, 4, 9, 2, 2, 1, 1, 4, 1},
      {kV2, 3, 7, 9, 4, 5, 3, 4, 8, 16, 2, 1, 1, 1, 2, 1},
      {kV2, 2, 7, 9, 3, 3, 2, 5, 8, 7, 1, 1, 1, 1, 0, 0, 5, 3},
      {kV2, 1, 9, 4, 2, 3, 5, 5, 6, 3, 1, 1, 2, 1, 0, 3},
      {kOne, 1, 5, 7, 24, 1, 1, 5, 7, 16},
      {kOne, 3, 5, 7, 19, 1, 1, 3, 4, 9, 2, 2},
      {kOne, 2, 3, 5, 7, 1, 1, 3, 5, 5, 1, 1, 1, 1, 0, 0, 4, 6},
      {kOne, 1, 4, 4, 33, 1, 1, 6, 7, 9, 1, 1, 1, 1, 1, 2},
      {kBack, 1, 3, 5, 6, 3, 3, 7, 11, 9, 2, 2},
      {kBack, 2, 4, 3, 11, 2, 5, 8, 7, 5, 2, 1, 1, 1, 0, 0},
      {kBack, 3, 3, 4, 8, 4, 2, 5, 11, 13, 2, 3, 1, 1, 1, 0},
      {kBack, 1, 5, 3, 5, 3, 4, 17, 9, 3, 3, 1, 2, 2, 1, 1},
      {kBack, 1, 2, 2, 3, 1, 1, 5, 6, 2, 3, 4},  // results that no tap reaches
  };
  uint32_t seed = 100;
  for (const ConvCase& k : cases) check(k, seed++);
}

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
              const int at = ((n * a.out_h + row * p.pool_h + i) * a.out_w + column * p.pool_w + j) * a.out_c + oc;
              sum += conv[static_cast<size_t>(at)], most = std::max<int>(most, conv[static_cast<size_t>(at)]);
            }
          const double mean = static_cast<double>(sum) / (p.pool_h * p.pool_w);
          const int value = p.average != 0 ? static_cast<int>(std::round(mean)) : most;  // round: halves away from zero
          y.push_back(static_cast<int8_t>(std::clamp(value, p.pool_min, p.pool_max)));
        }
  return y;
}

TEST(NeutronDense, ConvolutionsPoolTheirResults) {
  struct Case {
    Kind kind;
    ConvCase conv;
    int pool_h, pool_w;
    bool average;
  };
  const Case cases[] = {
      {Kind::kConv2dStandardV1Pool, {kV1, 2, 9, 7, 13, 3, 2, 5, 6, 11, 2, 1, 1, 1, 1, 0}, 2, 2, false},  // the fifth row fills no window
      {Kind::kConv2dStandardV1Pool, {kV1, 1, 6, 5, 8, 3, 3, 4, 3, 8}, 1, 3, true},
      {Kind::kConv2dStandardV1Pool, {kV1, 3, 11, 6, 3, 2, 3, 9, 4, 17, 1, 2, 2, 3, 0, 3}, 9, 4, true},  // all of it, in several tiles
      {Kind::kConv2dStandardV2Pool, {kV2, 1, 13, 11, 3, 3, 3, 7, 6, 10, 2, 2, 1, 1, 1, 1}, 3, 2, false},
      {Kind::kConv2dStandardV2Pool, {kV2, 2, 12, 7, 1, 10, 4, 6, 4, 9, 2, 2, 1, 1, 4, 1}, 6, 3, true},
      {Kind::kConv2dPointwisePool, {kOne, 1, 5, 7, 24, 1, 1, 5, 7, 16}, 5, 7, true},
      {Kind::kConv2dPointwisePool, {kOne, 3, 5, 7, 19, 1, 1, 3, 4, 9, 2, 2}, 3, 4, false},
      {Kind::kConv2dPointwisePool, {kOne, 2, 3, 5, 7, 1, 1, 3, 5, 5, 1, 1, 1, 1, 0, 0, 4, 0}, 1, 1, false},
  };
  uint32_t seed = 300;
  for (const Case& k : cases) {
    SCOPED_TRACE(testing::Message() << name_of(k.kind) << " case " << ++seed);
    Random random(seed);
    ConvPoolCall p{};
    ConvCall& a = p.conv = call_of(k.conv, random);
    p.pool_h = k.pool_h, p.pool_w = k.pool_w, p.average = k.average ? 1 : 0, p.pool_min = -90, p.pool_max = 70;
    const Bytes weight = random.bytes(a.out_c * a.kernel_h * a.kernel_w * a.c), x = random.bytes((a.n * a.h * a.w - 1) * a.x_pitch + a.c);
    const std::vector<int32_t> params = random_params(random, a.out_c);
    const Bytes conv = reference(k.conv.kind, a, x, weight, params, Bytes(static_cast<size_t>(a.n * a.out_h * a.out_w * a.out_c)));
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

TEST(NeutronDense, AGroupReadsAndWritesItsChannelsOnly) {
  Random random(7);
  Model model;
  ConvCall a{};
  a.n = 2, a.h = 5, a.w = 4, a.c = 3, a.x_pitch = 6, a.kernel_h = 3, a.kernel_w = 2,
  a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = 1;
  a.out_h = 3, a.out_w = 3, a.out_c = 5, a.y_pitch = 10, a.y_min = -128, a.y_max = 127, a.x_zero = -5;
  const Bytes x = random.bytes(2 * 5 * 4 * 6), weights[] = {random.bytes(5 * 6 * 3), random.bytes(5 * 6 * 3)};
  const std::vector<int32_t> params = random_params(random, 5);
  const Operand in = model.input(240), out = model.output(2 * 3 * 3 * 10);
  Bytes want(180, 99);
  for (int g = 0; g < 2; ++g) {
    a.x = in, a.y = out;
    a.x.offset = 3 * g, a.y.offset = 5 * g;
    a.weights = model.constant(pack(kV1, a, weights[g]));
    a.params = model.params(params);
    model.call(kV1, a);
    Bytes part = reference(kV1, a, Bytes(x.begin() + 3 * g, x.end()), weights[g], params, Bytes(want.begin() + 5 * g, want.end()));
    std::copy(part.begin(), part.end(), want.begin() + 5 * g);
  }
  test::expect_same(test::result_of(model, {x}), want);
}

TEST(NeutronDense, LargestSumsDoNotWrap) {
  Model model;
  ConvCall a{};
  a.n = a.h = a.w = 1, a.c = a.x_pitch = 65528, a.kernel_h = a.kernel_w = a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = 1;
  a.out_h = a.out_w = a.out_c = a.y_pitch = 1, a.x_zero = 127, a.y_min = -128, a.y_max = 127;
  const Bytes x(65528, -128), weight(65528, -128);
  const std::vector<int32_t> params = {0, 1 << 30, -24};
  a.x = model.input(65528), a.y = model.output(1), a.weights = model.constant(pack(kOne, a, weight)), a.params = model.params(params);
  model.call(kOne, a);
  EXPECT_EQ(test::result_of(model, {x})[0], end_of(int64_t{65528} * 255 * 128, 1 << 30, -24, 0, -128, 127));
  EXPECT_EQ(test::result_of(model, {x})[0], 64);
}

TEST(NeutronDense, Depthwise) {
  struct Case {
    Kind kind;
    int n, h, w, c, m, kh, kw, out_h, out_w, sh = 1, sw = 1, dh = 1, dw = 1, top = 0, left = 0, x_gap = 0, y_gap = 0;
  };
  const Case cases[] = {
      {Kind::kConv2dDepthwiseV1, 1, 7, 9, 16, 1, 3, 3, 7, 9, 1, 1, 1, 1, 1, 1},
      {Kind::kConv2dDepthwiseV1, 3, 11, 6, 13, 1, 3, 5, 5, 3, 2, 2, 1, 1, 0, 2},
      {Kind::kConv2dDepthwiseV2, 2, 8, 5, 3, 1, 2, 2, 4, 2, 2, 2},
      {Kind::kConv2dDepthwiseDense, 2, 5, 4, 11, 1, 3, 2, 5, 5, 1, 1, 2, 1, 2, 1},
      {Kind::kConv2dDepthwiseV1, 2, 6, 7, 3, 5, 3, 4, 6, 4, 1, 2, 1, 2, 1, 3},
      {Kind::kConv2dDepthwiseV1, 1, 9, 1, 8, 2, 5, 1, 5, 1},
      {Kind::kConv2dDepthwiseV1, 2, 5, 6, 9, 1, 3, 3, 3, 4, 1, 1, 1, 1, 0, 0, 7, 2},
      {Kind::kConv2dDepthwiseV1, 1, 3, 3, 4, 1, 3, 3, 9, 9, 1, 1, 1, 1, 5, 4},
  };
  uint32_t seed = 200;
  for (const Case& k : cases) {
    SCOPED_TRACE(testing::Message() << "case " << seed);
    Random random(seed++);
    const int channels = k.c * k.m;
    DepthwiseCall a{};
    a.n = k.n, a.h = k.h, a.w = k.w, a.c = k.c, a.x_pitch = k.c + k.x_gap, a.multiplier = k.m;
    a.kernel_h = k.kh, a.kernel_w = k.kw, a.stride_h = k.sh, a.stride_w = k.sw, a.dilation_h = k.dh, a.dilation_w = k.dw;
    a.pad_top = k.top, a.pad_left = k.left, a.out_h = k.out_h, a.out_w = k.out_w, a.y_pitch = channels + k.y_gap;
    a.x_zero = random.in(-128, 127), a.y_zero = random.in(-40, 40), a.y_min = -99, a.y_max = 120;
    const Bytes x = random.bytes((k.n * k.h * k.w - 1) * a.x_pitch + k.c), weight = random.bytes(k.kh * k.kw * channels);  // [kh,kw,oc]
    const std::vector<int32_t> params = random_params(random, channels);
    Bytes packed(static_cast<size_t>(depthwise_weight_bytes(a)));
    for (int oc = 0; oc < channels; ++oc)
      for (int tap = 0; tap < k.kh * k.kw; ++tap)
        packed[static_cast<size_t>((oc / 8 * k.kh * k.kw + tap) * 8 + oc % 8)] = weight[static_cast<size_t>(tap * channels + oc)];
    Model model;
    const int64_t y_bytes = int64_t{k.n * k.out_h * k.out_w - 1} * a.y_pitch + channels;
    a.x = model.input(static_cast<int64_t>(x.size())), a.y = model.output(y_bytes);
    a.weights = model.constant(packed), a.params = model.params(params);
    model.call(k.kind, a);
    Bytes want(static_cast<size_t>(y_bytes), 99);
    for (int n = 0; n < k.n; ++n)
      for (int oh = 0; oh < k.out_h; ++oh)
        for (int ow = 0; ow < k.out_w; ++ow)
          for (int oc = 0; oc < channels; ++oc) {
            int64_t sum = params[static_cast<size_t>(3 * oc)];
            for (int kh = 0; kh < k.kh; ++kh)
              for (int kw = 0; kw < k.kw; ++kw) {
                const int ih = oh * k.sh + kh * k.dh - k.top, iw = ow * k.sw + kw * k.dw - k.left;
                if (ih < 0 || iw < 0 || ih >= k.h || iw >= k.w) continue;
                sum += int64_t{x[static_cast<size_t>(((n * k.h + ih) * k.w + iw) * a.x_pitch + oc / k.m)] - a.x_zero} *
                       weight[static_cast<size_t>((kh * k.kw + kw) * channels + oc)];
              }
            want[static_cast<size_t>(((n * k.out_h + oh) * k.out_w + ow) * a.y_pitch + oc)] =
                end_of(sum, params[static_cast<size_t>(3 * oc + 1)], params[static_cast<size_t>(3 * oc + 2)], a.y_zero, a.y_min, a.y_max);
          }
    test::expect_same(test::result_of(model, {x}), want);
  }
}

TEST(NeutronDense, FullyConnected) {
  for (const auto& [rows, in, out] : {std::array{1, 64, 10}, {3, 17, 9}, {21, 5, 1}, {2, 1, 13}}) {
    Random random(static_cast<uint32_t>(300 + rows));
    FullyConnectedCall a{};
    a.rows = rows, a.in = in, a.out = out, a.x_zero = 11, a.y_zero = -3, a.y_min = -120, a.y_max = 119;
    const Bytes x = random.bytes(rows * in), weight = random.bytes(out * in);
    const std::vector<int32_t> params = random_params(random, out);
    ConvCall as_conv{};
    as_conv.kernel_h = as_conv.kernel_w = 1, as_conv.c = in, as_conv.out_c = out;
    Model model;
    a.x = model.input(rows * in), a.y = model.output(rows * out);
    a.weights = model.constant(pack(kOne, as_conv, weight)), a.params = model.params(params);
    model.call(Kind::kFullyConnected, a);
    Bytes want;
    for (int r = 0; r < rows; ++r)
      for (int o = 0; o < out; ++o) {
        int64_t sum = params[static_cast<size_t>(3 * o)];
        for (int i = 0; i < in; ++i) sum += int64_t{x[static_cast<size_t>(r * in + i)] - 11} * weight[static_cast<size_t>(o * in + i)];
        want.push_back(end_of(sum, params[static_cast<size_t>(3 * o + 1)], params[static_cast<size_t>(3 * o + 2)], -3, -120, 119));
      }
    test::expect_same(test::result_of(model, {x}), want);
  }
}

TEST(NeutronDense, MatMulWithEitherOperandTransposedOrRepeated) {
  for (int way = 0; way < 8; ++way) {
    SCOPED_TRACE(way);
    const bool adj_x = way & 1, adj_y = way & 2, repeats = way & 4;
    const int batch = 3, m = 5, k = 19, n = 11, others = repeats ? 1 : batch;
    Random random(static_cast<uint32_t>(400 + way));
    MatMulCall a{};
    a.batch = batch, a.m = m, a.k = k, a.n = n;
    a.x_batch_stride = m * k, a.x_m_stride = adj_x ? 1 : k, a.x_k_stride = adj_x ? m : 1;
    a.other_batch_stride = repeats ? 0 : k * n, a.other_k_stride = adj_y ? 1 : n, a.other_n_stride = adj_y ? k : 1;
    a.x_zero = 7, a.other_zero = -20, a.y_zero = 4, a.multiplier = random.multiplier(), a.shift = -9, a.y_min = -128, a.y_max = 126;
    const Bytes x = random.bytes(batch * m * k), other = random.bytes(others * k * n);
    Model model;
    a.x = model.input(batch * m * k), a.other = model.input(others * k * n), a.y = model.output(batch * m * n);
    model.call(Kind::kBatchMatMul, a);
    Bytes want;
    for (int b = 0; b < batch; ++b)
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          int64_t sum = 0;
          for (int l = 0; l < k; ++l) {
            const int at = b * m * k + (adj_x ? l * m + i : i * k + l), to = (repeats ? 0 : b * k * n) + (adj_y ? j * k + l : l * n + j);
            sum += int64_t{x[static_cast<size_t>(at)] - 7} * (other[static_cast<size_t>(to)] + 20);
          }
          want.push_back(end_of(sum, a.multiplier, a.shift, 4, -128, 126));
        }
    test::expect_same(test::result_of(model, {x, other}), want);
  }
}

}  // namespace
}  // namespace deuteron::neutron
