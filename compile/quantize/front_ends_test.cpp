// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/front_ends.h"

#include "compile/quantize/quantization_search.h"
#include "compile/quantize/test_quantized.h"

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers"  // attributes that a case does not name keep their defaults

namespace deuteron {
namespace {

// By name of the node's result.
std::vector<std::string> names_of(const Graph& g, const std::vector<bool>& nodes) {
  std::vector<std::string> found;
  for (size_t n = 0; n < nodes.size(); ++n)
    if (nodes[n]) found.push_back(g.values[g.nodes[n].outputs[0]].name);
  return found;
}
using Names = std::vector<std::string>;

// `next`: what the weight of the band behind is.
std::vector<float> band_weights(i64 count, float next) {
  std::vector<float> w(static_cast<size_t>(count * count));
  for (i64 i = 0; i < count; ++i) {
    w[static_cast<size_t>(i * count + i)] = 1;
    w[static_cast<size_t>(i * count + (i + 1) % count)] = next;
  }
  return w;
}

ValueId linear(TestGraph& t, const std::string& name, ValueId x, std::vector<float> weights) {
  const i64 channels = t.g.type(x).shape.back();
  return t.node(name, Linear{},
                {x, t.constant(name + ".w", {channels, channels}, std::move(weights))});
}
ValueId layer(TestGraph& t, ValueId x) { return linear(t, "y", x, band_weights(8, -1)); }

// Energies in bands, moved about, and what reads their logarithm.
ValueId front_end(TestGraph& t, const Unary& last) {
  const ValueId x = t.input("x", {1, 8});
  const ValueId energy = t.node("energy", Mul{}, {x, x});
  const ValueId row = t.node("row", Reshape{{8, 1}}, {energy});
  const ValueId turned = t.node("turned", Permute{{1, 0}}, {row});
  const ValueId bands = linear(t, "bands", turned, band_weights(8, 0));
  return t.node("last", last, {bands});
}

TEST(FrontEnds, LeadToALogarithmThatALayerReads) {
  TestGraph t;
  const ValueId log = front_end(t, {UnaryFn::log});
  t.output(layer(t, log));
  EXPECT_EQ(names_of(t.g, front_ends(t.g)), (Names{"energy", "row", "turned", "bands", "last"}));
}

TEST(FrontEnds, AreNotWhatOthersReadOrWhatHasSteps) {
  for (const UnaryFn fn : {UnaryFn::sqrt, UnaryFn::log1p, UnaryFn::tanh}) {
    TestGraph t;
    t.output(layer(t, front_end(t, {fn})));
    EXPECT_EQ(names_of(t.g, front_ends(t.g)), Names());
  }
  TestGraph t;  // nothing weighs it
  t.output(t.node("y", Clamp{{.low = 0}}, {front_end(t, {UnaryFn::log})}));
  EXPECT_EQ(names_of(t.g, front_ends(t.g)), Names());
}

// Each element of a sample lies in another decade.
Samples decades(size_t count) {
  Samples samples(count);
  for (size_t s = 0; s < count; ++s) {
    std::vector<float> x = random_floats(8, static_cast<unsigned>(s), 1, 2);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] *= std::pow(10.0f, -static_cast<float>((i + s / 8) % 5));
    samples[s].push_back(std::move(x));
  }
  return samples;
}

TEST(FrontEnds, StayInFloatWhereStepsLoseTheNetwork) {
  TestGraph t;
  t.output(layer(t, front_end(t, {UnaryFn::log})));
  const Samples samples = decades(32);
  for (const bool may_use_float : {false, true}) {
    Graph g = t.g;
    Diagnostics diagnostics;
    const auto choice =
        calibrate_and_quantize(g, samples, {.may_use_float = may_use_float}, 2, diagnostics);
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->front_ends.has_value(), may_use_float);
    EXPECT_EQ(count_nodes<Quantize>(g), may_use_float ? 2u : 7u)
        << "of the logarithm and of the result, or of each value";
    if (!may_use_float) {
      EXPECT_LT(choice->sqnr_db, 10);
      continue;
    }
    EXPECT_LT(choice->front_ends->before, 10);
    EXPECT_GT(choice->front_ends->after, choice->front_ends->before + 10);
    EXPECT_GT(choice->sqnr_db, 30);
    EXPECT_EQ(choice->in_float.size(), 5u);
  }
}

TEST(Integers, AreMadeOfFloat) {
  TestGraph t;
  const ValueId y = layer(t, t.input("x", {1, 8}));
  const ValueId turned = t.node("turned", Permute{{1, 0}}, {y});
  const ValueId place = t.node("place", Unary{UnaryFn::round}, {turned});
  CallBuilder call("aten::_to_copy", 1, 1);
  const Face face = plain_face(t.g.type(place).shape);
  call.in(0, face).boolean(false).none().out(0, face);
  t.output(t.g.add_node(call.done().call, {place}, {Type{DType::s64, t.g.type(place).shape, {}}},
                        "index", {}));
  EXPECT_EQ(names_of(t.g, becomes_integers(t.g)), (Names{"turned", "place"}));
  EXPECT_EQ(names_of(t.g, front_ends(t.g)), (Names{"y", "turned", "place", "index"}));
}

TEST(FrontEnds, AreWorthHalfOfTheErrorOfALostNetwork) {
  EXPECT_TRUE(float_brings_back(6.8, 15.6)) << "cepstra less their mean, with their differences";
  EXPECT_FALSE(float_brings_back(6.8, 12));
  EXPECT_FALSE(float_brings_back(11, 40));
}

TEST(MovesBetweenFloats, AreInFloat) {
  TestGraph t;
  const ValueId y = layer(t, front_end(t, {UnaryFn::log}));
  t.output(y);
  const auto is_named = [&](const Graph& g, const Node& n,
                            std::initializer_list<const char*> names) {
    return std::ranges::find(names, g.values[n.outputs[0]].name) != names.end();
  };
  QuantizeOptions options{.may_use_float = true};
  options.precision_of = [&](const Graph& g, const Node& n) {
    return is_named(g, n, {"energy", "bands"}) ? LayerPrecision::in_float : LayerPrecision::int8;
  };
  const Samples samples = samples_of(t.g, 8, 0.1f);
  EXPECT_EQ(count_nodes<Quantize>(quantize(t.g, samples, options).g), 3u)
      << "bands, their logarithm and the result";
  options.may_use_float = false;
  EXPECT_EQ(count_nodes<Quantize>(quantize(t.g, samples, options).g), 6u);
}

}  // namespace
}  // namespace deuteron
