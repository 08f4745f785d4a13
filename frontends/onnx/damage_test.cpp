// SPDX-License-Identifier: Apache-2.0
// Files with every field overwritten: an answer each time, never a crash. tests/fuzz/onnx_fuzz.cpp
// looks for more.
#include <gtest/gtest.h>

#include "frontends/onnx/file/writer.h"
#include "frontends/onnx/import.h"
#include "ir/verify.h"

namespace deuteron::onnx {
namespace {

// Gives a graph that verifies, or says why not.
bool imports(const std::string& bytes) {
  Diagnostics diagnostics;
  const auto graph = import_onnx(std::as_bytes(std::span(bytes)), "net.onnx", {}, diagnostics);
  EXPECT_EQ(graph.has_value(), !diagnostics.has_errors());
  EXPECT_EQ(graph ? find_fault(*graph) : std::nullopt, std::nullopt);
  for (const Diagnostic& d : diagnostics.list()) {
    EXPECT_FALSE(d.what.empty());
    EXPECT_TRUE(d.rule.starts_with("onnx.")) << d.rule;
    EXPECT_EQ(d.measured.empty(), d.limit.empty()) << format_diagnostic(d);
  }
  return graph.has_value();
}

TEST(OnnxDamage, TheModelIsSound) { EXPECT_TRUE(imports(small_model())); }

TEST(OnnxDamage, EveryByteOverwritten) {
  const std::string sound = small_model();
  i64 refused = 0;
  for (size_t at = 0; at < sound.size(); ++at)
    for (const int value : {0, 1, 4, 0x7f, 0x80, 0xff}) {
      std::string bytes = sound;
      bytes[at] = static_cast<char>(value);
      refused += imports(bytes) ? 0 : 1;
    }
  EXPECT_GT(refused, 0);
}

// What is cut off within the graph is refused; behind it only the operator set is missing, which is
// refused too.
TEST(OnnxDamage, EveryLength) {
  const std::string sound = small_model();
  for (size_t length = 0; length < sound.size(); ++length)
    EXPECT_FALSE(imports(sound.substr(0, length))) << length;
}

// Two bytes make a message of some hundred: four million of them end the reading before anything is
// made.
TEST(OnnxDamage, ManyMessagesInFewBytes) {
  std::string nodes;
  for (i64 k = 0; k < 4'100'000; ++k) nodes += std::string("\x0a\x00", 2);
  EXPECT_FALSE(
      imports(Writer().number(1, 8).text(7, nodes).message(8, Writer().number(2, 17)).bytes()));
}

std::string rule_of(const std::string& bytes) {
  Diagnostics diagnostics;
  import_onnx(std::as_bytes(std::span(bytes)), "net.onnx", {}, diagnostics);
  return diagnostics.list().empty() ? "" : diagnostics.list()[0].rule;
}

TEST(OnnxDamage, WhatNoFileOfTheCommandLineHas) {
  EXPECT_EQ(rule_of(""), "onnx.file.size");
  const Writer dense = tensor_of("w", {2}, std::vector<float>{1, 2});
  EXPECT_EQ(rule_of(model_of(Writer().message(15, Writer().message(1, dense)))),
            "onnx.tensor.sparse");
  Writer elsewhere;  // its elements are in another file, and this model comes from none
  elsewhere.number(1, 2)
      .number(2, 1)
      .text(8, "w")
      .message(13, Writer().text(1, "location").text(2, "w.bin"))
      .number(14, 1);
  EXPECT_EQ(rule_of(model_of(Writer().message(5, elsewhere))), "onnx.external.folder");
}

}  // namespace
}  // namespace deuteron::onnx
