// SPDX-License-Identifier: Apache-2.0
#include "write/firmware/backend_package.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "write/firmware/license.h"
#include "write/firmware/write_project.h"

namespace deuteron {
namespace {

constexpr std::string_view kHeader = "deuteron_backend.h";
constexpr std::string_view kOptimizationOf = "runtime/ports/optimization.cmake";

// What no flag has to say: the parts have no NPU, and an a * b + c is rounded twice everywhere.
std::string beginning(const BackendPackage& p, std::string_view path) {
  std::string text =
      "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#elif defined(__GNUC__)\n#pragma GCC "
      "optimize(\"-ffp-contract=off\", \"-fno-math-errno\")\n#endif\n"
      "#define DEUTERON_NO_DELEGATES 1\n";
  if (path.ends_with("/bind.cpp") && !p.forms.empty())
    text += fmt::format("#define DEUTERON_FORMS \"{}\"\n", forms_text(p.forms));
  return text;
}

// `form`: "backend" or "compiled".
std::string header(std::string_view form) {
  return fmt::format(
      R"(// The backend of ExecuTorch's runtime with the kernels of this package.
#pragma once
#include "runtime/executorch/{}.h"

// Once, before the first load_method. `scratch`: runtime/executorch/{}.h.
[[nodiscard]] executorch::runtime::Error register_deuteron_backend(deuteron::Memory scratch = {{}});
)",
      form, form);
}

// A constant array, once for all who have the same; C++ has no array of nothing.
template <class Numbers>
std::string array_of(const char* type, const char* prefix, const Numbers& numbers,
                     std::set<std::string>& arrays) {
  if (numbers.empty()) return "nullptr";
  const std::string name = fmt::format("{}{}", prefix, fmt::join(numbers, "_"));
  arrays.insert(fmt::format("const {} {}[] = {{{}}};\n", type, name, fmt::join(numbers, ", ")));
  return name;
}

// The shape of a port and where it lies: {offset, {null, sizes, order, elements, rank, type,
// whether it is a constant}}.
template <class Port>
std::string port_row(const Port& port, std::set<std::string>& arrays) {
  int64_t elements = 1;
  for (const int32_t size : port.sizes) elements *= size;
  const std::string offset = port.place.kind == CPlace::input
                                 ? "deuteron::kOutside"
                                 : fmt::format("{}u", port.place.offset);
  return fmt::format("    {{{}, {{nullptr, {}, {}, {}, {}, deuteron::ScalarType({}), {}}}}},\n",
                     offset, array_of("int32_t", "sizes_", port.sizes, arrays),
                     array_of("uint8_t", "order_", port.order, arrays), elements, port.sizes.size(),
                     static_cast<int>(port.type), port.place.kind == CPlace::constants);
}

// The tables of one part: its ports, and what each instruction makes, for a tracer.
std::string part_tables(const CProgram& c, std::set<std::string>& arrays) {
  std::string ports, made;
  for (const std::vector<CPort>* side : {&c.inputs, &c.outputs})
    for (const CPort& port : *side) ports += port_row(port, arrays);
  for (const std::optional<CTensor>& one : c.made)
    made += one ? port_row(*one, arrays) : "    {0u, {nullptr, nullptr, nullptr, -1}},\n";
  return fmt::format(
      "const deuteron::CompiledPort {0}_ports[] = {{\n{1}}};\n#ifdef ET_EVENT_TRACER_ENABLED\n"
      "const deuteron::CompiledPort {0}_made[] = {{\n{2}}};\n#else\nconstexpr const "
      "deuteron::CompiledPort* {0}_made = nullptr;\n#endif\n",
      c.name, ports, made);
}

std::string compiled_parts(const BackendPackage& p) {
  std::string includes, pointers, tables, parts;
  std::set<std::string> arrays;
  for (const CompiledCPart& part : p.compiled) {
    const CProgram& c = part.program;
    includes += fmt::format("#include \"{}.h\"\n", c.name);
    pointers += fmt::format(
        "extern \"C\" const uint8_t* {0}_weights;\nconst uint8_t* {0}_weights;\n", c.name);
    tables += part_tables(c, arrays);
    parts += fmt::format(
        "    {{0x{0:016x}u, {1}, {2}, {3}, {4}, {5}_ports, {5}_made, &{5}_weights, {5}_run, "
        "{6}}},\n",
        part.contents, part.bytes, c.arena_bytes, c.inputs.size(), c.outputs.size(), c.name,
        c.states.empty() ? "nullptr" : c.name + "_reset_state");
  }
  return fmt::format(
      "#include \"{}\"\n\n{}\n{}\nnamespace {{\n{}{}"
      "const deuteron::CompiledPart kParts[] = {{\n{}}};\n}}  // namespace\n\n"
      "executorch::runtime::Error register_deuteron_backend(deuteron::Memory scratch) {{\n"
      "  return deuteron::register_compiled_parts(kParts, {}, scratch);\n}}\n",
      kHeader, includes, pointers, fmt::join(arrays, ""), tables, parts, p.compiled.size());
}

// The calls of the parts, and their kernels.
void add_c(const BackendPackage& p, const RuntimeSources& runtime, PackageFiles& files) {
  COutput output;
  output.target = p.target, output.isa = p.isa, output.flags = p.flags, output.version = p.version;
  for (const CompiledCPart& part : p.compiled) output.programs.push_back(part.program);
  const std::string own = fmt::format("{}/", kCSources);
  for (const auto& [path, content] : c_output_files(output, runtime))
    if (path.ends_with(".c") || path.ends_with(".h") || path.ends_with(".cpp") ||
        path.ends_with(".S") || path.ends_with(".inc"))
      files["src/" + (path.starts_with(own) ? path.substr(own.size()) : path)] =
          (path.ends_with(".cpp") ? beginning(p, path) : "") + content;
}

std::string table(const BackendPackage& p, const RuntimeSources& runtime) {
  return kernel_table(p.kernels, false, kHeader, runtime) +
         "\nexecutorch::runtime::Error register_deuteron_backend(deuteron::Memory scratch) {\n"
         "  return deuteron::register_executorch_backend(kFirmwareKernels, scratch);\n}\n";
}

bool is_compiled(std::string_view path) {
  return path.ends_with(".cpp") || path.ends_with(".c") || path.ends_with(".S");
}

std::string sources_cmake(const PackageFiles& files) {
  std::string list;
  for (const auto& [path, content] : files)
    if (is_compiled(path)) list += "\n    " + path;
  return fmt::format(
      R"(# What CMakeLists.txt and zephyr/CMakeLists.txt compile, and how.
set(DEUTERON_BACKEND_FOLDER ${{CMAKE_CURRENT_LIST_DIR}})
set(DEUTERON_BACKEND_SOURCES{})
set(DEUTERON_BACKEND_OPTIONS -ffunction-sections -fdata-sections -ffp-contract=off -fno-math-errno
    $<$<COMPILE_LANGUAGE:CXX>:-std=c++17> $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti> $<$<COMPILE_LANGUAGE:CXX>:-fno-threadsafe-statics>)
include(${{CMAKE_CURRENT_LIST_DIR}}/optimization.cmake)
set(SMALL_LOADER ON)
foreach(source IN LISTS DEUTERON_BACKEND_SOURCES)
  string(REGEX REPLACE "^src/" "" name ${{source}})
  optimization_of(${{name}} optimization)
  set_property(SOURCE ${{DEUTERON_BACKEND_FOLDER}}/${{source}} APPEND
               PROPERTY COMPILE_OPTIONS ${{optimization}})
endforeach()
list(TRANSFORM DEUTERON_BACKEND_SOURCES PREPEND ${{DEUTERON_BACKEND_FOLDER}}/)
)",
      list);
}

std::string cmake_lists() {
  return R"(# deuteron_backend: behind ExecuTorch's own CMake project, or with
# -DDEUTERON_EXECUTORCH_HEADERS=DIR, a folder that holds executorch/.
enable_language(C)
enable_language(ASM)
include(${CMAKE_CURRENT_LIST_DIR}/sources.cmake)
add_library(deuteron_backend STATIC ${DEUTERON_BACKEND_SOURCES})
target_include_directories(deuteron_backend PUBLIC ${CMAKE_CURRENT_LIST_DIR}/src)
target_compile_options(deuteron_backend PRIVATE ${DEUTERON_BACKEND_OPTIONS})
if(DEUTERON_EXECUTORCH_HEADERS)
  set(headers ${DEUTERON_EXECUTORCH_HEADERS})
  target_include_directories(deuteron_backend SYSTEM PUBLIC
                             ${headers} ${headers}/executorch/runtime/core/portable_type/c10)
  target_compile_definitions(deuteron_backend PUBLIC C10_USING_CUSTOM_GENERATED_MACROS)
else()
  target_link_libraries(deuteron_backend PUBLIC executorch_core)
endif()
if(EXECUTORCH_ENABLE_EVENT_TRACER)
  target_compile_definitions(deuteron_backend PRIVATE ET_EVENT_TRACER_ENABLED)
endif()
)";
}

std::string zephyr_lists() {
  return R"(if(CONFIG_DEUTERON_BACKEND)
  include(${CMAKE_CURRENT_LIST_DIR}/../sources.cmake)
  zephyr_include_directories(${CMAKE_CURRENT_LIST_DIR}/../src)
  zephyr_library_named(deuteron_backend)
  zephyr_library_sources(${DEUTERON_BACKEND_SOURCES})
  zephyr_library_compile_options(${DEUTERON_BACKEND_OPTIONS})
  target_link_libraries(deuteron_backend PUBLIC executorch_core)
  if(CONFIG_EXECUTORCH_ENABLE_EVENT_TRACER)
    target_compile_definitions(deuteron_backend PRIVATE ET_EVENT_TRACER_ENABLED)
  endif()
endif()
)";
}

std::string kconfig(const BackendPackage& p, const std::string& core) {
  std::string text =
      "config DEUTERON_BACKEND\n\tbool \"DeuteronBackend of ExecuTorch\"\n\tdepends on "
      "EXECUTORCH\n";
  if (!core.empty()) text += fmt::format("\tdepends on {}\n", zephyr_core(core));
  if (p.isa == "mve") text += "\tdepends on ARMV8_1_M_MVEI\n\tselect FPU\n";
  return text +
         fmt::format("\tselect CPP\n\thelp\n\t  Runs parts that deuteron has compiled for {}.\n",
                     p.target);
}

std::string pdsc(const BackendPackage& p, const std::string& core, const PackageFiles& files) {
  std::string list;
  for (const auto& [path, content] : files)
    if (path.starts_with("src/")) list += pdsc_file(path);
  return fmt::format(
      R"(<?xml version="1.0" encoding="UTF-8"?>
<!-- Made by deuteron {0}. -->
<package schemaVersion="1.7.7"
         xmlns:xs="http://www.w3.org/2001/XMLSchema-instance"
         xs:noNamespaceSchemaLocation="PACK.xsd">
  <vendor>Deuteron</vendor>
  <name>deuteron_backend</name>
  <description>DeuteronBackend of ExecuTorch, for {1}</description>
  <url></url>
  <releases>
    <release version="{0}">As deuteron {0} wrote it</release>
  </releases>
  <conditions>
    <condition id="core">
      <description>{1}</description>
      <require Dcore="{1}"/>
    </condition>
  </conditions>
  <components>
    <component Cclass="Machine Learning" Cgroup="DeuteronBackend" Cversion="{0}" condition="core">
      <description>Runs parts of ExecuTorch programs; wants ExecuTorch's headers</description>
      <files>
        <file category="include" name="src/"/>
{2}      </files>
    </component>
  </components>
</package>
)",
      p.version, core, list);
}

std::string readme(const BackendPackage& p) {
  std::string kernels;
  for (const auto& [name, users] : p.kernels.cpu) {
    std::string of;
    for (const std::string& user : users) of += fmt::format("{}{}", of.empty() ? "" : ", ", user);
    kernels += fmt::format("| `{}` | {} |\n", name, of);
  }
  return fmt::format(
      R"(# DeuteronBackend

The backend of ExecuTorch's runtime for parts that `deuteron` {0} compiled for {1}
(`{2}`), with {4}. Register it once, before the first `load_method`:

```cpp
#include "deuteron_backend.h"
if (register_deuteron_backend() != executorch::runtime::Error::Ok) ...
```

- CMake: `add_subdirectory(FOLDER deuteron_backend)` behind ExecuTorch's project, or with
  `-DDEUTERON_EXECUTORCH_HEADERS=DIR`; then `target_link_libraries(app PRIVATE deuteron_backend)`.
- Zephyr: name this folder in `ZEPHYR_EXTRA_MODULES` beside ExecuTorch's module, and set
  `CONFIG_DEUTERON_BACKEND=y`.
- CMSIS-Pack: `cpackget add Deuteron.deuteron_backend.pdsc`; the component is
  `Deuteron::Machine Learning:DeuteronBackend`, with `misc: - CPP: [-std=c++17]` and ExecuTorch's
  headers on the include path.

| kernel | of |
| --- | --- |
{3})",
      p.version, p.target, p.flags, kernels,
      p.compiled.empty() ? "the kernels that these parts call"
                         : "these parts as C; a program with others is refused");
}

}  // namespace

PackageFiles backend_package(const BackendPackage& p, const RuntimeSources& runtime) {
  PackageFiles files;
  const bool is_c = !p.compiled.empty();
  const std::set<std::string> needed =
      is_c ? compiled_backend_sources(runtime, p.isa) : backend_sources(runtime, p.kernels, p.isa);
  if (is_c) add_c(p, runtime, files);
  for (const SourceFile& f : runtime.files) {
    const std::string path(f.path);
    if (path == kOptimizationOf) files["optimization.cmake"] = f.text;
    else if (needed.contains(path))
      files["src/" + path] =
          (path.ends_with(".cpp") ? beginning(p, path) : "") + std::string(f.text);
  }
  files["src/" + std::string(kHeader)] = header(is_c ? "compiled" : "backend");
  files["src/deuteron_backend.cpp"] = is_c ? compiled_parts(p) : table(p, runtime);
  COutput of_core;
  of_core.flags = p.flags;
  const std::string core = package_core(of_core);
  files["Deuteron.deuteron_backend.pdsc"] = pdsc(p, core, files);
  files["sources.cmake"] = sources_cmake(files);
  files["CMakeLists.txt"] = cmake_lists();
  files["zephyr/CMakeLists.txt"] = zephyr_lists();
  files["zephyr/Kconfig"] = kconfig(p, core);
  files["zephyr/module.yml"] =
      "name: deuteron_backend\nbuild:\n  cmake: zephyr\n  kconfig: zephyr/Kconfig\n"
      "  depends:\n    - executorch\n";
  files["README.md"] = readme(p);
  files[kSelectionFile] = write_kernel_list(p.kernels);
  add_license(files, runtime);
  return files;
}

}  // namespace deuteron
