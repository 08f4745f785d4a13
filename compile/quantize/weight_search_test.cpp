// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/weight_search.h"

#include <algorithm>

#include "compile/calibrate/test_graph.h"
#include "compile/quantize/quantization_search.h"

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers"  // attributes that a case does not name keep their defaults

namespace deuteron {
namespace {

// Two layers of random weights, for which four bits are few, and one of -1, 0 and 1, for which they
// are enough.
TestGraph one_easy_layer() {
  TestGraph t;
  const ValueId x = t.input("x", {1, 4, 5, 12});
  std::vector<float> easy(12 * 12);
  for (size_t i = 0; i < easy.size(); ++i) easy[i] = static_cast<float>(i * 7 % 5 % 3) - 1;
  const ValueId first =
      t.node("first", Conv2d{}, {x, t.constant("w0", {12, 1, 1, 12}, random_floats(144, 1))});
  const ValueId second =
      t.node("second", Conv2d{}, {first, t.constant("w1", {12, 1, 1, 12}, random_floats(144, 2))});
  t.output(t.node("easy", Conv2d{}, {second, t.constant("w2", {12, 1, 1, 12}, easy)}));
  return t;
}

// Filters of 12 weights are one run each.
bool has_four_bits(std::span<const int8_t> weights) {
  for (size_t first = 0; first < weights.size(); first += 12) {
    const auto filter = weights.subspan(first, 12);
    const auto is_factor = [&](int factor) {
      return std::ranges::all_of(
          filter, [&](int8_t w) { return w % factor == 0 && w / factor >= -8 && w / factor <= 7; });
    };
    bool found = false;
    for (int factor = 1; factor <= 16; ++factor) found |= is_factor(factor);
    if (!found) return false;
  }
  return true;
}

// 1000 bytes, and 60 fewer for each layer whose weights have four bits.
std::optional<ProgramSize> sixty_for_a_layer(const Graph& g) {
  ProgramSize size{0, 64, 1000};
  for (const GraphValue& v : g.values)
    if (v.constant && v.type.dtype == DType::s8 && has_four_bits(v.constant->as<int8_t>()))
      size.file_bytes -= 60;
  return size;
}

struct FoundWeights {
  std::optional<QuantizationChoice> choice;
  Graph graph;
  const WeightDecision& decision() const { return *choice->weights; }
  const WeightChoice& chosen() const { return decision().curve[decision().chosen]; }
};
FoundWeights search_weights(WeightLimits limits) {
  const TestGraph t = one_easy_layer();
  limits.size_of = sixty_for_a_layer;
  FoundWeights found;
  found.graph = t.g;
  Samples samples(12);
  for (unsigned s = 0; s < 12; ++s) samples[s].push_back(random_floats(4 * 5 * 12, 50 + s));
  Diagnostics diagnostics;
  found.choice = calibrate_and_quantize(found.graph, samples, {.equalize = false}, 2, diagnostics,
                                        nullptr, &limits);
  return found;
}

TEST(WeightSearch, TakesTheLayerThatBearsIt) {
  const FoundWeights found = search_weights({.max_loss_db = 0.5});
  ASSERT_TRUE(found.choice);
  EXPECT_EQ(found.chosen().layers, (std::vector<std::string>{"conv2d `easy` (source op 2)"}));
  EXPECT_EQ(found.chosen().size.file_bytes, 940);
  EXPECT_LE(found.chosen().loss_db, 0.5);
  EXPECT_EQ(sixty_for_a_layer(found.graph)->file_bytes, 940) << "the graph is what was chosen";
}

// Whatever the limit is: the curve shows what all layers come to, and what was chosen keeps to it.
TEST(WeightSearch, KeepsToItsLimit) {
  const double int8 = search_weights({.max_loss_db = 0}).decision().curve[0].sqnr_db;
  for (const double most : {0.0, 0.5, 3.0, 100.0}) {
    const FoundWeights loss = search_weights({.max_loss_db = most}),
                       target = search_weights({.target_db = int8 - most});
    EXPECT_LE(loss.chosen().loss_db, most);
    EXPECT_GE(target.chosen().sqnr_db, int8 - most);
    for (const FoundWeights* found : {&loss, &target}) {
      EXPECT_EQ(found->decision().curve.size(), 4u) << most;
      EXPECT_EQ(found->decision().curve.back().layers.size(), 3u) << most;
      EXPECT_EQ(sixty_for_a_layer(found->graph)->file_bytes, found->chosen().size.file_bytes)
          << most;
    }
  }
  EXPECT_EQ(search_weights({.max_loss_db = 100}).chosen().layers.size(), 3u);
  EXPECT_GT(search_weights({.max_loss_db = 100}).chosen().loss_db, 3)
      << "else the limits above say nothing";
}

// What has no program with four bits, or no smaller one, stays int8.
TEST(WeightSearch, LeavesLayersThatSaveNothing) {
  const TestGraph t = one_easy_layer();
  Graph g = t.g;
  Samples samples(4);
  for (unsigned s = 0; s < 4; ++s) samples[s].push_back(random_floats(4 * 5 * 12, 50 + s));
  Diagnostics diagnostics;
  const WeightLimits limits{.max_loss_db = 100, .size_of = [](const Graph&) {
                              return ProgramSize{0, 64, 1000};
                            }};
  const auto choice =
      calibrate_and_quantize(g, samples, {.equalize = false}, 2, diagnostics, nullptr, &limits);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->weights->curve.size(), 1u);
  EXPECT_EQ(sixty_for_a_layer(g)->file_bytes, 1000);
}

}  // namespace
}  // namespace deuteron
