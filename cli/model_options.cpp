// SPDX-License-Identifier: Apache-2.0
// The options with which verbs compile a model.
#include "cli/model_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "cli/compile_model.h"
#include "cli/options.h"
#include "compile/compile.h"
#include "targets/nearest.h"

namespace deuteron {

std::optional<double> read_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 9999)) return std::nullopt;
  return value;
}
std::optional<double> read_percent(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  const std::optional<double> percent = read_number(text.substr(0, text.size() - 1));
  return percent ? std::optional(*percent / 100) : std::nullopt;
}

namespace {

std::string check_pass(const std::string& name) {
  const std::vector<std::string> names = pass_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return "";
  return fmt::format("there is no pass `{}`: {}; passes: {}", name, suggestion(name, names), fmt::join(names, ", "));
}

std::string check_percent(const std::string& text) {
  return read_percent(text) ? "" : fmt::format("{} is no percentage: a number from 0 to 9999 and a %, as 10%", text);
}
std::string check_layer(const std::string& text) {
  return read_layer(text) ? "" : fmt::format("{} is not NAME=KIND with a KIND of {}, as classifier=int16", text, fmt::join(kNamedPrecisions, ", "));
}
std::string check_db(const std::string& text) {
  return read_number(text) ? "" : fmt::format("{} is no number of dB: from 0 to 9999, as 30 or 27.5", text);
}

}  // namespace

void add_accuracy_options(Verb& verb, ModelOptions& o) {
  verb.group("Accuracy");
  verb.option("--precision", o.precision,
              "of a float model: int8 (default); int16; int4: int8 with weights of four bits; mixed: int8, and int16 in the layers where "
              "it gains most (docs/precision.md)")
      .value("KIND")
      .one_of({std::begin(kNetworkPrecisions), std::end(kNetworkPrecisions)});
  verb.option("--layer", o.layers,
              "the precision of an operator (`conv2d`, `aten.conv2d.default`), a node or a module: int4, int8, int16 or float; the last one "
              "that names it counts; may be repeated")
      .value("NAME=KIND")
      .one_each()
      .check(check_layer);
  verb.option("--max-cost", o.max_cost,
              "of --precision mixed: the most instructions over those of int8, by the target's cost model; as accurate as that allows")
      .value("N%")
      .check(check_percent);
  verb.option("--target-db", o.target_db,
              "of --precision mixed or int4: signal to noise to reach, in dB, on samples held out of the calibration; as cheap as that can be")
      .value("X")
      .check(check_db);
  verb.option("--max-loss", o.max_loss,
              "of --precision int4: four bits only in layers where all together lose at most so many dB, on samples held out")
      .value("X")
      .check(check_db);
  verb.option("--observer", o.observer,
              "auto (default): ranges, scales of channels and biases are tuned on the samples; minmax or histogram: ranges alone, by that rule")
      .value("KIND")
      .one_of({"auto", "minmax", "histogram"});
}

void add_npu_options(Verb& verb, ModelOptions& o) {
  verb.group("NPU");
  verb.option("--neutron-exclude", o.compile.npu.exclude,
              "keep an operator (`conv2d`, `aten.conv2d.default`), a node or a module of the model off the NPU; may be repeated")
      .value("NAME")
      .one_each();
  verb.option("--prefer", o.prefer,
              "npu: wherever possible; auto (default): but for forms that cost accuracy and small parts that cost more than they save; "
              "fastest: by the cost models")
      .value("KIND")
      .one_of({"auto", "npu", "fastest"});
  verb.option("--delegate-min-macs", o.compile.npu.min_macs, "a connected part with fewer multiply-adds stays on the CPU")
      .value("N")
      .not_negative();
  verb.flag("--fetch-constants-to-sram", o.compile.npu.fetch_constants,
            "the NPU's constants lie in flash, which it cannot read: copy them to SRAM in time");
  verb.option(
          "--neutron-format-conversion", o.format_conversion,
          "who transposes at the NPU's border: npu, by kernels of its own; cpu, at flags of the payload; auto (default): what costs less")
      .value("KIND")
      .one_of({"auto", "npu", "cpu"});
  verb.flag("--profile", o.compile.npu.profile, "the NPU writes an event for each kernel");
  verb.option("--neutron-converter", o.compile.npu.converter.path,
              "the vendor's neutron-converter instead of ours for the open model of the machine")
      .value("PATH");
  verb.option("--neutron-converter-option", o.converter_options,
              "an option of the vendor's converter, as ExecuTorch or its command line names it (`minNumOpsPerGraph=1`); may be repeated")
      .value("NAME=VALUE")
      .one_each();
  verb.option("--neutron-converter-limit", o.compile.npu.converter.limit_seconds, "stop the vendor's converter after so many seconds")
      .value("SECONDS")
      .positive();
  verb.option("--neutron-kernel-selection", o.kernel_selection,
              "write the NPU kernels that the program needs as a C file; merged with those of a file that is there")
      .value("FILE");
}

static void add_look_inside_options(Verb& verb, ModelOptions& o) {
  verb.group("To look inside");
  verb.option("--intermediates", o.compile.intermediates, "write the graph after every pass to this folder")
      .value("DIR");
  verb.option("--stop-after", o.compile.stop_after, "stop after this pass").value("P").check(check_pass);
  verb.option("--dump-after", o.compile.dump_after, "print the graph after this pass").value("P").check(check_pass);
  verb.option("--skip-pass", o.compile.skip_passes, "leave this pass out; may be repeated")
      .value("P")
      .one_each()
      .check(check_pass);
  verb.option("--max-rewrites", o.compile.max_rewrites, "apply only so many rewrites, to find the one at fault")
      .value("N")
      .not_negative();
}

void add_program_options(Verb& verb, ModelOptions& o) {
  verb.option("model", o.model, "the model (.pt2, from torch.export.save; .tflite; .onnx; or a graph as text)").value("M").required();
  verb.option("--target", o.target, "what to compile for: a name from `deuteron targets`, or a .toml file").value("T").required();
  add_files(verb, "--calibrate", o.calibrate, "sample data of one input, once for each input in order; a .npz stands for all");
  verb.option("--io", o.io, "model (default): inputs and outputs as in the model, so a .tflite keeps its int8 tensors; float; int8: the quantized tensors")
      .value("KIND")
      .one_of({"model", "float", "int8"});
  verb.number_or("least", kLeastRam, "--max-ram", o.compile.max_ram,
                 "the plan may have so many bytes: operators are computed in bands of rows until it fits; least: as few as a tenth more "
                 "multiply-adds can reach; default: the target's memory")
      .value("BYTES|least")
      .positive();
  add_json(verb, o.json);
  verb.group("Model");
  add_input_shape(verb, o.input_shapes);
  add_state(verb, o.states);
  verb.option("--stream", o.compile.stream,
              "the input is a window that moves along this axis: the program takes its new frames alone and keeps what it needs of the "
              "others; default: the fewest frames")
      .value("AXIS[=FRAMES]");
  add_part(verb, o.part);
  verb.option(
          "--input-format", o.input_formats,
          "of an input of a float model: u8, the program takes bytes as a camera gives them, which stand for (byte * scale - mean) / std "
          "(--image-scale, --image-mean, --image-std); NAME=u8 where the model has several inputs; may be repeated")
      .value("[NAME=]u8")
      .one_each();
  add_image_options(verb, o.image);
  add_accuracy_options(verb, o);
  add_npu_options(verb, o);
  verb.group("Program");
  verb.option("--io-layout", o.io_layout,
              "auto (default): the order that costs no transpose; contiguous: the user's order, whatever it costs")
      .value("KIND")
      .one_of({"auto", "contiguous"});
  verb.option("--dialect", o.dialect,
              "deuteron (default): also kernels that only our runtime has; stock: for stock ExecuTorch firmware: plain weights, and an "
              "operator that needs a kernel of ours is an error")
      .value("KIND")
      .one_of({"deuteron", "stock"});
  verb.option("--weights", o.weights,
              "packed (default, but for --dialect stock): in the order in which the kernels of our runtime read them, for the instruction "
              "set of the target; plain: as stock kernels read them; never changes a bit of the result")
      .value("KIND")
      .one_of({"plain", "packed"});
  verb.group("Limits");
  verb.option("--threads", o.compile.threads, "worker threads; default: as many as the machine has; never changes the result")
      .value("N")
      .between(1, 1024);
}

void add_model_options(Verb& verb, ModelOptions& o) {
  add_program_options(verb, o);
  verb.group("Options");
  verb.option("--html", o.html, "write the report as one page: graph by placement, memory plan, reasons").value("FILE");
  verb.flag("--strict", o.strict, "an operator that no backend of the target takes is an error");
  verb.group("Program");
  verb.option("--firmware-ops", o.firmware_ops,
              "the kernels of the firmware that will run the program: a list, or an ELF image of ours; a missing one is an error")
      .value("FILE");
  verb.group("To look inside");
  verb.option("--explain", o.explain,
              "print why an operator went where it did: by its name, its module, or its number in the model; may be repeated")
      .value("NODE")
      .one_each();
  add_look_inside_options(verb, o);
}

}  // namespace deuteron
