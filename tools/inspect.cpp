// deuteron inspect: what is in a file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "data/read_file.h"
#include "frontends/pt2/summary.h"
#include "tools/options.h"
#include "tools/program_file.h"
#include "tools/status_text.h"

namespace deuteron {
namespace {

struct InspectOptions {
  std::string file, json;
};

template <class T>
std::string lines_of_counts(const T& counts) {
  std::string text;
  for (const auto& [op, n] : counts) text += fmt::format("  {:5} x {}\n", n, op);
  return text;
}

Json as_json(const PteTensor& t) {
  return {{"dtype", name_of(t.type)}, {"sizes", t.sizes}, {"storage_order", t.order}, {"bytes", t.bytes}, {"offset", t.offset}};
}

int inspect_pte(const InspectOptions& o, Diagnostics& diagnostics) {
  const std::optional<ProgramFile> file = ProgramFile::open(o.file, diagnostics);
  if (!file) return finish(o.json, diagnostics, {}, "");
  const PteSummary& s = file->summary;
  std::string text = fmt::format("{}: program, {} bytes\n", o.file, s.file_bytes);
  Json json = {{"file", o.file},
               {"kind", "pte"},
               {"file_bytes", s.file_bytes},
               {"isa", s.isa.empty() ? Json() : Json(s.isa)},
               {"planned_bytes", s.planned_bytes},
               {"constants_bytes", s.constants_bytes},
               {"values", s.values},
               {"inputs", Json::array()},
               {"outputs", Json::array()},
               {"calls", Json::array()},
               {"operators", Json::object()}};
  text += fmt::format("instruction set: {}\n", s.isa.empty() ? "not said (not made by deuteron)" : s.isa);
  text += fmt::format("planned memory {} bytes, constants {} bytes, {} values\n", s.planned_bytes, s.constants_bytes, s.values);
  for (const bool input : {true, false}) {
    const std::vector<PteTensor>& list = input ? s.inputs : s.outputs;
    for (size_t i = 0; i < list.size(); ++i) {
      text += fmt::format("{}{}: {} at {}, {} bytes\n", input ? "input" : "output", i, to_text(list[i].type, list[i].sizes, list[i].order),
                          list[i].offset, list[i].bytes);
      json[input ? "inputs" : "outputs"].push_back(as_json(list[i]));
    }
  }
  std::map<std::string, i64> counts;
  for (const PteCall& c : s.calls) {
    ++counts[c.op];
    json["calls"].push_back({{"op", c.op}, {"args", c.args}});
  }
  json["operators"] = counts;
  text += "operators:\n" + lines_of_counts(counts) + "calls:\n";
  for (size_t k = 0; k < s.calls.size(); ++k) text += fmt::format("  {:3} {}({})\n", k, s.calls[k].op, fmt::join(s.calls[k].args, ", "));

  // Whether it would run here is a separate question.
  Needs needs;
  const Status status = measure(file->file(), kAllKernels, &needs);
  json["loads_on_host"] = status.ok();
  if (status.ok()) {
    json["tables_bytes"] = needs.tables_bytes;
    text += fmt::format("loads on this machine; tables {} bytes\n", needs.tables_bytes);
  } else {
    Diagnostic d = describe_status(o.file, status);
    d.severity = Severity::warning;
    diagnostics.add(std::move(d));
  }
  return finish(o.json, diagnostics, std::move(json), text);
}

Json as_json(const Pt2Summary::Weights& w) { return {{"tensors", w.tensors}, {"elements", w.elements}, {"bytes", w.bytes}}; }

int inspect_pt2(const InspectOptions& o, Diagnostics& diagnostics) {
  const std::optional<Pt2Summary> s = summarize_pt2(o.file, diagnostics);
  if (!s) return finish(o.json, diagnostics, {}, "");
  Json json = {{"file", o.file},
               {"kind", "pt2"},
               {"torch_version", s->torch_version},
               {"flavour", s->flavour},
               {"quantized", s->is_quantized},
               {"file_bytes", s->file_bytes},
               {"nodes", s->nodes},
               {"parameters", as_json(s->parameters)},
               {"buffers", as_json(s->buffers)},
               {"unused", as_json(s->unused)},
               {"inputs", Json::array()},
               {"outputs", Json::array()},
               {"operators", Json::object()},
               {"not_importable", Json::array()}};
  for (const bool input : {true, false})
    for (const Pt2Summary::Tensor& t : input ? s->inputs : s->outputs)
      json[input ? "inputs" : "outputs"].push_back(
          {{"name", t.name}, {"dtype", t.dtype}, {"sizes", t.shape}, {"channels_last", t.is_channels_last}, {"dynamic", t.is_dynamic}});
  for (const Pt2Summary::Operator& op : s->operators) {
    json["operators"][op.target] = op.count;
    if (!op.is_importable) json["not_importable"].push_back(op.target);
  }
  return finish(o.json, diagnostics, std::move(json), to_text(*s));
}

// By content, not by name.
int inspect(const InspectOptions& o) {
  Diagnostics diagnostics;
  const std::optional<std::vector<std::byte>> bytes = read_file(o.file, diagnostics);
  if (!bytes) return finish(o.json, diagnostics, {}, "");
  const auto has = [&](size_t at, const char* magic) { return bytes->size() >= at + 4 && std::memcmp(bytes->data() + at, magic, 4) == 0; };
  if (has(0, "PK\3\4")) return inspect_pt2(o, diagnostics);
  if (has(4, "ET12") || o.file.ends_with(".pte")) return inspect_pte(o, diagnostics);
  const char* kind = has(4, "TFL3")   ? "a TFLite model"
                     : has(4, "ED00") ? "an ETDump trace"
                     : has(4, "ETxx") ? "an ExecuTorch program of another version"
                                      : "of a kind that is not known";
  diagnostics.error(o.file, fmt::format("is {}; this version inspects .pte programs and .pt2 models", kind), "inspect.kind");
  return finish(o.json, diagnostics, {}, "");
}

}  // namespace

void add_inspect(CLI::App& app, Action& chosen) {
  InspectOptions* o = nullptr;
  CLI::App* verb =
      add_verb<InspectOptions>(app, chosen, "inspect", "show what is in a program or model", "deuteron inspect model.pte", inspect, o);
  verb->add_option("file", o->file, "a .pte or .pt2 file")->option_text("FILE")->required();
  add_json(verb, o->json);
}

}  // namespace deuteron
