// deuteron compile: a model becomes a program file.
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>

#include "backends/neutron/kernel_selection.h"
#include "data/read_file.h"
#include "data/write_file.h"
#include "report/program_map.h"
#include "tools/report_model.h"
#include "traces/write_etrecord.h"

namespace deuteron {
namespace {

struct CompileVerb {
  ModelOptions model;
  std::string output, etrecord;
};

// "k.c" -> "k_vendor0.c", ..: what the vendor's own converter wrote, for the vendor's own firmware.
bool write_vendor_selections(const std::string& path, const Compilation& c, Diagnostics& diagnostics) {
  const std::filesystem::path file(path);
  for (size_t k = 0; k < c.npu.vendor_selections.size(); ++k) {
    const std::string& text = c.npu.vendor_selections[k];
    const std::filesystem::path beside =
        file.parent_path() / fmt::format("{}_vendor{}{}", file.stem().string(), k, file.extension().string());
    if (!write_file(beside.string(), {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, diagnostics)) return false;
  }
  return true;
}

// The NPU kernels of the program, with those of a file that is there already: firmware that runs several models links one such file.
bool write_selection(const std::string& path, const Compilation& c, Diagnostics& diagnostics) {
  std::vector<neutron::KernelSelection> selections(1);
  std::set<std::string> unknown;
  for (const NpuKernel& kernel : c.npu.kernels) {
    if (kernel.vendor_name.empty()) selections[0].kinds.insert(kernel.kind);
    else unknown.insert(kernel.vendor_name);
  }
  if (!write_vendor_selections(path, c, diagnostics)) return false;
  if (c.npu.unnamed_delegates > 0 || !unknown.empty()) {
    diagnostics.error(path,
                      unknown.empty() ? "which kernels the program needs is not known: the vendor's converter has not printed them"
                                      : fmt::format("the open model of the machine has no kernel {}", fmt::join(unknown, ", ")),
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
    std::optional<neutron::KernelSelection> before = neutron::read_kernel_selection(text, path, diagnostics);
    if (!before) return false;
    selections.push_back(std::move(*before));
    files.push_back(path);
  }
  const std::optional<neutron::KernelSelection> all = neutron::merge_kernel_selections(selections, files, diagnostics);
  if (!all) return false;
  const std::string text = neutron::write_kernel_selection(*all);
  return write_file(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, diagnostics);
}

int compile_verb(const CompileVerb& o) {
  Diagnostics diagnostics;
  std::vector<NamedPath> outputs = {{"-o", o.output}, {"--etrecord", o.etrecord}};
  for (NamedPath& path : outputs_of(o.model)) outputs.push_back(std::move(path));
  if (!check_outputs(inputs_of(o.model), outputs, diagnostics)) return finish("", diagnostics, {}, "");
  const std::optional<CompiledModel> m = compile_model(o.model, false, diagnostics);
  if (!m) return finish(o.model.json, diagnostics, {}, "");
  if (!has_program(*m))
    return finish(o.model.json, diagnostics,
                  {{"model", o.model.model}, {"target", m->target.name}, {"stopped_after", o.model.compile.stop_after}},
                  "stopped after " + o.model.compile.stop_after + "; nothing was written\n");
  if (!write_file(o.output, m->compilation.pte, diagnostics)) return finish(o.model.json, diagnostics, {}, "");
  if (!o.model.kernel_selection.empty() && !write_selection(o.model.kernel_selection, m->compilation, diagnostics))
    return finish(o.model.json, diagnostics, {}, "");
  if (!o.etrecord.empty() &&
      !write_file(o.etrecord, write_etrecord(program_map(m->compilation, m->program, m->target, o.model.model)), diagnostics))
    return finish(o.model.json, diagnostics, {}, "");
  ModelReport report = report_model(o.model, *m, o.output);
  if (!write_report_page(o.model, *m, report, diagnostics)) return finish(o.model.json, diagnostics, {}, "");
  return finish(o.model.json, diagnostics, std::move(report.json), report.summary);
}

}  // namespace

void add_compile(CommandLine& line) {
  CompileVerb* o = nullptr;
  Verb verb = add_verb<CompileVerb>(line, "compile", "make a model a program for a target",
                                    "deuteron compile model.pt2 --target cortex-m55 --calibrate samples.npy -o model.pte", compile_verb, o);
  add_model_options(verb, o->model);
  verb.option("-o,--output", o->output, "the program to write (.pte)").value("OUT").required();
  verb.option("--etrecord", o->etrecord,
              "write what a profile needs to name the model's own operators (ETRecord), for `deuteron inspect` and ExecuTorch's Inspector")
      .value("FILE");
}

}  // namespace deuteron
