// SPDX-License-Identifier: Apache-2.0
// The converter over the machine model. Results against the TFLite interpreter:
// tests/stock/neutron_models.py.
#include "npu/neutron/converter/converter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/test_diagnostics.h"
#include "base/tflite/writer.h"
#include "npu/neutron/converter/run_extracted.h"
#include "npu/neutron/machine/test_machine.h"

namespace deuteron::neutron {
namespace {

using B = tflite::BuiltinOperator;
using O = tflite::BuiltinOptions;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int8_t> noise(i64 n, unsigned seed) {
  std::mt19937 r(seed);
  std::vector<int8_t> v(static_cast<size_t>(n));
  for (auto& x : v) x = static_cast<int8_t>(static_cast<int>(r() % 255) - 127);
  return v;
}
std::vector<u8> input_noise(i64 n, unsigned seed) {
  const auto v = noise(n, seed);
  return {v.begin(), v.end()};
}

std::vector<Kind> kinds(const Converted& c) {
  std::vector<Kind> k;
  for (const KernelUse& u : c.kernels) k.push_back(u.kind);
  return k;
}
ConvertOptions usual() {
  ConvertOptions options;
  options.machine = n3_64();
  return options;
}

std::vector<std::vector<u8>> run(const std::vector<u8>& ir,
                                 const std::vector<std::vector<u8>>& inputs,
                                 ConvertOptions options = usual()) {
  Diagnostics d;
  const auto c = convert(ir, options, d);
  EXPECT_TRUE(c) << (d.list().empty() ? "" : format_diagnostic(d.list()[0]));
  if (!c) return {};
  const auto e = extract(c->model, "test", d);
  EXPECT_TRUE(e) << (d.list().empty() ? "" : format_diagnostic(d.list()[0]));
  if (!e) return {};
  const RunResult r = run_extracted(*e, inputs);
  EXPECT_EQ(r.error, kNeutronOk) << std::hex << r.error;
  return r.outputs;
}

// The same bits fused, unfused and with constants fetched.
void expect_same_in_every_mode(const std::vector<u8>& ir,
                               const std::vector<std::vector<u8>>& inputs) {
  const auto fused = run(ir, inputs);
  ConvertOptions o = usual();
  o.fuse = false;
  EXPECT_EQ(run(ir, inputs, o), fused);
  o.fuse = true, o.fetch_constants_to_sram = true;
  EXPECT_EQ(run(ir, inputs, o), fused);
  o.profile = true;
  EXPECT_EQ(run(ir, inputs, o), fused);
}

Converted converted(const std::vector<u8>& ir, ConvertOptions options = usual()) {
  Diagnostics d;
  auto c = convert(ir, options, d);
  EXPECT_TRUE(c) << (d.list().empty() ? "" : format_diagnostic(d.list()[0]));
  return c ? *c : Converted{};
}

// A writer with the operators that the tests use.
struct Net : tflite::Writer {
  i32 conv(i32 x, i64 c, Shape y, i64 k, i32 stride = 1, float y_scale = 0.3f, i32 y_zero = -9) {
    const i64 oc = y.back();
    const i32 w = constant({oc, k, k, c}, noise(oc * k * k * c, 5),
                           std::vector<float>(static_cast<size_t>(oc), 0.01f));
    return op(B::CONV_2D, {x, w}, tensor(y, y_scale, y_zero), O::Conv2DOptions,
              tflite::CreateConv2DOptions(builder(), tflite::Padding::VALID, stride, stride));
  }
  i32 pad(i32 x, const std::vector<i32>& pads, Shape y, float scale, i32 zero) {
    const i32 p = constant(pads, {static_cast<i64>(y.size()), 2});
    return op(B::PAD, {x, p}, tensor(y, scale, zero), O::PadOptions,
              tflite::CreatePadOptions(builder()));
  }
  i32 concat(const std::vector<i32>& parts, i32 axis, Shape y, float scale, i32 zero) {
    return op(B::CONCATENATION, parts, tensor(y, scale, zero), O::ConcatenationOptions,
              tflite::CreateConcatenationOptions(builder(), axis));
  }
  i32 reshape(i32 x, Shape y, float scale, i32 zero) {
    return op(B::RESHAPE, {x}, tensor(y, scale, zero), O::ReshapeOptions,
              tflite::CreateReshapeOptions(builder()));
  }
};

TEST(NeutronConverter, PadConvolutionAndReluAreOneKernel) {
  Net n;
  const i32 x = n.tensor({2, 7, 5, 3}, 0.05f, 4);
  const i32 p = n.pad(x, {0, 0, 1, 2, 0, 1, 0, 0}, {2, 10, 6, 3}, 0.05f, 4);
  const i32 c = n.conv(p, 3, {2, 8, 4, 9}, 3);
  const i32 y = n.op(B::RELU6, {c}, n.tensor({2, 8, 4, 9}, 0.3f, -9));
  const auto ir = n.finish({x}, {y});
  const Converted r = converted(ir);
  ASSERT_EQ(r.kernels.size(), 1u);
  EXPECT_THAT(r.kernels[0].ops, ElementsAre(0, 1, 2));
  EXPECT_EQ(r.kernels[0].cost.macs, 2 * 8 * 4 * 9 * 3 * 3 * 3);
  EXPECT_THAT(r.vanished, ElementsAre(Vanished{0, "folded into CONV_2D (operator 1)"},
                                      Vanished{2, "a bound of CONV_2D (operator 1)"}));
  EXPECT_EQ(r.scratch_bytes, 0);
  expect_same_in_every_mode(ir, {input_noise(2 * 7 * 5 * 3, 1)});
}

TEST(NeutronConverter, ConvolutionReluAndPoolAreOneKernel) {
  for (const bool average : {false, true}) {
    Net n;
    const i32 x = n.tensor({2, 7, 6, 3}, 0.05f, 4);
    const i32 c = n.conv(x, 3, {2, 5, 4, 9}, 3);
    const i32 r = n.op(B::RELU, {c}, n.tensor({2, 5, 4, 9}, 0.3f, -9));
    const i32 y =
        n.op(average ? B::AVERAGE_POOL_2D : B::MAX_POOL_2D, {r}, n.tensor({2, 2, 2, 9}, 0.3f, -9),
             O::Pool2DOptions,
             tflite::CreatePool2DOptions(n.builder(), tflite::Padding::VALID, 2, 2, 2, 2));
    const auto ir = n.finish({x}, {y});
    const Converted result = converted(ir);
    ASSERT_EQ(result.kernels.size(), 1u);
    EXPECT_THAT(result.kernels[0].ops, ElementsAre(0, 1, 2));
    EXPECT_EQ(result.kernels[0].cost.macs, 2 * 4 * 4 * 9 * 3 * 3 * 3);
    EXPECT_EQ(result.scratch_bytes, 0);
    expect_same_in_every_mode(ir, {input_noise(2 * 7 * 6 * 3, 1)});
  }
}

TEST(NeutronConverter, OverlappingPoolsAndSharedResultsAreNotFused) {
  Net n;
  const i32 x = n.tensor({1, 7, 6, 3}, 0.05f, 4);
  const auto pool = [&](i32 of, Shape y, i32 kernel, i32 stride) {
    return n.op(B::MAX_POOL_2D, {of}, n.tensor(std::move(y), 0.3f, -9), O::Pool2DOptions,
                tflite::CreatePool2DOptions(n.builder(), tflite::Padding::VALID, stride, stride,
                                            kernel, kernel));
  };
  const i32 a = n.conv(x, 3, {1, 5, 4, 9}, 3), b = n.conv(x, 3, {1, 5, 4, 6}, 3);
  const auto ir = n.finish({x}, {pool(a, {1, 3, 2, 9}, 3, 1), pool(b, {1, 2, 2, 6}, 2, 2), b});
  EXPECT_EQ(converted(ir).kernels.size(), 4u);
  expect_same_in_every_mode(ir, {input_noise(7 * 6 * 3, 1)});
}

TEST(NeutronConverter, APadThatSomebodyElseReadsStaysForHim) {
  Net n;
  const i32 x = n.tensor({1, 7, 5, 3}, 0.05f, 4);
  const i32 p = n.pad(x, {0, 0, 1, 1, 1, 1, 0, 0}, {1, 9, 7, 3}, 0.05f, 4);
  const i32 c = n.conv(p, 3, {1, 7, 5, 9}, 3);
  const auto ir = n.finish({x}, {c, p});
  EXPECT_THAT(
      kinds(converted(ir)),
      ElementsAre(Kind::kPad, testing::AnyOf(Kind::kConv2DStandardV1, Kind::kConv2DStandardV2)));
  expect_same_in_every_mode(ir, {input_noise(105, 1)});
}

TEST(NeutronConverter, ABoundThatWouldChangeBitsIsNotFolded) {
  Net n;
  const i32 x = n.tensor({1, 7, 5, 3}, 0.05f, 4);
  const i32 c = n.conv(x, 3, {1, 5, 3, 9}, 3);
  const i32 y = n.op(B::RELU, {c}, n.tensor({1, 5, 3, 9}, 0.2f, -128));  // another scale
  const auto ir = n.finish({x}, {y});
  EXPECT_EQ(kinds(converted(ir)).size(), 2u);
  EXPECT_THAT(kinds(converted(ir)), Contains(Kind::kTable));
  expect_same_in_every_mode(ir, {input_noise(105, 1)});
}

TEST(NeutronConverter, AChangeOfZeroPointIsFolded) {
  Net n;
  const i32 x = n.tensor({1, 7, 5, 3}, 0.05f, 4);
  const i32 c = n.conv(x, 3, {1, 5, 3, 9}, 3);
  const i32 y = n.op(B::QUANTIZE, {c}, n.tensor({1, 5, 3, 9}, 0.3f, 20));
  const auto ir = n.finish({x}, {y});
  EXPECT_EQ(kinds(converted(ir)).size(), 1u);
  expect_same_in_every_mode(ir, {input_noise(105, 1)});
}

TEST(NeutronConverter, ChannelConcatenationIsMadeInPlace) {
  Net n;
  const i32 x = n.tensor({2, 5, 4, 3}, 0.05f, 4);
  const i32 a = n.conv(x, 3, {2, 5, 4, 7}, 1), b = n.conv(x, 3, {2, 5, 4, 2}, 1);
  const i32 y = n.concat({a, b}, 3, {2, 5, 4, 9}, 0.3f, -9);
  const i32 z = n.conv(y, 9, {2, 5, 4, 4}, 1);
  const auto ir = n.finish({x}, {z});
  EXPECT_THAT(kinds(converted(ir)),
              ElementsAre(Kind::kConv2DPointwise, Kind::kConv2DPointwise, Kind::kConv2DPointwise));
  EXPECT_EQ(converted(ir).scratch_bytes,
            368);  // 360, rounded up to 16: the parts have no memory of their own
  expect_same_in_every_mode(ir, {input_noise(120, 1)});
}

TEST(NeutronConverter, PartsThatCannotBeMadeInPlaceAreCopied) {
  Net n;
  const i32 x = n.tensor({2, 5, 4, 3}, 0.3f, -9), w = n.tensor({2, 5, 4, 2}, 0.3f, -9);
  const i32 a = n.conv(x, 3, {2, 5, 4, 7}, 1);
  const i32 y = n.concat({a, w, a}, 3, {2, 5, 4, 16}, 0.3f, -9);
  const auto ir = n.finish({x, w}, {y, a});
  EXPECT_THAT(kinds(converted(ir)),
              ElementsAre(Kind::kConv2DPointwise, Kind::kStridedSliceConcat,
                          Kind::kStridedSliceConcat, Kind::kStridedSliceConcat));
  expect_same_in_every_mode(ir, {input_noise(120, 1), input_noise(80, 2)});
}

TEST(NeutronConverter, OutputsThatAreInputsConstantsViewsOrTwice) {
  Net n;
  const i32 x = n.tensor({3, 4, 5}, 0.05f, 4), unused = n.tensor({2, 2}, 0.05f, 4);
  const i32 k = n.constant({2, 3}, {1, 2, 3, 4, 5, 6}, {0.5f});
  const i32 v = n.reshape(x, {12, 5}, 0.05f, 4);
  const i32 s = n.op(B::LOGISTIC, {x}, n.tensor({3, 4, 5}, 1.0f / 256, -128));
  const i32 sv = n.reshape(s, {60}, 1.0f / 256, -128);
  const auto ir = n.finish({x, unused}, {x, k, v, s, sv, s});
  const auto in = input_noise(60, 3);
  const auto out = run(ir, {in, input_noise(4, 1)});
  ASSERT_EQ(out.size(), 6u);
  EXPECT_EQ(out[0], in);
  EXPECT_THAT(out[1], ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(out[2], in);
  EXPECT_EQ(out[3], out[4]);
  EXPECT_EQ(out[3], out[5]);
  expect_same_in_every_mode(ir, {in, input_noise(4, 1)});
  Diagnostics d;
  const auto e = extract(converted(ir).model, "test", d);
  ASSERT_TRUE(e);
  EXPECT_THAT(e->input_map, ElementsAre(0));
  EXPECT_EQ(e->model_inputs, 2);
}

TEST(NeutronConverter, MirrorPadsRepeatTheEdgeOrDoNot) {
  const std::vector<u8> in{1, 2, 3, 4};
  const auto padded = [&](tflite::MirrorPadMode mode) {
    Net n;
    const i32 x = n.tensor({1, 4}, 0.05f, 4),
              pads = n.constant(std::vector<i32>{0, 0, 2, 1}, {2, 2});
    const i32 y = n.op(B::MIRROR_PAD, {x, pads}, n.tensor({1, 7}, 0.05f, 4), O::MirrorPadOptions,
                       tflite::CreateMirrorPadOptions(n.builder(), mode));
    return run(n.finish({x}, {y}), {in});
  };
  EXPECT_THAT(padded(tflite::MirrorPadMode::REFLECT),
              ElementsAre(ElementsAre(3, 2, 1, 2, 3, 4, 3)));
  EXPECT_THAT(padded(tflite::MirrorPadMode::SYMMETRIC),
              ElementsAre(ElementsAre(2, 1, 1, 2, 3, 4, 4)));
}

// As reflection padding of an image comes, an axis at a time: a copy of the inside, and one of the
// planes that lie as far beyond both ends.
TEST(NeutronConverter, MirrorPadsOfTwoAxesAreOne) {
  const auto position = [](i32 k, i32 extent, i32 edge) {
    return k < 0 ? -k - 1 + edge : k >= extent ? 2 * extent - 1 - edge - k : k;
  };
  for (const i32 edge : {0, 1})
    for (const auto& [rows, columns, top, bottom, left, right, kernels] :
         {std::array{9, 11, 1, 1, 1, 1, 3}, std::array{3, 4, 2, 0, 1, 2, 5},
          std::array{2, 7, 1, 1, 0, 3, 6}}) {
      Net n;
      const i32 x = n.tensor({1, rows, columns, 4}, 0.05f, 4);
      const auto pad = [&](i32 t, const std::vector<i32>& by, const Shape& shape) {
        const auto mode = edge ? tflite::MirrorPadMode::REFLECT : tflite::MirrorPadMode::SYMMETRIC;
        return n.op(B::MIRROR_PAD, {t, n.constant(by, {4, 2})}, n.tensor(shape, 0.05f, 4),
                    O::MirrorPadOptions, tflite::CreateMirrorPadOptions(n.builder(), mode));
      };
      const i32 tall = rows + top + bottom, wide = columns + left + right;
      const i32 a = pad(x, {0, 0, top, bottom, 0, 0, 0, 0}, {1, tall, columns, 4});
      const i32 y = pad(a, {0, 0, 0, 0, left, right, 0, 0}, {1, tall, wide, 4});
      const auto ir = n.finish({x}, {y});
      const std::vector<u8> in = input_noise(static_cast<size_t>(rows * columns * 4), 3);
      std::vector<u8> want;
      for (i32 r = -top; r < rows + bottom; ++r)
        for (i32 c = -left; c < columns + right; ++c)
          for (i32 k = 0; k < 4; ++k)
            want.push_back(in[static_cast<size_t>(
                (position(r, rows, edge) * columns + position(c, columns, edge)) * 4 + k)]);
      EXPECT_EQ(run(ir, {in})[0], want) << rows << " " << edge;
      if (edge == 1) {
        EXPECT_EQ(kinds(converted(ir)).size(), static_cast<size_t>(kernels)) << rows;
      }
      expect_same_in_every_mode(ir, {in});
    }
}

TEST(NeutronConverter, TransposesMergeAndVanish) {
  Net n;
  const i32 x = n.tensor({2, 3, 4, 5}, 0.05f, 4);
  const auto turn = [&](i32 t, const std::vector<i32>& p, Shape s) {
    return n.op(B::TRANSPOSE, {t, n.constant(p)}, n.tensor(s, 0.05f, 4), O::TransposeOptions,
                tflite::CreateTransposeOptions(n.builder()));
  };
  const i32 a = turn(x, {0, 3, 1, 2}, {2, 5, 3, 4}), b = turn(a, {0, 2, 3, 1}, {2, 3, 4, 5});
  const i32 y = n.op(B::RELU, {b}, n.tensor({2, 3, 4, 5}, 0.05f, 4));
  const auto ir = n.finish({x}, {y});
  EXPECT_THAT(kinds(converted(ir)), ElementsAre(Kind::kGlobalBiasScale));
  expect_same_in_every_mode(ir, {input_noise(120, 3)});
}

TEST(NeutronConverter, TwoTablesAreOne) {
  Net n;
  const i32 x = n.tensor({3, 4, 5}, 0.05f, 4);
  const i32 a = n.op(B::TANH, {x}, n.tensor({3, 4, 5}, 1.0f / 128, 0));
  const i32 y = n.op(B::LOGISTIC, {a}, n.tensor({3, 4, 5}, 1.0f / 256, -128));
  const auto ir = n.finish({x}, {y});
  EXPECT_THAT(kinds(converted(ir)), ElementsAre(Kind::kTable));
  EXPECT_THAT(converted(ir).kernels[0].ops, ElementsAre(0, 1));
  expect_same_in_every_mode(ir, {input_noise(60, 3)});
}

// x * sigmoid(x) + exp(x)
TEST(NeutronConverter, WhatIsComputedOfOneElementIsOneTable) {
  std::vector<u8> every;
  for (int q = 0; q < 256; ++q) every.push_back(static_cast<u8>(q));
  for (const bool is_shared : {false, true}) {  // somebody else reads sigmoid(x)
    Net n;
    const Shape shape{4, 8, 8};
    const i32 x = n.tensor(shape, 0.05f, 4);
    const i32 a = n.op(B::LOGISTIC, {x}, n.tensor(shape, 1.0f / 256, -128));
    const i32 b = n.op(B::MUL, {x, a}, n.tensor(shape, 0.03f, -100));
    const i32 c = n.op(B::EXP, {x}, n.tensor(shape, 0.7f, -128));
    const i32 y = n.op(B::ADD, {b, c}, n.tensor(shape, 0.8f, -120));
    const auto ir = n.finish({x}, is_shared ? std::vector<i32>{y, a} : std::vector<i32>{y});
    EXPECT_EQ(kinds(converted(ir)).size(), is_shared ? 4u : 1u);
    expect_same_in_every_mode(ir, {every});
  }
}

TEST(NeutronConverter, EqualConstantsAreStoredOnce) {
  Net n;
  const i32 x = n.tensor({1, 5, 4, 3}, 0.05f, 4);
  const auto ir = n.finish({x}, {n.conv(x, 3, {1, 5, 4, 7}, 1), n.conv(x, 3, {1, 5, 4, 7}, 1)});
  EXPECT_EQ(converted(ir).weights_bytes,
            64 + 64);  // one block of weights, 7 * 9 bytes of parameters
}

TEST(NeutronConverter, FetchedConstantsOfTwoNeighboursAreThereAtOnce) {
  Net n;
  i32 x = n.tensor({1, 5, 4, 64}, 0.05f, 4);
  const i32 first = x;
  for (int i = 0; i < 5; ++i) {
    const i32 w = n.constant({64, 1, 1, 64}, noise(64 * 64, 20 + i),
                             {0.01f + 0.001f * static_cast<float>(i)});
    x = n.op(B::CONV_2D, {x, w}, n.tensor({1, 5, 4, 64}, 0.3f, 0), O::Conv2DOptions,
             tflite::CreateConv2DOptions(n.builder(), tflite::Padding::VALID, 1, 1));
  }
  const auto ir = n.finish({first}, {x});
  ConvertOptions o = usual();
  o.fetch_constants_to_sram = true;
  const Converted c = converted(ir, o);
  constexpr i64 kLayer = 64 * 64 + 64 * kParamBytes;  // a multiple of 16
  EXPECT_EQ(c.sram_bytes, 2 * kLayer);
  using enum Kind;
  EXPECT_THAT(kinds(c),
              ElementsAre(kMemCpy, kMemCpy, kConv2DPointwise, kMemCpy, kConv2DPointwise, kMemCpy,
                          kConv2DPointwise, kMemCpy, kConv2DPointwise, kConv2DPointwise));
  EXPECT_GT(c.kernels[0].cost.fetch, 0);
  expect_same_in_every_mode(ir, {input_noise(1280, 3)});
}

TEST(NeutronConverter, ScratchIsShared) {
  Net n;
  i32 x = n.tensor({1, 8, 8, 16}, 0.05f, 4);
  const i32 first = x;
  for (int i = 0; i < 6; ++i) x = n.conv(x, 16, {1, 8, 8, 16}, 1);
  EXPECT_EQ(converted(n.finish({first}, {x})).scratch_bytes, 2 * 1024);
}

TEST(NeutronConverter, ElementWiseKernelsWriteOverTheirOperands) {
  Net n;
  const i32 x = n.tensor({1, 8, 8, 16}, 0.05f, 4);
  const i32 a = n.conv(x, 16, {1, 8, 8, 16}, 1), b = n.conv(x, 16, {1, 8, 8, 16}, 1);
  const i32 t = n.op(B::TANH, {a}, n.tensor({1, 8, 8, 16}, 1.0f / 128, 0));
  const i32 s = n.op(B::ADD, {t, b}, n.tensor({1, 8, 8, 16}, 0.1f, 0));
  const i32 p = n.op(B::LOGISTIC, {s}, n.tensor({1, 8, 8, 16}, 1.0f / 256, -128));
  const i32 q = n.op(B::MUL, {s, p}, n.tensor({1, 8, 8, 16}, 0.1f, 0));
  const auto ir = n.finish({x}, {q});
  EXPECT_EQ(converted(ir).scratch_bytes, 1024);  // what does not lie in the output
  expect_same_in_every_mode(ir, {input_noise(1024, 3)});
}

TEST(NeutronConverter, ProfileHasARecordForEachKernel) {
  Net n;
  const i32 x = n.tensor({2, 5, 4, 3}, 0.05f, 4);
  const i32 y =
      n.op(B::TANH, {n.conv(x, 3, {2, 5, 4, 7}, 1)}, n.tensor({2, 5, 4, 7}, 1.0f / 128, 0));
  ConvertOptions o = usual();
  o.profile = true;
  Diagnostics d;
  const Converted c = converted(n.finish({x}, {y}), o);
  const auto e = extract(c.model, "test", d);
  ASSERT_TRUE(e);
  EXPECT_EQ(e->version, 1);
  EXPECT_EQ(e->facts.profile_bytes, 16 * 3);
  const RunResult r = run_extracted(*e, {input_noise(120, 1)});
  ASSERT_EQ(r.error, kNeutronOk);
  // The function code is the kind.
  EXPECT_EQ(r.profile[2], static_cast<u8>(Kind::kConv2DPointwise));
  EXPECT_EQ(r.profile[16 + 2], static_cast<u8>(Kind::kTable));
}

TEST(NeutronConverter, LimitsOfAConvolution) {
  for (const i64 channels : {8191, 8192}) {  // 8 taps: 65528 + 8 is one block over 65535
    Net n;
    const i32 x = n.tensor({1, 2, 4, channels}, 0.05f, 4);
    const i32 w = n.constant({1, 2, 4, channels}, noise(8 * channels, 1), {0.01f});
    const i32 y = n.op(B::CONV_2D, {x, w}, n.tensor({1, 1, 1, 1}, 3.0f, 0), O::Conv2DOptions,
                       tflite::CreateConv2DOptions(n.builder(), tflite::Padding::VALID, 1, 1));
    const auto ir = n.finish({x}, {y});
    Diagnostics d;
    EXPECT_FALSE(convert(ir, usual(), d));
    EXPECT_THAT(rules_of(d), ElementsAre("neutron.conv2d"));
    EXPECT_EQ(d.list()[0].limit, "65535");
  }
}

TEST(NeutronConverter, WhatItCannotDoIsSaid) {
  Net n;
  const i32 x = n.tensor({1, 2, 4, 8}, 0.05f, 4);
  const i32 a = n.op(B::GELU, {x}, n.tensor({1, 2, 4, 8}, 0.05f, 4));
  const i32 b = n.op(B::MAXIMUM, {a, x}, n.tensor({1, 2, 4, 8}, 0.06f, 4));
  const i32 c = n.reshape(b, {63}, 0.06f, 4);
  Diagnostics d;
  EXPECT_FALSE(convert(n.finish({x}, {c}), usual(), d));
  EXPECT_THAT(rules_of(d),
              ElementsAre("neutron.ir.operator", "neutron.ir.maximum", "neutron.ir.reshape"));
  EXPECT_THAT(d.list()[0].where, HasSubstr("GELU"));
}

TEST(NeutronConverter, OnlyABiasMayBeLeftOut) {
  for (const bool bias : {false, true}) {
    Net n;
    const i32 x = n.tensor({2, 4}, 0.05f, 4), w = n.constant({3, 4}, noise(12, 1), {0.01f});
    const std::vector<i32> operands = bias ? std::vector<i32>{x, w, -1} : std::vector<i32>{x, -1};
    const i32 y = n.op(B::FULLY_CONNECTED, operands, n.tensor({2, 3}, 0.05f, 4),
                       O::FullyConnectedOptions, tflite::CreateFullyConnectedOptions(n.builder()));
    Diagnostics d;
    EXPECT_EQ(convert(n.finish({x}, {y}), usual(), d).has_value(), bias);
  }
}

TEST(NeutronConverter, ASoftmaxOfAVanishingScaleIsRefused) {
  Net n;
  const i32 x = n.tensor({2, 4}, 1e-20f, 4);
  const i32 y = n.op(B::SOFTMAX, {x}, n.tensor({2, 4}, 1.0f / 256, -128), O::SoftmaxOptions,
                     tflite::CreateSoftmaxOptions(n.builder(), 1.0f));
  Diagnostics d;
  EXPECT_FALSE(convert(n.finish({x}, {y}), usual(), d));
  EXPECT_THAT(rules_of(d), ElementsAre("neutron.softmax"));
}

TEST(NeutronConverter, PortsAndOrderOfItsModelAreChecked) {
  const auto refused_as = [](auto make) {
    Net n;
    const i32 x = n.tensor({2, 4}, 0.05f, 4),
              f = n.add({2, 4}, tflite::TensorType::FLOAT32, {}, 0, 0, 0, "f");
    const i32 y = n.tensor({2, 4}, 1.0f / 128, 0), z = n.tensor({2, 4}, 1.0f / 128, 0);
    const std::vector<u8> ir = make(n, x, f, y, z);
    Diagnostics d;
    EXPECT_FALSE(convert(ir, usual(), d));
    return rules_of(d);
  };
  EXPECT_THAT(refused_as([](Net& n, i32 x, i32, i32 y, i32) {
                return n.op(B::TANH, {x}, y), n.finish({x, x}, {y});
              }),
              ElementsAre("neutron.ir.input"));
  EXPECT_THAT(refused_as([](Net& n, i32 x, i32 f, i32 y, i32) {
                return n.op(B::TANH, {x}, y), n.finish({x, f}, {y});
              }),
              ElementsAre("neutron.ir.input"));
  EXPECT_THAT(refused_as([](Net& n, i32 x, i32, i32 y, i32 z) {
                return n.op(B::TANH, {z}, y), n.op(B::TANH, {x}, z), n.finish({x}, {y});
              }),
              ElementsAre("neutron.ir.order"));
  EXPECT_THAT(refused_as([](Net& n, i32 x, i32, i32 y, i32) {
                return n.op(B::TANH, {x}, y), n.op(B::TANH, {x}, y), n.finish({x}, {y});
              }),
              ElementsAre("neutron.ir.order"));
  EXPECT_THAT(refused_as([](Net& n, i32 x, i32, i32 y, i32 z) {
                return n.op(B::TANH, {x}, y), n.finish({x}, {z});
              }),
              ElementsAre("neutron.ir.output"));
}

// Every byte changed, every length cut: an answer or a diagnostic, never more.
TEST(NeutronConverter, DamagedModelsAreRefused) {
  Net n;
  const i32 x = n.tensor({1, 7, 5, 3}, 0.05f, 4);
  const i32 p = n.pad(x, {0, 0, 1, 1, 1, 1, 0, 0}, {1, 9, 7, 3}, 0.05f, 4);
  const i32 c = n.conv(p, 3, {1, 7, 5, 9}, 3);
  const i32 s = n.op(B::TANH, {c}, n.tensor({1, 7, 5, 9}, 1.0f / 128, 0));
  const i32 y = n.concat({s, s}, 1, {1, 14, 5, 9}, 1.0f / 128, 0);
  const auto ir = n.finish({x}, {y});
  size_t refused = 0;
  const auto attempt = [&](std::vector<u8> bytes) {
    Diagnostics d;
    const auto r = convert(bytes, usual(), d);
    EXPECT_NE(r.has_value(), d.has_errors());
    refused += !r;
    if (!r) return;
    const auto e = extract(r->model, "test", d);
    ASSERT_TRUE(e);
    AlignedBytes microcode(e->sections.microcode), weights(e->sections.weights),
        kernels(e->sections.kernels), context(static_cast<i64>(neutronGetModelContextSize()));
    const NeutronModelConfig config{microcode.data(), weights.data(), kernels.data(), 60};
    NeutronModelHandle handle = context.data();
    EXPECT_EQ(neutronModelPrepare(&config, &handle), kNeutronOk);
  };
  for (size_t i = 0; i < ir.size(); i += 4)
    attempt({ir.begin(), ir.begin() + static_cast<std::ptrdiff_t>(i)});
  for (size_t i = 0; i < ir.size(); ++i)
    for (const u8 bit : {u8{0x01}, u8{0x10}, u8{0xFF}}) {
      auto bytes = ir;
      bytes[i] ^= bit;
      attempt(bytes);
    }
  EXPECT_GT(refused, ir.size() / 2);
}

}  // namespace
}  // namespace deuteron::neutron
