// SPDX-License-Identifier: Apache-2.0
// See kernel_selection.h. What reading looks at: the line of the version, the lines of the table.
#include "npu/neutron/converter/kernel_selection.h"

#include <fmt/format.h>

#include <charconv>

namespace deuteron::neutron {

static constexpr std::string_view kVersionLine = "/* Neutron kernel selection, version ";
static constexpr std::string_view kEntry = "  [", kFunction = "neutron_kernel_",
                                  kTable = "const NeutronKernel neutron_kernel_table[";

std::string write_kernel_selection(const KernelSelection& s) {
  std::string text = fmt::format("{}{:08x} */\n", kVersionLine, s.version);
  text +=
      "/* The NPU kernels that the models of this firmware need. Compile and link it with the "
      "driver: it replaces the table of all "
      "kernels. */\n";
  text += "#include <stdint.h>\n\nenum NeutronKernelKind {\n";
  for (i32 k = 0; k < kKinds; ++k)
    if (const char* name = name_of(static_cast<Kind>(k)))
      text += fmt::format("  kNeutron{} = {},\n", name, k);
  text += fmt::format("  kNeutronKernelKinds = {}\n}};\n\n", kKinds);
  text += "typedef int32_t (*NeutronKernel)(const void* call, const void* memory);\n";
  for (const Kind k : s.kinds)
    text +=
        fmt::format("int32_t {}{}(const void* call, const void* memory);\n", kFunction, name_of(k));
  text +=
      "\n/* Their names, for whoever looks at the image. */\nextern const char "
      "neutron_kernel_list[];\nconst char neutron_kernel_list[] = "
      "\"\\0\"";
  for (const Kind k : s.kinds) text += fmt::format("\n  \"neutron::{}\\0\"", name_of(k));
  text += ";\n";
  text += fmt::format(
      "\nextern const NeutronKernel "
      "neutron_kernel_table[kNeutronKernelKinds];\n{}kNeutronKernelKinds] = {{\n",
      kTable);
  for (const Kind k : s.kinds)
    text += fmt::format("{}{}] = {}{},\n", kEntry, static_cast<i32>(k), kFunction, name_of(k));
  if (s.kinds.empty()) text += "  0\n";
  return text + "};\n";
}

std::optional<KernelSelection> read_kernel_selection(std::string_view text, const std::string& file,
                                                     Diagnostics& diagnostics) {
  KernelSelection s;
  bool versioned = false, in_table = false, ended = false;
  i64 number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const auto fail = [&](const char* what, const char* rule) {
      diagnostics.error(fmt::format("{}:{}", file, number), what, rule,
                        "make the file again with `deuteron compile`");
      return std::nullopt;
    };
    if (line.starts_with(kVersionLine)) {
      const std::string_view digits = line.substr(kVersionLine.size());
      const auto [at, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), s.version, 16);
      if (error != std::errc{} ||
          std::string_view(at, static_cast<size_t>(digits.data() + digits.size() - at)) != " */")
        return fail("the version cannot be read", "neutron.selection.version");
      versioned = true;
    } else if (line.starts_with(kTable)) {
      in_table = true;
    } else if (in_table && line == "};") {
      ended = true;
      break;
    } else if (in_table && line.starts_with(kEntry)) {
      i32 kind = 0;
      const std::string_view rest = line.substr(kEntry.size());
      const auto [at, error] = std::from_chars(rest.data(), rest.data() + rest.size(), kind);
      const bool known =
          error == std::errc{} && kind > 0 && kind < kKinds && name_of(static_cast<Kind>(kind));
      if (!known || line != fmt::format("{}{}] = {}{},", kEntry, kind, kFunction,
                                        name_of(static_cast<Kind>(kind))))
        return fail("an entry of the table that is none of this machine's kernels",
                    "neutron.selection.entry");
      s.kinds.insert(static_cast<Kind>(kind));
    } else if (in_table && line != "  0") {
      return fail("an entry of the table cannot be read", "neutron.selection.entry");
    }
  }
  if (!versioned || !ended) {
    diagnostics.error(file,
                      versioned ? "the table of kernels does not end"
                                : "no kernel selection: the line of the version is missing",
                      "neutron.selection.file", "make the file again with `deuteron compile`");
    return std::nullopt;
  }
  return s;
}

std::optional<KernelSelection> merge_kernel_selections(std::span<const KernelSelection> selections,
                                                       std::span<const std::string> files,
                                                       Diagnostics& diagnostics) {
  KernelSelection all;
  for (size_t i = 0; i < selections.size(); ++i) {
    if (i == 0) all.version = selections[0].version;
    if (selections[i].version != all.version) {
      diagnostics.add({Severity::error, files[i],
                       fmt::format("made for another version of the machine than {}", files[0]),
                       fmt::format("{:08x}", selections[i].version),
                       fmt::format("{:08x}", all.version), "neutron.selection.mixed",
                       "compile both models with the same version of deuteron"});
      return std::nullopt;
    }
    all.kinds.insert(selections[i].kinds.begin(), selections[i].kinds.end());
  }
  return all;
}

}  // namespace deuteron::neutron
