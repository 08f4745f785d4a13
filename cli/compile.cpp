// SPDX-License-Identifier: Apache-2.0
// deuteron compile: a model becomes a program file.
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>

#include "base/files/read_file.h"
#include "base/files/write_file.h"
#include "cli/board_fit.h"
#include "cli/emit_c.h"
#include "cli/report_model.h"
#include "explain/report/program_map.h"
#include "explain/traces/write_etrecord.h"
#include "npu/neutron/converter/kernel_selection.h"

namespace deuteron {
namespace {

struct CompileVerb {
  ModelOptions model;
  std::string output, etrecord, emit = "pte", board;
  COptions c;
};

// "k.c" -> "k_vendor0.c", ..: what the vendor's own converter wrote, for the vendor's own firmware.
bool write_vendor_selections(const std::string& path, const Compilation& c,
                             Diagnostics& diagnostics) {
  const std::filesystem::path file(path);
  for (size_t k = 0; k < c.npu.vendor_selections.size(); ++k) {
    const std::string& text = c.npu.vendor_selections[k];
    const std::filesystem::path beside =
        file.parent_path() /
        fmt::format("{}_vendor{}{}", file.stem().string(), k, file.extension().string());
    if (!write_file(beside.string(), {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
                    diagnostics))
      return false;
  }
  return true;
}

// The NPU kernels of the program, with those of a file that is there already: firmware that runs
// several models links one such file.
bool write_selection(const std::string& path, const Compilation& c, Diagnostics& diagnostics) {
  std::vector<neutron::KernelSelection> selections(1);
  std::set<std::string> unknown;
  for (const NpuKernel& kernel : c.npu.kernels) {
    if (kernel.vendor_name.empty()) selections[0].kinds.insert(kernel.kind);
    else unknown.insert(kernel.vendor_name);
  }
  if (!write_vendor_selections(path, c, diagnostics)) return false;
  if (c.npu.unnamed_delegates > 0 || !unknown.empty()) {
    diagnostics.error(
        path,
        unknown.empty() ? "which kernels the program needs is not known: the vendor's converter "
                          "has not printed them"
                        : fmt::format("the open model of the machine has no kernel {}",
                                      fmt::join(unknown, ", ")),
        "neutron.selection.unknown",
        c.npu.vendor_selections.empty()
            ? "the vendor's firmware takes the file that its converter writes"
            : "the vendor's firmware takes the files of its converter, which lie beside this one");
    return false;
  }
  std::vector<std::string> files{"this program"};
  if (std::filesystem::exists(path)) {
    const std::optional<std::vector<std::byte>> bytes = read_file(path, diagnostics);
    if (!bytes) return false;
    const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    std::optional<neutron::KernelSelection> before =
        neutron::read_kernel_selection(text, path, diagnostics);
    if (!before) return false;
    selections.push_back(std::move(*before));
    files.push_back(path);
  }
  const std::optional<neutron::KernelSelection> all =
      neutron::merge_kernel_selections(selections, files, diagnostics);
  if (!all) return false;
  const std::string text = neutron::write_kernel_selection(*all);
  return write_file(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
                    diagnostics);
}

// The scales of a program's inputs and outputs, which its file does not say.
void add_scales(const Compilation& c, CProgram& program) {
  const auto add = [&](std::span<const Port> from, std::vector<CPort>& to) {
    for (size_t i = 0; i < from.size() && from.size() == to.size(); ++i) {
      const Quant& quant = c.graph.type(from[i].value).quant;
      if (!quant.empty() && !quant.per_channel())
        to[i].scale = quant.scale[0], to[i].zero = quant.zero_point[0];
    }
  };
  add(c.graph.user_inputs(), program.inputs);
  add(c.graph.user_outputs(), program.outputs);
}

// "c,host" and the like.
const std::vector<std::string> kForms = {"pte", "c", "hpp"};
std::string check_emit(const std::string& text) { return COptions().read(text, kForms); }

bool is_header(const COptions& c) { return c.form == "hpp"; }

// A header is named as its file unless the user says otherwise.
COptions c_options(const CompileVerb& o) {
  COptions c = o.c;
  c.read(o.emit, kForms);
  if (is_header(c) && c.name.empty())
    c.name = c_name(std::filesystem::path(o.output).stem().native());
  return c;
}

bool write_c(const CompileVerb& o, const COptions& c, const CompiledModel& m,
             Diagnostics& diagnostics, std::string* summary) {
  const std::span<const std::byte> bytes(
      reinterpret_cast<const std::byte*>(m.compilation.pte.data()), m.compilation.pte.size());
  const std::optional<ProgramFile> file = ProgramFile::read(o.model.model, bytes, diagnostics);
  COutput output = c_output_for(c, m.target);
  if (!file || !add_c_program(c, *file, m.target, o.model.model, output, diagnostics)) return false;
  add_scales(m.compilation, output.programs.back());
  *summary = is_header(c) ? cpp_summary(output, o.output) : c_summary(output, o.output);
  return is_header(c) ? write_cpp_header(output, o.output, diagnostics)
                      : write_c_folder(c, output, o.output, diagnostics);
}

// Nothing, with a diagnostic: the program's image is too large for the board, or there is none.
std::optional<BoardFit> fit_of(const CompileVerb& o, const BoardMemory& board,
                               const CompiledModel& m, Diagnostics& diagnostics) {
  const std::span<const std::byte> bytes(
      reinterpret_cast<const std::byte*>(m.compilation.pte.data()), m.compilation.pte.size());
  const std::optional<ProgramFile> file = ProgramFile::read(o.output, bytes, diagnostics);
  if (!file || !file->runs_off_chip(diagnostics)) return std::nullopt;
  std::optional<BoardFit> fit = fit_board(board, *file, diagnostics);
  if (fit && !check_fit(board, *fit, diagnostics)) fit.reset();
  return fit;
}

Json json_of(const BoardMemory& board, const BoardFit& fit) {
  Json parts = Json::object();
  for (const auto& [name, part] : fit.parts)
    parts[name] = {{"flash_bytes", part.flash}, {"ram_bytes", part.ram}};
  return {{"name", board.board->name},
          {"flash_bytes", fit.flash},
          {"ram_bytes", fit.ram},
          {"stack_bytes", fit.stack},
          {"board_flash_bytes", board.flash},
          {"board_ram_bytes", board.ram},
          {"parts", std::move(parts)}};
}

int compile_verb(const CompileVerb& o) {
  const COptions c = c_options(o);
  Diagnostics diagnostics;
  std::vector<NamedPath> outputs = {{"-o", o.output}, {"--etrecord", o.etrecord}};
  for (NamedPath& path : outputs_of(o.model)) outputs.push_back(std::move(path));
  if (!check_outputs(inputs_of(o.model), outputs, diagnostics))
    return finish("", diagnostics, {}, "");
  const bool as_c = c.form != "pte";
  if (as_c && !o.board.empty())
    return refuse_usage(
        fmt::format("--board builds an image of a program, and --emit {} writes none", o.emit));
  if (as_c && o.model.model.ends_with(".pte"))
    return refuse_usage(
        fmt::format("{} is a program: deuteron firmware --as {} --target {} makes C of it",
                    o.model.model, o.emit, o.model.target));
  // Before the long part.
  std::optional<BoardMemory> board;
  if (!o.board.empty() && !(board = board_memory(o.board, diagnostics)))
    return finish(o.model.json, diagnostics, {}, "");
  ModelOptions model = o.model;
  model.compile.one_memory = as_c;  // the C has one arena
  const std::optional<CompiledModel> m = compile_model(model, false, diagnostics);
  if (!m) return finish(o.model.json, diagnostics, {}, "");
  if (!has_program(*m))
    return finish(o.model.json, diagnostics,
                  {{"model", o.model.model},
                   {"target", m->target.name},
                   {"stopped_after", o.model.stop_after}},
                  stopped_text(*m, o.model.stop_after) + "; nothing was written\n");
  std::optional<BoardFit> fit;
  if (board && !(fit = fit_of(o, *board, *m, diagnostics)))
    return finish(o.model.json, diagnostics, {}, "");
  std::string summary_of_c;
  if (as_c ? !write_c(o, c, *m, diagnostics, &summary_of_c)
           : !write_file(o.output, m->compilation.pte, diagnostics))
    return finish(o.model.json, diagnostics, {}, "");
  if (!o.model.kernel_selection.empty() &&
      !write_selection(o.model.kernel_selection, m->compilation, diagnostics))
    return finish(o.model.json, diagnostics, {}, "");
  if (!o.etrecord.empty() &&
      !write_file(o.etrecord,
                  write_etrecord(program_map(m->compilation, m->program, m->target, o.model.model)),
                  diagnostics))
    return finish(o.model.json, diagnostics, {}, "");
  ModelReport report = report_model(o.model, *m, o.output, diagnostics);
  if (!write_report_page(o.model, *m, report, diagnostics))
    return finish(o.model.json, diagnostics, {}, "");
  if (fit) report.json["board"] = json_of(*board, *fit), report.summary += text_of(*board, *fit);
  return finish(o.model.json, diagnostics, std::move(report.json), report.summary + summary_of_c);
}

}  // namespace

void add_compile(CommandLine& line) {
  CompileVerb* o = nullptr;
  Verb verb = add_verb<CompileVerb>(
      line, "compile", "compile a model for a target",
      "deuteron compile model.pt2 --target cortex-m55 --calibrate samples.npy -o model.pte",
      compile_verb, o);
  verb.option("-o,--output", o->output,
              "the program to write (.pte); with --emit c the folder, with --emit hpp the header")
      .value("OUT")
      .required();
  add_model_options(verb, o->model);
  verb.group("Options");
  verb.option(
          "--board", o->board,
          "also build an image for this board, and say whether it fits and what takes the space; "
          "for another chip with the same core, give its memory: mps2-an386,flash=128K,ram=32K")
      .value("B");
  verb.option("--emit", o->emit,
              "what to write: pte (default), a program for the runtime; c, a folder of C code that "
              "calls the kernels; hpp, the same as one C++17 header. Add ,blob to keep constants "
              "in a binary file (.incbin), ,host to build it for this computer")
      .value("FORM")
      .check(check_emit);
  verb.option("--etrecord", o->etrecord,
              "write the record (ETRecord) with which `deuteron inspect` and ExecuTorch's "
              "Inspector name the model's operators in a profile")
      .value("FILE");
  verb.group("Program");
  add_c_options(verb, o->c);
}

}  // namespace deuteron
