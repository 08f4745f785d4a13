// SPDX-License-Identifier: Apache-2.0
// The CPU's cost model against exact counts on the emulated boards.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/tensor/elements.h"
#include "boards/board.h"
#include "boards/cycles/estimate_cycles.h"
#include "boards/emulate.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/cost/cpu_cost.h"
#include "compile/options.h"
#include "explain/report/program_report.h"
#include "frontends/read_graph.h"
#include "targets/target.h"
#include "tests/paths.h"
#include "tests/temporary_path.h"

namespace deuteron {
namespace {

TEST(CpuCost, TheFormulaIsThatOfTheFile) {
  Diagnostics d;
  const std::optional<Target> t = parse_target(
      "format = 1\nname = \"t\"\nextends = "
      "[\"cortex-m4\"]\n[cpu.cost]\n\"cortex_m::quantized_add\" = { call = 7, mac = 256, result = "
      "512, "
      "operand = 128, tap = 64 }\n",
      "t.toml", d);
  ASSERT_TRUE(t);
  for (const CpuKernelCost& c : t->cpu_cost)
    if (c.kernel == "cortex_m::quantized_add") {
      EXPECT_EQ(c.instructions({.macs = 3, .results = 5, .operands = 11, .taps = 13}),
                7 + 22);  // 3 + 10 + 5.5 + 3.25, to the nearest
    }
}

TEST(CpuCost, CyclesAreThoseOfTheKernelOrOfAll) {
  Diagnostics d;
  const std::optional<Target> t = parse_target(
      "format = 1\nname = \"t\"\nextends = [\"cortex-m0\"]\n[cpu.cost]\nadd = { call = 1000 }\nmul "
      "= { call = 1001 }\n[cpu.cycles]\n"
      "add = 384\n\"*\" = 300\n",
      "t.toml", d);
  ASSERT_TRUE(t);
  EXPECT_EQ(cpu_cycles({"add", "*"}, CpuWork{}, *t), 1500);
  EXPECT_EQ(cpu_cycles({"mul", "*"}, CpuWork{}, *t), 1173);  // 1001 * 300 / 256, to the nearest
  EXPECT_STREQ(kind_of_cpu_cycles(*t), "estimated");
  const std::optional<Target> without = find_target("cortex-m0", d);
  EXPECT_EQ(cpu_cycles({"cortex_m::quantized_add"}, CpuWork{}, *without),
            cpu_instructions({"cortex_m::quantized_add"}, CpuWork{}, *without));
  EXPECT_STREQ(kind_of_cpu_cycles(*without), "instructions at one a cycle");
  const std::optional<Target> measured = parse_target(
      "format = 1\nname = \"t\"\nextends = [\"cortex-m0\"]\n[cpu]\nmeasured = \"a chip\"\n",
      "t.toml", d);
  ASSERT_TRUE(measured);
  EXPECT_STREQ(kind_of_cpu_cycles(*measured), "measured on this chip");
}

// Cycles where the core has a model, else instructions: of whole models, and of nine calls in ten.
// No line was fitted to these models.
TEST(CpuCost, PredictsWhatTheBoardCounts) {
  constexpr double kBound = 0.1;
  const std::string models = fmt::format("{}/fixtures/models", kSharedFolder);
  if (!has_board_runners() || !std::filesystem::exists(models))
    GTEST_SKIP() << "left out: predicted against counted instructions (no boards, or no ../shared)";
  std::string not_installed;
  size_t calls = 0, near = 0;
  for (const Board& board : emulated_boards())
    for (const char* model : {"dscnn_kws", "digits_cnn", "digits_bmm"}) {
      Diagnostics d;
      std::optional<Graph> graph = read_graph(fmt::format("{}/{}/float.pt2", models, model), d);
      const std::optional<Target> target = find_target(std::string(board.target), d);
      ASSERT_TRUE(graph && target);
      // As the lines were fitted. A regular pattern lets the softmax find again what it has
      // computed, in fewer instructions.
      std::mt19937 bits(7);
      Samples samples(1);
      for (const Port& port : graph->inputs) {
        std::vector<float> values(static_cast<size_t>(graph->type(port.value).elements()));
        for (float& v : values) v = static_cast<float>(bits()) / 2147483648.0f - 1.0f;
        samples[0].push_back(std::move(values));
      }
      CompileOptions options;
      options.packed_weights = true;  // as `deuteron compile` has it
      options.quantize.observer = Observer::min_max;
      const std::optional<Compilation> c = compile(std::move(*graph), *target, samples, options, d);
      ASSERT_TRUE(c) << model;
      Sample stored;
      for (size_t k = 0; k < c->graph.inputs.size(); ++k) {
        const std::vector<std::byte> bytes =
            elements_of(samples[0][k], c->graph.type(c->graph.inputs[k].value));
        const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
        stored.emplace_back(data, data + bytes.size());
      }
      const CoreModel* const core = target->cpu_cycles.empty() ? nullptr : find_core(target->cpu);
      const EmulatedRun run = run_emulated(board.name, c->pte, {&stored, 1},
                                           {.by_step = true, .count_blocks = core != nullptr});
      if (run.error.rule == "board.qemu_missing")
        GTEST_SKIP() << "left out: emulated boards (" << run.error.what << ")";
      ASSERT_TRUE(run.ok) << format_diagnostic(run.error);
      const ProgramReport report = report_program(*c, *target);
      ASSERT_EQ(run.steps[0].size(), report.operators.size());
      EXPECT_EQ(report.cost.not_known, 0);
      const auto counted = static_cast<double>(run.instructions[0]),
                 predicted = static_cast<double>(report.cost.cpu);
      if (!core) {
        EXPECT_NEAR(predicted, counted, kBound * counted) << model << " on " << board.name;
        continue;
      }
      const std::optional<CycleEstimate> estimate = estimate_cycles(*core, board.image, run, d);
      if (!estimate && d.list()[0].what.find("is not installed") != std::string::npos) {
        not_installed = d.list()[0].what;
        continue;
      }
      ASSERT_TRUE(estimate) << format_diagnostic(d.list()[0]);
      EXPECT_NEAR(static_cast<double>(estimate->whole.instructions), counted,
                  40.0 * static_cast<double>(report.operators.size()));
      const double cycles = estimate->whole.cycles;
      EXPECT_NEAR(predicted, cycles, kBound * cycles) << model << " on " << board.name;
      for (size_t k = 0; k < report.operators.size(); k++, calls++) {
        const double of_call = estimate->calls.at(k).cycles;
        near +=
            std::abs(static_cast<double>(report.operators[k].cycles) - of_call) <= kBound * of_call;
      }
    }
  EXPECT_GE(near * 10, calls * 9) << "calls within 10 % of their estimated cycles";
  if (!not_installed.empty())
    GTEST_SKIP() << "left out: predicted against estimated cycles (" << not_installed << ")";
}

// The same delegate with and without a transpose in its call: the difference is the transpose.
TEST(CpuCost, PredictsTransposesAtTheBorder) {
  const std::string model = fmt::format("{}/fixtures/models/resnet8/qdq.pt2", kSharedFolder);
  if (!has_board_runners() || !std::filesystem::exists(model))
    GTEST_SKIP() << "left out: transposes at the border, predicted against counted (no boards, or "
                    "no ../shared)";
  Diagnostics d;
  std::optional<Target> target = find_target("imxrt700cm", d);
  ASSERT_TRUE(target);
  target->cpu_cycles.clear();  // the board counts instructions
  i64 instructions[2], predicted[2], transposes[2];
  for (const bool contiguous : {false, true}) {
    std::optional<Graph> graph = read_graph(model, d);
    ASSERT_TRUE(graph);
    CompileOptions options;
    options.contiguous_io = contiguous;
    options.npu.format_conversion = FormatConversion::cpu;
    const std::optional<Compilation> c = compile(std::move(*graph), *target, {}, options, d);
    ASSERT_TRUE(c);
    Sample stored;
    for (const Port& port : c->graph.inputs)
      stored.emplace_back(static_cast<size_t>(c->graph.type(port.value).bytes()), uint8_t{0});
    const EmulatedRun run = run_emulated("mps2-an505", c->pte, {&stored, 1}, {.by_step = true});
    if (run.error.rule == "board.qemu_missing")
      GTEST_SKIP() << "left out: emulated boards (" << run.error.what << ")";
    ASSERT_TRUE(run.ok) << format_diagnostic(run.error);
    instructions[contiguous] = 0;
    for (const auto& step : run.steps.at(0))
      instructions[contiguous] += static_cast<i64>(step.instructions);
    const ProgramCost cost = report_program(*c, *target).cost;
    predicted[contiguous] = cost.crossing;
    transposes[contiguous] = cost.border_transposes;
  }
  EXPECT_EQ(transposes[0], 0);
  EXPECT_EQ(transposes[1], 1);
  const auto counted = static_cast<double>(instructions[1] - instructions[0]);
  EXPECT_NEAR(static_cast<double>(predicted[1] - predicted[0]) / counted, 1, 0.02) << counted;
}

// Ten scores that are alike, far apart (all but one come to nothing), and in between.
TEST(CpuCost, SoftmaxTakesItsTimeWhateverTheData) {
  if (!has_board_runners()) GTEST_SKIP() << "left out: softmax of other data (no boards)";
  const std::string model = temporary_path("softmax.txt");
  std::ofstream(model) << "input v : f32[1,10]\n"
                          "x = quantize(v) quant=q(scale=0.25 zero=0)\n"
                          "y = softmax(x) axis=1 : s8[1,10] q(scale=0.00390625 zero=-128)\n"
                          "output y\n";
  for (const char* name : {"mps3-an547", "mps2-an386", "mps2-an505", "mps2-an385"}) {
    Diagnostics d;
    std::optional<Graph> graph = read_graph(model, d);
    ASSERT_TRUE(graph);
    const Board* board = find_board(emulated_boards(), name);
    const std::optional<Target> target = find_target(std::string(board->target), d);
    const std::optional<Compilation> c = compile(std::move(*graph), *target, {}, {}, d);
    ASSERT_TRUE(c) << format_diagnostic(d.list()[0]);
    std::vector<Sample> samples;
    for (const float apart : {0.0f, 0.5f, 3.0f, 30.0f}) {
      std::vector<float> v(10);
      for (size_t k = 0; k < v.size(); k++) v[k] = apart * static_cast<float>(k * 7 % 10) - 20;
      const auto* bytes = reinterpret_cast<const uint8_t*>(v.data());
      samples.push_back({std::vector<uint8_t>(bytes, bytes + 40)});
    }
    const EmulatedRun run = run_emulated(name, c->pte, samples, {.by_step = true});
    if (run.error.rule == "board.qemu_missing")
      GTEST_SKIP() << "left out: emulated boards (" << run.error.what << ")";
    ASSERT_TRUE(run.ok) << format_diagnostic(run.error);
    const auto first = static_cast<double>(run.steps.at(0).at(1).instructions);
    for (const auto& steps : run.steps)
      EXPECT_NEAR(static_cast<double>(steps.at(1).instructions) / first, 1, 0.02) << name;
  }
}

}  // namespace
}  // namespace deuteron
