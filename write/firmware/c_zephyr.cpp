// SPDX-License-Identifier: Apache-2.0
// A Zephyr module: zephyr/module.yml tells the build system where its CMakeLists.txt and Kconfig
// are; a sample runs the first model. Format: Zephyr's documentation, "Modules (External projects)"
// and "CMake extensions".
#include <fmt/format.h>

#include <algorithm>

#include "write/firmware/c_package.h"

namespace deuteron {
namespace {

// Of the sample's thread. The models of tests/c_output/sizes.json take up to 6848 bytes, which
// tests/packages.py holds against this.
constexpr int kSampleStackBytes = 8192;

std::string symbol_of(const COutput& o) { return "DEUTERON_" + c_macro(o.programs.front().name); }

std::string module_yml(const COutput& o) {
  return fmt::format(
      "# Made by deuteron {}.\nname: {}\nbuild:\n  cmake: zephyr\n  kconfig: "
      "zephyr/Kconfig\nsamples:\n  - samples\n",
      o.version, o.programs.front().name);
}

std::string kconfig(const COutput& o) {
  const std::string core = package_core(o);
  std::string models;
  for (const CProgram& p : o.programs)
    models += fmt::format("{}{}", models.empty() ? "" : ", ", p.name);
  std::string text = fmt::format(
      "# Made by deuteron {}.\nconfig {}\n\tbool \"Neural networks made by deuteron: {}\"\n",
      o.version, symbol_of(o), models);
  if (!core.empty()) text += fmt::format("\tdepends on {}\n", zephyr_core(core));
  if (o.isa == "mve")
    text += "\tdepends on ARMV8_1_M_MVEI\n\tselect FPU\n";  // the vectors lie in the registers of
                                                            // the floating-point unit
  return text + "\tselect CPP\n\tselect REQUIRES_FULL_LIBCPP\n\thelp\n\t  " +
         package_sentence(o.programs.front()) + "\n";
}

std::string module_lists(const COutput& o, const PackageFiles& sources) {
  std::string files;
  for (const auto& [path, content] : sources)
    if (path.ends_with(".c") || path.ends_with(".cpp") || path.ends_with(".S"))
      files += fmt::format("\n    ${{CMAKE_CURRENT_LIST_DIR}}/../{}", path);
  return fmt::format(
      "# Made by deuteron {0}.\nif(CONFIG_{1})\n  "
      "zephyr_include_directories(${{CMAKE_CURRENT_LIST_DIR}}/../src)\n  "
      "zephyr_library_named({2})\n"
      "  zephyr_library_sources({3})\n"
      "  # -ffp-contract=off: the same arithmetic everywhere, though some cores have a fused "
      "multiply-add.\n"
      "  zephyr_library_compile_options(-O3 -ffp-contract=off -fno-math-errno "
      "$<$<COMPILE_LANGUAGE:CXX>:-std=c++17>\n"
      "    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions> $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti> "
      "$<$<COMPILE_LANGUAGE:CXX>:-fno-threadsafe-statics>)\nendif()\n",
      o.version, symbol_of(o), o.programs.front().name, files);
}

// Runs the first model on zeros and prints its outputs, floating-point ones in millionths: printk
// has no %f.
std::string sample(const COutput& o) {
  const CProgram& p = o.programs.front();
  const std::string name = c_macro(p.name);
  std::string buffers, in, out, fill, print;
  if (!p.states.empty()) fill += fmt::format("\t{}_reset_state(arena);\n", p.name);
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    in += fmt::format("{}NULL", i > 0 ? ", " : "");
    if (p.inputs[i].place.kind == CPlace::arena && p.inputs[i].bytes > 0)
      fill += fmt::format(
          "\tmemset(arena + {0}_INPUT{1}_OFFSET, 0, {0}_INPUT{1}_BYTES); /* your data: "
          "{0}_INPUT{1}_ELEMENTS of {2} */\n",
          name, i, c_type(p.inputs[i].type));
  }
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    const CPort& port = p.outputs[i];
    const bool in_place = port.place.kind == CPlace::arena, real = port.type == ScalarType::f32;
    if (!in_place)
      buffers += fmt::format(
          "static uint8_t output{}[{}_OUTPUT{}_BYTES + 1] __attribute__((aligned(16)));\n", i, name,
          i);
    out += fmt::format("{}{}", i > 0 ? ", " : "",
                       in_place ? "NULL" : fmt::format("({} *)output{}", c_type(port.type), i));
    print += fmt::format(
        "\tfor (long k = 0; k < {0}_OUTPUT{1}_ELEMENTS; ++k) {{\n\t\t{2} "
        "value;\n\n\t\tmemcpy(&value, {3} + k * (long)sizeof(value), "
        "sizeof(value));\n\t\tprintk(\"%ld\\n\", (long)({4}value));\n\t}}\n",
        name, i, c_type(port.type),
        in_place ? fmt::format("arena + {}_OUTPUT{}_OFFSET", name, i) : fmt::format("output{}", i),
        real ? "1e6 * (double)" : "");
  }
  return fmt::format(
      "/* Runs {0} on zeros and prints its outputs, floating-point ones in millionths. Made by "
      "deuteron {1}. */\n#include "
      "<string.h>\n#include "
      "<zephyr/kernel.h>\n#include <zephyr/sys/printk.h>\n\n#include \"{0}.h\"\n\n"
      "static uint8_t arena[{2}_ARENA_BYTES] __attribute__((aligned(16)));\n{3}\nint "
      "main(void)\n{{\n"
      "\tconst struct {0}_inputs in = {{{4}}}; /* NULL: it stands in the arena */\n\tconst struct "
      "{0}_outputs out = {{{5}}}; /* NULL: it "
      "stays "
      "there */\n\tuint32_t begin, cycles;\n\n{6}\tbegin = k_cycle_get_32();\n\tif ({0}_run(arena, "
      "&in, &out)) "
      "{{\n\t\tprintk(\"failed\\n\");\n\t\treturn 1;\n"
      "\t}}\n\tcycles = k_cycle_get_32() - begin;\n\tprintk(\"cycles: %u\\n\", "
      "cycles);\n{7}\treturn 0;\n}}\n",
      p.name, o.version, name, buffers, in, out, fill, print);
}

std::string sample_lists(const COutput& o) {
  return fmt::format(
      "# Made by deuteron {0}. The module is found by itself: no west manifest is needed for the "
      "sample.\ncmake_minimum_required(VERSION "
      "3.20)\n"
      "list(APPEND ZEPHYR_EXTRA_MODULES ${{CMAKE_CURRENT_LIST_DIR}}/../..)\nfind_package(Zephyr "
      "REQUIRED HINTS $ENV{{ZEPHYR_BASE}})\n"
      "project({1}_sample)\ntarget_sources(app PRIVATE src/main.c)\n",
      o.version, o.programs.front().name);
}

std::string zephyr_readme(const COutput& o) {
  const std::string& name = o.programs.front().name;
  return fmt::format(
      "# {0}\n\nA Zephyr module, made by `deuteron` {1}{2}. Name this folder in your manifest, in "
      "`ZEPHYR_EXTRA_MODULES` or with `-D`, and "
      "set "
      "`CONFIG_{3}=y`.\n\n{4}\nSizes in bytes. Build the sample:\n\n```sh\nwest build -b BOARD "
      "samples/{0}\n```\n\nIf `CONFIG_{3}` does not exist, your board has another core than "
      "this module was made for. The kernels are C++17, whatever `CONFIG_STD_CPP*` says. A run "
      "takes several "
      "kilobytes of its thread's stack: the sample has "
      "{5}.\n",
      name, o.version,
      o.isa.empty() ? " for a computer" : fmt::format(" for {}: `{}`", o.target, o.flags),
      symbol_of(o), package_models(o), kSampleStackBytes);
}

}  // namespace

// Zephyr's name of a core: CPU_CORTEX_M0PLUS, CPU_CORTEX_M55.
std::string zephyr_core(std::string core) {
  if (core.ends_with('+')) core.replace(core.size() - 1, 1, "PLUS");
  std::ranges::replace(core, '-', '_');
  std::ranges::transform(core, core.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return "CPU_" + core;
}

PackageFiles zephyr_files(const COutput& o, const RuntimeSources& runtime) {
  PackageFiles files = package_sources(o, runtime);
  const std::string folder = fmt::format("samples/{}/", o.programs.front().name);
  files["zephyr/CMakeLists.txt"] = module_lists(o, files);
  files["zephyr/Kconfig"] = kconfig(o);
  files["zephyr/module.yml"] = module_yml(o);
  files["README.md"] = zephyr_readme(o);
  files[folder + "CMakeLists.txt"] = sample_lists(o);
  files[folder + "prj.conf"] =
      fmt::format("CONFIG_{}=y\nCONFIG_MAIN_STACK_SIZE={}\n", symbol_of(o), kSampleStackBytes);
  files[folder + "src/main.c"] = sample(o);
  return files;
}

}  // namespace deuteron
