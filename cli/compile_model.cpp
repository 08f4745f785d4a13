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
                        "runs on a portable kernel, which --strict forbids: " + op.reason, "target.strict",
                        "change the model, or leave --strict out");
}

void refuse_own_dialect(const ProgramReport& r, const std::string& model, Diagnostics& diagnostics) {
  for (const OperatorReport& op : r.operators)
    if (!op.is_stock)
      diagnostics.error(fmt::format("{}: {} `{}`, from {}", model, op.op, op.name, op.source),
                        "is no operator of the stock dialect, which --dialect stock asks for", "target.dialect",
                        "leave --dialect out and link our kernels into the firmware, or change the model");
}

// Packed, unless stock firmware is to run the program.
bool choose_weights(const ModelOptions& o, const Target& target, CompileOptions& options, Diagnostics& diagnostics) {
  const bool stock = target.options.is_for_stock(), asked = o.weights == "packed";
  options.packed_weights = asked || (o.weights.empty() && !stock);
  const bool refused = asked && stock;
  if (refused)
    diagnostics.error(o.model, "packed weights need kernels that stock firmware lacks, and the dialect is stock", "target.packed",
                      "leave --weights packed out, or use --dialect deuteron");
  return !refused;
}

// Without the pass that lowers there are nodes that no program file can hold.
void refuse_unlowered(const Compilation& c, const std::string& model, Diagnostics& diagnostics) {
  for (const Node& node : c.graph.nodes)
    if (!c.pte.empty() && !call_of(node.op) && !takes_no_time(node.op))
      return diagnostics.error(fmt::format("{}: {}", model, describe(c.graph, node)),
                               "is no kernel call after the last pass that ran, so there is no program", "pipeline.not_lowered",
                               "leave --skip-pass out, or look at the graph with --stop-after");
}

// A limit of one precision belongs to no other.
void read_precisions(const ModelOptions& o, CompileOptions& options, Diagnostics& diagnostics) {
  using enum NetworkPrecision;
  options.precision = *read_precision<NetworkPrecision>(kNetworkPrecisions, o.precision);
  options.may_use_float = !o.strict;
  for (const std::string& text : o.layers) options.layers.push_back(*read_layer(text));
  if (!o.max_cost.empty()) options.max_cost = read_percent(o.max_cost);
  if (!o.target_db.empty()) options.target_db = read_number(o.target_db);
  if (!o.max_loss.empty()) options.max_loss_db = read_number(o.max_loss);
  const bool is_mixed = options.precision == mixed, is_int4 = options.precision == int4;
  const std::tuple<const char*, bool, const char*> limits[] = {{"--max-cost", options.max_cost && !is_mixed, "mixed"},
                                                               {"--target-db", options.target_db && !is_mixed && !is_int4, "mixed or int4"},
                                                               {"--max-loss", options.max_loss_db && !is_int4, "int4"}};
  for (const auto& [name, is_wrong, precision] : limits)
    if (is_wrong)
      diagnostics.error(o.model, fmt::format("{} is a limit of --precision {}, and the precision is {}", name, precision, o.precision),
                        "precision.not_mixed", fmt::format("add --precision {}, or leave {} out", precision, name));
}

}  // namespace

std::optional<NamedLayer> read_layer(const std::string& text) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0) return std::nullopt;
  const auto precision = read_precision<NamedPrecision>(kNamedPrecisions, std::string_view(text).substr(at + 1));
  return precision ? std::optional(NamedLayer{text.substr(0, at), *precision}) : std::nullopt;
}

std::vector<NamedPath> inputs_of(const ModelOptions& o) {
  std::vector<NamedPath> paths = {
      {"the model", o.model}, {"--firmware-ops", o.firmware_ops}, {"--neutron-converter", o.compile.npu.converter.path}};
  if (o.target.ends_with(".toml")) paths.push_back({"--target", o.target});
  add_paths(paths, "--calibrate", o.calibrate);
  return paths;
}

std::vector<NamedPath> outputs_of(const ModelOptions& o) {
  return {{"--html", o.html}, {"--neutron-kernel-selection", o.kernel_selection}, {"--json", o.json}};
}

std::vector<InputSpec> float_inputs(const Graph& graph, const ByteInputs& byte_inputs) {
  std::vector<InputSpec> specs;
  for (const Port& p : graph.user_inputs())
    specs.push_back({p.name, graph.type(p.value).dtype, logical_shape(p, graph.type(p.value).shape),
                     byte_input(byte_inputs, specs.size()) != nullptr, p.steps});
  return specs;
}

// Those that --input-format names. Whether they can be bytes is the compiler's question.
static ByteInputs read_input_formats(const ModelOptions& o, const Graph& graph, Diagnostics& diagnostics) {
  const auto inputs = graph.user_inputs();
  ByteInputs bytes;
  for (const std::string& text : o.input_formats) {
    const size_t equals = text.rfind('=');
    const std::string format = equals == text.npos ? text : text.substr(equals + 1),
                      name = equals == text.npos ? "" : text.substr(0, equals);
    std::vector<std::string> names;
    for (const Port& p : inputs) names.push_back(p.name);
    const auto at = equals == text.npos && inputs.size() == 1 ? names.begin() : std::find(names.begin(), names.end(), name);
    if (format != "u8")
      diagnostics.add({Severity::error, o.model, "--input-format: there is no such format", format, "u8", "input_format.kind", ""});
    else if (at == names.end())
      diagnostics.error(
          o.model,
          name.empty() ? "--input-format: the model has several inputs" : fmt::format("--input-format: there is no input `{}`", name),
          "input_format.name", fmt::format("NAME=u8, with one of the inputs: {}", fmt::join(names, ", ")));
    else {
      bytes.resize(inputs.size());
      bytes[static_cast<size_t>(at - names.begin())] = o.image;
    }
  }
  return bytes;
}

// From the generator's bits directly, because the distributions of <random> differ between libraries.
Samples made_up_samples(const std::vector<InputSpec>& inputs) {
  std::mt19937 bits(kMadeUpSeed);
  Samples samples(kMadeUpSamples);
  for (auto& sample : samples)
    for (const InputSpec& input : inputs) {
      std::vector<float> values(static_cast<size_t>(numel(input.shape)));
      for (float& v : values)
        v = input.dtype == DType::f32 ? static_cast<float>(bits() >> 8) * 0x1p-23f - 1.0f : 0.0f;  // 0 is an index of any table
      sample.push_back(std::move(values));
    }
  return samples;
}

// What a float model's ranges are chosen on.
static bool read_samples(const ModelOptions& o, const Graph& graph, const ByteInputs& byte_inputs, bool make_up_samples,
                         CompiledModel& result, Diagnostics& diagnostics) {
  const std::vector<InputSpec> inputs = float_inputs(graph, byte_inputs);
  if (!o.calibrate.empty()) {
    std::optional<std::vector<InputSeries>> data = read_inputs(o.calibrate, inputs, {"--calibrate", o.image}, diagnostics);
    if (!data) return false;
    return result.samples = to_samples(*data), true;
  }
  if (is_quantized(graph)) return true;
  if (inputs.empty()) return result.samples = made_up_samples(inputs), true;  // so many steps of a network that runs by itself
  std::string names;
  for (const InputSpec& i : inputs) names += fmt::format("{}`{}` [{}]", names.empty() ? "" : ", ", i.name, to_text(i.shape));
  if (!make_up_samples) {
    diagnostics.error(o.model, "a float model needs sample data to choose its int8 ranges, and no --calibrate is given",
                      "calibrate.missing",
                      fmt::format("give --calibrate F once for each input ({}): a .npy, .npz, .bin or image, or a folder of typical "
                                  "inputs; 32 samples are often enough",
                                  names));
    return false;
  }
  diagnostics.warning(
      o.model,
      fmt::format("no --calibrate: ranges come from {} made-up inputs between -1 and 1, so figures of accuracy mean nothing",
                  kMadeUpSamples),
      "calibrate.made_up", fmt::format("give --calibrate F once for each input ({})", names));
  result.samples = made_up_samples(inputs);
  return result.made_up_samples = true;
}

void follow_recipe(const Target& target, CompileOptions& options) {
  const RecipeOptions& recipe = target.options;
  options.npu.prefer = recipe.prefer;
  options.npu.min_macs = std::max(options.npu.min_macs, recipe.min_macs);
  options.npu.fetch_constants |= recipe.fetch_constants;
  if (recipe.is_for_stock())  // its linear kernel has one multiplier; without MVE its 1x1 convolution costs far more
    options.quantize.linear_weights = target.isa == Isa::mve ? LinearWeights::searched : LinearWeights::by_tensor;
}

std::optional<CompiledModel> compile_model(const ModelOptions& o, bool make_up_samples, Diagnostics& diagnostics) {
  // The cheap questions first, so that nobody waits for a misspelt name.
  std::optional<Target> target = find_target(o.target, diagnostics);
  if (!check_regular_file(o.model, diagnostics) || !target) return std::nullopt;
  return compile_model_for(std::move(*target), o, make_up_samples, diagnostics);
}

std::optional<CompiledModel> compile_model_for(Target target, const ModelOptions& o, bool make_up_samples, Diagnostics& diagnostics) {
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
  if (!o.input_formats.empty()) options.byte_inputs = read_input_formats(o, *graph, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  CompiledModel result{std::move(target), {}, {}, {}, false};
  if (!read_samples(o, *graph, options.byte_inputs, make_up_samples, result, diagnostics)) return std::nullopt;

  options.npu.converter.kernel_selection = !o.kernel_selection.empty();
  for (const std::string& text : o.converter_options)
    if (auto option = neutron::read_converter_option(text, diagnostics)) options.npu.converter.options.push_back(std::move(*option));
  if (diagnostics.has_errors()) return std::nullopt;
  // What the command line does not say is the recipe's.
  if (!o.dialect.empty()) result.target.options.dialect = o.dialect;
  const RecipeOptions& recipe = result.target.options;
  follow_recipe(result.target, options);
  if (!o.prefer.empty()) options.npu.prefer = o.prefer;
  options.npu.run_tool = watched_tool();
  if (o.format_conversion == "npu") options.npu.format_conversion = FormatConversion::npu;
  if (o.format_conversion == "cpu") options.npu.format_conversion = FormatConversion::cpu;
  if (!choose_weights(o, result.target, options, diagnostics)) return std::nullopt;
  options.ports = o.io == "model" ? PortTypes::model : o.io == "float" ? PortTypes::floats : PortTypes::steps;
  options.contiguous_io = o.io_layout == "contiguous";
  read_precisions(o, options, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  const bool is_tuned = o.observer == "auto";
  options.quantize.equalize = options.quantize.correct_bias = options.quantize.choose_bias_correction = is_tuned;
  if (o.observer == "minmax") options.quantize.observer = Observer::min_max;
  if (o.observer == "histogram") options.quantize.observer = Observer::histogram;
  std::optional<Compilation> compilation = compile(std::move(*graph), result.target, result.samples, options, diagnostics);
  if (!compilation) return std::nullopt;
  const std::vector<size_t>& left_out = compilation->quantization.left_out;  // ascending; accuracy is that of the others
  for (size_t k = left_out.size(); k-- > 0;) result.samples.erase(result.samples.begin() + static_cast<std::ptrdiff_t>(left_out[k]));
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
