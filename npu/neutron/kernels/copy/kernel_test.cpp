// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "npu/neutron/kernels/copy/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

CopyCall copy_call(const Extents& extent, const Extents& x_stride, const Extents& y_stride) {
  CopyCall a{};
  std::copy(extent.begin(), extent.end(), a.extent);
  std::copy(x_stride.begin(), x_stride.end(), a.x_stride);
  std::copy(y_stride.begin(), y_stride.end(), a.y_stride);
  return a;
}

TEST(NeutronCopy, TransposesOfEveryRank) {
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
    model.call(Kind::kTransposeCHW, a);
    const Bytes x = Random(1).bytes(product(from));
    Bytes want;
    for (int32_t i = 0; i < product(extent); ++i)
      want.push_back(x[z(dot(index_of_flat(i, extent), step))]);
    test::expect_same(test::result_of(model, {x}), want);
  }
}

TEST(NeutronCopy, SliceWithSteps) {
  const Extents x_extent = {1, 1, 4, 9, 7, 5}, extent = {1, 1, 2, 3, 4, 3},
                step = {1, 1, 1, 3, 2, 1}, start = {0, 0, 2, 1, 0, 2};
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

TEST(NeutronCopy, ConcatenationOfThreeOverTheLastAxis) {
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
      for (int32_t i = 0; i < width; ++i)
        want[z(r * all + at + i)] = inputs.back()[z(r * width + i)];
    at += width;
  }
  test::expect_same(test::result_of(model, inputs), want);
}

}  // namespace
}  // namespace deuteron::neutron
