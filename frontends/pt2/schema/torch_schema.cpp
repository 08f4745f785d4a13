// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/schema/torch_schema.h"

#include <algorithm>

namespace deuteron {

static constexpr std::string_view kSchemas =
#include "frontends/pt2/schema/torch_schemas.inc"
    ;

// after the line break that opens the text
std::string_view all_schemas() { return kSchemas.substr(1); }

// The parameters of a target's line, without parentheses. The lines are sorted: a search by halves
// over the text itself.
static std::optional<std::string_view> find_line(std::string_view target) {
  std::string_view rest = all_schemas();
  while (!rest.empty()) {
    const size_t before = rest.rfind('\n', rest.size() / 2);
    const size_t start = before == rest.npos || before + 1 == rest.size() ? 0 : before + 1;
    const size_t end = rest.find('\n', start);
    const std::string_view line = rest.substr(start, end - start);
    const size_t open = line.find('(');
    const int order = target.compare(line.substr(0, open));
    if (order == 0) return line.substr(open + 1, line.size() - open - 2);
    rest = order < 0 ? rest.substr(0, start) : rest.substr(end + 1);
  }
  return std::nullopt;
}

// "SymInt[2] stride=[1,1]"
static TorchParameter parse(std::string_view text) {
  TorchParameter p;
  const size_t space = text.find(' '), equals = std::min(text.find('='), text.size());
  p.type = text.substr(0, space);
  p.name = text.substr(space + 1, equals - space - 1);
  if (equals < text.size()) p.fallback = text.substr(equals + 1);
  return p;
}

std::optional<std::vector<TorchParameter>> parameters_of(std::string_view target) {
  const std::optional<std::string_view> line = find_line(target);
  if (!line) return std::nullopt;
  std::vector<TorchParameter> parameters;
  bool keyword_only = false;
  for (size_t at = 0; at < line->size();) {
    const size_t end = std::min(line->find(", ", at), line->size());
    const std::string_view text = line->substr(at, end - at);
    at = end + 2;
    if (text == "*") {
      keyword_only = true;
      continue;
    }
    parameters.push_back(parse(text));
    parameters.back().keyword_only = keyword_only;
  }
  return parameters;
}

std::optional<TorchParameter> parameter_of(std::string_view target, std::string_view name) {
  const auto parameters = parameters_of(target);
  if (!parameters) return std::nullopt;
  const auto p = std::find_if(parameters->begin(), parameters->end(),
                              [&](const TorchParameter& q) { return q.name == name; });
  return p == parameters->end() ? std::nullopt : std::optional(*p);
}

}  // namespace deuteron
