// SPDX-License-Identifier: Apache-2.0
// Files with every field overwritten: an answer each time, never a crash.
// tests/fuzz/tflite_fuzz.cpp looks for more.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "frontends/tflite/import.h"
#include "frontends/tflite/test_models.h"
#include "ir/verify.h"

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
      import_tflite(std::as_bytes(std::span<const u8>(owner->data()->data.data(), bytes.size())),
                    owner, "net.tflite", diagnostics);
  EXPECT_EQ(graph.has_value(), !diagnostics.has_errors());
  EXPECT_EQ(graph ? find_fault(*graph) : std::nullopt, std::nullopt);
  for (const Diagnostic& d : diagnostics.list()) {
    EXPECT_FALSE(d.what.empty());
    EXPECT_TRUE(d.rule.starts_with("tflite.")) << d.rule;
    EXPECT_EQ(d.measured.empty(), d.limit.empty()) << format_diagnostic(d);
  }
  return graph.has_value();
}

// The command line maps whole files, which are aligned; other callers may have a model in the
// middle of something.
TEST(TfliteBytes, AreRefusedWhereTheyAreNotAligned) {
  const std::vector<u8> sound = test_models()[0].bytes;
  auto owner = std::make_shared<std::vector<Block>>(sound.size() / sizeof(Block) + 2);
  u8* odd = reinterpret_cast<u8*>(owner->data()) + 1;
  std::memcpy(odd, sound.data(), sound.size());
  Diagnostics diagnostics;
  EXPECT_FALSE(import_tflite(std::as_bytes(std::span<const u8>(odd, sound.size())), owner,
                             "net.tflite", diagnostics));
  ASSERT_EQ(diagnostics.list().size(), 1u);
  EXPECT_EQ(diagnostics.list()[0].rule, "tflite.file.alignment");
}

class TfliteDamage : public testing::TestWithParam<size_t> {
 protected:
  const NamedModel model_ = test_models()[GetParam()];
  const std::vector<u8>& sound_ = model_.bytes;
  const size_t step_ = model_.name == "subgraphs"
                           ? 3
                           : 1;  // its loops may turn some thousand times, in each file anew
};

TEST_P(TfliteDamage, TheModelIsSound) { EXPECT_TRUE(imports(sound_)); }

TEST_P(TfliteDamage, EveryByteOverwritten) {
  i64 refused = 0;
  for (size_t at = 0; at < sound_.size(); at += step_)
    for (const u8 value : at % 2 == 0 ? std::array{u8{0}, u8{0xff}} : std::array{u8{4}, u8{0x7f}}) {
      std::vector<u8> bytes = sound_;
      bytes[at] = value;
      refused += imports(bytes) ? 0 : 1;
    }
  EXPECT_GT(refused, 0);
}

TEST_P(TfliteDamage, EveryWordOverwritten) {
  for (size_t at = 0; at + 4 <= sound_.size(); at += 4 * step_)
    for (const uint32_t value :
         {0u, 1u, 0x7fffffffu, 0x80000000u, 0xffffffffu, 0x7fc00000u, 1u << 20}) {
      std::vector<u8> bytes = sound_;
      std::memcpy(&bytes[at], &value, 4);
      imports(bytes);
    }
}

TEST_P(TfliteDamage, EveryLength) {
  for (size_t length = 0; length < sound_.size(); ++length)
    EXPECT_FALSE(imports(std::span(sound_).first(length))) << length;
}

INSTANTIATE_TEST_SUITE_P(Models, TfliteDamage, testing::Range<size_t>(0, test_models().size()),
                         [](const auto& info) { return test_models()[info.param].name; });

}  // namespace
}  // namespace deuteron::tflite
