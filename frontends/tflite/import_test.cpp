// SPDX-License-Identifier: Apache-2.0
// What the import makes of single operators: operands, windows and numbers, against what TFLite
// defines.
#include "frontends/tflite/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/tflite/writer.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace deuteron::tflite {
namespace {

using ::testing::HasSubstr;

std::string text_of(const std::vector<u8>& bytes) {
  auto owner = std::make_shared<std::vector<i64>>(bytes.size() / 8 + 1);
  std::memcpy(owner->data(), bytes.data(), bytes.size());
  Diagnostics diagnostics;
  const auto graph = import_tflite(std::as_bytes(std::span<const i64>(*owner)).first(bytes.size()),
                                   owner, "net.tflite", diagnostics);
  for (const Diagnostic& d : diagnostics.list()) ADD_FAILURE() << format_diagnostic(d);
  if (!graph) return "";
  EXPECT_EQ(find_fault(*graph), std::nullopt);
  Diagnostics again;
  const std::string text = print(*graph, {.all_constants = true});
  const auto parsed = parse(text, "net.txt", again);
  EXPECT_TRUE(parsed.has_value()) << text;
  if (!parsed) return text;
  EXPECT_EQ(parsed->numerics, graph->numerics);
  return text;
}

std::string pool(Padding padding, i32 extent, i32 window, i32 stride, i32 out) {
  Writer w;
  const i32 x = w.tensor({1, extent, 1, 1}, 0.5f, 3, "x"),
            y = w.tensor({1, out, 1, 1}, 0.5f, 3, "y");
  w.op(BuiltinOperator::AVERAGE_POOL_2D, {x}, y, BuiltinOptions::Pool2DOptions,
       CreatePool2DOptions(w.builder(), padding, 1, stride, 1, window));
  return text_of(w.finish({x}, {y}));
}

TEST(TfliteImport, PoolsPadAsTfliteDoes) {
  EXPECT_THAT(pool(Padding::VALID, 7, 3, 2, 3),
              HasSubstr("kernel=3,1 stride=2,1 count_include_pad=false"));
  EXPECT_THAT(pool(Padding::SAME, 7, 3, 2, 4),
              HasSubstr("kernel=3,1 stride=2,1 pad=1,0 ceil_mode=true"));
  // One element of padding, behind: the last window is cut.
  EXPECT_THAT(pool(Padding::SAME, 6, 3, 2, 3), HasSubstr("kernel=3,1 stride=2,1 ceil_mode=true"));
  // With stride 1 the windows begin one element earlier, and the first one is left out.
  const std::string even = pool(Padding::SAME, 6, 2, 1, 6);
  EXPECT_THAT(even, HasSubstr("pad=1,0 ceil_mode=true"));
  EXPECT_THAT(even, HasSubstr("slice("));
}

TEST(TfliteImport, AQuantizedModelKeepsItsNumbers) {
  Writer w;
  const i32 x = w.tensor({1, 2}, 0.5f, 3, "x"), y = w.tensor({1, 1}, 0.25f, -7, "y");
  w.op(BuiltinOperator::FULLY_CONNECTED,
       {x, w.constant({1, 2}, std::vector<int8_t>{5, -6}, {0.125f}), w.constant({1000})}, y,
       BuiltinOptions::FullyConnectedOptions,
       CreateFullyConnectedOptions(w.builder(), ActivationFunctionType::RELU6));
  const std::string text = text_of(w.finish({x}, {y}));
  EXPECT_THAT(text, HasSubstr("numerics tflite\n"));
  EXPECT_THAT(text, HasSubstr("source 0 \"y\" \"FULLY_CONNECTED\""));
  EXPECT_THAT(text, HasSubstr("s8[1,2] q(scale=0.125 zero=0) 5,-6"));
  EXPECT_THAT(text, HasSubstr("s32[1] q(scale=0.0625 zero=0 range=-2147483648..2147483647) 1000"));
  EXPECT_THAT(text, HasSubstr("bounds=0,6"));
}

TEST(TfliteImport, AFloatModelHasNoNumericsOfItsOwn) {
  Writer w;
  const i32 x = w.add({1, 2}, TensorType::FLOAT32, {}, 0, 0, 0, "x"),
            y = w.add({1, 2}, TensorType::FLOAT32, {}, 0, 0, 0, "y");
  w.op(BuiltinOperator::LOGISTIC, {x}, y);
  EXPECT_THAT(text_of(w.finish({x}, {y})), ::testing::Not(HasSubstr("numerics")));
}

}  // namespace
}  // namespace deuteron::tflite
