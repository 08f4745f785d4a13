// SPDX-License-Identifier: Apache-2.0
// Every limit of the NPU: a case at it, which is taken, and one past it, which is refused by that
// rule's name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "compile/npu_options.h"
#include "compile/place/npu_support.h"
#include "npu/neutron/machine/limits.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {
namespace {

Target imxrt700() {
  Diagnostics d;
  return *find_target("imxrt700", d);
}

struct Operand {
  Shape shape;
  bool constant = false;
  Quant quant = per_tensor(0.05f, 3);
  DType dtype = DType::s8;
};
Operand weight(Shape shape, i32 zero = 0) {
  return {std::move(shape), true, per_tensor(0.01f, zero)};
}
Operand by_output(Shape shape) {
  const auto n = static_cast<size_t>(shape[0]);
  return {std::move(shape), true, Quant{std::vector<float>(n, 0.01f), std::vector<i32>(n, 0), 0}};
}
Operand bias(i64 n, bool constant = true) {
  return {{n}, constant, per_tensor(0.0005f, 0), DType::s32};
}

struct Case {
  std::string name;
  Op op;
  std::vector<Operand> in;
  std::string rule;  // that refuses; empty: taken
  Quant out = per_tensor(0.05f, 3);
};

Conv2d conv(HW stride = {1, 1}, HW dilation = {1, 1}, i64 groups = 1) {
  Conv2d c;
  c.stride = stride, c.dilation = dilation, c.groups = groups;
  return c;
}
ConvTranspose2d transposed(HW stride, HW pad = {}, HW dilation = {1, 1}, i64 groups = 1) {
  ConvTranspose2d c;
  c.stride = stride, c.pad = pad, c.dilation = dilation, c.groups = groups;
  return c;
}
AvgPool2d avg(HW kernel, HW stride, HW pad = {}, bool counted = true, bool ceil = false,
              i64 divisor = 0) {
  AvgPool2d p;
  p.kernel = kernel, p.stride = stride, p.pad = pad, p.count_include_pad = counted,
  p.ceil_mode = ceil, p.divisor = divisor;
  return p;
}
MaxPool2d max(HW kernel, HW stride, HW dilation = {1, 1}, bool ceil = false) {
  MaxPool2d p;
  p.kernel = kernel, p.stride = stride, p.dilation = dilation, p.ceil_mode = ceil;
  return p;
}
Resize2d resize(i64 h, i64 w, bool bilinear = false, bool corners = false) {
  Resize2d r;
  r.mode = bilinear ? Resize2d::kBilinear : Resize2d::kNearest;
  r.size = {h, w}, r.align_corners = corners;
  return r;
}
Pointwise point(std::vector<PointStep> steps) { return Pointwise{PointProgram{std::move(steps)}}; }
PointStep step(PointFn fn, float number) {
  PointStep s;
  s.fn = fn;
  s.b = {PointOperand::kNumber, number};
  return s;
}

std::vector<Case> cases() {
  const Quant softmax = per_tensor(1.0f / 256, -128), other = per_tensor(0.07f, -1);
  const Operand image{{2, 9, 11, 16}}, seven{{2, 3, 2, 2, 2, 2, 5}};
  const float infinity = std::numeric_limits<float>::infinity();
  return {
      {"conv", conv(), {image, weight({5, 3, 3, 16}), bias(5)}, ""},
      {"conv without bias", conv(), {image, weight({5, 3, 3, 16})}, ""},
      {"conv, weight computed", conv(), {image, {{5, 3, 3, 16}}}, "neutron.conv2d.weight"},
      {"conv, bias computed",
       conv(),
       {image, weight({5, 3, 3, 16}), bias(5, false)},
       "neutron.conv2d.bias"},
      {"conv, asymmetric weight",
       conv(),
       {image, weight({5, 3, 3, 16}, 1)},
       "neutron.conv2d.symmetric"},
      {"conv kernel 4095", conv(), {{{1, 4097, 3, 4}}, weight({3, 4095, 1, 4})}, ""},
      {"conv kernel 4096", conv(), {{{1, 4097, 3, 4}}, weight({3, 4096, 1, 4})}, ""},
      {"conv kernel 4097",
       conv(),
       {{{1, 4097, 3, 4}}, weight({3, 4097, 1, 4})},
       "neutron.conv2d.kernel"},
      {"conv kernel 4096 wide", conv(), {{{1, 3, 4097, 4}}, weight({3, 1, 4096, 4})}, ""},
      {"conv kernel 4097 wide",
       conv(),
       {{{1, 3, 4097, 4}}, weight({3, 1, 4097, 4})},
       "neutron.conv2d.kernel"},
      {"conv stride 4095", conv({4095, 1}), {{{1, 4097, 3, 4}}, weight({3, 1, 1, 4})}, ""},
      {"conv stride 4096", conv({1, 4096}), {{{1, 3, 4097, 4}}, weight({3, 1, 1, 4})}, ""},
      {"conv stride 4097",
       conv({1, 4097}),
       {{{1, 3, 4098, 4}}, weight({3, 1, 1, 4})},
       "neutron.conv2d.stride"},
      {"conv dilation 4095",
       conv({1, 1}, {1, 4095}),
       {{{3, 3, 4098, 4}}, weight({3, 1, 2, 4})},
       ""},
      {"conv dilation 4096",
       conv({1, 1}, {4096, 1}),
       {{{1, 4098, 3, 4}}, weight({3, 2, 1, 4})},
       ""},
      {"conv dilation 4097",
       conv({1, 1}, {4097, 1}),
       {{{1, 4099, 3, 4}}, weight({3, 2, 1, 4})},
       "neutron.conv2d.dilation"},
      // 65535 = 8 * 8191 + 7: the largest product of a kernel and a multiple of eight below it is
      // 65528.
      {"conv taps 65528", conv(), {{{1, 1, 1, 65521}}, weight({3, 1, 1, 65521})}, ""},
      {"conv taps 65536",
       conv(),
       {{{1, 1, 1, 65529}}, weight({3, 1, 1, 65529})},
       "neutron.conv2d.taps"},
      {"conv taps 8*8*1024",
       conv(),
       {{{1, 16, 16, 1024}}, weight({8, 8, 8, 1024})},
       "neutron.conv2d.taps"},
      {"conv in groups counts its own channels",
       conv({1, 1}, {1, 1}, 2),
       {{{1, 16, 16, 1024}}, weight({8, 8, 8, 512})},
       ""},
      {"depthwise counts all channels",
       conv({1, 1}, {1, 1}, 1024),
       {{{1, 16, 16, 1024}}, weight({1024, 8, 8, 1})},
       "neutron.conv2d.taps"},
      {"depthwise at 63 taps",
       conv({1, 1}, {1, 1}, 1024),
       {{{1, 16, 16, 1024}}, weight({1024, 7, 9, 1})},
       ""},

      {"transposed", transposed({2, 2}, {1, 1}), {image, weight({5, 3, 2, 16}), bias(5)}, ""},
      {"transposed, weight computed",
       transposed({2, 2}),
       {image, {{5, 3, 3, 16}}},
       "neutron.conv_transpose2d.weight"},
      {"transposed, bias computed",
       transposed({2, 2}),
       {image, weight({5, 3, 3, 16}), bias(5, false)},
       "neutron.conv_transpose2d.bias"},
      {"transposed, asymmetric",
       transposed({2, 2}),
       {image, weight({5, 3, 3, 16}, -2)},
       "neutron.conv_transpose2d.symmetric"},
      {"transposed groups 2",
       transposed({2, 2}, {}, {1, 1}, 2),
       {image, weight({6, 3, 3, 8})},
       "neutron.conv_transpose2d.groups"},
      {"transposed dilation 2",
       transposed({1, 1}, {}, {2, 1}),
       {image, weight({5, 3, 3, 16})},
       "neutron.conv_transpose2d.dilation"},
      {"transposed stride 3",
       transposed({1, 3}),
       {image, weight({5, 3, 3, 16})},
       "neutron.conv_transpose2d.stride"},
      {"transposed kernel 4096", transposed({1, 1}), {{{1, 2, 2, 4}}, weight({3, 4096, 1, 4})}, ""},
      {"transposed kernel 4097",
       transposed({1, 1}),
       {{{1, 2, 2, 4}}, weight({3, 4097, 1, 4})},
       "neutron.conv_transpose2d.kernel"},
      {"transposed stride as the kernel", transposed({2, 2}), {image, weight({5, 2, 2, 16})}, ""},
      {"transposed stride above the kernel",
       transposed({2, 2}),
       {image, weight({5, 1, 2, 16})},
       "neutron.conv_transpose2d.stride_kernel"},
      {"transposed padding below the kernel",
       transposed({1, 1}, {2, 0}),
       {image, weight({5, 3, 3, 16})},
       ""},
      {"transposed padding as the kernel",
       transposed({1, 1}, {3, 0}),
       {image, weight({5, 3, 3, 16})},
       "neutron.conv_transpose2d.padding"},
      {"transposed of 65528 taps",
       transposed({1, 1}),
       {{{1, 1, 1, 65521}}, weight({3, 1, 1, 65521})},
       ""},
      {"transposed taps",
       transposed({1, 1}),
       {{{1, 2, 2, 1024}}, weight({3, 8, 8, 1024})},
       "neutron.conv_transpose2d.taps"},

      {"linear", Linear{}, {{{3, 19}}, weight({7, 19}), bias(7)}, ""},
      {"linear, weight computed", Linear{}, {{{3, 19}}, {{7, 19}}}, "neutron.linear.weight"},
      {"linear, bias computed",
       Linear{},
       {{{3, 19}}, weight({7, 19}), bias(7, false)},
       "neutron.linear.bias"},
      {"linear, asymmetric", Linear{}, {{{3, 19}}, weight({7, 19}, 4)}, "neutron.linear.symmetric"},
      {"linear, sums shifted beyond int32",
       Linear{},
       {{{3, 19}}, weight({7, 19})},
       "neutron.linear.sums",
       per_tensor(1e-10f, 3)},
      {"conv, sums shifted beyond int32",
       conv(),
       {image, weight({5, 3, 3, 16})},
       "neutron.conv2d.sums",
       per_tensor(1e-10f, 3)},
      {"transposed, sums shifted beyond int32",
       transposed({2, 2}),
       {image, weight({5, 3, 3, 16})},
       "neutron.conv_transpose2d.sums",
       per_tensor(1e-10f, 3)},
      {"bmm, sums shifted beyond int32",
       Matmul{},
       {{{5, 7, 13}}, {{5, 3, 13}}},
       "neutron.matmul.sums",
       per_tensor(1e-10f, 3)},
      {"linear 65529 inputs", Linear{}, {{{1, 65529}}, weight({3, 65529})}, ""},
      {"linear 65528 inputs, a scale for each output",
       Linear{},
       {{{1, 65528}}, by_output({3, 65528})},
       ""},
      {"linear 65529 inputs, a scale for each output",
       Linear{},
       {{{1, 65529}}, by_output({3, 65529})},
       "neutron.linear.taps"},

      {"bmm 1x8x16", Matmul{}, {{{1, 8, 16}}, {{1, 24, 16}}}, ""},
      {"bmm 3x24x40", Matmul{}, {{{3, 24, 40}}, {{3, 8, 40}}}, ""},
      {"bmm 5x7x13", Matmul{}, {{{5, 7, 13}}, {{5, 3, 13}}}, ""},
      {"bmm zero points", Matmul{}, {{{4, 8, 16}}, {{4, 8, 16}, false, per_tensor(0.05f, 2)}}, ""},
      {"bmm inner extent at the limit",
       Matmul{},
       {{{1, 8, 32768}, false, per_tensor(0.05f, 0)}, {{1, 8, 32768}, false, per_tensor(0.05f, 0)}},
       ""},
      {"bmm inner extent past the limit",
       Matmul{},
       {{{1, 8, 32769}, false, per_tensor(0.05f, 0)}, {{1, 8, 32769}, false, per_tensor(0.05f, 0)}},
       "neutron.matmul.inner"},

      {"add", Add{}, {image, {{16}}}, ""},
      {"sub", Add{{}, -1}, {image, image}, ""},
      {"add twice", Add{{}, 2}, {image, image}, "neutron.add.alpha"},
      {"add outer", Add{}, {{{1, 1, 11, 16}}, {{2, 9, 1, 16}}}, "neutron.add.broadcast"},
      {"add, 7 axes that are 2", Add{}, {{{1, 1, 1, 2, 3, 4, 5}}, {{5}}}, ""},
      {"add, 7 axes that are 6", Add{}, {seven, {{2, 3, 1, 2, 1, 2, 5}}}, ""},
      {"add, 7 axes", Add{}, {seven, {{2, 1, 2, 1, 2, 1, 5}}}, "neutron.add.rank"},
      {"mul", Mul{}, {image, {{2, 1, 1, 16}}}, ""},
      {"mul outer", Mul{}, {{{4, 1}}, {{1, 5}}}, "neutron.mul.broadcast"},
      {"mul, 7 axes that are 2", Mul{}, {{{1, 1, 1, 2, 3, 4, 5}}, {{5}}}, ""},
      {"mul, 7 axes that are 6", Mul{}, {seven, {{2, 3, 1, 2, 1, 2, 5}}}, ""},
      {"mul, 7 axes", Mul{}, {seven, {{2, 1, 2, 1, 2, 1, 5}}}, "neutron.mul.rank"},
      {"maximum", Maximum{}, {image, {{16}}}, ""},
      {"maximum outer", Maximum{}, {{{4, 1}}, {{1, 5}}}, "neutron.maximum.broadcast"},
      {"maximum, 7 axes that are 2", Maximum{}, {{{1, 1, 1, 2, 3, 4, 5}}, {{5}}}, ""},
      {"maximum, 7 axes that are 6", Maximum{}, {seven, {{2, 3, 1, 2, 1, 2, 5}}}, ""},
      {"maximum, 7 axes", Maximum{}, {seven, {{2, 1, 2, 1, 2, 1, 5}}}, "neutron.maximum.rank"},
      {"maximum parameters",
       Maximum{},
       {image, {{16}, false, other}},
       "neutron.maximum.parameters"},
      {"minimum", Minimum{}, {image, image}, ""},
      {"minimum outer", Minimum{}, {{{4, 1}}, {{1, 5}}}, "neutron.minimum.broadcast"},
      {"minimum, 7 axes that are 2", Minimum{}, {{{1, 1, 1, 2, 3, 4, 5}}, {{5}}}, ""},
      {"minimum, 7 axes that are 6", Minimum{}, {seven, {{2, 3, 1, 2, 1, 2, 5}}}, ""},
      {"minimum, 7 axes", Minimum{}, {seven, {{2, 1, 2, 1, 2, 1, 5}}}, "neutron.minimum.rank"},
      {"minimum parameters", Minimum{}, {image, image}, "neutron.minimum.parameters", other},

      {"avg pool", avg({3, 2}, {2, 1}), {image}, ""},
      {"avg pool kernel 4096", avg({4096, 1}, {1, 1}), {{{1, 4097, 2, 3}}}, ""},
      {"avg pool kernel 4097",
       avg({4097, 1}, {4097, 1}),
       {{{1, 8194, 2, 3}}},
       "neutron.avg_pool2d.kernel"},
      {"avg pool stride 4096", avg({1, 1}, {4096, 1}), {{{1, 4097, 2, 3}}}, ""},
      {"avg pool stride 4097",
       avg({1, 1}, {4097, 1}),
       {{{1, 4098, 2, 3}}},
       "neutron.avg_pool2d.stride"},
      {"avg pool padding counted", avg({3, 3}, {1, 1}, {1, 1}), {image}, ""},
      {"avg pool padding not counted",
       avg({3, 3}, {1, 1}, {1, 1}, false),
       {image},
       "neutron.avg_pool2d.padding"},
      {"avg pool ceil, nothing beyond",
       avg({3, 3}, {2, 2}, {}, true, true),
       {{{1, 9, 11, 16}}},
       ""},
      {"avg pool ceil, beyond",
       avg({2, 2}, {2, 2}, {}, true, true),
       {{{1, 9, 11, 16}}},
       "neutron.avg_pool2d.ceil_mode"},
      {"avg pool divisor of the window", avg({2, 2}, {2, 2}, {}, true, false, 4), {image}, ""},
      {"avg pool divisor 3",
       avg({2, 2}, {2, 2}, {}, true, false, 3),
       {image},
       "neutron.avg_pool2d.divisor"},
      {"avg pool parameters", avg({2, 2}, {2, 2}), {image}, "neutron.avg_pool2d.parameters", other},
      {"max pool", max({3, 2}, {2, 1}), {image}, ""},
      {"max pool kernel 4097", max({1, 4097}, {1, 1}), {{{1, 2, 4097, 3}}}, ""},
      {"max pool kernel 2^18", max({1, 1 << 18}, {1, 1}), {{{1, 1, 1 << 18, 3}}}, ""},
      {"max pool kernel 2^18 + 1",
       max({1, (1 << 18) + 1}, {1, 1}),
       {{{1, 1, (1 << 18) + 1, 3}}},
       "neutron.max_pool2d.kernel"},
      {"max pool stride 4096", max({1, 1}, {4096, 1}), {{{1, 4097, 2, 3}}}, ""},
      {"max pool stride 4097",
       max({1, 1}, {4097, 1}),
       {{{1, 4098, 2, 3}}},
       "neutron.max_pool2d.stride"},
      {"max pool dilation", max({2, 2}, {1, 1}, {2, 1}), {image}, "neutron.max_pool2d.dilation"},
      {"max pool ceil, nothing beyond", max({3, 3}, {2, 2}, {1, 1}, true), {{{1, 9, 11, 16}}}, ""},
      {"max pool ceil", max({2, 2}, {2, 2}, {1, 1}, true), {image}, "neutron.max_pool2d.ceil_mode"},
      {"max pool parameters", max({2, 2}, {2, 2}), {image}, "neutron.max_pool2d.parameters", other},

      {"relu", Clamp{{0, infinity}}, {image}, "", other},
      {"relu6", Clamp{{0, 6}}, {image}, "", other},
      {"hardtanh -1..1", Clamp{{-1, 1}}, {image}, "", other},
      {"clamp 0..1", Clamp{{0, 1}}, {image}, "", other},
      {"clamp -2..3", Clamp{{-2, 3}}, {image}, ""},
      {"clamp -2..3, parameters", Clamp{{-2, 3}}, {image}, "neutron.clamp.parameters", other},

      {"concat", Concat{3}, {image, image}, ""},
      {"concat parameters",
       Concat{3},
       {image, {{2, 9, 11, 4}, false, other}},
       "neutron.concat.parameters"},
      {"concat rank 7", Concat{0}, {{{1, 1, 1, 2, 3, 4, 5}}, {{1, 1, 1, 2, 3, 4, 5}}}, ""},
      {"pad", Pad{{0, 1, 2, 0}, {0, 0, 1, 0}, 1.5f}, {image}, ""},
      {"pad of nothing", Pad{{0, 0, 0, 0}, {0, 0, 1, 0}, 0}, {image}, ""},
      {"pad crops", Pad{{0, -1, 2, 0}, {0, 0, 1, 0}, 0}, {image}, "neutron.pad.crop"},
      {"pad parameters",
       Pad{{0, 1, 2, 0}, {0, 0, 1, 0}, 0},
       {image},
       "neutron.pad.parameters",
       other},
      {"pad, 7 axes that are 2", Pad{{0, 0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 0, 1}, 0}, {seven}, ""},
      {"pad, 7 axes that are 6", Pad{{0, 1, 1, 0, 1, 0, 1}, {0, 1, 1, 1, 0, 0, 1}, 0}, {seven}, ""},
      {"pad, 7 axes",
       Pad{{0, 1, 1, 0, 1, 1, 1}, {0, 1, 1, 1, 0, 0, 1}, 0},
       {seven},
       "neutron.pad.rank"},
      {"gather with one end of each kind",
       Gather{1, {2, 1, 0, 1, 2, 3, 3}},
       {{{2, 4, 3}}},
       "neutron.gather.mirror"},
      {"gather with reflected ends", Gather{1, {2, 1, 0, 1, 2, 3, 2}}, {{{2, 4, 3}}}, ""},
      {"gather with reflected ends and the edge", Gather{2, {1, 0, 0, 1, 2, 2}}, {{{2, 4, 3}}}, ""},
      {"gather backwards", Gather{2, {2, 1, 0}}, {{{2, 4, 3}}}, "neutron.gather.mirror"},
      {"gather rank 6", Gather{5, {1, 0, 1, 0}}, {{{1, 2, 3, 1, 2, 2}}}, ""},
      {"gather rank 7", Gather{6, {1, 0, 1, 0}}, {{{1, 1, 2, 3, 1, 2, 2}}}, "neutron.gather.rank"},
      {"gather parameters",
       Gather{1, {1, 0, 1, 2}},
       {{{2, 3}}},
       "neutron.gather.parameters",
       other},
      {"permute rank 6", Permute{{5, 4, 3, 2, 1, 0}}, {{{1, 2, 3, 4, 5, 6}}}, ""},
      {"permute rank 7",
       Permute{{6, 5, 4, 3, 2, 1, 0}},
       {{{1, 1, 2, 3, 4, 5, 6}}},
       "neutron.permute.rank"},
      {"permute parameters", Permute{{1, 0}}, {{{4, 5}}}, "neutron.permute.parameters", other},
      {"reshape rank 7", Reshape{{1, 1, 1, 2, 3, 4, 5}}, {{{120}}}, ""},
      {"reshape rank 8", Reshape{{1, 1, 1, 1, 2, 3, 4, 5}}, {{{120}}}, "neutron.reshape.rank"},
      {"slice", Slice{1, 2, 5, 1}, {image}, ""},
      {"slice step 2", Slice{1, 0, 4, 2}, {image}, "neutron.slice.step"},
      {"slice rank 7", Slice{6, 0, 4, 1}, {{{1, 1, 1, 2, 3, 4, 5}}}, ""},

      {"softmax", Softmax{1}, {{{3, 10}}}, "", softmax},
      {"softmax axis", Softmax{0}, {{{3, 10}}}, "neutron.softmax.axis", softmax},
      {"softmax 2040 channels", Softmax{1}, {{{3, 2040}}}, "", softmax},
      {"softmax 2041 channels", Softmax{1}, {{{3, 2041}}}, "neutron.softmax.channels", softmax},
      {"softmax 4096 rows", Softmax{1}, {{{4096, 5}}}, "", softmax},
      {"softmax 4097 rows", Softmax{1}, {{{4097, 5}}}, "neutron.softmax.rows", softmax},
      {"softmax 524288 elements", Softmax{1}, {{{4096, 128}}}, "", softmax},
      {"softmax 524290 elements", Softmax{1}, {{{370, 1417}}}, "neutron.softmax.elements", softmax},
      {"softmax parameters", Softmax{1}, {{{3, 10}}}, "neutron.softmax.parameters", other},

      {"sigmoid", Unary{UnaryFn::sigmoid, 0}, {image}, "", softmax},
      {"sigmoid, 4 steps to one of 1/256",
       Unary{UnaryFn::sigmoid, 0},
       {image},
       "",
       per_tensor(1.0f / 1024, -128)},
      {"sigmoid, 5 steps to one of 1/256",
       Unary{UnaryFn::sigmoid, 0},
       {image},
       "neutron.unary.precision",
       per_tensor(1.0f / 1280, -128)},
      {"tanh, 4 steps to one of 1/128",
       Unary{UnaryFn::tanh, 0},
       {image},
       "",
       per_tensor(1.0f / 512, 3)},
      {"tanh, 5 steps to one of 1/128",
       Unary{UnaryFn::tanh, 0},
       {image},
       "neutron.unary.precision",
       per_tensor(1.0f / 640, 3)},
      {"hardswish", Unary{UnaryFn::hardswish, 0}, {image}, "", other},
      {"gelu", Unary{UnaryFn::gelu, 0}, {image}, "neutron.unary.function", other},
      {"x + 2", point({step(PointFn::add, 2)}), {image}, "", other},
      {"(x + 2) * 3",
       point({step(PointFn::add, 2), step(PointFn::mul, 3)}),
       {image},
       "neutron.pointwise.steps",
       other},
      {"x / 2", point({step(PointFn::div, 2)}), {image}, "neutron.pointwise.function", other},
      {"prelu", Prelu{}, {image, weight({16})}, "", other},
      {"prelu, slope computed", Prelu{}, {image, {{16}}}, "", other},
      {"prelu rank 7", Prelu{}, {{{1, 1, 1, 2, 3, 4, 5}}, weight({5})}, "", other},
      {"resize by 2 and 8", resize(18, 88), {image}, ""},
      {"resize by 16", resize(9, 176), {image}, "neutron.resize2d.factor"},
      {"resize by 3", resize(27, 11), {image}, "neutron.resize2d.whole_factor"},
      {"resize corners by 2", resize(17, 21, true, true), {image}, ""},
      {"resize corners of one row",
       resize(1, 22, true, true),
       {{{1, 1, 11, 16}}},
       "neutron.resize2d.whole_factor"},
      {"resize parameters", resize(18, 22), {image}, "neutron.resize2d.parameters", other},
      {"mean over channels", Reduce{Reduce::kMean, {3}}, {image}, "", other},
      {"mean, 7 axes that are 2", Reduce{Reduce::kMean, {6}}, {seven}, ""},
      {"mean, 7 axes that are 6", Reduce{Reduce::kMean, {0, 2, 4, 5}}, {seven}, ""},
      {"mean, 7 axes", Reduce{Reduce::kMean, {0, 2, 4}}, {seven}, "neutron.reduce.rank"},
      {"sum of 2^23 elements", Reduce{Reduce::kSum, {1, 2}}, {{{1, 1 << 12, 1 << 11}}}, ""},
      {"sum of 2^23 + 1 elements",
       Reduce{Reduce::kSum, {1}},
       {{{1, (1 << 23) + 1}}},
       "neutron.reduce.elements"},
      {"amax of 2^23 + 1 elements", Reduce{Reduce::kMax, {1}}, {{{1, (1 << 23) + 1}}}, ""},
  };
}

std::vector<NpuCheck> checks_of(const Case& c, const NpuLimits& limits) {
  std::vector<Type> in;
  for (const Operand& o : c.in) in.push_back({o.dtype, o.shape, o.quant});
  std::vector<const Type*> in_types, out_types;
  for (const Type& t : in) in_types.push_back(&t);
  const Result<std::vector<Type>> inferred = infer(c.op, TypeView(in_types));
  EXPECT_TRUE(inferred) << c.name << ": " << inferred.why.what;
  if (!inferred) return {};
  Type out = (*inferred)[0];
  out.dtype = DType::s8;
  out.quant = c.out;
  out_types.push_back(&out);
  i64 most = 0;
  for (const Type& t : in) most = std::max(most, t.bytes());
  const std::vector<int8_t> ones(static_cast<size_t>(most), 1);
  std::vector<Constant> constants;
  for (const Type& t : in)
    constants.push_back(
        {nullptr, std::as_bytes(std::span(ones)).first(static_cast<size_t>(t.bytes()))});
  std::vector<const Constant*> data;
  for (size_t k = 0; k < c.in.size(); ++k)
    data.push_back(c.in[k].constant ? &constants[k] : nullptr);
  return npu_checks(c.op, {TypeView(in_types), TypeView(out_types), data, limits});
}

TEST(NpuLimits, ACaseAtTheLimitIsTakenAndOnePastItRefusedByName) {
  const Target target = imxrt700();
  for (const Case& c : cases()) {
    const std::vector<NpuCheck> checks = checks_of(c, target.npu->limits);
    EXPECT_EQ(passed(checks) ? "" : checks.back().rule, c.rule) << c.name;
    for (size_t k = 0; k + 1 < checks.size(); ++k) EXPECT_TRUE(checks[k].passed) << c.name;
  }
}

// The first table of bmm had multiples of 8. With a multiple of 1 the rows say nothing, and nobody
// is shown them.
TEST(NpuLimits, MatricesMayHaveToBeMultiples) {
  NpuLimits limits = imxrt700().npu->limits;
  EXPECT_EQ(npu_constraints(Matmul{}, limits).size(), 2u);
  limits.matmul_multiple = 8;
  EXPECT_EQ(npu_constraints(Matmul{}, limits).size(), 5u);
  for (const Case& c : std::vector<Case>{
           {"8x16", Matmul{}, {{{5, 8, 16}}, {{5, 24, 16}}}, ""},
           {"7 rows", Matmul{}, {{{5, 7, 16}}, {{5, 24, 16}}}, "neutron.matmul.width"},
           {"12 between", Matmul{}, {{{4, 8, 12}}, {{4, 16, 12}}}, "neutron.matmul.channels"},
           {"4 columns", Matmul{}, {{{4, 8, 16}}, {{4, 4, 16}}}, "neutron.matmul.columns"}}) {
    const std::vector<NpuCheck> checks = checks_of(c, limits);
    EXPECT_EQ(passed(checks) ? "" : checks.back().rule, c.rule) << c.name;
  }
}

template <class... T>
std::set<std::string> all_rules(std::variant<T...>*, const NpuLimits& limits) {
  std::set<std::string> rules;
  const auto add = [&](const Op& op) {
    for (const NpuConstraint& c : npu_constraints(op, limits)) rules.insert(c.rule);
  };
  (add(Op(T{})), ...);
  return rules;
}

TEST(NpuLimits, EveryRuleHasACaseThatItRefuses) {
  const Target target = imxrt700();
  std::set<std::string> rules = all_rules(static_cast<Op*>(nullptr), target.npu->limits);
  EXPECT_GT(rules.size(), 60u);
  for (const Case& c : cases()) rules.erase(c.rule);
  EXPECT_THAT(rules, testing::IsEmpty());
}

// What lies nearest to a limit on both sides, where that is not the limit and one more.
const std::map<std::string, std::pair<i64, i64>> kNearest = {
    {"neutron.conv2d.taps", {65528, 65536}},
    {"neutron.conv_transpose2d.taps", {65528, 65536}},
    {"neutron.linear.taps", {65528, 65536}},
    {"neutron.resize2d.factor", {8, 16}},  // powers of two
    {"neutron.softmax.elements",
     {524288, 524290}},  // the next product of extents within the other limits
};

// A limit that is a number must be tried at it and one past it, not only far from it.
TEST(NpuLimits, EveryNumberIsTriedAtItAndOnePastIt) {
  const Target target = imxrt700();
  std::map<std::string, std::string> limits;
  std::map<std::string, std::set<std::string>> taken, refused;
  for (const Case& c : cases())
    for (const NpuCheck& check : checks_of(c, target.npu->limits)) {
      limits[check.rule] = check.limit;
      (check.passed ? taken : refused)[check.rule].insert(
          check.measured.substr(0, check.measured.find(',')));  // "2, add(x, 2)"
    }
  size_t numbers = 0;
  for (const auto& [rule, limit] : limits) {
    const bool at_least = limit.starts_with("at least ");
    if (limit.empty() || limit.starts_with("a multiple of ")) continue;
    ++numbers;
    const i64 number = std::stoll(limit.substr(at_least ? 9 : 0));
    const auto nearest = kNearest.find(rule);
    const i64 last = nearest == kNearest.end() ? number : nearest->second.first;
    const i64 first =
        nearest == kNearest.end() ? number + (at_least ? -1 : 1) : nearest->second.second;
    EXPECT_TRUE(taken[rule].count(std::to_string(last)))
        << rule << ": nothing is taken at " << last;
    EXPECT_TRUE(refused[rule].count(std::to_string(first)))
        << rule << ": nothing is refused at " << first;
  }
  EXPECT_GT(numbers, 30u);
}

// Whatever the operator, operands and results of 16 bits or with a scale for each channel are not
// the NPU's.
TEST(NpuLimits, EveryOperatorWantsInt8WithOneScale) {
  const Target target = imxrt700();
  std::set<std::string> tried;
  for (Case c : cases()) {
    if (!c.rule.empty() || !tried.emplace(name_of(c.op)).second) continue;
    const std::string rule = "neutron." + std::string(name_of(c.op)) + ".dtype";
    Case wide = c, by_channel = c;
    for (Operand& o : wide.in)
      if (o.dtype == DType::s8) o.dtype = DType::s16;
    EXPECT_EQ(checks_of(wide, target.npu->limits).back().rule, rule) << c.name;
    by_channel.in[0].quant = {{0.1f, 0.2f}, {0, 0}, 0};
    EXPECT_EQ(checks_of(by_channel, target.npu->limits).back().rule, rule) << c.name;
    c.out = {{0.1f, 0.2f}, {0, 0}, 0};
    EXPECT_EQ(checks_of(c, target.npu->limits).back().rule, rule) << c.name;
  }
  EXPECT_GT(tried.size(), 20u);
}

TEST(NpuLimits, EveryOperatorOfTheNpuHasACaseThatIsTaken) {
  std::set<std::string> taken;
  for (const Case& c : cases())
    if (c.rule.empty()) taken.emplace(name_of(c.op));
  std::set<std::string> supported;
  for (const AnyExample& e : all_examples())
    if (!npu_builtin(e.op).empty()) supported.emplace(name_of(e.op));
  EXPECT_EQ(taken, supported);
}

TEST(NpuLimits, ARefusalSaysWhatWasMeasuredAndTheLimit) {
  const Target target = imxrt700();
  for (const Case& c : cases()) {
    if (c.name != "conv taps 65536") continue;
    const NpuCheck why = checks_of(c, target.npu->limits).back();
    EXPECT_EQ(to_text(why),
              "kernel taps, channels rounded up to the MAC width: 65536, limit 65535 "
              "[neutron.conv2d.taps]");
  }
}

// What the compiler gives the NPU, the converter and the driver take.
TEST(NpuLimits, NoLimitIsPastTheMachines) {
  const NpuLimits limits = imxrt700().npu->limits;
  EXPECT_LE(limits.kernel, neutron::kMostWindow);
  EXPECT_LE(limits.stride, neutron::kMostWindow);
  EXPECT_LE(limits.dilation, neutron::kMostWindow);
  EXPECT_LE(limits.taps, neutron::kMostProducts);
}

// What nobody asks today: operators are asked before they become calls, and only where there is an
// NPU.
TEST(NpuLimits, CallsAndTargetsWithoutAnNpuAreAnsweredToo) {
  const Op call = KernelCall{};
  EXPECT_EQ(npu_checks(call, {{}, {}, {}, imxrt700().npu->limits}).at(0).rule, "neutron.call");
  Graph g;
  const ValueId x = g.add_value("x", Type{DType::s8, {2, 3}, per_tensor(0.05f, 3)});
  const Node node{Clamp{}, {x}, {x}, {}};
  EXPECT_EQ(npu_checks(g, node, Target(), NpuOptions()).at(0).rule, "neutron.target");
}

TEST(NpuLimits, TheLimitIsTheTargets) {
  NpuLimits limits = imxrt700().npu->limits;
  limits.kernel = 2;
  const Case c{"conv", conv(), {{{2, 9, 11, 16}}, weight({5, 3, 3, 16})}, ""};
  EXPECT_EQ(checks_of(c, limits).back().rule, "neutron.conv2d.kernel");
}

}  // namespace
}  // namespace deuteron
