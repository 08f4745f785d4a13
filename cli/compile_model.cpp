// SPDX-License-Identifier: Apache-2.0
#include "cli/compile_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>

#include "base/data/inputs.h"
#include "base/files/read_file.h"
#include "cli/firmware_ops.h"
#include "cli/model_options.h"
#include "cli/unused_options.h"
#include "cli/watched_tool.h"
#include "compile/compile.h"
#include "compile/pass.h"
#include "compile/plan/homes.h"
#include "explain/report/explain.h"
#include "frontends/name_states.h"
#include "frontends/read_graph.h"
#include "kernels/dense/packing.h"
#include "targets/nearest.h"

namespace deuteron {
namespace {

constexpr int kMadeUpSamples = 8;

void refuse_portable(const ProgramReport& r, const std::string& model, Diagnostics& diagnostics) {
  for (const OperatorReport& op : r.operators)
    if (op.placement == Placement::portable)
      diagnostics.error(fmt::format("{}: {} `{}`", model, op.op, op.name),
                        "runs on a portable kernel, which --strict forbids: " + op.reason,
                        "target.strict", "change the model, or leave --strict out");
}

void refuse_own_dialect(const ProgramReport& r, const std::string& model,
                        Diagnostics& diagnostics) {
  for (const OperatorReport& op : r.operators)
    if (!op.is_stock)
      diagnostics.error(
          fmt::format("{}: {} `{}`, from {}", model, op.op, op.name, op.source),
          "is not an operator of the stock dialect, which --dialect stock asks for",
          "target.dialect",
          "leave --dialect out and link our kernels into the firmware, or change the model");
}

// Without the pass that lowers there are nodes that no program file can hold.
void refuse_unlowered(const Compilation& c, const std::string& model, Diagnostics& diagnostics) {
  for (const Node& node : c.graph.nodes)
    if (!c.pte.empty() && !call_of(node.op) && !takes_no_time(node.op))
      return diagnostics.error(
          fmt::format("{}: {}", model, describe(c.graph, node)),
          "is not a kernel call after the last pass that ran, so there is no program",
          "pipeline.not_lowered", "leave --skip-pass out, or look at the graph with --stop-after");
}

void read_precisions(const ModelOptions& o, CompileOptions& options) {
  PrecisionOption precision;
  precision.read(o.precision);
  options.precision = precision.kind;
  options.max_cost = precision.max_cost, options.target_db = precision.target_db,
  options.max_loss_db = precision.max_loss_db;
  options.may_use_float = !o.strict;
  for (const std::string& text : o.layers)
    if (const std::optional<std::string> name = cpu_layer(text))
      options.npu.exclude.push_back(*name);
    else options.layers.push_back(*read_layer(text));
}

// What ExecuTorch's partitioner and compile spec call so is ours; the rest goes to the vendor's
// converter.
void read_neutron_option(std::string_view text, NpuOptions& npu, Diagnostics& diagnostics) {
  std::optional<neutron::ConverterOption> option =
      neutron::read_converter_option(text, diagnostics);
  if (!option) return;
  const bool is_truth = option->value == "true" || option->value == "false";
  const auto refuse = [&](const char* allowed) {
    diagnostics.add({Severity::error, fmt::format("--neutron-option {}", text),
                     "is not a value of this option", option->value, allowed, "neutron.option",
                     ""});
  };
  if (option->name == "use_neutron_for_format_conversion") {
    if (!is_truth) return refuse("true or false");
    npu.format_conversion = option->value == "true" ? FormatConversion::npu : FormatConversion::cpu;
  } else if (option->name == "fetch_constants_to_sram") {
    if (!is_truth) return refuse("true or false");
    npu.fetch_constants = option->value == "true";
  } else if (option->name == "limit_seconds") {
    constexpr NumberRange kSeconds{.largest = 1e6, .sign = NumberRange::Sign::positive};
    if (!complaint_of(kSeconds, option->value).empty())
      return refuse("a number above 0, up to 1 000 000");
    npu.converter.limit_seconds = real_of(option->value);
  } else {
    npu.converter.options.push_back(*std::move(option));
  }
}

void read_stop(const std::string& text, CompileOptions& options) {
  if (text.empty() || !complaint_of(kRewrites, text).empty()) options.stop_after = text;
  else options.max_rewrites = std::stoll(text);
}

}  // namespace

std::optional<NamedLayer> read_layer(const std::string& text) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0) return std::nullopt;
  const auto precision =
      read_precision<NamedPrecision>(kNamedPrecisions, std::string_view(text).substr(at + 1));
  return precision ? std::optional(NamedLayer{text.substr(0, at), *precision}) : std::nullopt;
}

std::optional<std::string> cpu_layer(const std::string& text) {
  constexpr std::string_view kEnd = "=cpu";
  return text.size() > kEnd.size() && text.ends_with(kEnd)
             ? std::optional(text.substr(0, text.size() - kEnd.size()))
             : std::nullopt;
}

std::vector<NamedPath> inputs_of(const ModelOptions& o) {
  std::vector<NamedPath> paths = {{"the model", o.model},
                                  {"--firmware-ops", o.firmware_ops},
                                  {"--neutron-converter", o.compile.npu.converter.path}};
  if (o.target.ends_with(".toml")) paths.push_back({"--target", o.target});
  add_paths(paths, "--calibrate", o.calibrate);
  return paths;
}

std::vector<NamedPath> outputs_of(const ModelOptions& o) {
  return {
      {"--html", o.html}, {"--neutron-kernel-selection", o.kernel_selection}, {"--json", o.json}};
}

std::vector<InputSpec> float_inputs(const Graph& graph, const ByteInputs& byte_inputs) {
  std::vector<InputSpec> specs;
  for (const Port& p : graph.user_inputs())
    specs.push_back({p.name, graph.type(p.value).dtype, logical_shape(p, graph.type(p.value).shape),
                     byte_input(byte_inputs, specs.size()) != nullptr, p.steps});
  return specs;
}

// Those that --io u8 names. Whether they can be bytes is the compiler's question.
static ByteInputs read_byte_inputs(const ModelOptions& o, const PortsOption& ports,
                                   const Graph& graph, Diagnostics& diagnostics) {
  const auto inputs = graph.user_inputs();
  std::vector<std::string> names;
  for (const Port& p : inputs) names.push_back(p.name);
  ByteInputs bytes;
  for (const std::string& name : ports.bytes) {
    const auto at = name.empty() && inputs.size() == 1
                        ? names.begin()
                        : std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      diagnostics.error(
          o.model,
          name.empty() ? "--io u8: the model has several inputs"
                       : fmt::format("--io {}=u8: there is no such input", name),
          "input_format.name",
          fmt::format("give INPUT=u8 with one of the inputs: {}", fmt::join(names, ", ")));
      continue;
    }
    bytes.resize(inputs.size());
    bytes[static_cast<size_t>(at - names.begin())] = o.image;
  }
  return bytes;
}

// From the generator's bits directly, because the distributions of <random> differ between
// libraries.
Samples made_up_samples(const std::vector<InputSpec>& inputs) {
  std::mt19937 bits(kMadeUpSeed);
  Samples samples(kMadeUpSamples);
  for (auto& sample : samples)
    for (const InputSpec& input : inputs) {
      std::vector<float> values(static_cast<size_t>(numel(input.shape)));
      for (float& v : values)
        v = input.dtype == DType::f32 ? static_cast<float>(bits() >> 8) * 0x1p-23f - 1.0f
                                      : 0.0f;  // 0 is an index of any table
      sample.push_back(std::move(values));
    }
  return samples;
}

// What a float model's ranges are chosen on.
static bool read_samples(const ModelOptions& o, const Graph& graph, const ByteInputs& byte_inputs,
                         bool make_up_samples, CompiledModel& result, Diagnostics& diagnostics) {
  const std::vector<InputSpec> inputs = float_inputs(graph, byte_inputs);
  if (!o.calibrate.empty()) {
    std::optional<std::vector<InputSeries>> data =
        read_inputs(o.calibrate, inputs, {"--calibrate", o.image}, diagnostics);
    if (!data) return false;
    return result.samples = to_samples(*data), true;
  }
  if (is_quantized(graph)) return true;
  if (inputs.empty())
    return result.samples = made_up_samples(inputs),
           true;  // so many steps of a network that runs by itself
  constexpr size_t kMostNames = 10;
  std::string names;
  for (const InputSpec& i : std::span(inputs).first(std::min(inputs.size(), kMostNames)))
    names += fmt::format("{}`{}` [{}]", names.empty() ? "" : ", ", i.name, to_text(i.shape));
  if (inputs.size() > kMostNames) names += fmt::format(" and {} more", inputs.size() - kMostNames);
  if (!make_up_samples) {
    diagnostics.error(
        o.model,
        "a float model needs sample data to choose its int8 ranges, and no --calibrate is given",
        "calibrate.missing",
        fmt::format("give --calibrate F once for each input ({}): a .npy, .npz, .bin or image, or "
                    "a folder of typical "
                    "inputs; 32 samples are often enough",
                    names));
    return false;
  }
  diagnostics.warning(o.model,
                      fmt::format("no --calibrate: ranges come from {} made-up inputs between -1 "
                                  "and 1, so figures of accuracy mean nothing",
                                  kMadeUpSamples),
                      "calibrate.made_up",
                      fmt::format("give --calibrate F once for each input ({})", names));
  result.samples = made_up_samples(inputs);
  return result.made_up_samples = true;
}

void follow_recipe(const Target& target, CompileOptions& options) {
  const RecipeOptions& recipe = target.options;
  options.npu.prefer = recipe.prefer;
  options.npu.min_macs = std::max(options.npu.min_macs, recipe.min_macs);
  options.npu.fetch_constants |= recipe.fetch_constants;
  if (recipe.is_for_stock())  // its linear kernel has one multiplier; without MVE its 1x1
                              // convolution costs far more
    options.quantize.linear_weights =
        target.isa == Isa::mve ? LinearWeights::searched : LinearWeights::by_tensor;
}

std::optional<CompiledModel> compile_model(const ModelOptions& o, bool make_up_samples,
                                           Diagnostics& diagnostics) {
  // The cheap questions first, so that nobody waits for a misspelt name.
  std::optional<Target> target = find_target(o.target, diagnostics);
  if (!check_regular_file(o.model, diagnostics) || !target) return std::nullopt;
  return compile_model_for(std::move(*target), o, make_up_samples, diagnostics);
}

std::optional<CompiledModel> compile_model_for(Target target, const ModelOptions& o,
                                               bool make_up_samples, Diagnostics& diagnostics) {
  warn_of_npu_options(o, target, diagnostics);
  const InputShapes shapes = parse_input_shapes(o.input_shapes, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  std::optional<Graph> graph = read_graph(o.model, diagnostics, shapes, o.part);
  if (!graph) return std::nullopt;
  name_states(*graph, o.states, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  check_explain(*graph, o.explain, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;

  CompileOptions options = o.compile;
  PortsOption ports;
  ports.read(o.io);
  if (!ports.bytes.empty()) options.byte_inputs = read_byte_inputs(o, ports, *graph, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  CompiledModel result{std::move(target), {}, {}, {}, false};
  if (!read_samples(o, *graph, options.byte_inputs, make_up_samples, result, diagnostics))
    return std::nullopt;

  options.npu.converter.kernel_selection = !o.kernel_selection.empty();
  for (const std::string& text : o.neutron_options)
    read_neutron_option(text, options.npu, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  // What the command line does not say is the recipe's.
  if (!o.dialect.empty())
    result.target.options.dialect = o.dialect == "plain" ? "deuteron" : o.dialect;
  options.packed_weights = o.dialect != "plain" && !result.target.options.is_for_stock();
  const RecipeOptions& recipe = result.target.options;
  follow_recipe(result.target, options);
  if (!o.prefer.empty()) options.npu.prefer = o.prefer;
  options.npu.run_tool = watched_tool();
  options.ports = ports.types;
  options.contiguous_io = ports.contiguous;
  read_precisions(o, options);
  if (!o.stop_after.empty()) read_stop(o.stop_after, options);
  const bool is_tuned = o.observer == "auto";
  options.quantize.equalize = options.quantize.correct_bias =
      options.quantize.choose_bias_correction = is_tuned;
  if (o.observer == "minmax") options.quantize.observer = Observer::min_max;
  if (o.observer == "histogram") options.quantize.observer = Observer::histogram;
  std::optional<Compilation> compilation =
      compile(std::move(*graph), result.target, result.samples, options, diagnostics);
  if (!compilation) return std::nullopt;
  // ascending; accuracy is that of the others
  const std::vector<size_t>& left_out = compilation->quantization.left_out;
  for (size_t k = left_out.size(); k-- > 0;)
    result.samples.erase(result.samples.begin() + static_cast<std::ptrdiff_t>(left_out[k]));
  if (!compilation->pte.empty()) result.program = report_program(*compilation, result.target);
  refuse_unlowered(*compilation, o.model, diagnostics);
  if (recipe.is_for_stock()) refuse_own_dialect(result.program, o.model, diagnostics);
  if (o.strict) refuse_portable(result.program, o.model, diagnostics);
  if (!o.firmware_ops.empty())
    if (const auto firmware = FirmwareOps::read(o.firmware_ops, diagnostics))
      check_firmware(*compilation, *firmware, o.firmware_ops, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  result.compilation = std::move(*compilation);
  return result;
}

}  // namespace deuteron
