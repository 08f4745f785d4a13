// SPDX-License-Identifier: Apache-2.0
// The border between the C of a model and the kernels, which are C++: a header of structs and
// functions for C, and their definitions, which hold the structs against those of the kernels.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "write/firmware/c_output.h"

namespace deuteron {
namespace {

struct KernelUse {
  std::span<const FieldShape> parameters;
};

// Of all programs, by name.
std::map<std::string, KernelUse> kernels_of(const COutput& o) {
  std::map<std::string, KernelUse> kernels;
  for (const CProgram& p : o.programs)
    for (const CCall& c : p.calls)
      if (!c.npu && !c.kept) kernels.emplace(c.kernel, KernelUse{c.parameters});
  return kernels;
}

// Each record after those that it contains.
void add_record(const RecordShape& record, std::vector<const RecordShape*>& records) {
  for (uint32_t i = 0; i < record.count; ++i)
    if (record.fields[i].record != nullptr) add_record(*record.fields[i].record, records);
  if (std::ranges::none_of(records, [&](const RecordShape* r) { return r->name == record.name; }))
    records.push_back(&record);
}

std::vector<const RecordShape*> records_of(const std::map<std::string, KernelUse>& kernels) {
  std::vector<const RecordShape*> records;
  for (const auto& [name, use] : kernels)
    for (const FieldShape& p : use.parameters)
      if (p.record != nullptr) add_record(*p.record, records);
  return records;
}

std::string declared(std::string_view type, std::string_view name) {
  return fmt::format("{}{}{}", type, type.ends_with('*') ? "" : " ", name);
}

std::string c_struct(const RecordShape& record) {
  std::string text = fmt::format("struct deuteron_{} {{\n", record.name);
  for (uint32_t i = 0; i < record.count; ++i) {
    const FieldShape& f = record.fields[i];
    const std::string type = f.record != nullptr ? fmt::format("struct deuteron_{}", f.record->name)
                                                 : std::string(f.c_type);
    text += fmt::format("  {}{};\n", declared(type, f.name),
                        f.count > 0 ? fmt::format("[{}]", f.count) : "");
  }
  return text + "};\n";
}

// "const struct deuteron_AddArgs *a0, const int8_t *a1", or as C++ has it.
std::string parameters(const KernelUse& use, bool cpp) {
  std::string text;
  for (size_t i = 0; i < use.parameters.size(); ++i) {
    const FieldShape& p = use.parameters[i];
    const std::string name = fmt::format("a{}", i);
    if (!text.empty()) text += ", ";
    if (p.record == nullptr) text += declared(p.c_type, name);
    else
      text += cpp ? fmt::format("const deuteron::{}& {}", p.record->name, name)
                  : fmt::format("const struct deuteron_{} *{}", p.record->name, name);
  }
  return text;
}

std::string same_layout(const RecordShape& record) {
  std::string text = fmt::format(
      "static_assert(sizeof(deuteron_{0}) == sizeof(deuteron::{0}), \"{0}\");\n", record.name);
  for (uint32_t i = 0; i < record.count; ++i)
    text += fmt::format(
        "static_assert(offsetof(deuteron_{0}, {1}) == offsetof(deuteron::{0}, {1}), "
        "\"{0}::{1}\");\n",
        record.name, record.fields[i].name);
  return text;
}

}  // namespace

std::string c_function(const std::string& kernel) {
  std::string name = "deuteron_";
  for (size_t at = 0; at < kernel.size(); ++at) {  // "packed_conv2d_s8<Packing::dsp_4x4>"
    const char c = kernel[at];
    if (c == '<') name += "_";
    else if (kernel.compare(at, 9, "Packing::") == 0) at += 8;
    else if (c != '>') name += c;
  }
  return name;
}

std::string c_function_of_call(const std::string& op) {
  std::string name = "deuteron_call_";
  for (const char c : op) name += c == ':' || c == '.' ? '_' : c;
  return name;
}

std::string c_kept_declarations(const COutput& o) {
  std::string text;
  for (const std::string& op : kept_operators_of(o))
    text += fmt::format("int {}(const struct deuteron_call *call);\n", c_function_of_call(op));
  return text;
}

std::string c_kept_definitions(const COutput& o, const RuntimeSources& runtime) {
  std::string declared, defined;
  for (const std::string& op : kept_operators_of(o)) {
    const auto kernel = runtime.kernels.find(op);
    DEUTERON_CHECK(kernel != runtime.kernels.end(), op);
    declared += fmt::format("extern const Kernel {};\n", kernel->second.symbol);
    defined += fmt::format(
        "int {0}(const deuteron_call* call);\nint {0}(const deuteron_call* call) {{ return "
        "deuteron::run_call_of_c(deuteron::{1}, *call); "
        "}}\n",
        c_function_of_call(op), kernel->second.symbol);
  }
  if (declared.empty()) return {};
  return fmt::format(
      "namespace deuteron {{\n{}int run_call_of_c(const Kernel& kernel, const deuteron_call& "
      "c);\n}}\nextern \"C\" {{\n{}}}\n",
      declared, defined);
}

std::string c_core_check(const COutput& o) {
  if (o.isa.empty())
    return "#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'\n#error \"made for a "
           "computer (with `,host`): make it for the "
           "core\"\n#endif\n";
  std::string wanted = fmt::format("defined({})", o.core_macro);
  if (o.isa == "mve") wanted += " && defined(__ARM_FEATURE_MVE)";
  if (o.isa == "dsp") wanted += " && defined(__ARM_FEATURE_DSP) && !defined(__ARM_FEATURE_MVE)";
  if (o.isa == "scalar") wanted += " && !defined(__ARM_FEATURE_DSP) && !defined(__ARM_FEATURE_MVE)";
  if (o.flags.find("-mfloat-abi=hard") != o.flags.npos) wanted += " && defined(__ARM_FP)";
  return fmt::format("#if !({})\n#error \"made for {}: {}\"\n#endif\n", wanted, o.target, o.flags);
}

std::string c_kernels_header(const COutput& o) {
  const auto kernels = kernels_of(o);
  std::string text = fmt::format(
      "/* The kernels that the models of this folder call, as C sees them. Made by deuteron {}. "
      "What each argument is: "
      "{}/kernels/.../kernel.h */\n#ifndef DEUTERON_KERNELS_H\n#define "
      "DEUTERON_KERNELS_H\n#include <stdbool.h>\n#include <stdint.h>\n\n",
      o.version, kCSources);
  if (!kept_operators_of(o).empty()) text += "#include \"deuteron_call.h\"\n\n";
  for (const RecordShape* record : records_of(kernels)) text += c_struct(*record) + "\n";
  text += "#ifndef DEUTERON_KERNELS_TYPES_ONLY\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (const auto& [name, use] : kernels)
    text += fmt::format("void {}({});\n", c_function(name), parameters(use, false));
  text += c_kept_declarations(o);
  return text + "#ifdef __cplusplus\n}\n#endif\n#endif\n#endif\n";
}

std::string c_kernels_source(const COutput& o, const std::vector<std::string>& headers,
                             const RuntimeSources& runtime) {
  const auto kernels = kernels_of(o);
  std::string text = fmt::format(
      "// The kernels by the names and types that C knows. Made by deuteron {}. C++17, with this "
      "folder's `{}` as an include folder.\n"
      "#define DEUTERON_KERNELS_TYPES_ONLY\n#include \"{}.h\"\n\n#include <cstddef>\n\n",
      o.version, kCSources, kCKernels);
  for (const std::string& header : headers) text += fmt::format("#include \"{}\"\n", header);
  if (!kept_operators_of(o).empty()) text += "#include \"runtime/kernel.h\"\n";
  text += "\n" + c_core_check(o) + "\n";
  for (const RecordShape* record : records_of(kernels)) text += same_layout(*record);
  text += "\nusing namespace deuteron;\n\nextern \"C\" {\n";
  for (const auto& [name, use] : kernels) {
    std::string arguments;
    for (size_t i = 0; i < use.parameters.size(); ++i)
      arguments += fmt::format("{}a{}", i > 0 ? ", " : "", i);
    text += fmt::format("void {}({});\nvoid {}({}) {{ {}({}); }}\n", c_function(name),
                        parameters(use, true), c_function(name), parameters(use, true), name,
                        arguments);
  }
  return text + "}\n" + c_kept_definitions(o, runtime);
}

}  // namespace deuteron
