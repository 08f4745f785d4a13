// SPDX-License-Identifier: Apache-2.0
// The options with which verbs compile a model.
#include "cli/model_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/data/option_number.h"
#include "cli/compile_model.h"
#include "cli/options.h"
#include "compile/compile.h"
#include "targets/nearest.h"

namespace deuteron {

namespace {

// From 0 to 9999, without an exponent.
std::optional<double> read_number(std::string_view text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 9999))
    return std::nullopt;
  return value;
}

// A limit of --precision: its name, the precisions that have it, and where it goes.
struct LimitRow {
  std::string_view name, of;
  bool is_percent;
  std::optional<double> PrecisionOption::*to;
};
constexpr LimitRow kLimits[] = {{"cost", "mixed", true, &PrecisionOption::max_cost},
                                {"db", "mixed int4", false, &PrecisionOption::target_db},
                                {"loss", "int4", false, &PrecisionOption::max_loss_db}};

std::string read_limit(std::string_view text, std::string_view kind, PrecisionOption& to) {
  const size_t equals = std::min(text.find('='), text.size());
  const auto row = std::ranges::find(kLimits, text.substr(0, equals), &LimitRow::name);
  if (row == std::end(kLimits) || row->of.find(kind) == row->of.npos)
    return fmt::format("{} has no limit `{}`: mixed has cost=N% and db=X, int4 has db=X and loss=X",
                       kind, text.substr(0, equals));
  std::string_view value = text.substr(std::min(equals + 1, text.size()));
  if (row->is_percent && value.ends_with('%')) value.remove_suffix(1);
  else if (row->is_percent) value = {};
  const std::optional<double> number = read_number(value);
  if (!number)
    return fmt::format("{} is not a limit: {} takes a number from 0 to 9999{}", text, row->name,
                       row->is_percent ? " and a %" : " of dB");
  to.*row->to = row->is_percent ? *number / 100 : *number;
  return "";
}

std::string check_pass(const std::string& name) {
  const std::vector<std::string> names = pass_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return "";
  return fmt::format("there is no pass `{}`: {}; passes: {}", name, suggestion(name, names),
                     fmt::join(names, ", "));
}
std::string check_stop(const std::string& text) {
  if (complaint_of(kRewrites, text).empty()) return "";
  const std::string complaint = check_pass(text);
  return complaint.empty() ? "" : complaint + "; or a number of rewrites";
}
std::string check_precision(const std::string& text) { return PrecisionOption().read(text); }
std::string check_ports(const std::string& text) { return PortsOption().read(text); }
std::string check_layer(const std::string& text) {
  if (read_layer(text) || cpu_layer(text)) return "";
  return fmt::format("{} is not NAME=KIND with a KIND of {} or cpu, as classifier=int16", text,
                     fmt::join(kNamedPrecisions, ", "));
}

}  // namespace

std::string PrecisionOption::read(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const auto found = read_precision<NetworkPrecision>(kNetworkPrecisions, name);
  if (!found)
    return fmt::format("{} is not a precision: {}", name, fmt::join(kNetworkPrecisions, ", "));
  kind = *found;
  std::string complaint;
  if (colon < text.size())
    for_each_part(text.substr(colon + 1), [&](std::string_view limit) {
      if (complaint.empty()) complaint = read_limit(limit, name, *this);
    });
  return complaint;
}

std::string PortsOption::read(std::string_view text) {
  std::string complaint;
  for_each_part(text, [&](std::string_view part) {
    if (part == "model") types = PortTypes::model;
    else if (part == "float") types = PortTypes::floats;
    else if (part == "int8") types = PortTypes::steps;
    else if (part == "contiguous") contiguous = true;
    else if (part == "u8") bytes.emplace_back();
    else if (part.ends_with("=u8")) bytes.emplace_back(part.substr(0, part.size() - 3));
    else
      complaint =
          fmt::format("{} is none of model, float, int8, contiguous, u8 and INPUT=u8", part);
  });
  return complaint;
}

void add_accuracy_options(Verb& verb, ModelOptions& o) {
  verb.group("Accuracy");
  verb.option("--precision", o.precision,
              "precision of a float model: int8 (default); int16; int4, which is int8 with 4-bit "
              "weights; or mixed, which is int8 with int16 in the layers that gain most. A limit "
              "follows a colon: mixed:cost=10% (at most 10 % more instructions than int8), "
              "mixed:db=30 or int4:db=30 (reach 30 dB on held-out samples), int4:loss=0.5 (lose at "
              "most 0.5 dB); see docs/precision.md")
      .value("KIND[:LIMIT]")
      .check(check_precision);
  verb.option("--layer", o.layers,
              "precision of one layer: int4, int8, int16 or float; cpu keeps it off the NPU. NAME "
              "is a node, a module or a kind of operator (`conv2d`, `aten.conv2d.default`); may be "
              "repeated, and the last match counts")
      .value("NAME=KIND")
      .one_each()
      .check(check_layer);
  verb.option("--observer", o.observer,
              "how int8 ranges are chosen: auto (default) also tunes channel scales and biases on "
              "the samples; minmax and histogram only set ranges")
      .value("KIND")
      .one_of({"auto", "minmax", "histogram"});
}

void add_npu_options(Verb& verb, ModelOptions& o) {
  verb.group("NPU");
  verb.option("--prefer", o.prefer,
              "what runs on the NPU: auto (default), all it supports, except forms that lose "
              "accuracy and small parts that are not worth a call; npu, all it supports; fastest, "
              "whatever the cost models find fastest")
      .value("KIND")
      .one_of({"auto", "npu", "fastest"});
  verb.flag("--profile", o.compile.npu.profile,
            "make the NPU report each of its kernels to a profile");
  verb.option("--neutron-converter", o.compile.npu.converter.path,
              "convert with the vendor's neutron-converter, instead of ours for the open model of "
              "the NPU")
      .value("PATH");
  verb.option(
          "--neutron-option", o.neutron_options,
          "an option of the NPU, named as in ExecuTorch: use_neutron_for_format_conversion (true: "
          "the NPU transposes at its border, false: the CPU does; default: the cheaper one); "
          "fetch_constants_to_sram=true; limit_seconds=N (stop the vendor's converter after N "
          "seconds); others go to the vendor's converter (`minNumOpsPerGraph=1`); may be repeated")
      .value("NAME=VALUE")
      .one_each();
  verb.option("--neutron-kernel-selection", o.kernel_selection,
              "write the list of NPU kernels that the program needs as a C file; an existing list "
              "is merged into it")
      .value("FILE");
}

static void add_look_inside_options(Verb& verb, ModelOptions& o) {
  verb.group("To look inside");
  verb.option("--intermediates", o.compile.intermediates,
              "write the graph after each pass to this folder")
      .value("DIR");
  verb.option("--stop-after", o.stop_after,
              "stop after this pass and print the graph; with a number: stop rewriting after N "
              "rewrites, to find a faulty one")
      .value("PASS|N")
      .check(check_stop);
  verb.option("--skip-pass", o.compile.skip_passes, "skip this pass; may be repeated")
      .value("PASS")
      .one_each()
      .check(check_pass);
}

void add_program_options(Verb& verb, ModelOptions& o) {
  verb.option(
          "model", o.model,
          "the model: a .pt2 (from torch.export.save), .tflite or .onnx file, or a graph as text")
      .value("M")
      .required();
  verb.option("--target", o.target,
              "the core or chip to compile for, from `deuteron targets` or `deuteron targets "
              "--chips`, or a .toml file of your own")
      .value("T")
      .required();
  add_files(verb, "--calibrate", o.calibrate,
            "typical inputs, from which the int8 ranges are chosen: an array, images or a folder "
            "of either; once for each input, in order, or one .npz for all inputs");
  verb.option("--io", o.io,
              "type of the inputs and outputs: model (default; floats, or the int8 tensors of a "
              "quantized .tflite), float, int8, or u8: a float input takes camera bytes, which "
              "mean (byte * scale - mean) / std (--image-scale, --image-mean, --image-std); "
              "INPUT=u8: only that input. Add contiguous for the model's order of axes in memory, "
              "even where that costs a transpose: --io int8,contiguous")
      .value("KIND[,KIND]")
      .check(check_ports);
  verb.number_or("least", kLeastRam, "--max-ram", o.compile.max_ram,
                 "limit the RAM for tensors: operators are computed in bands of rows until they "
                 "fit. least: as little RAM as possible with at most a tenth more multiply-adds. "
                 "Default: the target's memory")
      .value("BYTES|least")
      .positive();
  add_json(verb, o.json);
  verb.group("Model");
  add_input_shape(verb, o.input_shapes);
  add_state(verb, o.states);
  verb.option("--stream", o.compile.stream,
              "the input is a window that moves along this axis: compile a program that takes only "
              "the new frames in each call, and keeps what it needs of earlier ones; default: the "
              "smallest number of frames")
      .value("AXIS[=FRAMES]");
  add_part(verb, o.part);
  add_image_options(verb, o.image);
  add_accuracy_options(verb, o);
  add_npu_options(verb, o);
  verb.group("Program");
  verb.option("--dialect", o.dialect,
              "which kernels the program may call: deuteron (default), those of our runtime, with "
              "weights packed for the target; plain, the same without packed weights; stock, only "
              "those of stock ExecuTorch firmware, where an operator that needs ours is an error")
      .value("KIND")
      .one_of({"deuteron", "plain", "stock"});
  verb.group("Limits");
  verb.option("--threads", o.compile.threads,
              "worker threads; default: one for each processor; the result never depends on it")
      .value("N")
      .between(1, 1024);
}

void add_model_options(Verb& verb, ModelOptions& o) {
  add_program_options(verb, o);
  verb.group("Options");
  verb.option("--html", o.html, "write the report as a web page: placement, memory plan, reasons")
      .value("FILE");
  verb.flag("--strict", o.strict,
            "fail where an operator has no int8 kernel, instead of running it in float");
  verb.group("Program");
  verb.option("--firmware-ops", o.firmware_ops,
              "check that the firmware has all kernels that the program calls: a list of its "
              "kernels, or its ELF image, if it has our runtime")
      .value("FILE");
  verb.group("To look inside");
  verb.option("--explain", o.explain,
              "print why an operator runs where it does; NODE is its name, its module or its "
              "number in the model; may be repeated")
      .value("NODE")
      .one_each();
  add_look_inside_options(verb, o);
}

}  // namespace deuteron
