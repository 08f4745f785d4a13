// SPDX-License-Identifier: Apache-2.0
// Imports small models in tests and runs them in float.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/tensor/elements.h"
#include "compile/calibrate/float_executor.h"
#include "frontends/pt2/test_archive.h"
#include "ir/verify.h"

namespace deuteron::pt2 {

using Arguments = std::vector<std::pair<std::string, json>>;

inline std::string text_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics.list()) text += format_diagnostic(d) + "\n";
  return text;
}

inline Graph imported(const TestModel& model) {
  Diagnostics diagnostics;
  auto graph = import_bytes(model.bytes(), diagnostics);
  EXPECT_TRUE(graph) << text_of(diagnostics);
  if (!graph) return {};
  EXPECT_EQ(find_fault(*graph), std::nullopt);
  EXPECT_TRUE(lost_sources(*graph).empty());
  return *std::move(graph);
}

inline std::string refusal_of(const TestModel& model) {
  Diagnostics diagnostics;
  EXPECT_FALSE(import_bytes(model.bytes(), diagnostics));
  EXPECT_TRUE(diagnostics.has_errors());
  return text_of(diagnostics);
}

// All outputs.
inline std::vector<std::vector<float>> results_of(const TestModel& model,
                                                  const std::vector<std::vector<float>>& inputs) {
  const Graph g = imported(model);
  if (g.outputs.empty()) return {{}};
  std::vector<std::vector<float>> stored = stored_inputs(g, inputs);
  for (const State& state : g.states)
    stored.push_back(numbers_of(state.initial.bytes.data(), state.type));
  return FloatExecutor(g).run(stored, {});
}

// A model with one operator on `x` and, with a name for it, on `y`.
inline TestModel model_of(const std::string& target, const Shape& x, const Shape& out,
                          Arguments more = {}, const std::string& x_name = "self",
                          const Shape& y = {}, const std::string& y_name = {}) {
  TestModel m;
  m.input("x", x);
  Arguments arguments{{x_name, as_tensor("x")}};
  if (!y_name.empty()) {
    m.input("y", y);
    arguments.push_back({y_name, as_tensor("y")});
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  m.node(target, {{"z", out}}, arguments);
  m.output("z");
  return m;
}

inline void expect_near(const std::vector<float>& found, const std::vector<float>& expected,
                        const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (size_t k = 0; k < found.size(); ++k)
    EXPECT_NEAR(found[k], expected[k], 2e-6f * (1 + std::abs(expected[k])))
        << what << ", element " << k;
}

}  // namespace deuteron::pt2
