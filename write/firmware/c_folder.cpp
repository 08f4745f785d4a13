// SPDX-License-Identifier: Apache-2.0
// The folder of a C output: what stands in it beside the C itself.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <span>

#include "npu/neutron/converter/kernel_selection.h"
#include "write/firmware/c_output.h"
#include "write/firmware/license.h"
#include "write/firmware/write_project.h"

namespace deuteron {
namespace {

using Files = std::map<std::string, std::string>;

constexpr std::string_view kCNpu = "write/firmware/c_npu/",
                           kOptimization = "runtime/ports/optimization.cmake";

std::string libraries_of_models(const COutput& o) {
  std::string models;
  const bool blob = o.weights == CWeights::blob;
  for (const CProgram& p : o.programs) {
    const bool has_weights = !p.constants.empty();
    models += fmt::format(
        "\nadd_library({0} STATIC {0}.c{1})\ntarget_include_directories({0} PUBLIC "
        "${{CMAKE_CURRENT_SOURCE_DIR}})\n"
        "target_link_libraries({0} PUBLIC {2})\nset_target_properties({0} PROPERTIES C_STANDARD 99 "
        "C_EXTENSIONS OFF)\n",
        p.name,
        !has_weights ? std::string()
        : blob       ? fmt::format(" {}_weights.S", p.name)
                     : fmt::format(" {}_weights.c", p.name),
        kCKernels);
    if (has_weights && blob)
      models += fmt::format(
          "set_source_files_properties({0}_weights.S PROPERTIES COMPILE_OPTIONS "
          "\"-Wa,-I${{CMAKE_CURRENT_SOURCE_DIR}}\" "
          "OBJECT_DEPENDS ${{CMAKE_CURRENT_SOURCE_DIR}}/{0}_weights.bin)\n",
          p.name);
  }
  return models;
}

std::string cmake_lists(const COutput& o, const std::set<std::string>& sources) {
  std::string kernels;
  for (const std::string& path : sources)
    if (path.ends_with(".cpp") || path.ends_with(".S"))
      kernels += fmt::format("\n  {}/{}", kCSources, path);
  const std::string npu = fmt::format("{}{}{}", o.npu ? " deuteron_npu.cpp" : "",
                                      o.npu_model ? " neutron_kernels.c" : "",
                                      kept_operators_of(o).empty() ? "" : " deuteron_call.cpp");
  std::string definitions;
  if (o.npu)
    definitions = fmt::format("target_compile_definitions({} PRIVATE DEUTERON_NEUTRON_DRIVER{})\n",
                              kCKernels, o.npu_model ? " DEUTERON_NEUTRON_MODEL" : "");
  if (!kept_operators_of(o).empty())
    definitions +=
        fmt::format("target_compile_definitions({} PRIVATE {}=1)\n", kCKernels, kCDevice);
  const std::string models = libraries_of_models(o);
  return fmt::format(
      "# Libraries of models and of the kernels that they call. Made by deuteron {0}.\n"
      "#   add_subdirectory(FOLDER)   target_link_libraries(YOURS {1})\n"
      "cmake_minimum_required(VERSION 3.16)\nproject(deuteron_models LANGUAGES C CXX ASM)\n\n"
      "set(kernels{3})\nadd_library({2} STATIC {2}.cpp{7} ${{kernels}})\n"
      "set_target_properties({2} PROPERTIES CXX_STANDARD 17 CXX_EXTENSIONS OFF)\n"
      "target_include_directories({2} PRIVATE ${{CMAKE_CURRENT_SOURCE_DIR}} "
      "${{CMAKE_CURRENT_SOURCE_DIR}}/{4})\n"
      "include({4}/{8})\nforeach(source IN LISTS kernels)\n"
      "  string(REGEX REPLACE \"^{4}/\" \"\" name ${{source}})\n  optimization_of(${{name}} "
      "optimization)\n"
      "  set_source_files_properties(${{source}} PROPERTIES COMPILE_OPTIONS "
      "${{optimization}})\nendforeach()\n"
      "# -ffp-contract=off: the same arithmetic everywhere, though some cores have a fused "
      "multiply-add.\n"
      "target_compile_options({2} PRIVATE -Os -ffunction-sections -fdata-sections "
      "-ffp-contract=off -fno-math-errno\n"
      "  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions> $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti> "
      "$<$<COMPILE_LANGUAGE:CXX>:-fno-threadsafe-statics>)\n"
      "# Flags that name the core for C alone are meant for the kernels too, and for g++ as "
      "linker.\n"
      "if(NOT CMAKE_CXX_FLAGS MATCHES \"-mcpu=\" OR NOT CMAKE_ASM_FLAGS MATCHES \"-mcpu=\")\n"
      "  separate_arguments(core UNIX_COMMAND \"${{CMAKE_C_FLAGS}}\")\n"
      "  list(FILTER core INCLUDE REGEX \"^-m\")\n"
      "  target_compile_options({2} PRIVATE ${{core}})\n"
      "  target_link_options({2} INTERFACE ${{core}})\nendif()\n{6}{5}",
      o.version, o.programs.front().name, kCKernels, kernels, kCSources, models, definitions, npu,
      kOptimization);
}

// The call of a model, with a buffer for each of its inputs and outputs.
std::string example_of(const CProgram& p) {
  const std::string macro = c_macro(p.name);
  std::string buffers;
  const auto members = [&](std::span<const CPort> ports, const char* kind, const char* capitals) {
    std::string list;
    for (size_t i = 0; i < ports.size(); ++i) {
      buffers += fmt::format("static {} {}{}[{}_{}{}_ELEMENTS];\n", c_type(ports[i].type), kind, i,
                             macro, capitals, i);
      list += fmt::format("{}.{}{} = {}{}", i == 0 ? "" : ", ", kind, i, kind, i);
    }
    return list.empty() ? std::string("0") : list;
  };
  const std::string in = members(p.inputs, "input", "INPUT");
  const std::string out = members(p.outputs, "output", "OUTPUT");
  return fmt::format(
      "```c\n#include \"{0}.h\"\n\n"
      "static uint8_t arena[{1}_ARENA_BYTES] __attribute__((aligned(16)));\n{2}"
      "const struct {0}_inputs in = {{{3}}};\nconst struct {0}_outputs out = {{{4}}};\n"
      "int failed = {0}_run(arena, &in, &out);\n```\n\n",
      p.name, macro, buffers, in, out);
}

std::string readme(const COutput& o, const std::set<std::string>& sources) {
  const CProgram& first = o.programs.front();
  std::string text = fmt::format(
      "# {}\n\nMade by `deuteron` {}{}. C99 without interpreter, heap or start-up code: `NAME_run` "
      "calls one kernel after the other. The kernels are C++17 without exceptions, RTTI or "
      "constructors, behind `extern \"C\"`.\n\n",
      first.name, o.version,
      o.isa.empty() ? " for a computer" : fmt::format(" for {}: `{}`", o.target, o.flags));
  text +=
      "| model | from | calls | weights (flash) | arena (RAM, shared) |\n| --- | --- | ---: | ---: "
      "| ---: |\n";
  for (const CProgram& p : o.programs)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", p.name, c_comment(p.from), p.calls.size(),
                        p.constants.size(), p.arena_bytes);
  text +=
      "\nSizes in bytes. A run needs the arena and stack, no other RAM. Models share the kernels, "
      "and "
      "may share one arena as large as the largest, but for those with `NAME_reset_state`.\n\n" +
      example_of(first);
  text += fmt::format(
      "- CMake: `add_subdirectory` of this folder, and `target_link_libraries(YOURS {0})`.\n"
      "- An IDE such as STM32CubeIDE: make the project a C++ project, compile all files of this "
      "folder with `-ffp-contract=off` (`.cpp` as C++17, a `.S` with `-Wa,-I.`), and add this "
      "folder "
      "and `{1}` to the include folders of C and C++.\n\n"
      "Link with `-Wl,--gc-sections`, so that only the kernels that are called are in the "
      "image.\n\n"
      "Kernels: {2}.\n\n| file | what |\n| --- | --- |\n| `NAME.h`, `NAME.c` | a model: sizes, "
      "scales "
      "and zero points as macros, and its calls |\n"
      "| `NAME_weights.*` | its constants |\n| `{3}.h`, `.cpp` | the kernels as C sees them |\n| "
      "`{1}/` | their sources, {4} files |\n",
      first.name, kCSources, fmt::join(operators_of(o), ", "), kCKernels, sources.size());
  return text;
}

}  // namespace

std::set<std::string> operators_of(const COutput& o) {
  std::set<std::string> names;
  for (const CProgram& p : o.programs)
    for (const CCall& c : p.calls)
      if (!c.npu) names.insert(c.op);
  return names;
}

std::set<std::string> kept_operators_of(const COutput& o) {
  std::set<std::string> names;
  for (const CProgram& p : o.programs)
    for (const CCall& c : p.calls)
      if (c.kept) names.insert(c.op);
  return names;
}

std::map<std::string, std::string> c_output_files(const COutput& o, const RuntimeSources& runtime) {
  const std::set<std::string> headers = kernel_headers(runtime, operators_of(o));
  std::set<std::string> sources = sources_of(runtime, headers, o.isa);
  const std::set<std::string> kept = kept_operators_of(o);
  sources.merge(kept_sources(runtime, kept, o.isa));
  if (o.npu) sources.merge(npu_sources(runtime, o.npu_kernels, o.isa, o.npu_model));
  sources.emplace(kOptimization);
  Files files;
  for (const SourceFile& f : runtime.files)
    if (sources.contains(std::string(f.path)))
      files.emplace(fmt::format("{}/{}", kCSources, f.path), f.text);
  KernelList list;
  for (const CProgram& p : o.programs) {
    files[p.name + ".h"] = c_header(o, p);
    files[p.name + ".c"] = c_source(o, p);
    for (const CCall& c : p.calls)
      if (!c.npu) list.cpu[c.op].insert(p.name);
    if (p.constants.empty()) continue;
    if (o.weights == CWeights::array) {
      files[p.name + "_weights.c"] = c_weights(o, p);
    } else {
      files[p.name + "_weights.S"] = c_weights_assembly(p);
      files[p.name + "_weights.bin"] = {reinterpret_cast<const char*>(p.constants.data()),
                                        p.constants.size()};
    }
  }
  files[fmt::format("{}.h", kCKernels)] = c_kernels_header(o);
  files[fmt::format("{}.cpp", kCKernels)] =
      c_kernels_source(o, {headers.begin(), headers.end()}, runtime);
  for (const SourceFile& f : runtime.files)
    if (o.npu && f.path.starts_with(kCNpu)) files.emplace(f.path.substr(kCNpu.size()), f.text);
    else if (!kept.empty() && f.path.starts_with(kCCall))
      files.emplace(f.path.substr(kCCall.size()), f.text);
  if (o.npu_model) {
    neutron::KernelSelection selection;
    for (const std::string& name : o.npu_kernels) selection.kinds.insert(*npu_kernel(name));
    files["neutron_kernels.c"] = neutron::write_kernel_selection(selection);
  }
  files["CMakeLists.txt"] = cmake_lists(o, sources);
  files["README.md"] = readme(o, sources);
  files[kSelectionFile] = write_kernel_list(list);  // by which the folder is known, to be replaced
  add_license(files, runtime);
  return files;
}

}  // namespace deuteron
