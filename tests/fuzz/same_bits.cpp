// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/same_bits.h"

#include <fmt/format.h>

#include <cstring>

#include "base/tensor/elements.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "kernels/quantize/kernel.h"
#include "targets/target.h"
#include "tests/fuzz/load_and_run.h"
#include "tests/fuzz/random_network.h"

namespace deuteron::test {
namespace {

// By sample, then output, in the user's axes; int8 as the numbers that it stands for.
using Outputs = std::vector<std::vector<std::vector<float>>>;

bool is_quantized(const Type& type) {
  return (type.dtype == DType::s8 || type.dtype == DType::s16) && !type.quant.empty();
}

// The bytes of an input: float as it is, int8 and int16 rounded as the quantize kernels do.
std::vector<uint8_t> bytes_of_input(Isa isa, const Port& port, const Type& type,
                                    const std::vector<float>& user) {
  const std::vector<float> stored = to_storage(port, type.shape, user);
  std::vector<uint8_t> bytes(static_cast<size_t>(type.bytes()));
  if (!is_quantized(type)) {
    std::memcpy(bytes.data(), stored.data(), bytes.size());
    return bytes;
  }
  const auto count = static_cast<int32_t>(stored.size());
  if (type.dtype == DType::s16) {
    const QuantizeArgs a{count, 1.0f / type.quant.scale[0], type.quant.zero_point[0],
                         type.quant.low, type.quant.high};
    quantize_s16(a, stored.data(), reinterpret_cast<int16_t*>(bytes.data()));
    return bytes;
  }
  const QuantizeArgs a{count, 1.0f / type.quant.scale[0], type.quant.zero_point[0], -128, 127};
  (isa == Isa::mve ? quantize_s8_as_mve : quantize_s8)(a, stored.data(),
                                                       reinterpret_cast<int8_t*>(bytes.data()));
  return bytes;
}

std::vector<float> numbers_of_output(const Port& port, const Type& type, const uint8_t* bytes) {
  std::vector<float> stored(static_cast<size_t>(type.elements()));
  if (is_quantized(type)) {
    stored = numbers_of(bytes, type);
  } else {
    DEUTERON_CHECK(type.dtype == DType::f32);
    std::memcpy(stored.data(), bytes, stored.size() * sizeof(float));
  }
  return to_user(port, type.shape, stored);
}

ByteSamples inputs_of(Isa isa, const Compilation& c, const Samples& samples) {
  ByteSamples all;
  for (const auto& sample : samples) {
    auto& inputs = all.emplace_back();
    for (size_t i = 0; i < c.graph.inputs.size(); ++i)
      inputs.push_back(
          bytes_of_input(isa, c.graph.inputs[i], c.graph.type(c.graph.inputs[i].value), sample[i]));
  }
  return all;
}

Outputs outputs_of(const Compilation& c, const ByteSamples& bytes) {
  Outputs outputs;
  for (const auto& of_sample : bytes) {
    auto& sample = outputs.emplace_back();
    for (size_t i = 0; i < of_sample.size(); ++i)
      sample.push_back(numbers_of_output(c.graph.outputs[i], c.graph.type(c.graph.outputs[i].value),
                                         of_sample[i].data()));
  }
  return outputs;
}

// On the host, under guard.
ByteSamples run_here(Isa isa, const Compilation& c, const Samples& samples) {
  const Block file(c.pte);
  Needs needs;
  const HostArena asking;
  DEUTERON_CHECK(measure(file.file(), kAllKernels, &needs).ok());
  const Block tables(needs.tables_bytes), planned(needs.planned_bytes, 0xA5), host(asking.bytes());
  Program program;
  const HostArena lent(host.memory());
  const Status loaded = program.load(file.file(), kAllKernels, tables.memory(), planned.memory());
  DEUTERON_CHECK(loaded.ok(), std::string("the program does not load: ") + loaded.detail);
  const UnloadAtEnd unload{program};
  GuardedRun run(program, kAllKernels, planned.memory());
  ByteSamples outputs;
  for (const auto& sample : inputs_of(isa, c, samples)) {
    for (size_t i = 0; i < sample.size(); ++i)
      DEUTERON_CHECK(
          program.set_input(static_cast<int32_t>(i), sample[i].data(), sample[i].size()).ok());
    DEUTERON_CHECK(run.run(0x5A).ok());
    auto& of_sample = outputs.emplace_back();
    for (int32_t i = 0; i < program.output_count(); ++i) {
      const Tensor& y = program.output(i);
      const auto* data = static_cast<const uint8_t*>(y.data);
      of_sample.emplace_back(data, data + static_cast<size_t>(y.numel) * element_bytes(y.type));
    }
  }
  return outputs;
}

std::optional<std::string> differ(const Outputs& a, const Outputs& b) {
  for (size_t s = 0; s < a.size(); ++s)
    for (size_t i = 0; i < a[s].size(); ++i) {
      if (a[s][i].size() != b[s][i].size())
        return fmt::format("output {} has {} numbers, not {}", i, b[s][i].size(), a[s][i].size());
      for (size_t k = 0; k < a[s][i].size(); ++k)
        if (std::memcmp(&a[s][i][k], &b[s][i][k], sizeof(float)) != 0)
          return fmt::format("sample {}, output {}, element {}: {}, not {}", s, i, k, b[s][i][k],
                             a[s][i][k]);
    }
  return std::nullopt;
}

// Some of it is computed in float: then other edges between float and int8 are other bits.
bool is_in_float(const Compilation& c) {
  for (const deuteron::Node& node : c.graph.nodes) {
    const KernelCall* call = call_of(node.op);
    if (!call || call->delegate || call->name.find("quantize_per_tensor") != std::string::npos)
      continue;
    for (const ValueId v : node.outputs)
      if (c.graph.type(v).dtype == DType::f32) return true;
  }
  return false;
}

struct Way {
  const char* name;
  void (*choose)(CompileOptions&, const Compilation& usual);
  bool needs_npu = false;
  bool int8_only = false;  // other bits where something is computed in float
  bool may_fail = false;   // by a limit
  bool on_board = false;   // also where the usual program ran on one
};

constexpr Way kWays[] = {
    {.name = "--dialect plain",
     .choose = [](CompileOptions& o, const Compilation&) { o.packed_weights = false; },
     .on_board = true},
    {.name = "--skip-pass split-rows",
     .choose = [](CompileOptions& o, const Compilation&) { o.skip_passes = {"split-rows"}; }},
    {.name = "--max-ram",
     .choose =
         [](CompileOptions& o, const Compilation& usual) {
           o.max_ram = std::max<i64>(64, usual.plan.bytes * 2 / 3);
         },
     .may_fail = true},
    {.name = "--io contiguous",
     .choose = [](CompileOptions& o, const Compilation&) { o.contiguous_io = true; }},
    {.name = "--io int8",
     .choose = [](CompileOptions& o, const Compilation&) { o.ports = PortTypes::steps; },
     .int8_only = true},
    {.name = "--neutron-option fetch_constants_to_sram=true",
     .choose = [](CompileOptions& o, const Compilation&) { o.npu.fetch_constants = true; },
     .needs_npu = true},
    {.name = "--profile",
     .choose = [](CompileOptions& o, const Compilation&) { o.npu.profile = true; },
     .needs_npu = true},
    {.name = "delegate_min_macs",
     .choose = [](CompileOptions& o, const Compilation&) { o.npu.min_macs = 1000000000; },
     .needs_npu = true,
     .int8_only = true},
    {.name = "--prefer fastest",
     .choose = [](CompileOptions& o, const Compilation&) { o.npu.prefer = "fastest"; },
     .needs_npu = true,
     .int8_only = true},
};

// As `deuteron compile` has them, on one thread.
CompileOptions options_of_tool() {
  CompileOptions options;
  options.packed_weights = true;
  options.threads = 1;
  return options;
}

class Check {
 public:
  Check(const Target& target, const RunOnBoard& board, Checked& checked)
      : target_(target), board_(board), checked_(checked) {}

  // Of float graphs: how they are quantized.
  NetworkPrecision precision = NetworkPrecision::int8;

  // A float graph, or one with its quantization, for which `calibration` is empty. The ways are
  // those of the latter: a float graph gets other ranges where calibration sees it otherwise, and
  // to search them takes most of the time.
  void all_ways(const Graph& graph, const Samples& calibration, const Samples& samples) {
    const std::string what = fmt::format("{}{}", calibration.empty() ? "quantized" : "float",
                                         precision == NetworkPrecision::int16 ? ", int16" : "");
    CompileOptions usual_options = options_of_tool();
    if (!calibration.empty()) usual_options.precision = precision;
    const std::optional<Compilation> usual = compiled(graph, calibration, usual_options);
    if (!usual) return;
    const auto bytes = run_here(target_.isa, *usual, samples);
    const Outputs expected = outputs_of(*usual, bytes);
    ++checked_.programs;
    again(graph, calibration, *usual, what);
    const bool in_float = is_in_float(*usual);
    if (board_ && !in_float)
      on_board(*usual, samples, bytes,
               what);  // the C library of the board has float functions of its own
    if (!calibration.empty()) return;
    for (const Way& way : kWays) {
      if ((way.needs_npu && !target_.npu) || (way.int8_only && in_float)) continue;
      CompileOptions options = usual_options;
      way.choose(options, *usual);
      Diagnostics diagnostics;
      const std::optional<Compilation> other = compile(graph, target_, {}, options, diagnostics);
      if (!other && way.may_fail) continue;
      if (!other)
        return fault(fmt::format("{}: refused: {}", way.name,
                                 format_diagnostic(diagnostics.list().front())));
      if (way.int8_only && is_in_float(*other)) continue;
      ++checked_.programs, ++checked_.compared;
      const auto other_bytes = run_here(target_.isa, *other, samples);
      if (const auto d = differ(expected, outputs_of(*other, other_bytes)))
        return fault(fmt::format("{}: {}", way.name, *d));
      if (board_ && way.on_board && !in_float) on_board(*other, samples, other_bytes, way.name);
    }
  }

  // The graph with its quantization, as a model that comes quantized.
  std::optional<Graph> quantized(const Graph& graph, const Samples& samples) {
    CompileOptions options = options_of_tool();
    options.precision = precision;
    options.stop_after = "quantize";
    std::optional<Compilation> c = compiled(graph, samples, options);
    return c ? std::optional(std::move(c->graph)) : std::nullopt;
  }

 private:
  void fault(const std::string& what) {
    if (!checked_.fault) checked_.fault = fmt::format("{}: {}", target_.name, what);
  }
  std::optional<Compilation> compiled(const Graph& graph, const Samples& samples,
                                      const CompileOptions& options) {
    Diagnostics diagnostics;
    std::optional<Compilation> c = compile(graph, target_, samples, options, diagnostics);
    DEUTERON_CHECK(c.has_value() != diagnostics.has_errors());
    return c;
  }
  // More threads, the same bytes.
  void again(const Graph& graph, const Samples& calibration, const Compilation& usual,
             const std::string& what) {
    CompileOptions options = options_of_tool();
    if (!calibration.empty()) options.precision = precision;
    options.threads = 3;
    const std::optional<Compilation> other = compiled(graph, calibration, options);
    if (!other || other->pte != usual.pte)
      fault(fmt::format("{} --threads 3: another program", what));
  }
  void on_board(const Compilation& c, const Samples& samples, const ByteSamples& bytes,
                const std::string& what) {
    const auto run = board_(target_.name, c.pte, inputs_of(target_.isa, c, samples));
    if (!run) return;
    ++checked_.compared;
    if (!run->error.empty()) fault(fmt::format("{} on {}: {}", what, run->board, run->error));
    else if (run->outputs != bytes) fault(fmt::format("{} on {}: other bits", what, run->board));
  }

  const Target& target_;
  const RunOnBoard& board_;
  Checked& checked_;
};

}  // namespace

namespace {
const Target& target_of(uint32_t choice) {
  static const std::vector<Target> kTargets = [] {
    std::vector<Target> targets;
    for (const char* name :
         {"cortex-m55", "imxrt700cm", "cortex-m33", "cortex-m4", "cortex-m3", "cortex-m0+"}) {
      Diagnostics diagnostics;
      std::optional<Target> target = find_target(name, diagnostics);
      DEUTERON_CHECK(target.has_value());
      targets.push_back(std::move(*target));
    }
    return targets;
  }();
  return kTargets[choice % kTargets.size()];
}
}  // namespace

Checked check_same_bits(const Graph& graph, uint32_t choice, const RunOnBoard& board) {
  const Samples samples = samples_of(graph);
  Checked checked;
  Check check(target_of(choice), board, checked);
  for (const NetworkPrecision precision :
       {NetworkPrecision::int8, NetworkPrecision::int16}) {  // the NPU refuses the latter
    check.precision = precision;
    check.all_ways(graph, samples, samples);
    if (const std::optional<Graph> quantized = check.quantized(graph, samples);
        quantized && !checked.fault)
      check.all_ways(*quantized, {}, samples);
  }
  return checked;
}

bool compiles(const Graph& graph, uint32_t choice) {
  constexpr NetworkPrecision kPrecisions[] = {NetworkPrecision::int8, NetworkPrecision::int16};
  CompileOptions options = options_of_tool();
  options.precision = kPrecisions[choice / 6 % 8 == 7];
  options.packed_weights = choice / 48 % 4 != 3;
  Diagnostics diagnostics;
  const std::optional<Compilation> c = compile(
      graph, target_of(choice), choice % 5 ? samples_of(graph) : Samples{}, options, diagnostics);
  DEUTERON_CHECK(c.has_value() != diagnostics.has_errors());
  if (!c) return false;
  const Block file(c->pte);
  Needs needs;
  DEUTERON_CHECK(measure(file.file(), kAllKernels, &needs).ok());
  return true;
}

}  // namespace deuteron::test
