// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/file/source_names.h"

#include <fmt/format.h>

#include <array>

namespace deuteron::pt2 {

static std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\r')) s.remove_suffix(1);
  return s;
}

static std::string_view next_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

static void erase_all(std::string& text, std::string_view part) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
    text.erase(at, part.size());
}

std::string innermost_module(std::string_view stack) {
  const std::string_view last =
      stack.substr(stack.rfind(';') == std::string_view::npos ? 0 : stack.rfind(';') + 1);
  const size_t first_comma = last.find(','), last_comma = last.rfind(',');
  if (first_comma == std::string_view::npos || first_comma == last_comma) return {};
  std::string path(last.substr(first_comma + 1, last_comma - first_comma - 1));
  for (const std::string_view root : {"L['self']", "L__self__", "_modules"}) erase_all(path, root);
  std::string dotted;  // `getattr(x, '0')` and `x['0']` are spellings of x.0
  for (const char c : path) {
    const bool is_separator = c == '.' || c == '[' || c == ',' || c == '(';
    if (is_separator && !dotted.empty() && dotted.back() != '.') dotted += '.';
    if (!is_separator && std::string_view("'\") ]").find(c) == std::string_view::npos) dotted += c;
  }
  erase_all(dotted, "getattr.");
  if (const size_t call = dotted.find('@'); call != std::string::npos)
    dotted.resize(call);  // second call of the same module
  while (!dotted.empty() && dotted.back() == '.') dotted.pop_back();
  if (dotted.starts_with("_empty_nn_module_stack"))
    dotted.clear();  // torch's word for an operator that export itself has added
  return dotted;
}

// "torch/nn/modules/conv.py" and "/usr/lib/python3/site-packages/torch/nn/modules/conv.py" are
// torch's, "nets.py" is not.
static bool is_inside_torch(std::string_view file) {
  return file.starts_with("torch/") || file.find("/torch/") != std::string_view::npos;
}

std::string short_stack(std::string_view trace) {
  std::string result;
  while (!trace.empty()) {
    const std::string_view line = trimmed(next_line(trace));
    if (line.empty()) continue;
    constexpr std::string_view kFile = "File \"", kLine = ", line ";
    const size_t end = line.find('"', kFile.size());
    if (!line.starts_with(kFile) || end == std::string_view::npos ||
        line.substr(end + 1, kLine.size()) != kLine) {
      result += result.empty() || result.back() == '\n' ? "" : ": ";
      result += line;
      continue;
    }
    std::string_view file = line.substr(kFile.size(), end - kFile.size()),
                     rest = line.substr(end + 1 + kLine.size());
    const size_t slash = file.find_last_of("/\\");
    const std::string_view short_file =
        file.substr(slash == std::string_view::npos ? 0 : slash + 1);
    const size_t comma = rest.find(',');
    if (!result.empty()) result += '\n';
    result += fmt::format("{}{}:{}{}", is_inside_torch(file) ? "torch/" : "", short_file,
                          rest.substr(0, comma),
                          comma == std::string_view::npos ? "" : rest.substr(comma + 1));
  }
  return result;
}

std::string_view users_line(std::string_view stack) {
  std::string_view found;
  while (!stack.empty()) {
    const std::string_view line = next_line(stack);
    if (found.empty() || !line.starts_with("torch/")) found = line;
  }
  return found;
}

}  // namespace deuteron::pt2
