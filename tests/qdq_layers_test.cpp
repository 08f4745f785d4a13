// SPDX-License-Identifier: Apache-2.0
// Every layer of a quantized model alone: given the int8 inputs that PT2E's simulation has there,
// our kernels give its result within one step, and almost always the same.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "compile/calibrate/float_executor.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "compile/test_program.h"
#include "frontends/pt2/import.h"
#include "targets/target.h"
#include "tests/paths.h"

namespace deuteron {
namespace {

namespace fs = std::filesystem;

Target target_of(Isa isa) {
  Target t;
  t.name = "test";
  t.isa = isa;
  return t;
}

std::vector<float> read_floats(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

// One operator between dequantize and quantize, cut out of the model.
struct Layer {
  Graph graph;
  std::vector<ValueId> inputs;  // in the model, for each graph input
  float step = 0;
  double may_differ = 0.01;  // share of elements
};

// What integers cannot do as float does (docs/numerics.md, section 4): a bias in whole steps of
// x.scale * weight.scale is off by up to half of one, which is `ratio` / 2 steps of the result and
// so turns at most that share of its roundings; an average over n elements is a tie for one in n.
double unavoidable(const Graph& layer, const Node& node, float step) {
  if (const auto* pool = std::get_if<AvgPool2d>(&node.op))
    return 1.0 / static_cast<double>(pool->kernel.h * pool->kernel.w);
  if (node.inputs.size() < 3) return 0;
  const Uses uses(layer);
  const auto quant_of = [&](size_t k) {
    return layer.type(layer.nodes[uses.producer[node.inputs[k]]].inputs[0]).quant;
  };
  const Quant x = quant_of(0), w = quant_of(1);
  double ratio = 0;
  for (const float scale : w.scale)
    ratio += static_cast<double>(x.scale[0]) * scale / step / static_cast<double>(w.scale.size());
  return ratio / 2;
}

std::optional<Quant> quantized_as(const Graph& g, const Uses& uses, ValueId v) {
  for (const NodeId n : uses.readers[v])
    if (std::holds_alternative<Quantize>(g.nodes[n].op)) return g.type(g.nodes[n].outputs[0]).quant;
  return std::nullopt;
}

Axes counting(size_t rank) {
  Axes order(rank);
  for (size_t k = 0; k < rank; ++k) order[k] = static_cast<i64>(k);
  return order;
}

std::optional<Layer> cut_out(const Graph& g, const Uses& uses, const Node& node) {
  if (quant_specs(node.op).empty() || node.outputs.size() != 1) return std::nullopt;
  const std::optional<Quant> result = quantized_as(g, uses, node.outputs[0]);
  if (!result) return std::nullopt;
  Layer layer;
  Graph& m = layer.graph;
  m.name = "layer";
  m.sources = g.sources;
  std::map<ValueId, ValueId> made;
  std::vector<ValueId> operands;
  for (const ValueId v : node.inputs) {
    const NodeId d = uses.producer[v];
    if (d < 0) {
      if (!g.is_constant(v)) return std::nullopt;
      operands.push_back(m.add_value(g.values[v].name, g.type(v), g.values[v].constant));
      continue;
    }
    if (!std::holds_alternative<Dequantize>(g.nodes[d].op)) return std::nullopt;
    const ValueId q = g.nodes[d].inputs[0];
    const Type real{DType::f32, g.type(q).shape, {}};
    if (!made.contains(q) && g.is_constant(q)) {
      const ValueId c = m.add_value(g.values[q].name, g.type(q), g.values[q].constant);
      made[q] = m.add_node(Dequantize{}, {c}, {real}, g.values[v].name, node.origin);
    } else if (!made.contains(q)) {
      const ValueId x = m.add_value("x" + std::to_string(q), real);
      m.inputs.push_back({x, m.values[x].name, counting(real.shape.size())});
      layer.inputs.push_back(q);
      const ValueId s8 = m.add_node(Quantize{g.type(q).quant}, {x}, {g.type(q)},
                                    "q" + std::to_string(q), node.origin);
      made[q] = m.add_node(Dequantize{}, {s8}, {real}, g.values[v].name, node.origin);
    }
    operands.push_back(made[q]);
  }
  const Type real = g.type(node.outputs[0]);
  const ValueId y = m.add_node(node.op, operands, {real}, "y", node.origin);
  const ValueId s8 =
      m.add_node(Quantize{*result}, {y}, {Type{DType::s8, real.shape, *result}}, "yq", node.origin);
  const ValueId out = m.add_node(Dequantize{}, {s8}, {real}, "out", node.origin);
  m.outputs.push_back({out, "out", counting(real.shape.size())});
  layer.step = result->scale[0];
  layer.may_differ += unavoidable(m, m.nodes[Uses(m).producer[y]], layer.step);
  return layer;
}

std::vector<float> run_program(const std::vector<uint8_t>& pte,
                               const std::vector<std::vector<float>>& inputs) {
  LoadedProgram loaded(pte);
  if (!loaded.is_loaded) return {};
  Program& program = loaded.program;
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_TRUE(
        program.set_input(static_cast<i32>(i), inputs[i].data(), inputs[i].size() * sizeof(float))
            .ok());
  EXPECT_TRUE(program.run().ok());
  const auto* y = static_cast<const float*>(program.output(0).data);
  return {y, y + program.output(0).numel};
}

struct Tally {
  i64 elements = 0, identical = 0, worst = 0;
};

// The values of the whole model on one sample, on their grids.
std::vector<std::vector<float>> simulate(const Graph& g, const std::vector<float>& sample) {
  std::vector<std::vector<float>> values(g.values.size());
  const Port& port = g.inputs[0];
  const std::vector<std::vector<float>> stored = {
      to_storage(port, g.type(port.value).shape, sample)};
  FloatExecutor(g).run(stored, [&](ValueId v, std::span<const float> data) {
    values[v].assign(data.begin(), data.end());
  });
  return values;
}

Graph prepared(const fs::path& model) {
  Diagnostics diagnostics;
  std::optional<Graph> g = import_pt2(model.string(), diagnostics);
  EXPECT_TRUE(g);
  if (!g) return {};
  CompileOptions options;
  options.stop_after = "fuse-again";
  auto c = compile(std::move(*g), target_of(Isa::scalar), {}, options, diagnostics);
  EXPECT_TRUE(c);
  return c ? std::move(c->graph) : Graph{};
}

void check_model(const fs::path& model, const fs::path& samples, Isa isa) {
  const Graph g = prepared(model);
  const Uses uses(g);
  std::vector<std::vector<std::vector<float>>> simulated;
  for (const char* name : {"000.bin", "001.bin", "003.bin", "007.bin"})
    simulated.push_back(simulate(g, read_floats(samples / name)));
  int layers = 0;
  for (const Node& node : g.nodes) {
    const std::optional<Layer> layer = cut_out(g, uses, node);
    if (!layer) continue;
    ++layers;
    Diagnostics diagnostics;
    CompileOptions options;
    options.contiguous_io = true;
    const auto c = compile(layer->graph, target_of(isa), {}, options, diagnostics);
    ASSERT_TRUE(c) << describe(g, node)
                   << (diagnostics.list().empty() ? "" : format_diagnostic(diagnostics.list()[0]));
    const FloatExecutor reference(layer->graph);
    Tally tally;
    for (const auto& values : simulated) {
      std::vector<std::vector<float>> inputs;
      for (const ValueId v : layer->inputs) inputs.push_back(values[v]);
      const std::vector<float> expected = reference.run(inputs, {})[0],
                               got = run_program(c->pte, inputs);
      ASSERT_EQ(expected.size(), got.size());
      for (size_t k = 0; k < got.size(); ++k) {
        const i64 steps =
            std::llabs(std::llround((static_cast<double>(expected[k]) - got[k]) / layer->step));
        tally.elements += 1;
        tally.identical += steps == 0;
        tally.worst = std::max(tally.worst, steps);
      }
    }
    EXPECT_LE(tally.worst, 1) << describe(g, node);
    EXPECT_GE(static_cast<double>(tally.identical),
              (1 - layer->may_differ) * static_cast<double>(tally.elements))
        << describe(g, node) << ": " << tally.identical << " of " << tally.elements;
  }
  EXPECT_GT(layers, 5);
}

const fs::path kModels = fs::path(shared_path("fixtures/models"));

class QdqLayers : public testing::TestWithParam<const char*> {};

TEST_P(QdqLayers, AreWithinOneStepOfPt2eAndAlmostAllTheSame) {
  const fs::path model = kModels / GetParam();
  if (!fs::exists(model)) GTEST_SKIP() << "left out: the models of ../shared, which is not there";
  for (const Isa isa : {Isa::scalar, Isa::dsp, Isa::mve})
    check_model(model, model.parent_path() / "inputs", isa);
}

INSTANTIATE_TEST_SUITE_P(Models, QdqLayers,
                         testing::Values("resnet8/qdq.pt2", "dscnn_kws/qdq.pt2",
                                         "mobilenet_v1_025_vww/qdq.pt2", "autoencoder_ad/qdq.pt2",
                                         "cifarnet/qdq.pt2", "digits_cnn/qdq.pt2",
                                         "digits_cnn/qat_qdq.pt2", "digits_cnn/qdq_xnnpack.pt2",
                                         "digits_cnn/qdq_sym.pt2",
                                         "digits_cnn/qdq_per_tensor.pt2"));

}  // namespace
}  // namespace deuteron
