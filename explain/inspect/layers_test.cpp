// SPDX-License-Identifier: Apache-2.0
// The table of operators against what is known of the whole program.
#include "explain/inspect/layers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "explain/report/accuracy.h"
#include "frontends/pt2/import.h"
#include "targets/target.h"
#include "tests/paths.h"

namespace deuteron {
namespace {

Target target_of(Isa isa) {
  Target t;
  t.name = "test";
  t.isa = isa;
  return t;
}

Samples random_samples(const Graph& g, size_t count) {
  std::mt19937 random(5);
  Samples samples(count);
  for (auto& sample : samples)
    for (const Port& port : g.inputs) {
      std::vector<float> values(static_cast<size_t>(g.type(port.value).elements()));
      for (float& v : values) v = static_cast<float>(random() % 1000) / 500.0f - 1.0f;
      sample.push_back(std::move(values));
    }
  return samples;
}

TEST(Layers, EveryOperatorOfAModelIsThere) {
  Diagnostics diagnostics;
  auto graph = import_pt2(source_path("models/digits_cnn/float.pt2"), diagnostics);
  ASSERT_TRUE(graph);
  const Samples samples = random_samples(*graph, 5);
  for (const Isa isa : {Isa::scalar, Isa::mve}) {
    const auto c = compile(*graph, target_of(isa), samples, {}, diagnostics);
    ASSERT_TRUE(c);
    const std::vector<LayerError> layers = compare_layers(*c, samples, 2);
    // All calls but the quantize of the input and the dequantize of the output.
    const auto calls =
        std::count_if(c->graph.nodes.begin(), c->graph.nodes.end(),
                      [](const Node& node) { return std::holds_alternative<KernelCall>(node.op); });
    EXPECT_EQ(static_cast<std::ptrdiff_t>(layers.size()), calls - 2);
    for (const LayerError& l : layers) {
      EXPECT_GT(l.sqnr_db, 5) << l.name;
      EXPECT_GT(l.used, 0.1) << l.name;
      EXPECT_LE(l.used, 1) << l.name;
      EXPECT_LT(l.clipped, 0.3) << l.name;
      EXPECT_LT(l.low, l.high) << l.name;
      EXPECT_FALSE(l.name.empty());
    }
    // What the last one has lost is what the program has lost: the runtime's arithmetic, measured
    // in another way.
    const Accuracy whole = measure_accuracy(*c, samples, 2);
    EXPECT_NEAR(layers.back().sqnr_db, whole.sqnr_db, 1e-3);
    EXPECT_NEAR(layers.back().max_abs, whole.max_abs_error, 1e-5);
    for (const int threads : {1, 4}) {
      const std::vector<LayerError> again = compare_layers(*c, samples, threads);
      for (size_t k = 0; k < again.size(); ++k) EXPECT_EQ(again[k].sqnr_db, layers[k].sqnr_db);
    }
  }
}

}  // namespace
}  // namespace deuteron
