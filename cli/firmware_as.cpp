// SPDX-License-Identifier: Apache-2.0
// deuteron firmware --as: programs as C that share their kernels, or that as a package of another
// build system.
#include "cli/firmware_as.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/files/write_file.h"
#include "boards/board.h"
#include "cli/firmware_project.h"
#include "write/firmware/c_package.h"
#include "write/firmware/embedded_sources.h"
#include "write/firmware/isa_called.h"
#include "write/firmware/license.h"
#include "write/firmware/write_project.h"
#include "write/firmware/zip_archive.h"

namespace deuteron {
namespace {

// What the builder of a package cannot build.
bool has_form(const CPackage& package, const COutput& output, Diagnostics& diagnostics) {
  if (output.weights == CWeights::blob)
    diagnostics.error(
        fmt::format("--as {},blob", package.form),
        fmt::format("{} has no blob: the assembler would not find the file", package.what),
        "c.package", "leave `blob` out: constants are an array then");
  if (output.npu)
    diagnostics.error(
        fmt::format("--as {}", package.form),
        fmt::format("a model has parts for the NPU, which have no form as {}", package.what),
        "c.package", "compile it for the core alone, or give --as c");
  const std::string complaint = package.complaint ? package.complaint(output) : "";
  if (!complaint.empty())
    diagnostics.error(fmt::format("--as {}: {}", package.form, output.programs.front().from),
                      complaint, "c.package",
                      "compile the benchmark's own int8 .tflite file; of a float model with --io "
                      "int8, or with --io u8 where its input is an image");
  return !diagnostics.has_errors();
}

// One file instead of a folder. Without the list by which a folder is known, to be replaced.
bool write_archive(const CPackage& package, const COutput& output, PackageFiles files,
                   const std::string& path, Diagnostics& diagnostics) {
  files.erase(kSelectionFile);
  const std::optional<std::string> bytes = zip_archive(files);
  if (!bytes)
    return diagnostics.error(path, "has more than 65534 files, or more than 4 GB", "c.package",
                             "name a folder, or give the models apart"),
           false;
  const std::string name = package.archive_name(output);
  if (std::filesystem::path(path).filename() != name)
    diagnostics.add({Severity::note, path,
                     fmt::format("the tools expect {} with the name {}", package.what, name), "",
                     "", "c.package", ""});
  return write_file(path, {reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size()},
                    diagnostics);
}

// The usual core with a program's instructions, where the user names none. Empty: the program does
// not say which it has.
std::string_view usual_core(const ProgramFile& program) {
  const std::optional<Isa> isa = isa_called(program.summary.isa);
  if (!isa) return {};
  return *isa == Isa::mve ? "cortex-m55" : *isa == Isa::dsp ? "cortex-m4" : "cortex-m0+";
}

}  // namespace

std::optional<Target> target_of(const FirmwareAs& o, const std::vector<ProgramFile>& programs,
                                Diagnostics& diagnostics) {
  if (!o.target.empty()) return find_target(o.target, diagnostics);
  const std::string_view core =
      o.board.empty() && !programs.empty() ? usual_core(programs[0]) : std::string_view();
  if (!core.empty()) {
    diagnostics.add(
        {Severity::note, programs[0].path,
         fmt::format("is written for {}, the usual core with its instruction set", core), "", "",
         "c.core", "name another core with --target T"});
    return find_target(std::string(core), diagnostics);
  }
  const Board* board = board_called(o.board, diagnostics);
  return board ? find_target(std::string(board->target), diagnostics, "--board") : std::nullopt;
}

int firmware_as(const FirmwareAs& o) {
  Diagnostics diagnostics;
  const auto fail = [&] { return finish(o.json, diagnostics, {}, ""); };
  std::vector<ProgramFile> programs;
  for (const std::string& path : o.models)
    if (std::optional<ProgramFile> file = ProgramFile::open(path, diagnostics, o.verify_key))
      programs.push_back(std::move(*file));
  if (diagnostics.has_errors()) return fail();
  const std::optional<Target> target = target_of(o, programs, diagnostics);
  if (!target) return fail();
  if (o.c.form == "hpp" && o.models.size() > 1)
    return refuse_usage("--as hpp is a header of one program, and there are several");
  COutput output = c_output_for(o.c, *target);
  for (const ProgramFile& program : programs)
    add_c_program(o.c, program, *target, program.path, output, diagnostics);
  if (diagnostics.has_errors()) return fail();
  if (o.c.form == "c") {
    if (!write_c_folder(o.c, output, o.output, diagnostics)) return fail();
    return finish(o.json, diagnostics, c_report(output, "c"), c_summary(output, o.output));
  }
  if (o.c.form == "hpp") {
    if (!write_cpp_header(output, o.output, diagnostics)) return fail();
    return finish(o.json, diagnostics, c_report(output, "hpp"), cpp_summary(output, o.output));
  }
  const auto package = std::ranges::find(c_packages(), o.c.form, &CPackage::form);
  DEUTERON_CHECK(package != c_packages().end(), o.c.form);
  if (!has_form(*package, output, diagnostics)) return fail();
  PackageFiles files = package->files(output, embedded_sources());
  add_license(files, embedded_sources());
  const bool is_archive = !package->ending.empty() && o.output.ends_with(package->ending);
  if (!(is_archive ? write_archive(*package, output, std::move(files), o.output, diagnostics)
                   : write_folder(o.output, files, o.c.force, diagnostics)))
    return fail();
  std::string_view what = package->what;  // without its article
  if (what.starts_with("a ") || what.starts_with("an ")) what.remove_prefix(what.find(' ') + 1);
  return finish(o.json, diagnostics, c_report(output, "c"), c_summary(output, o.output, what));
}

}  // namespace deuteron
