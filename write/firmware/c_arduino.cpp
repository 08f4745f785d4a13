// SPDX-License-Identifier: Apache-2.0
// An Arduino library: a folder for `libraries/` of a sketchbook.

#include <fmt/format.h>

#include "write/firmware/c_package.h"

namespace deuteron {
namespace {

std::string library_properties(const COutput& o) {
  const CProgram& p = o.programs.front();
  return fmt::format(
      "name={0}\nversion={1}\nauthor=made by deuteron {1}\nmaintainer=made by deuteron {1}\n"
      "sentence=The model {0}, compiled for {2}.\nparagraph={3}\n"
      "category=Data Processing\nurl=\narchitectures=*\nincludes={0}.h\n",
      p.name, o.version, o.isa.empty() ? "a computer" : o.target, package_sentence(p));
}

bool is_in_arena(const CPort& p) { return p.place.kind == CPlace::arena; }

// Prints what stands at an output's place in the arena, or in its buffer.
std::string print_output(const CProgram& p, size_t i) {
  const std::string macro = fmt::format("{}_OUTPUT{}", c_macro(p.name), i),
                    type = c_type(p.outputs[i].type);
  const std::string from = is_in_arena(p.outputs[i]) ? fmt::format("arena + {}_OFFSET", macro)
                                                     : fmt::format("output{}", i);
  return fmt::format(
      "  for (long k = 0; k < {0}_ELEMENTS; ++k) {{\n    {1} value;\n    memcpy(&value, {2} + k * "
      "sizeof value, sizeof value);\n"
      "    Serial.println((double)value, 6);\n  }}\n",
      macro, type, from);
}

// Runs the first model on zeros, in place: nothing is there twice.
std::string sketch(const COutput& o) {
  const CProgram& p = o.programs.front();
  const std::string name = c_macro(p.name);
  std::string buffers, members_in, members_out, fill, print;
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    members_in += fmt::format("{}NULL", i > 0 ? ", " : "");
    if (is_in_arena(p.inputs[i]) && p.inputs[i].bytes > 0)
      fill += fmt::format(
          "  memset(arena + {0}_INPUT{1}_OFFSET, 0, {0}_INPUT{1}_BYTES);  // your data: "
          "{0}_INPUT{1}_ELEMENTS of {2}\n",
          name, i, c_type(p.inputs[i].type));
  }
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    const bool in_place = is_in_arena(p.outputs[i]);
    if (!in_place)
      buffers += fmt::format(
          "static uint8_t output{}[{}_OUTPUT{}_BYTES + 1] __attribute__((aligned(16)));\n", i, name,
          i);
    members_out += fmt::format(
        "{}{}", i > 0 ? ", " : "",
        in_place ? "NULL" : fmt::format("({} *)output{}", c_type(p.outputs[i].type), i));
    print += print_output(p, i);
  }
  return fmt::format(
      "// Runs {0} on zeros and prints its outputs. Made by deuteron {1}.\n#include "
      "<{0}.h>\n#include <string.h>\n\n"
      "static uint8_t arena[{2}_ARENA_BYTES] __attribute__((aligned(16)));\n{3}\n"
      "void setup() {{\n  Serial.begin(115200);\n{8}}}\n\nvoid loop() {{\n"
      "  const struct {0}_inputs in = {{{4}}};    // NULL: it stands in the arena\n  const struct "
      "{0}_outputs out = {{{5}}};  // NULL: it "
      "stays "
      "there\n{6}  const unsigned long begin = micros();\n  const int failed = {0}_run(arena, &in, "
      "&out);\n"
      "  Serial.print(failed ? \"failed: \" : \"microseconds: \");\n  Serial.println(failed ? "
      "(unsigned long)failed : micros() - begin);\n"
      "{7}  delay(1000);\n}}\n",
      p.name, o.version, name, buffers, members_in, members_out, fill, print,
      p.states.empty() ? "" : fmt::format("  {}_reset_state(arena);\n", p.name));
}

std::string readme(const COutput& o) {
  return fmt::format(
      "# {0}\n\nAn Arduino library, made by `deuteron` {1}{2}. Put this folder into `libraries/` "
      "of your sketchbook; the example is in the "
      "menu File, Examples, {0}.\n\n{3}\nSizes in bytes. A board with another core stops with "
      "`made for`, "
      "and what was expected. The kernels are "
      "C++17: a board package with an older standard (`compiler.cpp.flags`) warns. Before you "
      "publish it, fill in author, maintainer and "
      "url "
      "of `library.properties`.\n",
      o.programs.front().name, o.version,
      o.isa.empty() ? " for a computer" : fmt::format(" for {}: `{}`", o.target, o.flags),
      package_models(o));
}

}  // namespace

PackageFiles arduino_files(const COutput& o, const RuntimeSources& runtime) {
  const std::string& name = o.programs.front().name;
  PackageFiles files = package_sources(o, runtime);
  files["library.properties"] = library_properties(o);
  files["README.md"] = readme(o);
  files[fmt::format("examples/{0}/{0}.ino", name)] = sketch(o);
  return files;
}

}  // namespace deuteron
