// SPDX-License-Identifier: Apache-2.0
#include "cli/firmware_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/program_file.h"
#include "runtime/fnv1a.h"
#include "write/firmware/backend_package.h"
#include "write/firmware/embedded_sources.h"
#include "write/firmware/isa_called.h"
#include "write/firmware/write_project.h"
#include "write/pte/status_text.h"

namespace deuteron {
namespace {

// What runs by our loader: the parts of ExecuTorch's program, or a program of ours.
struct Part {
  File file;
  PteSummary summary;
  std::string target;  // as the part says; empty: it does not
  CPart form;
};

// An input is read in place where each call gives it with the axes in the part's order. The samples
// of a batch lie anywhere.
CPart form_of(const PteSummary& part, const PteSummary& program, i64 delegate) {
  CPart form{std::vector<bool>(part.inputs.size())};
  const auto& options = program.delegates[static_cast<size_t>(delegate)].options;
  if (std::ranges::find(options, "batch", [](auto& o) { return o.first; }) != options.end())
    return form;
  for (size_t i = 0; i < part.inputs.size(); ++i)
    form.outside[i] = std::ranges::all_of(program.calls, [&](const PteCall& call) {
      return call.delegate != delegate ||
             (i < call.reads.size() && call.reads[i].order == part.inputs[i].order);
    });
  return form;
}

std::vector<Part> parts_of(const ProgramFile& file, Diagnostics& diagnostics) {
  std::vector<Part> parts;
  PteSummary program = file.summary;
  (void)read_call_tensors(file.file(), program);
  for (size_t k = 0; k < program.delegates.size(); ++k) {
    const PteDelegate& d = program.delegates[k];
    if (d.id != "DeuteronBackend") continue;
    Status status;
    std::optional<PteSummary> s;
    if (d.program.data) s = summarize_pte(d.program, &status);
    if (!s) {
      diagnostics.error(file.path, fmt::format("has a damaged part: {}", d.fault), "pte.corrupt",
                        "compile the program again");
      continue;
    }
    const auto target = std::ranges::find(d.options, "target", [](auto& o) { return o.first; });
    CPart form = form_of(*s, program, static_cast<i64>(k));
    parts.push_back({d.program, std::move(*s), target == d.options.end() ? "" : target->second,
                     std::move(form)});
  }
  if (parts.empty() && !file.summary.isa.empty())
    parts.push_back({file.file(), file.summary, "", {}});
  if (parts.empty() && !diagnostics.has_errors())
    diagnostics.error(file.path, "has no part for DeuteronBackend", "backend.parts",
                      "lower it with DeuteronPartitioner: docs/executorch.md");
  return parts;
}

void add_part(const Part& part, const std::string& path, const Target& target, bool is_c,
              BackendPackage& package, Diagnostics& diagnostics) {
  const PteSummary& s = part.summary;
  if (s.isa != name_of(target.isa))
    diagnostics.add(
        {Severity::error, path, "was compiled for another instruction set than the target's", s.isa,
         name_of(target.isa), "c.isa", "give --target the core that it was compiled for"});
  if (!s.delegates.empty())
    diagnostics.error(path, "has parts for the NPU, whose driver this package does not have",
                      "backend.npu",
                      "lower it for the core alone, or let NXP's partitioner have "
                      "the NPU: its backend stands beside ours");
  if (diagnostics.has_errors() || (is_c && !lies_in_one_memory(s, path, diagnostics))) return;
  for (const PteCall& call : s.calls)
    package.kernels.cpu[call.op].insert(std::filesystem::path(path).stem().native());
  Status status;
  std::optional<CProgram> program =
      read_c_program(part.file, kAllKernels, target.isa, features_of(package.isa, package.flags),
                     status, is_c ? &part.form : nullptr);
  if (!program) {
    if (is_c) diagnostics.add(describe_status(path, status));
    return;
  }
  for (const CCall& call : program->calls) package.forms.insert(call.kernel);
  if (!is_c) return;
  const uint64_t contents = fnv1a(part.file.data, part.file.bytes);
  if (std::ranges::find(package.compiled, contents, &CompiledCPart::contents) !=
      package.compiled.end())
    return;
  program->name = fmt::format("deuteron_part{}", package.compiled.size());
  program->from = path;
  program->isa = package.isa;
  package.compiled.push_back({std::move(*program), contents, part.file.bytes});
}

}  // namespace

int firmware_backend(const FirmwareAs& o) {
  Diagnostics diagnostics;
  const auto fail = [&] { return finish(o.json, diagnostics, {}, ""); };
  std::vector<ProgramFile> files;
  std::vector<std::pair<const ProgramFile*, Part>> parts;
  for (const std::string& path : o.models)
    if (std::optional<ProgramFile> file = ProgramFile::open(path, diagnostics, o.verify_key))
      files.push_back(std::move(*file));
  for (const ProgramFile& file : files)
    for (Part& part : parts_of(file, diagnostics)) parts.emplace_back(&file, std::move(part));
  if (diagnostics.has_errors() || parts.empty()) return fail();
  FirmwareAs of_core = o;
  if (o.target.empty() && o.board.empty()) of_core.target = parts[0].second.target;
  const std::optional<Target> target = target_of(of_core, files, diagnostics);
  if (!target) return fail();
  const COutput core = c_output_for(o.c, *target);
  BackendPackage package{core.target, core.isa, core.flags, core.version, {}, {}};
  for (const auto& [file, part] : parts)
    add_part(part, file->path, *target, o.c.is_c, package, diagnostics);
  const RuntimeSources runtime = embedded_sources();
  for (const auto& [kernel, users] : package.kernels.cpu)
    if (!runtime.kernels.contains(kernel))
      diagnostics.error(*users.begin(), fmt::format("the runtime has no kernel {}", kernel),
                        "firmware.missing_kernel", "`deuteron ops` lists its kernels");
  if (diagnostics.has_errors()) return fail();
  const PackageFiles written = backend_package(package, runtime);
  if (!write_folder(o.output, written, o.c.force, diagnostics)) return fail();
  Json kernels = Json::array();
  for (const auto& [kernel, users] : package.kernels.cpu) kernels.push_back(kernel);
  return finish(o.json, diagnostics,
                {{"form", "executorch"},
                 {"target", package.target},
                 {"parts", parts.size()},
                 {"cpu_kernels", kernels},
                 {"files", written.size()}},
                fmt::format("{}: DeuteronBackend for {}, with {} for {}; its README.md says how to "
                            "build it\n",
                            o.output, package.target,
                            counted(static_cast<long long>(kernels.size()), "kernel"),
                            counted(static_cast<long long>(parts.size()), "part")));
}

}  // namespace deuteron
