// Files with every field overwritten: an answer each time, never a crash. tests/fuzz/tflite_fuzz.cpp looks for more.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>

#include "frontends/tflite/import.h"
#include "ir/verify.h"
#include "tests/paths.h"
#include "tflite/writer.h"

namespace deuteron::tflite {
namespace {

struct alignas(64) Block {
  std::array<u8, 64> data;
};

// Gives a graph that verifies, or says why not.
bool imports(std::span<const u8> bytes) {
  auto owner = std::make_shared<std::vector<Block>>(bytes.size() / sizeof(Block) + 1);
  std::memcpy(static_cast<void*>(owner->data()), bytes.data(), bytes.size());
  Diagnostics diagnostics;
  const auto graph =
      import_tflite(std::as_bytes(std::span<const u8>(owner->data()->data.data(), bytes.size())), owner, "net.tflite", diagnostics);
  EXPECT_EQ(graph.has_value(), !diagnostics.has_errors());
  EXPECT_EQ(graph ? find_fault(*graph) : std::nullopt, std::nullopt);
  for (const Diagnostic& d : diagnostics.list()) {
    EXPECT_FALSE(d.what.empty());
    EXPECT_TRUE(d.rule.starts_with("tflite.")) << d.rule;
    EXPECT_EQ(d.measured.empty(), d.limit.empty()) << format_diagnostic(d);
  }
  return graph.has_value();
}

// A convolution, a fully connected layer and moves between them.
std::vector<u8> small_model() {
  Writer w;
  auto& b = w.builder();
  const i32 x = w.tensor({1, 4, 4, 2}, 0.5f, 3, "x");
  const i32 weight = w.constant({3, 2, 2, 2}, std::vector<int8_t>(24, 5), {0.1f, 0.2f, 0.3f});
  const i32 bias = w.constant({10, -20, 30});
  const i32 conv = w.tensor({1, 4, 4, 3}, 0.25f, -5, "conv");
  w.op(BuiltinOperator::CONV_2D, {x, weight, bias}, conv, BuiltinOptions::Conv2DOptions,
       CreateConv2DOptions(b, Padding::SAME, 1, 1, ActivationFunctionType::RELU));
  const i32 pads = w.constant({0, 0, 1, 1, 0, 1, 0, 0}, {4, 2});
  const i32 padded = w.tensor({1, 6, 5, 3}, 0.25f, -5, "padded");
  w.op(BuiltinOperator::PAD, {conv, pads}, padded, BuiltinOptions::PadOptions, CreatePadOptions(b));
  const i32 pooled = w.tensor({1, 3, 3, 3}, 0.25f, -5, "pooled");
  w.op(BuiltinOperator::AVERAGE_POOL_2D, {padded}, pooled, BuiltinOptions::Pool2DOptions,
       CreatePool2DOptions(b, Padding::SAME, 2, 2, 2, 2));
  const i32 flat = w.tensor({1, 27}, 0.25f, -5, "flat");
  w.op(BuiltinOperator::RESHAPE, {pooled}, flat);
  const i32 dense = w.constant({2, 27}, std::vector<int8_t>(54, -7), {0.1f});
  const i32 y = w.tensor({1, 2}, 0.5f, 0, "y");
  w.op(BuiltinOperator::FULLY_CONNECTED, {flat, dense}, y, BuiltinOptions::FullyConnectedOptions, CreateFullyConnectedOptions(b));
  return w.finish({x}, {y});
}

TEST(TfliteDamage, TheModelIsSound) { EXPECT_TRUE(imports(small_model())); }

TEST(TfliteDamage, EveryByteOverwritten) {
  const std::vector<u8> sound = small_model();
  i64 refused = 0;
  for (size_t at = 0; at < sound.size(); ++at)
    for (const u8 value : {u8{0}, u8{1}, u8{4}, u8{0x7f}, u8{0x80}, u8{0xff}}) {
      std::vector<u8> bytes = sound;
      bytes[at] = value;
      refused += imports(bytes) ? 0 : 1;
    }
  EXPECT_GT(refused, 0);
}

TEST(TfliteDamage, EveryWordOverwritten) {
  const std::vector<u8> sound = small_model();
  for (size_t at = 0; at + 4 <= sound.size(); at += 4)
    for (const uint32_t value : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xffffffffu, 0x7fc00000u, 1u << 20}) {
      std::vector<u8> bytes = sound;
      std::memcpy(&bytes[at], &value, 4);
      imports(bytes);
    }
}

TEST(TfliteDamage, EveryLength) {
  const std::vector<u8> sound = small_model();
  for (size_t length = 0; length < sound.size(); ++length) EXPECT_FALSE(imports(std::span(sound).first(length))) << length;
}

}  // namespace
}  // namespace deuteron::tflite
