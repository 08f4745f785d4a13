// SPDX-License-Identifier: Apache-2.0
// One C++17 header that is a model: `deuteron compile --emit hpp`. The declarations of the C
// output; and, where NAME_IMPLEMENTATION is defined, its functions, its constants and the kernels
// that it calls, joined into one text that stands in a namespace of the model's own.
#include <fmt/format.h>

#include <cctype>
#include <optional>

#include "base/check.h"
#include "write/firmware/c_output.h"
#include "write/firmware/license.h"

namespace deuteron {
namespace {

using Index = std::map<std::string_view, std::string_view>;

// With those that go on behind a backslash, as the preprocessor has them.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    while (end != text.npos && end > 0 && text[end - 1] == '\\') end = text.find('\n', end + 1);
    end = std::min(end, text.size() - 1);
    lines.push_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

bool is_directive(std::string_view line) { return line.starts_with('#'); }
bool is_blank_or_comment(std::string_view line) { return line == "\n" || line.starts_with("//"); }

// Adds a header after those that it includes.
void add_header(const Index& index, const std::string& path, std::vector<std::string>& order,
                std::set<std::string>& seen) {
  if (!seen.insert(path).second || !index.contains(path)) return;
  for (const std::string_view line : lines_of(index.at(path)))
    if (const auto other = included(line); other && other->ends_with(".h"))
      add_header(index, *other, order, seen);
  order.push_back(path);
}

// A text with each of its words as `rename` gives it.
template <class Rename>
std::string with_words(std::string_view text, const Rename& rename) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    out += rename(text.substr(at, end - at));
    at = end;
  }
  return out;
}

// A file of C++ within the model's namespace: what it begins with (includes of the system, under
// their conditions) stays outside.
std::string in_namespace(std::string_view text, const std::string& space) {
  std::vector<std::string_view> lines;
  for (const std::string_view line : lines_of(text))
    if (!included(line) && !line.starts_with("#pragma once")) lines.push_back(line);
  size_t begin = 0, end = lines.size();
  for (size_t k = 0; k < lines.size() && (is_directive(lines[k]) || is_blank_or_comment(lines[k]));
       ++k)
    begin = k + 1;
  while (end > begin && (is_directive(lines[end - 1]) || is_blank_or_comment(lines[end - 1])))
    --end;
  std::string out;
  for (size_t k = 0; k < lines.size(); ++k) {
    if (k == begin && begin < end) out += fmt::format("namespace {} {{\n", space);
    out += lines[k];
    if (k + 1 == end && begin < end) out += "}\n";
  }
  return out;
}

// A line of assembly as a string of C, without its comment. Raw strings would not do: C reads the
// header too, for its declarations.
std::string assembly_line(std::string_view line) {
  line = is_blank_or_comment(line) ? "" : line.substr(0, line.find('@'));
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())))
    line.remove_suffix(1);
  if (line.empty()) return "";
  std::string text = "  \"";
  for (const char c : line) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\\n\"\n";
}

bool is_assembly_macros(std::string_view path) {
  return path.ends_with("_mve.inc") || path.ends_with("_dsp.inc") || path.ends_with("_scalar.inc");
}

// A file of assembly with what it includes in its place.
std::string with_included(const Index& index, std::string_view text) {
  std::string out;
  for (const std::string_view line : lines_of(text)) {
    const auto path = included(line);
    if (path) out += with_included(index, index.at(*path));
    else out += line;
  }
  return out;
}

// A file of assembly as statements of C++: its lines for the preprocessor stay that, and its macros
// end with it.
std::string as_statements(std::string_view text) {
  constexpr std::string_view kMacro = ".macro ";
  const std::vector<std::string_view> lines = lines_of(text);
  std::string out, open = assembly_line(".pushsection .text"), end;
  const auto flush = [&] {
    if (!open.empty()) out += fmt::format("__asm__(\n{});\n", open);
    open.clear();
  };
  size_t last = lines.size();  // the condition of a whole file ends with its last line
  while (last > 0 && is_directive(lines[last - 1])) --last;
  for (size_t k = 0; k < lines.size(); ++k) {
    if (lines[k].starts_with(kMacro)) {
      const std::string_view rest = lines[k].substr(kMacro.size());
      end += assembly_line(fmt::format(".purgem {}", rest.substr(0, rest.find_first_of(" \n"))));
    }
    if (is_directive(lines[k])) flush(), out += lines[k];
    else open += assembly_line(lines[k]);
    if (k + 1 == last) open += end;
  }
  open += assembly_line(".popsection");
  flush();
  return out;
}

// What one file of assembly defines for others would meet that of another model in one image, or in
// one translation unit.
std::set<std::string, std::less<>> names_of_assembly(const std::vector<std::string_view>& files) {
  std::set<std::string, std::less<>> names;
  for (const std::string_view file : files)
    with_words(file, [&](std::string_view word) {
      if (word.starts_with("deuteron_")) names.emplace(word);
      return std::string();
    });
  return names;
}

std::set<std::string> macros_of(std::string_view text) {
  constexpr std::string_view kDefine = "#define ";
  std::set<std::string> macros;
  for (std::string_view line : lines_of(text)) {
    if (!line.starts_with(kDefine)) continue;
    line.remove_prefix(kDefine.size());
    macros.emplace(line.substr(0, line.find_first_of(" (\n")));
  }
  return macros;
}

std::string joined_kernels(const COutput& o, const RuntimeSources& runtime,
                           const std::string& name) {
  const std::set<std::string> kernels = kernel_headers(runtime, operators_of(o));
  const std::set<std::string> kept = kept_operators_of(o);
  std::set<std::string> files = sources_of(runtime, kernels, o.isa);
  files.merge(kept_sources(runtime, kept, o.isa));
  Index index;
  for (const SourceFile& f : runtime.files)
    if (files.contains(std::string(f.path))) index.emplace(f.path, f.text);
  std::vector<std::string> headers;
  std::set<std::string> seen;
  for (const std::string& path : files)
    if (path.ends_with(".h")) add_header(index, path, headers, seen);
  std::string text = kept.empty() ? "" : fmt::format("#define {} 1\n", kCDevice);
  std::vector<std::string_view> assembly;
  const std::string space = fmt::format("{}_kernels", name);
  for (const std::string& path : headers)
    text += fmt::format("// {}\n{}", path, in_namespace(index.at(path), space));
  for (const auto& [path, content] : index) {
    if (path.ends_with(".S"))
      text += fmt::format("// {}\n{}", path, as_statements(with_included(index, content))),
          assembly.push_back(content);
    else if (path.ends_with(".cpp"))
      text += fmt::format("// {}\n{}", path, in_namespace(content, space));
    else
      DEUTERON_CHECK(path.ends_with(".h") || is_assembly_macros(path),
                     path);  // what is included twice cannot be joined so
  }
  for (const char* part : {".h", ".cpp"})
    for (const SourceFile& f : runtime.files)
      if (!kept.empty() && f.path.starts_with(kCCall) && f.path.ends_with(part))
        text += fmt::format("// {}\n{}", f.path, in_namespace(f.text, space));
  text += fmt::format("namespace {} {{\n{}}}\n", space, c_kept_definitions(o, runtime));
  const auto names = names_of_assembly(assembly);
  text = with_words(text, [&](std::string_view word) {
    return names.contains(word) ? fmt::format("{}_{}", name, word.substr(word.find('_') + 1))
                                : std::string(word);
  });
  // of each file; the header begins with it
  const std::string license = fmt::format("// {}\n", kSpdxLine);
  for (size_t at = text.find(license); at != text.npos; at = text.find(license, at))
    text.erase(at, license.size());
  for (const std::string& macro : macros_of(text)) text += fmt::format("#undef {}\n", macro);
  return text;
}

// As a library of kernels is compiled. Here the compiler sees every call, and would copy kernels
// for the numbers of each: MobileNetV2's code grows by 17 % on a Cortex-M55.
constexpr std::string_view kNoCopies =
    "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC push_options\n#pragma GCC "
    "optimize(\"-fno-ipa-cp-clone\")\n#endif\n";

// Warnings of the user's that these kernels were not written for; their own build has others, as
// errors. The last needs a call's numbers to be followed into a kernel, which here they are.
constexpr std::string_view kBegin =
    "#if defined(__GNUC__)\n#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored "
    "\"-Wconversion\"\n"
    "#pragma GCC diagnostic ignored \"-Wsign-conversion\"\n#pragma GCC diagnostic ignored "
    "\"-Wpedantic\"\n"
    "#pragma GCC diagnostic ignored \"-Wold-style-cast\"\n#pragma GCC diagnostic ignored "
    "\"-Wcast-align\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-function\"\n#pragma GCC diagnostic ignored "
    "\"-Wunused-const-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wshadow\"\n#pragma GCC diagnostic ignored "
    "\"-Wunused-macros\"\n#endif\n"
    "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC diagnostic ignored "
    "\"-Waggressive-loop-optimizations\"\n#endif\n"
    "#pragma push_macro(\"ARENA\")\n#pragma push_macro(\"CONSTANT\")\n#undef ARENA\n#undef "
    "CONSTANT\n"
    "#include <stddef.h>\n#include <string.h>\n";
constexpr std::string_view kEnd =
    "#undef ARENA\n#undef CONSTANT\n#pragma pop_macro(\"ARENA\")\n#pragma pop_macro(\"CONSTANT\")\n"
    "#if defined(__clang__)\n#pragma STDC FP_CONTRACT DEFAULT\n#elif defined(__GNUC__)\n#pragma "
    "GCC pop_options\n#endif\n"
    "#if defined(__GNUC__)\n#pragma GCC diagnostic pop\n#endif\n";

}  // namespace

std::string cpp_header(const COutput& o, const RuntimeSources& runtime) {
  const CProgram& p = o.programs.front();
  DEUTERON_CHECK(o.programs.size() == 1 && !o.npu, p.name);
  const std::string macro = c_macro(p.name);
  std::string text = fmt::format(
      "/* {2} */\n/* {0} as one C++17 header: a model, its constants and the kernels that it "
      "calls. Include it wherever the model is used, and in "
      "one\n"
      "   file of C++ with\n\n     #define {1}_IMPLEMENTATION\n\n   before that, which makes it "
      "the whole program of the model. Headers of "
      "several models may meet in one file. */\n",
      p.name, macro, kSpdxLine);
  text += c_header(o, p);
  text += fmt::format(
      "#if defined({0}_IMPLEMENTATION) && !defined({0}_IMPLEMENTED)\n#define {0}_IMPLEMENTED\n",
      macro);
  text += c_core_check(o);
  text +=
      "#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n#error \"the "
      "constants are for a little-endian "
      "core\"\n#endif\n";
  text += kNoCopies;
  text += kCOptions;
  text += kBegin;
  text += joined_kernels(o, runtime, p.name);
  if (!p.constants.empty())
    text +=
        fmt::format("alignas(16) static const uint32_t {}_weights[] = {};\n", p.name, c_words(p));
  text += c_functions(p, CLanguage::cpp17);
  text += kEnd;
  return text + "#endif\n";
}

}  // namespace deuteron
