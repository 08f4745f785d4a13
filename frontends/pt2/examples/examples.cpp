// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/examples/examples.h"

#include <algorithm>

#include "frontends/pt2/examples/program_text.h"
#include "frontends/pt2/import.h"

namespace deuteron::pt2 {

static constexpr std::string_view kText =
#include "frontends/pt2/examples/torch_examples.inc"
    ;

// "# aten.conv2d.default" or "# aten.pad.default mode=reflect", then its lines, then an empty one.
static std::vector<TorchExample> read_examples() {
  std::vector<TorchExample> examples;
  for (size_t at = kText.find("# "); at != kText.npos;) {
    const size_t end_of_line = kText.find('\n', at), next = kText.find("\n# ", at);
    const size_t end = next == kText.npos ? kText.size() : next;
    const std::string_view name = kText.substr(at + 2, end_of_line - at - 2);
    const size_t space = std::min(name.find(' '), name.size());
    examples.push_back({name.substr(0, space), name.substr(std::min(space + 1, name.size())),
                        kText.substr(end_of_line + 1, end - end_of_line - 1)});
    at = next == kText.npos ? next : next + 1;
  }
  return examples;
}

const std::vector<TorchExample>& torch_examples() {
  static const std::vector<TorchExample> examples = read_examples();
  return examples;
}

std::string_view TorchExample::call() const {
  const size_t at = text.find(std::string(target) + "(");
  return at == text.npos ? std::string_view() : text.substr(at, text.find('\n', at) - at);
}

std::optional<Graph> import_example(const TorchExample& example, Diagnostics& diagnostics) {
  TextModel model = model_from_text(example.text, example.target);
  return import_program(model.archive, std::move(model.program), diagnostics);
}

}  // namespace deuteron::pt2
