// SPDX-License-Identifier: Apache-2.0
// deuteron report-bug: what a report of a fault needs, without the model's weights.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <nlohmann/json.hpp>

#include "base/files/write_file.h"
#include "base/printable.h"
#include "cli/command_line.h"
#include "cli/options.h"
#include "cli/output_paths.h"
#include "cli/verb.h"
#include "frontends/read_graph.h"
#include "ir/text.h"

namespace deuteron {
namespace {

struct ReportBug {
  std::string model, command, output, json;
  std::vector<std::string> shapes;
  ModelPart part;
};

std::string machine() {
  utsname u{};
  return uname(&u) == 0 ? fmt::format("{} {} {}", u.sysname, u.release, u.machine) : "not known";
}

int report_bug(const ReportBug& o) {
  Diagnostics diagnostics;
  const NamedPath read[] = {{"the model", o.model}};
  const NamedPath written[] = {{"-o", o.output}, {"--json", o.json}};
  if (!check_outputs(read, written, diagnostics)) return finish("", diagnostics, {}, "");
  const auto fail = [&] { return finish(o.json, diagnostics, {}, ""); };
  const InputShapes shapes = parse_input_shapes(o.shapes, diagnostics);
  if (diagnostics.has_errors()) return fail();
  const std::optional<Graph> graph = read_graph(o.model, diagnostics, shapes, o.part);
  if (!graph) return fail();
  std::string text = fmt::format("# deuteron {}, {}\n", DEUTERON_VERSION, machine());
  text +=
      "# Weights are made up: the same types and shapes, other numbers. Names are the model's.\n";
  if (!o.command.empty()) text += fmt::format("# {}\n", printable(o.command, Lines::escaped));
  text += print(*graph, {.all_constants = false, .no_weights = true});
  if (!write_file(o.output, {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
                  diagnostics))
    return fail();
  return finish(
      o.json, diagnostics, {{"file", o.output}, {"operators", graph->nodes.size()}},
      fmt::format("{}: {} and no weights; check that you may share the names in it, and that the "
                  "fault shows with it:\n    deuteron compile {} --target ...\n",
                  o.output, counted(static_cast<long long>(graph->nodes.size()), "operator"),
                  o.output));
}

}  // namespace

void add_report_bug(CommandLine& line) {
  ReportBug* o = nullptr;
  Verb verb = add_verb<ReportBug>(
      line, "report-bug",
      "write a bug report: versions, your command and the model's graph, without its weights",
      "deuteron report-bug model.pt2 --command \"compile --target cortex-m55\" -o bug.txt",
      report_bug, o);
  verb.option("model", o->model, "the model (.pt2, .tflite, .onnx)").value("M").required();
  verb.option("-o,--output", o->output,
              "the report to write: a graph as text, which every verb can read")
      .value("FILE")
      .required();
  verb.option("--command", o->command, "the command that failed").value("TEXT");
  add_json(verb, o->json);
  add_input_shape(verb, o->shapes);
  add_part(verb, o->part);
}

}  // namespace deuteron
