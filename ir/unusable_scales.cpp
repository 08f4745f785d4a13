// SPDX-License-Identifier: Apache-2.0
#include "ir/unusable_scales.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace deuteron {

// "m.pt2: linear `b` (source op 9)": the operator that makes the value, else the first that reads
// it.
static std::string place_of(const Graph& g, ValueId value) {
  for (const auto list : {&Node::outputs, &Node::inputs})
    for (const Node& node : g.nodes)
      if (std::ranges::find(node.*list, value) != (node.*list).end())
        return fmt::format("{}: {}", g.name, describe(g, node));
  return g.name;
}

void refuse_unusable_scales(const Graph& g, Diagnostics& diagnostics) {
  for (size_t v = 0; v < g.values.size(); ++v)
    for (const float scale : g.values[v].type.quant.scale) {
      if (scale > 0 && std::isfinite(scale)) continue;
      diagnostics.add(
          {Severity::error, place_of(g, static_cast<ValueId>(v)),
           fmt::format("the quantization scale of `{}` is not a number that float32 holds",
                       g.values[v].name),
           fmt::format("{:g}", scale), "1.4e-45 to 3.4e38", "quantize.scale",
           scale > 0 ? "its operands are too large: scale the model's weights and the data down"
                     : "the scales of its operands are too small: scale the model's weights and "
                       "the data up"});
      return;
    }
}

}  // namespace deuteron
