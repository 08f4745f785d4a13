// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace deuteron::pt2 {

// Operators for which run_decompositions() was tried, and helps.
static constexpr std::string_view kDecomposable[] = {
#include "frontends/pt2/decomposable.inc"
};

std::string advice_for(std::string_view target) {
  if (std::ranges::find(kDecomposable, target) != std::end(kDecomposable))
    return "export it decomposed: torch.export.save(program.run_decompositions(), path)";
  if (target.starts_with("higher_order."))
    return "export the model without control flow: loops written out, and torch.where instead of "
           "branches";
  if (target.starts_with("aten."))
    return "replace it by supported operators: `deuteron ops` lists them";
  return fmt::format("replace it by operators of torch: `{}` belong to another library",
                     target.substr(0, target.find('.')));
}

}  // namespace deuteron::pt2
