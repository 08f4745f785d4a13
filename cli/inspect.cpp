// SPDX-License-Identifier: Apache-2.0
// deuteron inspect: what is in a file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/read_file.h"
#include "base/files/write_file.h"
#include "cli/inspect_model.h"
#include "cli/inspect_trace.h"
#include "cli/options.h"
#include "cli/output_paths.h"
#include "cli/program_file.h"
#include "cli/trust.h"
#include "explain/inspect/file_map.h"
#include "explain/inspect/page.h"
#include "explain/inspect/stock_view.h"
#include "explain/report/program_map.h"
#include "explain/traces/read_etdump.h"
#include "explain/traces/read_etrecord.h"
#include "frontends/onnx/file/open.h"
#include "ops/kernel_call/called_kernels.h"
#include "runtime/signature.h"
#include "targets/target.h"
#include "write/firmware/isa_called.h"
#include "write/pte/status_text.h"

namespace deuteron {
namespace {

template <class T>
std::string lines_of_counts(const T& counts) {
  std::string text;
  for (const auto& [op, n] : counts) text += fmt::format("  {:5} x {}\n", n, op);
  return text;
}

Json as_json(const PteTensor& t) {
  return {{"dtype", name_of(t.type)},
          {"sizes", t.sizes},
          {"storage_order", t.order},
          {"bytes", t.bytes},
          {"offset", t.offset}};
}

std::vector<int> numbers(const uint8_t* bytes, int32_t count) { return {bytes, bytes + count}; }

std::string text_of(const PteDelegate& d) {
  std::string text = fmt::format("{}, payload {} bytes {}\n", d.id, d.payload_bytes,
                                 d.is_inline ? "in the tables" : "in a segment");
  for (const auto& [key, value] : d.options)
    text += fmt::format("      option {} = {}\n", key, value);
  if (!d.fault.empty()) text += fmt::format("      damaged: {}\n", d.fault);
  std::map<std::string, i64> counts;
  for (const std::string& k : d.kernels) ++counts[k];
  const auto add_kernels = [&] {
    for (const auto& [name, n] : counts) text += fmt::format("      {:5} x {}\n", n, name);
  };
  if (d.planned_bytes) {
    text += fmt::format("      a program of ours, planned memory {} bytes\n", *d.planned_bytes);
  }
  for (const auto& [name, bytes] : d.bytes_of)
    text += fmt::format("      {} {} bytes\n", name, bytes);
  if (!d.neutron) return add_kernels(), text;
  const NeutronPayload& p = *d.neutron;
  text += fmt::format(
      "      version {}, {} arguments; inputs: arguments [{}], channels last [{}]; outputs [{}], "
      "channels last [{}]\n",
      p.version, p.arguments, fmt::join(numbers(p.input_map, p.inputs), ", "),
      fmt::join(numbers(p.input_flags, p.inputs), ", "),
      fmt::join(numbers(p.output_map, p.outputs), ", "),
      fmt::join(numbers(p.output_flags, p.outputs), ", "));
  text += fmt::format(
      "      microcode {} bytes ({}), weights {}, kernels {}; scratch {}, fetched weights {}, "
      "profile {}, debug {}\n",
      p.microcode_bytes,
      p.is_open_model
          ? fmt::format("open machine model, {} kernel calls{}", p.kernel_calls,
                        d.assumed_kernels > 0
                            ? fmt::format(", {} of them assumed to exist", d.assumed_kernels)
                            : "")
      : d.is_vendors ? "the vendor's: --etrecord names its kernels"
                     : "of the open machine model in another version",
      p.weights_bytes, p.kernels_bytes, p.scratch_bytes, p.sram_bytes, p.profile_bytes,
      p.debug_bytes);
  add_kernels();
  return text;
}

Json as_json(const PteDelegate& d) {
  Json json = {{"id", d.id},
               {"payload_bytes", d.payload_bytes},
               {"inline", d.is_inline},
               {"options", Json::object()}};
  for (const auto& [key, value] : d.options) json["options"][key] = value;
  if (!d.fault.empty()) json["fault"] = d.fault;
  if (d.planned_bytes)
    json["program"] = {{"planned_bytes", *d.planned_bytes}, {"calls", d.kernels}};
  else if (!d.neutron && !d.kernels.empty()) json["calls"] = d.kernels;
  for (const auto& [name, bytes] : d.bytes_of) json["bytes"][name] = bytes;
  if (!d.neutron) return json;
  const NeutronPayload& p = *d.neutron;
  json["neutron"] = {{"version", p.version},
                     {"arguments", p.arguments},
                     {"input_arguments", numbers(p.input_map, p.inputs)},
                     {"input_channels_last", numbers(p.input_flags, p.inputs)},
                     {"output_arguments", numbers(p.output_map, p.outputs)},
                     {"output_channels_last", numbers(p.output_flags, p.outputs)},
                     {"microcode_bytes", p.microcode_bytes},
                     {"weights_bytes", p.weights_bytes},
                     {"kernels_bytes", p.kernels_bytes},
                     {"scratch_bytes", p.scratch_bytes},
                     {"fetched_weights_bytes", p.sram_bytes},
                     {"profile_bytes", p.profile_bytes},
                     {"debug_bytes", p.debug_bytes},
                     {"open_model", p.is_open_model},
                     {"vendor_microcode", d.is_vendors},
                     {"kernel_calls", d.kernels},
                     {"assumed_kernel_calls", d.assumed_kernels}};
  return json;
}

// Which versions of what a program asks for are told by names: its dialect by the namespace of its
// calls, how its weights are packed by their overloads ("deuteron::packed_conv2d.mve_4x16").
struct Versions {
  std::string dialect = "stock";
  std::set<std::string> packings;
};
Versions versions_of(const PteSummary& s) {
  Versions v;
  for (const PteCall& c : s.calls) {
    if (!c.op.starts_with("deuteron::")) continue;
    v.dialect = "deuteron";
    const std::string overload = c.op.substr(c.op.rfind('.') + 1);
    if (c.op.starts_with("deuteron::packed_")) v.packings.insert(overload);
  }
  return v;
}

// "bytes, (byte * 0.0039 - 0) / 1": what the file says of an input.
std::string format_of(const ImageMap& map) {
  const auto list = [](const std::vector<float>& v, const char* otherwise) {
    return v.empty()       ? otherwise
           : v.size() == 1 ? fmt::format("{:g}", v[0])
                           : fmt::format("[{:g}]", fmt::join(v, ", "));
  };
  return fmt::format("a byte stands for (byte * {:g} - {}) / {}", map.scale, list(map.mean, "0"),
                     list(map.std, "1"));
}

// The memories, and where inputs and outputs lie in them.
void tell_memory(const PteSummary& s, std::string& text, Json& json) {
  text += fmt::format("planned memory {} bytes, constants {} bytes, {} values\n", s.planned_bytes,
                      s.constants_bytes, s.values);
  for (const PteMemory& m : s.memories) {
    text += fmt::format("  memory {}: {} bytes at {}, {} of them copies of constants\n", m.name,
                        m.bytes, m.begin, m.copied_bytes);
    json["memories"].push_back({{"name", m.name},
                                {"begin", m.begin},
                                {"bytes", m.bytes},
                                {"copied_bytes", m.copied_bytes}});
  }
  for (const bool input : {true, false}) {
    const std::vector<PteTensor>& list = input ? s.inputs : s.outputs;
    for (size_t i = 0; i < list.size(); ++i) {
      text += fmt::format("{}{}: {} at {}, {} bytes\n", input ? "input" : "output", i,
                          to_text(list[i].type, list[i].sizes, list[i].order), list[i].offset,
                          list[i].bytes);
      json[input ? "inputs" : "outputs"].push_back(as_json(list[i]));
      if (const Quant& steps = list[i].steps; !steps.empty()) {
        text += fmt::format("  a step stands for (step {} {}) * {}\n",
                            steps.zero_point[0] < 0 ? '+' : '-', std::abs(steps.zero_point[0]),
                            steps.scale[0]);
        json[input ? "inputs" : "outputs"].back().update(
            {{"scale", steps.scale[0]}, {"zero_point", steps.zero_point[0]}});
      }
      if (const ImageMap* map = input ? byte_input(s.byte_inputs, i) : nullptr) {
        text += fmt::format("  {}\n", format_of(*map));
        json["inputs"].back()["stands_for"] = {
            {"scale", map->scale}, {"mean", map->mean}, {"std", map->std}};
      }
    }
  }
}

// The kernels of its calls on the core that is asked for, else the usual one with its instructions.
std::optional<std::vector<CalledKernels>> called_on(const InspectOptions& o,
                                                    const ProgramFile& file,
                                                    Diagnostics& diagnostics) {
  std::string isa = file.summary.isa;
  if (!o.target.empty()) {
    const std::optional<Target> target = find_target(o.target, diagnostics);
    if (!target) return std::nullopt;
    if (!isa.empty() && isa != name_of(target->isa)) {
      diagnostics.add({Severity::error, o.file,
                       fmt::format("is for other instructions than {} has", target->name), isa,
                       name_of(target->isa), "inspect.target",
                       "leave --target out, or name a core that has them"});
      return std::nullopt;
    }
    isa = name_of(target->isa);
  }
  const std::optional<Isa> known = isa_called(isa);
  return known ? called_kernels(file.file(), *known, usual_features(*known)) : std::nullopt;
}

// The record that was written with the program: it names the kernels inside the NPU's calls.
bool read_record(const InspectOptions& o, const ProgramFile& file, std::optional<SourceMap>& record,
                 Diagnostics& diagnostics) {
  if (o.etrecord.empty()) return true;
  const std::optional<std::vector<std::byte>> content = read_file(o.etrecord, diagnostics);
  if (!content || !check_signature(*content, o.etrecord, o.verify_key, diagnostics)) return false;
  record = read_etrecord(*content, o.etrecord, diagnostics);
  if (!record) return false;
  const File bytes = without_signature(file.file());
  const std::string id = program_id_text({static_cast<const uint8_t*>(bytes.data), bytes.bytes});
  if (record->program_id.empty() || record->program_id == id) return true;
  diagnostics.add({Severity::error, o.etrecord, "is the record of another program",
                   record->program_id, id, "inspect.program_id",
                   "use the record that was written together with the program: deuteron compile "
                   "--etrecord FILE"});
  return false;
}

// "Conv2DStandardV1: conv1, relu"
std::string text_of(const MapKernel& kernel, const SourceMap& record) {
  std::vector<std::string> names;
  for (const i64 id : kernel.operators)
    names.push_back(record.operators[static_cast<size_t>(id)].name);
  return fmt::format("{}{}{}", kernel.kernel, names.empty() ? "" : ": ", fmt::join(names, ", "));
}

// Whether it runs here is another question.
void tell_whether_it_runs(const ProgramFile& file, std::string& text, Json& json,
                          Diagnostics& diagnostics) {
  Needs needs;
  const Status status = measure(file.file(), kAllKernels, &needs);
  Diagnostics why_not;
  const bool runs = file.runs_off_chip(why_not);
  json["loads_on_host"] = status.ok() && runs;
  if (!status.ok()) {
    Diagnostic d = describe_status(file.path, status);
    d.severity = Severity::warning;
    diagnostics.add(std::move(d));
  } else if (runs) {
    json["tables_bytes"] = needs.tables_bytes;
    text += fmt::format("loads on this machine; tables {} bytes\n", needs.tables_bytes);
  } else {
    text += fmt::format("runs on the chip alone, with the vendor's microcode; here: {}\n",
                        kRunsOffChip);
  }
}

// `called`: the kernels of a core for each call. `record`: those of the NPU.
void tell_calls(const PteSummary& s, const std::optional<std::vector<CalledKernels>>& called,
                const std::optional<SourceMap>& record, std::string& text, Json& json) {
  text += "calls:\n";
  for (size_t k = 0; k < s.calls.size(); ++k) {
    const PteCall& c = s.calls[k];
    text += fmt::format("  {:3} {}({})\n", k, c.op, fmt::join(c.args, ", "));
    Json j = {{"op", c.op}, {"args", c.args}};
    if (called) {
      const CalledKernels& kernels = (*called)[k];
      j["kernels"] = kernels.names, j["other_kernels"] = kernels.why_not;
      if (!kernels.names.empty()) text += fmt::format("      {}\n", text_of(kernels));
    }
    if (const MapKernel* recorded = record ? record->call(static_cast<i64>(k)) : nullptr)
      for (const MapKernel& kernel : recorded->inside) {
        const std::string line = text_of(kernel, *record);
        text += fmt::format("      {}\n", line);
        j["npu_kernels"].push_back(line);
      }
    json.push_back(std::move(j));
  }
}

// What is drawn: --html with a record shows the model's operators, without one the calls.
bool write_views(const InspectOptions& o, const ProgramFile& file,
                 const std::optional<SourceMap>& record, Diagnostics& diagnostics) {
  if (!o.html.empty() && record &&
      !write_page(o.html, report_page(record->json, {{"program", o.file}}), diagnostics))
    return false;
  const bool draws_calls = !o.html.empty() && !record;
  if (!draws_calls && o.stock_view.empty()) return true;
  PteSummary with_tensors = file.summary;
  if (const Status s = read_call_tensors(file.file(), with_tensors); !s.ok())
    return diagnostics.add(describe_status(o.file, s)), false;
  const File bytes = without_signature(file.file());
  const std::string id = program_id_text({static_cast<const uint8_t*>(bytes.data), bytes.bytes});
  return (!draws_calls ||
          write_page(o.html,
                     report_page(map_of_program(with_tensors, o.file, id), {{"of", "calls"}}),
                     diagnostics)) &&
         (o.stock_view.empty() ||
          write_file(o.stock_view, stock_view(with_tensors, file.file()), diagnostics));
}

int inspect_pte(const InspectOptions& o, Diagnostics& diagnostics) {
  const std::optional<ProgramFile> file = ProgramFile::open(o.file, diagnostics, {}, o.method);
  if (!file) return finish(o.json, diagnostics, {}, "");
  const PteSummary& s = file->summary;
  std::string text = fmt::format("{}: program, {} bytes\n", o.file, s.file_bytes);
  Json json = {{"file", o.file},
               {"kind", "pte"},
               {"methods", s.methods},
               {"file_bytes", s.file_bytes},
               {"isa", s.isa.empty() ? Json() : Json(s.isa)},
               {"planned_bytes", s.planned_bytes},
               {"constants_bytes", s.constants_bytes},
               {"values", s.values},
               {"inputs", Json::array()},
               {"outputs", Json::array()},
               {"calls", Json::array()},
               {"delegates", Json::array()},
               {"operators", Json::object()}};
  if (s.methods.size() > 1)
    text += fmt::format("method {} of {}\n", file->method, fmt::join(s.methods, ", "));
  text += fmt::format("instruction set: {}\n",
                      s.isa.empty() ? "not said (not made by deuteron)" : s.isa);
  const Versions versions = versions_of(s);
  text += fmt::format("dialect: {}{}{}\n", versions.dialect,
                      versions.packings.empty() ? "" : ", weights packed as ",
                      fmt::join(versions.packings, ", "));
  json["dialect"] = versions.dialect;
  json["packings"] = versions.packings;
  if (s.state_bytes > 0)
    text += fmt::format("state {} bytes of the planned memory, from call to call\n", s.state_bytes);
  tell_signature({file->bytes.data(), file->bytes.size()}, text, json);
  tell_memory(s, text, json);
  std::map<std::string, i64> counts;
  const std::optional<std::vector<CalledKernels>> called = called_on(o, *file, diagnostics);
  std::optional<SourceMap> record;
  if (diagnostics.has_errors() || !read_record(o, *file, record, diagnostics))
    return finish(o.json, diagnostics, {}, "");
  for (const PteCall& c : s.calls) ++counts[c.op];
  json["operators"] = counts;
  if (!s.delegates.empty()) text += "delegates:\n";
  for (size_t i = 0; i < s.delegates.size(); ++i) {
    text += fmt::format("  {:3} {}", i, text_of(s.delegates[i]));
    json["delegates"].push_back(as_json(s.delegates[i]));
  }
  text += "operators:\n" + lines_of_counts(counts);
  tell_calls(s, called, record, text, json["calls"]);
  if (!write_views(o, *file, record, diagnostics)) return finish(o.json, diagnostics, {}, "");
  tell_whether_it_runs(*file, text, json, diagnostics);
  return finish(o.json, diagnostics, std::move(json), text);
}

enum class FileKind : uint8_t {
  trace,
  record,
  pt2,
  tflite,
  onnx,
  program,
  another_program,
  unknown
};

// By content, not by name, but for what is damaged.
FileKind kind_of(const std::string& file, const std::vector<std::byte>& bytes) {
  const auto has = [&](size_t at, const char* magic) {
    return bytes.size() >= at + 4 && std::memcmp(bytes.data() + at, magic, 4) == 0;
  };
  if (is_etdump(bytes)) return FileKind::trace;
  if (has(0, "PK\3\4")) return is_etrecord(bytes) ? FileKind::record : FileKind::pt2;
  if (has(4, "TFL3")) return FileKind::tflite;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (file.ends_with(".onnx") || (!has(4, "ET12") && onnx::may_be_onnx(text)))
    return FileKind::onnx;
  if (has(4, "ET12") || file.ends_with(".pte")) return FileKind::program;
  return has(4, "ETxx") ? FileKind::another_program : FileKind::unknown;
}

// What is asked of another kind of file than this is.
bool refuse_options(const InspectOptions& o, FileKind kind, Diagnostics& diagnostics) {
  const bool trace = kind == FileKind::trace, program = kind == FileKind::program;
  const auto refuse = [&](const std::string& what, const char* fix) {
    diagnostics.error(o.file, what, "inspect.kind", fix);
    return true;
  };
  if (!o.stock_view.empty() && !program)
    return refuse("is not a program, which --stock-view needs",
                  "Netron opens .pt2, .tflite and .onnx as they are");
  if (!o.html.empty() && kind == FileKind::record)
    return refuse("is a record, of which there is no page",
                  "give it with its program or a trace: --etrecord FILE");
  for (const auto& [option, value] : {std::pair("--etrecord", &o.etrecord),
                                      {"--csv", &o.csv},
                                      {"--trace", &o.trace},
                                      {"--baseline", &o.baseline}})
    if (!value->empty() && !trace && !(program && value == &o.etrecord))
      return refuse(fmt::format("is not an ETDump trace, which {} needs", option),
                    "write one: deuteron profile PROGRAM --input F -o FILE");
  if (o.target.empty() || kind == FileKind::program) return false;
  diagnostics.error(o.file, "is not a program, which --target needs", "inspect.kind",
                    "leave --target out, or inspect what deuteron compile makes of the model");
  return true;
}

int inspect(const InspectOptions& o) {
  Diagnostics diagnostics;
  const NamedPath read[] = {{"the file", o.file},
                            {"--etrecord", o.etrecord},
                            {"--baseline", o.baseline},
                            {"--baseline-etrecord", o.baseline_etrecord},
                            {"--verify-key", o.verify_key}};
  const NamedPath written[] = {{"--csv", o.csv},
                               {"--trace", o.trace},
                               {"--html", o.html},
                               {"--stock-view", o.stock_view},
                               {"--json", o.json}};
  if (!check_outputs(read, written, diagnostics)) return finish("", diagnostics, {}, "");
  const std::optional<std::vector<std::byte>> bytes = read_file(o.file, diagnostics);
  if (!bytes) return finish(o.json, diagnostics, {}, "");
  const FileKind kind = kind_of(o.file, *bytes);
  if (kind != FileKind::trace && !check_signature(*bytes, o.file, o.verify_key, diagnostics))
    return finish(o.json, diagnostics, {}, "");
  if (refuse_options(o, kind, diagnostics)) return finish(o.json, diagnostics, {}, "");
  switch (kind) {
    case FileKind::trace:
      return inspect_trace(o, *bytes);
    case FileKind::record:
      return inspect_etrecord(o, *bytes);
    case FileKind::pt2:
      return inspect_pt2(o, diagnostics);
    case FileKind::tflite:
      return inspect_tflite(o, diagnostics);
    case FileKind::onnx:
      return inspect_onnx(o, diagnostics);
    case FileKind::program:
      return inspect_pte(o, diagnostics);
    case FileKind::another_program:
    case FileKind::unknown:
      break;
  }
  const char* what = kind == FileKind::another_program ? "an ExecuTorch program of another version"
                                                       : "not a file that can be inspected";
  diagnostics.error(o.file,
                    fmt::format("is {}; this version inspects .pte programs, .pt2, .tflite and "
                                ".onnx models, ETDump traces and ETRecords",
                                what),
                    "inspect.kind");
  return finish(o.json, diagnostics, {}, "");
}

}  // namespace

void add_inspect(CommandLine& line) {
  InspectOptions* o = nullptr;
  Verb verb = add_verb<InspectOptions>(
      line, "inspect", "show what is in a program or model, or where the time in a trace went",
      "deuteron inspect model.pte\n  deuteron inspect trace.etdp --etrecord model.etrecord --html "
      "profile.html",
      inspect, o);
  verb.option("file", o->file,
              "a .pte, .pt2, .tflite or .onnx file, a trace (ETDump) or a record (ETRecord)")
      .value("FILE")
      .required();
  const auto file = [&](const char* name, std::string& path, const char* help) {
    verb.option(name, path, help).value("FILE");
  };
  verb.option("--target", o->target,
              "of a program: the core whose kernels are shown; default: a usual one with the "
              "program's instruction set")
      .value("T");
  file("--etrecord", o->etrecord,
       "the record that was written with the program: shows a trace by operator and module, and in "
       "a program the NPU's kernels and their operators");
  file("--csv", o->csv, "of a trace: write the tables as CSV");
  file("--trace", o->trace, "of a trace: write it for ui.perfetto.dev or chrome://tracing");
  file("--html", o->html,
       "write a web page: a trace's timeline and tables, or the graph of a model or program (with "
       "--etrecord that of its model)");
  file("--stock-view", o->stock_view,
       "of a program: write its calls as a .tflite file, to look at in Netron or Model Explorer");
  file("--baseline", o->baseline, "of a trace: compare it with this earlier trace");
  file("--baseline-etrecord", o->baseline_etrecord,
       "the record of the earlier trace; default: --etrecord, if both are of the same program");
  verb.option("--rows", o->rows, "of a trace: rows of each table; default 30, 0 for all")
      .value("N");
  add_input_shape(verb, o->shapes);
  add_method(verb, o->method);
  add_verify_key(verb, o->verify_key);
  add_json(verb, o->json);
}

}  // namespace deuteron
