// SPDX-License-Identifier: Apache-2.0
// The recipes of one chip on the fixture models: memory, cost and the border between the two sides.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>

#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "compile/schedule/memories.h"
#include "explain/report/program_report.h"
#include "frontends/read_graph.h"
#include "ir/text.h"
#include "targets/target.h"
#include "tests/paths.h"

namespace deuteron {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string model_path(const std::string& name) {
  return fmt::format("{}/fixtures/models/{}/float.pt2", kSharedFolder, name);
}

// One made-up sample: the placement and the plan do not depend on ranges.
std::optional<Compilation> compiled(const std::string& path, const Target& target,
                                    const CompileOptions& options, Diagnostics& d) {
  std::optional<Graph> g = read_graph(path, d);
  if (!g) return std::nullopt;
  std::mt19937 bits(5);
  Samples samples(1);
  for (const Port& port : g->inputs) {
    std::vector<float> values(static_cast<size_t>(g->type(port.value).elements()));
    for (float& v : values)
      v = g->type(port.value).dtype == DType::f32
              ? static_cast<float>(bits() >> 8) * 0x1p-23f - 1.0f
              : 0.0f;
    samples[0].push_back(std::move(values));
  }
  CompileOptions plain = options;
  plain.quantize.observer = Observer::min_max;
  plain.quantize.equalize = false;
  plain.quantize.correct_bias = false;
  return compile(std::move(*g), target, samples, plain, d);
}

Target target_called(const std::string& name) {
  Diagnostics d;
  return *find_target(name, d);
}
Target own_target(const std::string& tail) {
  Diagnostics d;
  std::optional<Target> t =
      parse_target(fmt::format("format = 1\nname = \"mine\"\nextends = [\"imxrt700cm\"]\n{}", tail),
                   "mine.toml", d);
  EXPECT_TRUE(t) << format_diagnostic(d.list().front());
  return *t;
}

// Issue 6: not above the larger of the two single plans + 2 %.
TEST(Recipes, TheCombinedPlanIsNoLargerThanTheLargerOfTheTwo) {
  if (!std::filesystem::exists(model_path("resnet8")))
    GTEST_SKIP() << "left out: plans of the fixture models (no ../shared)";
  for (const char* model : {"resnet8", "mobilenet_v1_025_vww", "mobilenet_v2"}) {
    std::map<std::string, i64> bytes;
    for (const char* target : {"imxrt700", "cortex-m33", "imxrt700cm"}) {
      Diagnostics d;
      const std::optional<Compilation> c =
          compiled(model_path(model), target_called(target), {}, d);
      ASSERT_TRUE(c) << model << " " << target;
      bytes[target] = c->plan.bytes;
    }
    EXPECT_LE(bytes["imxrt700cm"] * 100, std::max(bytes["imxrt700"], bytes["cortex-m33"]) * 102)
        << model;
  }
}

// By the model of both sides: not slower than wherever possible, nor than the CPU alone.
TEST(Recipes, FastestIsNeverSlowerByTheModel) {
  if (!std::filesystem::exists(model_path("resnet8")))
    GTEST_SKIP() << "left out: costs of the fixture models (no ../shared)";
  const Target both = target_called("imxrt700cm"), cpu = own_target("backends = [\"cortex_m\"]\n");
  for (const char* model :
       {"resnet8", "mobilenet_v1_025_vww", "digits_cnn", "digits_bmm", "mnist_lstm", "hello_sine",
        "autoencoder_ad", "dscnn_kws", "cifarnet", "mobilenet_v3_small", "mobilenet_v2"}) {
    Diagnostics d;
    CompileOptions fastest;
    fastest.npu.prefer = "fastest";
    const std::optional<Compilation> fast = compiled(model_path(model), both, fastest, d),
                                     npu = compiled(model_path(model), both, {}, d),
                                     alone = compiled(model_path(model), cpu, {}, d);
    ASSERT_TRUE(fast && npu && alone) << model;
    const ProgramReport report = report_program(*fast, both);
    const i64 total = report.cost.total(), total_npu = report_program(*npu, both).cost.total();
    const Preference& preference = fast->partition.preference;
    EXPECT_EQ(report.cost.not_known, 0) << model;
    EXPECT_LE(total, total_npu) << model;
    EXPECT_LE(total, report_program(*alone, cpu).cost.total()) << model;
    ASSERT_TRUE(preference.chosen && preference.all_npu && preference.all_cpu);
    EXPECT_EQ(*preference.chosen, total) << model << ": what was weighed is what was made";
    EXPECT_EQ(*preference.all_npu, total_npu) << model;
    // Totals are the sums of their parts.
    i64 cpu_cycles = 0, npu_cycles = 0;
    for (const OperatorReport& o : report.operators)
      (o.placement == Placement::npu ? npu_cycles : cpu_cycles) += o.cycles;
    EXPECT_EQ(cpu_cycles, report.cost.cpu) << model;
    EXPECT_EQ(npu_cycles, report.cost.npu) << model;
  }
}

// Two layers of a single output: not worth a call of the NPU.
TEST(Recipes, ATinyModelStaysOnTheCpuWhereFastestIsAsked) {
  if (!std::filesystem::exists(model_path("hello_sine")))
    GTEST_SKIP() << "left out: the smallest fixture model (no ../shared)";
  CompileOptions fastest;
  fastest.npu.prefer = "fastest";
  Diagnostics d;
  const std::optional<Compilation> c =
      compiled(model_path("hello_sine"), target_called("imxrt700cm"), fastest, d);
  ASSERT_TRUE(c);
  EXPECT_TRUE(c->npu.kernels.empty());
  bool told = false;
  for (const KeptOnCpu& kept : c->partition.kept_on_cpu)
    told |= kept.why.rule == "neutron.partition.cost";
  EXPECT_TRUE(told);
}

TEST(Recipes, FastestNeedsTwoSidesAndTheirCosts) {
  if (!std::filesystem::exists(model_path("hello_sine")))
    GTEST_SKIP() << "left out: --prefer on the smallest fixture model (no ../shared)";
  CompileOptions fastest;
  fastest.npu.prefer = "fastest";
  Diagnostics d, second;
  EXPECT_FALSE(compiled(model_path("hello_sine"), target_called("imxrt700"), fastest, d));
  Target no_costs = target_called("imxrt700cm");
  no_costs.cpu_cost.clear();
  EXPECT_FALSE(compiled(model_path("hello_sine"), no_costs, fastest, second));
  std::string all;
  for (const Diagnostics* list : {&d, &second})
    for (const Diagnostic& x : list->list()) all += format_diagnostic(x);
  EXPECT_THAT(
      all, AllOf(HasSubstr("imxrt700 has the NPU alone"), HasSubstr("needs the costs of the CPU")));
}

// What the NPU refuses is quantized by the rules of the CPU: a scale for each output channel,
// whoever runs it; and the border changes no bits.
TEST(Recipes, WhatTheNpuRefusesHasAScaleForEachChannel) {
  if (!std::filesystem::exists(model_path("resnet8")))
    GTEST_SKIP() << "left out: quantization of a fixture model (no ../shared)";
  Diagnostics d;
  CompileOptions options;
  options.npu.exclude = {"conv2d"};
  options.stop_after = "partition";
  CompileOptions until;
  until.stop_after = "partition";
  const std::optional<Compilation> c =
      compiled(model_path("resnet8"), target_called("imxrt700cm"), options, d);
  const std::optional<Compilation> cpu =
      compiled(model_path("resnet8"), target_called("cortex-m33"), until, d);
  ASSERT_TRUE(c && cpu);
  std::map<std::string, Quant> of_cpu;
  for (const Node& node : cpu->graph.nodes)
    if (std::holds_alternative<Conv2d>(node.op))
      of_cpu[describe(cpu->graph, node)] = cpu->graph.type(node.inputs[1]).quant;
  int convolutions = 0;
  for (const Node& node : c->graph.nodes) {
    if (!std::holds_alternative<Conv2d>(node.op)) continue;
    const Quant& q = c->graph.type(node.inputs[1]).quant;
    EXPECT_TRUE(q.per_channel()) << describe(c->graph, node);
    EXPECT_EQ(q, of_cpu[describe(c->graph, node)]);
    ++convolutions;
  }
  EXPECT_EQ(convolutions, 9);
}

// A model that came quantized (PT2E; QAT writes the same operators) is the same graph for every
// recipe until the partition, and in the partition nothing of its parameters changes.
TEST(Recipes, AQuantizedModelKeepsItsParameters) {
  for (const char* file : {"resnet8/qdq.pt2", "digits_cnn/qdq.pt2", "digits_cnn/qat_qdq.pt2"}) {
    const std::string path = fmt::format("{}/fixtures/models/{}", kSharedFolder, file);
    if (!std::filesystem::exists(path))
      GTEST_SKIP() << "left out: quantized fixture models (no ../shared)";
    const auto until = [&](const char* target, const char* stage) {
      Diagnostics d;
      CompileOptions options;
      options.stop_after = stage;
      std::optional<Graph> g = read_graph(path, d);
      std::optional<Compilation> c = compile(std::move(*g), target_called(target), {}, options, d);
      EXPECT_TRUE(c && c->quantization.model_was_quantized && c->quantization.values.empty());
      return std::move(c->graph);
    };
    const Graph cpu = until("cortex-m33", "fold-quantization"),
                both = until("imxrt700cm", "fold-quantization"),
                npu = until("imxrt700", "fold-quantization");
    EXPECT_EQ(print(cpu), print(both)) << file;
    EXPECT_EQ(print(cpu), print(npu)) << file;
    std::map<std::string, Quant> parameters;
    for (const GraphValue& v : both.values) parameters[v.name] = v.type.quant;
    const Graph parted = until("imxrt700cm", "partition");
    size_t seen = 0;
    for (const Node& node : parted.nodes)
      if (const Delegate* delegate = std::get_if<Delegate>(&node.op))
        for (const GraphValue& v : delegate->body->values) {
          EXPECT_EQ(v.type.quant, parameters[v.name]) << v.name;
          ++seen;
        }
    EXPECT_GT(seen, 10u) << file;
  }
}

// A tensor that crosses has one set of parameters on both sides: the delegate's ports are those of
// the operators beside it, without a change of scale between them.
TEST(Recipes, ParametersAreSharedOverTheBorder) {
  if (!std::filesystem::exists(model_path("resnet8")))
    GTEST_SKIP() << "left out: the border in a fixture model (no ../shared)";
  for (const char* excluded : {"add", "conv2d", "softmax", "avg_pool2d"}) {
    Diagnostics d;
    CompileOptions options;
    options.npu.exclude = {excluded};
    options.stop_after = "partition";
    const std::optional<Compilation> c =
        compiled(model_path("resnet8"), target_called("imxrt700cm"), options, d);
    if (!c) continue;  // the model has no such operator
    int delegates = 0, changes = 0;
    for (const Node& node : c->graph.nodes) {
      changes += std::holds_alternative<Quantize>(node.op) &&
                 c->graph.type(node.inputs[0]).dtype == DType::s8;
      const Delegate* delegate = std::get_if<Delegate>(&node.op);
      if (!delegate) continue;
      ++delegates;
      for (size_t k = 0; k < node.inputs.size(); ++k)
        EXPECT_EQ(c->graph.type(node.inputs[k]),
                  delegate->body->type(delegate->body->inputs[k].value))
            << excluded;
      for (size_t k = 0; k < node.outputs.size(); ++k)
        EXPECT_EQ(c->graph.type(node.outputs[k]),
                  delegate->body->type(delegate->body->outputs[k].value))
            << excluded;
    }
    EXPECT_GE(delegates, 1) << excluded;
    EXPECT_EQ(changes, 0) << excluded;
  }
}

TEST(Recipes, AMemoryTooSmallSaysByHowMuchAndWhatIsAlive) {
  if (!std::filesystem::exists(model_path("hello_sine")))
    GTEST_SKIP() << "left out: a plan in a memory too small (no ../shared)";
  Diagnostics d;
  const Target small =
      own_target("[[memory]]\nname = \"tcm\"\nbytes = 16\nholds = [\"activations\"]\n");
  EXPECT_FALSE(compiled(model_path("hello_sine"), small, {}, d));
  std::string all;
  for (const Diagnostic& x : d.list()) all += format_diagnostic(x);
  EXPECT_THAT(all, AllOf(HasSubstr("do not fit the memory `tcm`"), HasSubstr("bytes are missing"),
                         HasSubstr("alive at the peak: "), HasSubstr("limit 16")));
}

// A small fast memory that the NPU does not reach is passed over as soon as a call of the NPU
// touches tensors.
TEST(Recipes, TensorsLieWhereEverybodyReaches) {
  const Target t = own_target(
      "[[memory]]\nname = \"dtcm\"\nbytes = 5000\nholds = [\"activations\"]\nreach = [\"cpu\"]\n"
      "[[memory]]\nname = \"sram\"\nbytes = 9000\nholds = [\"activations\", \"constants\"]\n");
  EXPECT_EQ(room_for_activations(t, false, 4000, 0).memory->name, "dtcm");
  EXPECT_EQ(room_for_activations(t, true, 4000, 0).memory->name, "sram");
  EXPECT_EQ(room_for_activations(t, false, 6000, 0).memory->name, "sram");
  EXPECT_EQ(room_for_activations(t, true, 4000, 3000).bytes, 6000)
      << "beside constants that the NPU must find there";
  EXPECT_EQ(room_for_activations(t, true, 99999, 3000).memory->name, "sram");
  Target without = t;
  without.memories.clear();
  EXPECT_EQ(room_for_activations(without, true, 1, 0).memory, nullptr);
}

}  // namespace
}  // namespace deuteron
