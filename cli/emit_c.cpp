// SPDX-License-Identifier: Apache-2.0
#include "cli/emit_c.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/data/option_number.h"
#include "base/files/write_file.h"
#include "boards/board.h"
#include "write/firmware/embedded_sources.h"
#include "write/firmware/isa_called.h"
#include "write/firmware/write_project.h"
#include "write/pte/status_text.h"

namespace deuteron {
namespace {

// The core of a target, as compilers know it: its board's flags; without one, those of a Cortex-M
// that may have no unit for floats, with any -mfloat-abi.
void name_core(const Target& target, COutput& output) {
  for (const Board& b : all_boards())
    if (b.target == target.name || (b.target == target.cpu && b.cores.name != "cortex_m")) {
      output.flags = b.flags;
      output.core_macro = b.cores.macro;
      return;
    }
  output.flags = fmt::format("-mcpu={}", c_comment(target.cpu));
}

bool is_compiled_for(const ProgramFile& file, const Target& target, Diagnostics& diagnostics) {
  if (file.summary.isa.empty() || file.summary.isa == name_of(target.isa)) return true;
  diagnostics.add({Severity::error, file.path,
                   "was compiled for another instruction set than the target's", file.summary.isa,
                   name_of(target.isa), "c.isa",
                   "give --target the core that it was compiled for"});
  return false;
}

// The user's name, or one made of the file's; macros and files of no other model have it.
std::optional<std::string> name_of_model(const COptions& o, const std::string& from,
                                         const COutput& output, Diagnostics& diagnostics) {
  const auto taken = [&](const std::string& n) {
    const auto clashes = [](const std::string& a, const std::string& b) {
      return a == b || a == b + "_WEIGHTS";
    };
    const std::string own = c_macro(n);
    return std::ranges::any_of(output.programs, [&](const CProgram& p) {
      return clashes(own, c_macro(p.name)) || clashes(c_macro(p.name), own);
    });
  };
  if (!o.name.empty()) {
    if (is_c_name(o.name) && !taken(o.name)) return o.name;
    diagnostics.error(
        "--name", fmt::format("`{}` cannot be the name of files and functions", c_comment(o.name)),
        "c.name",
        "give letters, digits and _, a letter first, at most 48; no header of the C library, "
        "nothing that begins with "
        "deuteron");
    return std::nullopt;
  }
  const std::string name = c_name(std::filesystem::path(from).stem().native());
  std::string free = name;
  for (int k = 2; taken(free); ++k) free = fmt::format("{}_{}", name, k);
  return free;
}

// What the steps of ports stand for, where the file says it.
void tell_steps(std::span<const PteTensor> tensors, std::span<CPort> ports) {
  for (size_t k = 0; k < ports.size() && k < tensors.size(); k++)
    if (const Quant& steps = tensors[k].steps; !steps.empty() && !steps.per_channel())
      ports[k].scale = steps.scale[0], ports[k].zero = steps.zero_point[0];
}

std::string models_summary(const COutput& output) {
  std::string text;
  for (const CProgram& p : output.programs)
    text += fmt::format("{}: {}, {} bytes of weights, {} bytes of arena\n", p.name,
                        counted(static_cast<long long>(p.calls.size()), "call"), p.constants.size(),
                        p.arena_bytes);
  return text;
}

std::string core_of(const COutput& output) {
  return output.isa.empty() ? "a computer" : output.target;
}

}  // namespace

std::string COptions::read(std::string_view text, std::span<const std::string> forms) {
  std::string complaint;
  form.clear();
  for_each_part(text, [&](std::string_view part) {
    const bool is_form = std::ranges::find(forms, part) != forms.end();
    if (form.empty() && is_form) form = part;
    else if (part == "c" && form == "executorch") is_c = true;
    else if (part == "blob" && !form.empty()) blob = true;
    else if (part == "host" && !form.empty()) host = true;
    else if (is_form) complaint = fmt::format("{} cannot stand behind {}", part, form);
    else
      complaint = fmt::format("{} is none of {}, nor `blob` or `host` behind one of them", part,
                              fmt::join(forms, ", "));
  });
  if (complaint.empty() && form == "pte" && (blob || host))
    complaint = "blob and host are of C, and pte is a program";
  if (complaint.empty() && form == "hpp" && blob)
    complaint = "blob is a file beside the code, and a header is one file";
  return complaint;
}

void add_c_options(Verb& verb, COptions& o) {
  verb.option("--name", o.name,
              "with --emit: the name of files, functions and macros; default: that of the model's "
              "file, or of the header")
      .value("NAME");
  verb.flag("--force", o.force, "with --emit c: overwrite an earlier C output");
}

COutput c_output_for(const COptions& o, const Target& target) {
  COutput output;
  output.version = DEUTERON_VERSION;
  output.weights = o.blob ? CWeights::blob : CWeights::array;
  if (o.host) return output;
  output.target = c_comment(target.name);  // a file of the user may say anything
  output.isa = name_of(target.isa);
  name_core(target, output);
  return output;
}

bool lies_in_one_memory(const PteSummary& summary, const std::string& from,
                        Diagnostics& diagnostics) {
  for (const PteMemory& m : summary.memories)
    if (m.copied_bytes > 0) {
      diagnostics.add(
          {Severity::error, from,
           fmt::format(
               "constants are read from the memory `{}`, and C has one arena without constants",
               m.name),
           fmt::format("{} bytes", m.copied_bytes), "0 bytes", "c.memories",
           "compile the model itself with --emit c: it then lies in one memory"});
      return false;
    }
  return true;
}

bool add_c_program(const COptions& o, const ProgramFile& file, const Target& target,
                   const std::string& from, COutput& output, Diagnostics& diagnostics) {
  if (!is_compiled_for(file, target, diagnostics)) return false;
  if (!lies_in_one_memory(file.summary, from, diagnostics)) return false;
  const std::optional<std::string> name = name_of_model(o, from, output, diagnostics);
  if (!name) return false;
  Status status;
  std::optional<CProgram> program =
      read_c_program(file.file(), kAllKernels, isa_called(file.summary.isa).value_or(target.isa),
                     features_of(output.isa, output.flags), status);
  if (!status.ok()) diagnostics.add(describe_status(from, status));
  if (!program) return false;
  program->name = *name;
  tell_steps(file.summary.inputs, program->inputs);
  tell_steps(file.summary.outputs, program->outputs);
  program->from = std::filesystem::path(from).filename().native();
  for (const PteDelegate& d : file.summary.delegates) {
    output.npu = true;
    output.npu_model |= d.neutron && d.neutron->is_open_model;
    for (const std::string& kernel : d.kernels) output.npu_kernels.insert(kernel);
  }
  output.programs.push_back(std::move(*program));
  return true;
}

bool write_c_folder(const COptions& o, const COutput& output, const std::string& folder,
                    Diagnostics& diagnostics) {
  return write_folder(folder, c_output_files(output, embedded_sources()), o.force, diagnostics);
}

bool write_cpp_header(const COutput& output, const std::string& file, Diagnostics& diagnostics) {
  if (output.npu) {
    diagnostics.error(
        output.programs.front().from, "a part for the NPU has no form in a header", "c.package",
        "--emit c writes a folder with the driver's interface; or compile for the processor alone");
    return false;
  }
  const std::string text = cpp_header(output, embedded_sources());
  return write_file(file, {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
                    diagnostics);
}

Json c_report(const COutput& output, const std::string& form) {
  Json models = Json::array();
  for (const CProgram& p : output.programs)
    models.push_back({{"name", p.name},
                      {"calls", p.calls.size()},
                      {"arena_bytes", p.arena_bytes},
                      {"state_bytes", state_bytes_of(p)},
                      {"weights_bytes", p.constants.size()}});
  return {{"emit", form},
          {"target", output.target},
          {"flags", output.flags},
          {"models", std::move(models)}};
}

std::string c_summary(const COutput& output, const std::string& path, std::string_view what) {
  const std::string next = path.ends_with(".pack")
                               ? fmt::format(": `cpackget add {}` installs it", path)
                               : std::string("; its README.md says how to build it");
  return fmt::format("{}{} for {} in {}{}\n", models_summary(output), what, core_of(output), path,
                     next);
}

std::string cpp_summary(const COutput& output, const std::string& file) {
  return fmt::format("{}C++17 for {} in {}; one file includes it with {}_IMPLEMENTATION defined\n",
                     models_summary(output), core_of(output), file,
                     c_macro(output.programs.front().name));
}

}  // namespace deuteron
