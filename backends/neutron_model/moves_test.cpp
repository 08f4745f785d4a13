// Copies, padding, resizing, pools, reductions and fetches against their definitions.
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
using Extents = std::array<int32_t, kMaxRank>;

int32_t product(const Extents& e) {
  int32_t p = 1;
  for (const int32_t v : e) p *= v;
  return p;
}
Extents dense(const Extents& e) {
  Extents strides{};
  int32_t step = 1;
  for (size_t i = kMaxRank; i-- > 0;) {
    strides[i] = step;
    step *= e[i];
  }
  return strides;
}
Extents index_of_flat(int32_t flat, const Extents& e) {
  Extents index{};
  for (size_t i = kMaxRank; i-- > 0;) {
    index[i] = flat % e[i];
    flat /= e[i];
  }
  return index;
}
int32_t dot(const Extents& a, const Extents& b) {
  int32_t sum = 0;
  for (size_t i = 0; i < kMaxRank; ++i) sum += a[i] * b[i];
  return sum;
}
size_t z(int64_t v) { return static_cast<size_t>(v); }

CopyCall copy_call(const Extents& extent, const Extents& x_stride, const Extents& y_stride) {
  CopyCall a{};
  std::copy(extent.begin(), extent.end(), a.extent);
  std::copy(x_stride.begin(), x_stride.end(), a.x_stride);
  std::copy(y_stride.begin(), y_stride.end(), a.y_stride);
  return a;
}

TEST(NeutronMoves, TransposesOfEveryRank) {
  const std::array<std::array<Extents, 2>, 5> cases = {{
      {{{1, 1, 1, 1, 5, 7}, {0, 1, 2, 3, 5, 4}}},
      {{{1, 1, 1, 3, 5, 7}, {0, 1, 2, 5, 3, 4}}},
      {{{1, 1, 2, 3, 5, 7}, {0, 1, 2, 4, 5, 3}}},
      {{{1, 4, 2, 3, 5, 7}, {0, 3, 1, 5, 2, 4}}},
      {{{2, 3, 4, 5, 6, 7}, {5, 3, 1, 0, 2, 4}}},
  }};
  for (const auto& [from, order] : cases) {
    Extents extent{}, step{};
    const Extents strides = dense(from);
    for (size_t i = 0; i < kMaxRank; ++i) {
      extent[i] = from[z(order[i])];
      step[i] = strides[z(order[i])];
    }
    Model model;
    CopyCall a = copy_call(extent, step, dense(extent));
    a.x = model.input(product(from)), a.y = model.output(product(from));
    model.call(Kind::kTransposeChw, a);
    const Bytes x = Random(1).bytes(product(from));
    Bytes want;
    for (int32_t i = 0; i < product(extent); ++i) want.push_back(x[z(dot(index_of_flat(i, extent), step))]);
    test::expect_same(test::result_of(model, {x}), want);
  }
}

TEST(NeutronMoves, SliceWithSteps) {
  const Extents x_extent = {1, 1, 4, 9, 7, 5}, extent = {1, 1, 2, 3, 4, 3}, step = {1, 1, 1, 3, 2, 1}, start = {0, 0, 2, 1, 0, 2};
  const Extents strides = dense(x_extent);
  Extents x_stride{};
  for (size_t i = 0; i < kMaxRank; ++i) x_stride[i] = strides[i] * step[i];
  Model model;
  CopyCall a = copy_call(extent, x_stride, dense(extent));
  a.x = model.input(product(x_extent)), a.y = model.output(product(extent));
  a.x.offset = dot(start, strides);
  model.call(Kind::kSlice, a);
  const Bytes x = Random(2).bytes(product(x_extent));
  Bytes want;
  for (int32_t i = 0; i < product(extent); ++i) {
    Extents index = index_of_flat(i, extent);
    for (size_t k = 0; k < kMaxRank; ++k) index[k] = start[k] + step[k] * index[k];
    want.push_back(x[z(dot(index, strides))]);
  }
  test::expect_same(test::result_of(model, {x}), want);
}

TEST(NeutronMoves, ConcatenationOfThreeOverTheLastAxis) {
  const int32_t widths[] = {3, 5, 1}, rows = 7, all = 9;
  Model model;
  std::vector<Bytes> inputs;
  Bytes want(z(rows * all));
  const Operand y = model.output(rows * all);
  int32_t at = 0;
  for (const int32_t width : widths) {
    CopyCall a = copy_call({1, 1, 1, 1, rows, width}, {0, 0, 0, 0, width, 1}, {0, 0, 0, 0, all, 1});
    a.x = model.input(rows * width), a.y = y, a.y.offset = at;
    model.call(Kind::kStridedSliceConcat, a);
    inputs.push_back(Random(static_cast<uint32_t>(width)).bytes(rows * width));
    for (int32_t r = 0; r < rows; ++r)
      for (int32_t i = 0; i < width; ++i) want[z(r * all + at + i)] = inputs.back()[z(r * width + i)];
    at += width;
  }
  test::expect_same(test::result_of(model, inputs), want);
}

TEST(NeutronMoves, PadOfEveryAxis) {
  struct Case {
    Extents extent, before, after;
  };
  const Case cases[] = {
      {{1, 1, 1, 3, 5, 7}, {0, 0, 0, 1, 2, 0}, {0, 0, 0, 2, 0, 0}}, {{1, 1, 2, 3, 5, 7}, {0, 1, 0, 0, 0, 3}, {1, 0, 0, 0, 4, 1}},
      {{1, 1, 1, 1, 4, 1}, {0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 1}}, {{2, 3, 1, 2, 1, 3}, {1, 0, 2, 0, 1, 0}, {0, 1, 1, 0, 0, 2}},
      {{1, 1, 1, 1, 1, 5}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}},
  };
  for (const Case& k : cases) {
    Extents whole{};
    for (size_t i = 0; i < kMaxRank; ++i) whole[i] = k.before[i] + k.extent[i] + k.after[i];
    PadCall a{};
    std::copy(k.extent.begin(), k.extent.end(), a.extent);
    std::copy(k.before.begin(), k.before.end(), a.before);
    std::copy(k.after.begin(), k.after.end(), a.after);
    a.value = -77;
    Model model;
    a.x = model.input(product(k.extent)), a.y = model.output(product(whole));
    model.call(Kind::kPad, a);
    const Bytes x = Random(4).bytes(product(k.extent));
    Bytes want(z(product(whole)), -77);
    for (int32_t i = 0; i < product(k.extent); ++i) {
      Extents index = index_of_flat(i, k.extent);
      for (size_t axis = 0; axis < kMaxRank; ++axis) index[axis] += k.before[axis];
      want[z(dot(index, dense(whole)))] = x[z(i)];
    }
    test::expect_same(test::result_of(model, {x}), want);
  }
}

TEST(NeutronMoves, Pools) {
  struct Case {
    int n, h, w, c, kh, kw, out_h, out_w, sh = 1, sw = 1, dh = 1, dw = 1, top = 0, left = 0, x_gap = 0, y_gap = 0;
  };
  const Case cases[] = {
      {1, 6, 8, 16, 2, 2, 3, 4, 2, 2},
      {2, 7, 5, 3, 3, 2, 4, 3, 2, 2, 1, 1, 1, 1},
      {3, 5, 6, 37, 5, 6, 1, 1},
      {2, 9, 4, 5, 1, 3, 9, 2, 1, 2, 1, 1, 0, 1},
      {1, 4, 5, 6, 3, 3, 4, 5, 1, 1, 1, 1, 1, 1, 5, 2},
      {2, 3, 3, 2, 9, 8, 3, 3, 1, 1, 1, 1, 4, 4},
      {2, 9, 8, 5, 3, 2, 5, 5, 1, 1, 2, 3, 0, 0},
      {1, 9, 8, 5, 3, 2, 9, 8, 1, 1, 2, 3, 2, 1},
  };
  for (const Kind kind : {Kind::kMaxPool, Kind::kAvgPool})
    for (const Case& k : cases) {
      if (kind == Kind::kAvgPool && (k.dh > 1 || k.dw > 1)) continue;
      PoolCall a{};
      a.n = k.n, a.h = k.h, a.w = k.w, a.c = k.c, a.x_pitch = k.c + k.x_gap, a.kernel_h = k.kh, a.kernel_w = k.kw;
      a.stride_h = k.sh, a.stride_w = k.sw, a.dilation_h = k.dh, a.dilation_w = k.dw, a.pad_top = k.top, a.pad_left = k.left;
      a.out_h = k.out_h, a.out_w = k.out_w, a.y_pitch = k.c + k.y_gap, a.y_min = -60, a.y_max = 70;
      Model model;
      const Bytes x = Random(5).bytes((k.n * k.h * k.w - 1) * a.x_pitch + k.c);
      const int y_bytes = (k.n * k.out_h * k.out_w - 1) * a.y_pitch + k.c;
      a.x = model.input(static_cast<int64_t>(x.size())), a.y = model.output(y_bytes);
      model.call(kind, a);
      Bytes want(z(y_bytes), 99);
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
      SCOPED_TRACE(testing::Message() << name_of(kind) << " " << &k - cases);
      test::expect_same(test::result_of(model, {x}), want);
    }
}

TEST(NeutronMoves, ReductionsOverEverySetOfAxes) {
  const Extents extent = {2, 3, 1, 4, 5, 3};
  for (const Kind kind : {Kind::kReduceMean, Kind::kReduceSum, Kind::kGlobalAvgPool, Kind::kReduceMax, Kind::kReduceMin})
    for (int32_t axes = 0; axes < 64; ++axes)
      for (const int32_t multiplier : {0, 1717986918}) {
        if (multiplier == 0 && kind != Kind::kReduceMax && kind != Kind::kReduceMin) continue;
        ReduceCall a{};
        std::copy(extent.begin(), extent.end(), a.extent);
        a.axes = axes, a.x_zero = -9, a.y_zero = 12, a.multiplier = multiplier, a.shift = -2, a.y_min = -125, a.y_max = 122;
        Extents kept{};
        for (size_t i = 0; i < kMaxRank; ++i) kept[i] = (axes >> i & 1) != 0 ? 1 : extent[i];
        Model model;
        a.x = model.input(product(extent)), a.y = model.output(product(kept));
        model.call(kind, a);
        const Bytes x = Random(6).bytes(product(extent));
        std::vector<std::vector<int>> groups(z(product(kept)));
        for (int32_t i = 0; i < product(extent); ++i) {
          Extents index = index_of_flat(i, extent);
          for (size_t k = 0; k < kMaxRank; ++k) index[k] = (axes >> k & 1) != 0 ? 0 : index[k];
          groups[z(dot(index, dense(kept)))].push_back(x[z(i)]);
        }
        Bytes want;
        for (const std::vector<int>& g : groups) {
          int64_t v = kind == Kind::kReduceMax ? *std::max_element(g.begin(), g.end()) + 9 : *std::min_element(g.begin(), g.end()) + 9;
          if (kind != Kind::kReduceMax && kind != Kind::kReduceMin) {
            v = 0;
            for (const int e : g) v += e + 9;
          }
          const int64_t y = multiplier == 0 ? v - 9 : requantize_reference(v, multiplier, -2) + 12;
          want.push_back(static_cast<int8_t>(std::clamp<int64_t>(y, -125, 122)));
        }
        SCOPED_TRACE(testing::Message() << name_of(kind) << " axes " << axes);
        test::expect_same(test::result_of(model, {x}), want);
      }
}

ResizeCall resize_call(int n, int h, int w, int c, int out_h, int out_w, int corners, int centers) {
  ResizeCall a{};
  a.n = n, a.h = h, a.w = w, a.c = c, a.out_h = out_h, a.out_w = out_w, a.align_corners = corners, a.half_pixel_centers = centers;
  return a;
}

const std::array<std::array<int32_t, 6>, 6> kResizes = {
    {{1, 3, 5, 7, 6, 10}, {2, 4, 3, 2, 9, 7}, {3, 7, 5, 1, 3, 2}, {1, 1, 1, 4, 5, 3}, {2, 5, 7, 3, 5, 7}, {1, 2, 3, 8, 16, 24}}};

TEST(NeutronMoves, ResizeNearest) {
  for (const auto& [n, h, w, c, out_h, out_w] : kResizes)
    for (int mode = 0; mode < 3; ++mode) {
      Model model;
      ResizeCall a = resize_call(n, h, w, c, out_h, out_w, mode == 1, mode == 2);
      a.x = model.input(n * h * w * c), a.y = model.output(n * out_h * out_w * c);
      model.call(Kind::kResizeNearest, a);
      const Bytes x = Random(7).bytes(n * h * w * c);
      // The element whose position is nearest in exact arithmetic where that is no tie: halves go up, as floor(v + 1/2).
      const auto nearest = [mode](int i, int in, int out) {
        if (mode == 1 && out > 1) return std::min((2 * i * (in - 1) + (out - 1)) / (2 * (out - 1)), in - 1);
        if (mode == 2) return std::min((2 * i + 1) * in / (2 * out), in - 1);
        return std::min(i * in / out, in - 1);
      };
      Bytes want;
      for (int b = 0; b < n; ++b)
        for (int i = 0; i < out_h; ++i)
          for (int j = 0; j < out_w; ++j)
            for (int k = 0; k < c; ++k) want.push_back(x[z(((b * h + nearest(i, h, out_h)) * w + nearest(j, w, out_w)) * c + k)]);
      SCOPED_TRACE(testing::Message() << h << "x" << w << " to " << out_h << "x" << out_w << " mode " << mode);
      test::expect_same(test::result_of(model, {x}), want);
    }
}

// Within one step of the interpolation in double: positions are rounded to 1/1024. The bits are compared with the TFLite interpreter
// elsewhere.
TEST(NeutronMoves, ResizeBilinear) {
  for (const auto& [n, h, w, c, out_h, out_w] : kResizes)
    for (int mode = 0; mode < 3; ++mode) {
      Model model;
      ResizeCall a = resize_call(n, h, w, c, out_h, out_w, mode == 1, mode == 2);
      a.x = model.input(n * h * w * c), a.y = model.output(n * out_h * out_w * c);
      model.call(Kind::kResizeBilinear, a);
      const Bytes x = Random(8).bytes(n * h * w * c), y = test::result_of(model, {x});
      const auto where = [mode](int i, int in, int out) {
        const double scale = mode == 1 && out > 1 ? static_cast<double>(in - 1) / (out - 1) : static_cast<double>(in) / out;
        return std::clamp(mode == 2 ? (i + 0.5) * scale - 0.5 : i * scale, 0.0, in - 1.0);
      };
      size_t at = 0;
      for (int b = 0; b < n; ++b)
        for (int i = 0; i < out_h; ++i)
          for (int j = 0; j < out_w; ++j)
            for (int k = 0; k < c; ++k, ++at) {
              const double u = where(i, h, out_h), v = where(j, w, out_w);
              const int top = static_cast<int>(u), left = static_cast<int>(v), bottom = std::min(top + 1, h - 1),
                        right = std::min(left + 1, w - 1);
              const auto pixel = [&](int row, int column) { return x[z(((b * h + row) * w + column) * c + k)]; };
              const double p = u - top, q = v - left;
              const double want = (1 - p) * ((1 - q) * pixel(top, left) + q * pixel(top, right)) +
                                  p * ((1 - q) * pixel(bottom, left) + q * pixel(bottom, right));
              ASSERT_NEAR(int{y[at]}, want, 2.0) << h << "x" << w << " to " << out_h << "x" << out_w << " mode " << mode << " at " << at;
            }
    }
}

int fetches = 0, waits = 0;

TEST(NeutronMoves, ConstantsAreFetchedThroughTheCallbacks) {
  for (const bool callbacks : {false, true}) {
    fetches = waits = 0;
    NeutronConfig config = {nullptr, nullptr};
    if (callbacks)
      config = {[](void* to, void* from, uint32_t size, uint32_t channel) {
                  fetches += static_cast<int>(channel);
                  std::memcpy(to, from, size);
                },
                [](uint32_t channel) { waits += static_cast<int>(channel); }};
    ASSERT_EQ(neutronSetConfig(&config), kNeutronOk);
    Model model;
    const Bytes table = Random(9).bytes(256), x = Random(10).bytes(50);
    model.sram_bytes = 288;
    const Operand at = operand(Region::kSramWeights, 32);
    model.call(Kind::kMemCpy, MemCpyCall{model.constant(table), at, 256, 5});
    model.call(Kind::kTable, TableCall{model.input(50), model.output(50), at, 50});
    Bytes want;
    for (const int8_t v : x) want.push_back(table[z(v + 128)]);
    test::expect_same(test::result_of(model, {x}), want);
    EXPECT_EQ(fetches, callbacks ? 5 : 0);
    EXPECT_EQ(waits, callbacks ? 5 : 0);
  }
  ASSERT_EQ(neutronDeinit(), kNeutronOk);
}

}  // namespace
}  // namespace deuteron::neutron
