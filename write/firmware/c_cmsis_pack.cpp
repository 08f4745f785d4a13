// SPDX-License-Identifier: Apache-2.0
// A CMSIS-Pack: a folder with its description (.pdsc, schema 1.7), which `cpackget add` takes as it
// stands or zipped as a .pack. A component for each model and one for the kernels. Format:
// Open-CMSIS-Pack specification, chapter "Pack Description Format".
#include <fmt/format.h>

#include "write/firmware/c_package.h"
#include "write/firmware/write_project.h"

namespace deuteron {
namespace {

constexpr std::string_view kVendor = "Deuteron";
constexpr std::string_view kClass = "Machine Learning";

std::string_view category_of(std::string_view path) {
  if (path.ends_with(".h") || path.ends_with(".inc")) return "header";
  if (path.ends_with(".cpp")) return "sourceCpp";
  return path.ends_with(".S") ? "sourceAsm" : "sourceC";
}

// The model that a file belongs to; the kernels' else.
const CProgram* model_of(const COutput& o, const std::string& path) {
  for (const CProgram& p : o.programs)
    for (const char* end : {".h", ".c", "_weights.c"})
      if (path == fmt::format("src/{}{}", p.name, end)) return &p;
  return nullptr;
}

std::string component(const COutput& o, const std::string& group, const std::string& condition,
                      const std::string& description, const std::string& files) {
  return fmt::format(
      "    <component Cclass=\"{}\" {} Cversion=\"{}\"{}>\n      <description>{}</description>\n   "
      "   <files>\n{}      </files>\n"
      "    </component>\n",
      kClass, group, o.version,
      condition.empty() ? "" : fmt::format(" condition=\"{}\"", condition), description, files);
}

std::string pdsc(const COutput& o, const PackageFiles& sources) {
  const CProgram& first = o.programs.front();
  const std::string core = package_core(o),
                    kernels_group = fmt::format("Cgroup=\"{} kernels\"", first.name);
  const std::string is_core = core.empty() ? "" : "core";
  std::string conditions, components,
      kernels = "        <file category=\"include\" name=\"src/\"/>\n";
  if (!core.empty())
    conditions += fmt::format(
        "    <condition id=\"core\">\n      <description>{0}</description>\n      <require "
        "Dcore=\"{0}\"/>\n    </condition>\n",
        core);
  conditions += fmt::format(
      "    <condition id=\"kernels\">\n      <description>What the models call</description>\n{}   "
      "   <require Cclass=\"{}\" {}/>\n    "
      "</condition>\n",
      core.empty() ? "" : "      <require condition=\"core\"/>\n", kClass, kernels_group);
  std::map<const CProgram*, std::string> files;
  for (const auto& [path, content] : sources)
    if (const CProgram* p = model_of(o, path)) files[p] += pdsc_file(path);
    else if (path != kSelectionFile) kernels += pdsc_file(path);
  for (const CProgram& p : o.programs)
    components += component(o, fmt::format("Cgroup=\"{}\"", p.name), "kernels", package_sentence(p),
                            files[&p]);
  components += component(o, kernels_group, is_core, "The kernels of the models, C++17", kernels);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Made by deuteron {2}. -->\n"
      "<package schemaVersion=\"1.7.7\" xmlns:xs=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xs:noNamespaceSchemaLocation=\"PACK.xsd\">\n"
      "  <vendor>{0}</vendor>\n  <name>{1}</name>\n  <description>Neural networks as C: "
      "{1}{3}</description>\n  <url></url>\n"
      "  <releases>\n    <release version=\"{2}\">As deuteron {2} compiled it</release>\n  "
      "</releases>\n"
      "  <keywords>\n    <keyword>neural network</keyword>\n    <keyword>int8</keyword>\n  "
      "</keywords>\n"
      "  <conditions>\n{4}  </conditions>\n  <components>\n{5}  </components>\n</package>\n",
      kVendor, first.name, o.version, core.empty() ? "" : ", for " + core, conditions, components);
}

std::string pack_readme(const COutput& o) {
  const std::string& name = o.programs.front().name;
  return fmt::format(
      "# {0}\n\nA CMSIS-Pack, made by `deuteron` {1}{2}.\n\n{3}\nSizes in bytes. `cpackget add "
      "{4}.{0}.pdsc` adds the folder as it stands. "
      "`deuteron firmware --as cmsis-pack -o {4}.{0}.{1}.pack` makes one file of it, which can be "
      "handed on. In a "
      "`.cproject.yml`:\n\n```yaml\ncomponents:\n  - component: {4}::{5}:{0}\n  - component: "
      "{4}::{5}:{0} kernels\n```\n\nThe kernels are C++17: `misc: - CPP: [-std=c++17]` where your "
      "project has an older standard. A device "
      "with "
      "another core stops with `made for`, and what was expected.\n",
      name, o.version,
      o.isa.empty() ? " for a computer" : fmt::format(" for {}: `{}`", o.target, o.flags),
      package_models(o), kVendor, kClass);
}

}  // namespace

std::string pdsc_file(std::string_view path) {
  return fmt::format("        <file category=\"{}\" name=\"{}\"/>\n", category_of(path), path);
}

std::string cmsis_pack_name(const COutput& o) {
  return fmt::format("{}.{}.{}.pack", kVendor, o.programs.front().name, o.version);
}

PackageFiles cmsis_pack_files(const COutput& o, const RuntimeSources& runtime) {
  PackageFiles files = package_sources(o, runtime);
  files[fmt::format("{}.{}.pdsc", kVendor, o.programs.front().name)] = pdsc(o, files);
  files["README.md"] = pack_readme(o);
  return files;
}

}  // namespace deuteron
