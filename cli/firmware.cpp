// SPDX-License-Identifier: Apache-2.0
// deuteron firmware: programs become a project that builds an image for a board; or several
// selections of kernels become one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/files/read_file.h"
#include "base/files/write_file.h"
#include "cli/firmware_as.h"
#include "cli/firmware_backend.h"
#include "cli/firmware_project.h"
#include "cli/options.h"
#include "cli/output_paths.h"
#include "cli/trust.h"
#include "write/firmware/c_package.h"
#include "write/firmware/embedded_sources.h"
#include "write/firmware/isa_called.h"

namespace deuteron {
namespace {

struct FirmwareOptions {
  std::vector<std::string> models, inputs, kernels;
  std::string board, target, output, driver, json, as, verify_key;
  ImageMap image;
  bool merge = false, force = false;
};

constexpr size_t kMostModels = 16;  // write/firmware/project/main.cpp

std::optional<KernelList> read_list(const std::string& path, Diagnostics& diagnostics) {
  const std::optional<std::vector<std::byte>> bytes = read_file(path, diagnostics);
  if (!bytes) return std::nullopt;
  return read_kernel_list({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, path,
                          diagnostics);
}

bool check_kernels_exist(const FirmwareProject& project, const RuntimeSources& runtime,
                         Diagnostics& diagnostics) {
  for (const auto& [kernel, users] : project.kernels.cpu)
    if (!runtime.kernels.contains(kernel))
      diagnostics.error(users.empty() ? "--kernels" : fmt::format("{}", fmt::join(users, ", ")),
                        fmt::format("the runtime has no kernel {}", kernel),
                        "firmware.missing_kernel", "`deuteron ops` lists its kernels");
  return !diagnostics.has_errors();
}

int merge(const FirmwareOptions& o) {
  Diagnostics diagnostics;
  KernelList all;
  for (const std::string& path : o.models) {
    const std::optional<KernelList> list = read_list(path, diagnostics);
    if (list) merge_kernel_list(all, *list, path, diagnostics);
  }
  const std::string text = write_kernel_list(all);
  if (!diagnostics.has_errors())
    write_file(o.output, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, diagnostics);
  return finish(
      o.json, diagnostics,
      {{"output", o.output}, {"cpu_kernels", all.cpu.size()}, {"npu_kernels", all.npu.size()}},
      fmt::format("{}: {} for the CPU, {} for the NPU\n", o.output,
                  counted(static_cast<long long>(all.cpu.size()), "kernel"),
                  counted(static_cast<long long>(all.npu.size()), "kernel")));
}

Json report(const FirmwareOptions& o, const FirmwareProject& p, const FirmwareMemory& m,
            size_t files, uint64_t source_bytes) {
  Json models = Json::array(), cpu = Json::array(), npu = Json::array();
  for (const FirmwareModel& model : p.models) {
    Json sums = Json::array();
    for (const uint64_t sum : model.expected) sums.push_back(fmt::format("{:016x}", sum));
    models.push_back({{"name", model.name},
                      {"from", model.from},
                      {"program_bytes", model.program.size()},
                      {"planned_bytes", model.planned_bytes},
                      {"tables_bytes", model.tables_bytes},
                      {"outputs_fnv1a", std::move(sums)}});
  }
  for (const auto& [name, users] : p.kernels.cpu) cpu.push_back(name);
  for (const auto& [name, users] : p.kernels.npu) npu.push_back(name);
  return {{"board", p.board},
          {"output", o.output},
          {"models", std::move(models)},
          {"cpu_kernels", std::move(cpu)},
          {"npu_kernels", std::move(npu)},
          {"npu_driver", !p.npu            ? "none"
                         : p.vendor_driver ? "vendor"
                                           : "model"},
          {"models_bytes", m.models_bytes},
          {"inputs_bytes", m.inputs_bytes},
          {"planned_bytes", m.planned_bytes + m.buffers_bytes},
          {"tables_bytes", m.tables_bytes},
          {"tables_measured_on_board", p.tables_measured},
          {"files", files},
          {"source_bytes", source_bytes}};
}

std::string summary_of(std::string folder, const FirmwareProject& p, const FirmwareMemory& m,
                       uint64_t sources, uint64_t source_bytes) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return fmt::format(
      "{0}: {1}, {2} for the CPU, {3} for the NPU, {4} of the runtime ({5} KB)\nflash: {6} bytes "
      "for models and inputs, plus the code; RAM: {7} bytes planned, {8} for tables, plus the "
      "stack\nbuild: cmake -S {0} -B {0}/build{9} && cmake --build {0}/build\n",
      folder, counted(static_cast<long long>(p.models.size()), "model"),
      counted(static_cast<long long>(p.kernels.cpu.size()), "kernel"),
      p.npu && p.vendor_driver ? "the vendor's" : std::to_string(p.kernels.npu.size()),
      counted(static_cast<long long>(sources), "file"), source_bytes / 1024,
      m.models_bytes + m.inputs_bytes, m.planned_bytes + m.buffers_bytes, m.tables_bytes,
      p.emulated ? "" : " -DMCUX_SDK=PATH");
}

std::vector<std::string> forms_of_c() {
  std::vector<std::string> forms = {"c", "hpp"};
  for (const CPackage& p : c_packages()) forms.emplace_back(p.form);
  forms.emplace_back("executorch");
  return forms;
}
std::string check_form(const std::string& text) { return COptions().read(text, forms_of_c()); }

int written_as(const FirmwareOptions& o) {
  COptions c;
  c.read(o.as, forms_of_c());
  c.force = o.force;
  const FirmwareAs as{o.models, o.board, o.target, o.output, o.json, c, o.verify_key};
  if (c.form != "executorch") return firmware_as(as);
  return c.blob || (c.host && !c.is_c)
             ? refuse_usage("--as executorch has no `blob`, and `host` only behind `c`")
             : firmware_backend(as);
}

int firmware(const FirmwareOptions& o) {
  Diagnostics diagnostics;
  std::vector<NamedPath> read;
  add_paths(read, "a model", o.models);
  add_paths(read, "--input", o.inputs);
  add_paths(read, "--kernels", o.kernels);
  read.push_back({"--verify-key", o.verify_key});
  if (!check_outputs(read, std::array{NamedPath{"-o", o.output}, NamedPath{"--json", o.json}},
                     diagnostics))
    return finish("", diagnostics, {}, "");
  if (o.merge) return merge(o);
  if (!o.target.empty() && o.as.empty())
    return refuse_usage("--target is for --as: a project is for a board");
  if (!o.as.empty()) return written_as(o);
  const auto fail = [&] { return finish(o.json, diagnostics, {}, ""); };
  const Board* board = board_called(o.board, diagnostics);
  if (o.models.size() > kMostModels)
    diagnostics.add({Severity::error, "deuteron firmware", "too many models for one image",
                     std::to_string(o.models.size()), std::to_string(kMostModels),
                     "firmware.models", "make several projects"});
  if (!o.inputs.empty() && o.models.size() > 1)
    diagnostics.error("--input", "is for one model, and there are several", "firmware.inputs",
                      "leave it out: inputs are made up");
  if (!board || diagnostics.has_errors()) return fail();

  const RuntimeSources runtime = embedded_sources();
  FirmwareProject project = project_for(*board);
  if (!o.driver.empty()) project.vendor_driver = o.driver == "vendor";
  for (const std::string& path : o.models)
    if (const std::optional<ProgramFile> file = ProgramFile::open(path, diagnostics, o.verify_key))
      add_model(*file, {o.inputs, o.image}, project, diagnostics);
  for (const std::string& path : o.kernels)
    if (const std::optional<KernelList> list = read_list(path, diagnostics))
      if (merge_kernel_list(project.kernels, *list, path, diagnostics) && !list->npu.empty())
        project.npu = true;
  if (!o.kernels.empty()) project.forms.reset();  // for models that come later
  if (diagnostics.has_errors() || !check_kernels_exist(project, runtime, diagnostics))
    return fail();
  const std::optional<FirmwareMemory> memory = place(project, runtime, diagnostics);
  if (!memory) return fail();
  const std::map<std::string, std::string> files = firmware_files(project, *memory, runtime);
  if (!write_folder(o.output, files, o.force, diagnostics)) return fail();
  if (!project.tables_measured)
    diagnostics.add(
        {Severity::note, o.output,
         "the tables were sized on this machine, where pointers are larger than on the board", "",
         "", "firmware.tables",
         project.vendor_driver ? "" : "apt-get install " + project.cores.emulator_package});
  uint64_t source_bytes = 0, sources = 0;
  for (const auto& [name, content] : files)
    if (name.starts_with("deuteron/")) source_bytes += content.size(), ++sources;
  return finish(o.json, diagnostics, report(o, project, *memory, files.size(), source_bytes),
                summary_of(o.output, project, *memory, sources, source_bytes));
}

}  // namespace

void add_firmware(CommandLine& line) {
  FirmwareOptions* o = nullptr;
  Verb verb = add_verb<FirmwareOptions>(
      line, "firmware", "write a firmware project that runs programs on a board",
      "deuteron firmware model.pte --board mps2-an505 -o fw/\n  cmake -S fw -B fw/build && cmake "
      "--build fw/build --target run\n  deuteron firmware --merge a/firmware.sel b/firmware.sel -o "
      "all.sel",
      firmware, o);
  verb.option("models", o->models, "the programs (.pte); with --merge selections of kernels (.sel)")
      .value("P...")
      .required();
  verb.option("--board", o->board, list_of(all_boards(), "")).value("B");
  verb.option("-o,--output", o->output,
              "the folder of the project; with --as hpp the header; with --merge the file")
      .value("OUT")
      .required();
  add_files(verb, "--input", o->inputs,
            "data that the firmware runs the model on, once for each input, in order; default: "
            "made-up values");
  verb.option("--kernels", o->kernels,
              "also link the kernels of this selection (.sel); may be repeated")
      .value("FILE")
      .one_each();
  verb.option("--driver", o->driver,
              "the NPU's driver: model (the open model, default for emulated boards) or vendor "
              "(the vendor's library, given to CMake)")
      .value("KIND")
      .one_of({"model", "vendor"});
  verb.option("--as", o->as,
              "instead of a whole project: c, C code that calls the kernels; hpp, the same as one "
              "C++17 header; arduino, a library; cmsis-pack; zephyr, a module; mlperf-tiny, "
              "firmware for its runner (docs/firmware.md); executorch, a backend for its runtime, "
              "or executorch,c, one with the parts as C (docs/executorch.md). Add ,blob to keep "
              "constants in a binary file (.incbin), ,host to build it for this computer")
      .value("FORM")
      .check(check_form);
  verb.option("--target", o->target,
              "with --as, instead of --board: the core or chip; default: a usual core with the "
              "program's instruction set")
      .value("T");
  verb.flag("--merge", o->merge, "merge several selections of kernels into one");
  add_verify_key(verb, o->verify_key);
  verb.flag("--force", o->force, "overwrite an existing project");
  add_image_options(verb, o->image);
  add_json(verb, o->json);
}

}  // namespace deuteron
