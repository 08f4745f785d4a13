// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/portable_calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compile/quantize/quantization_search.h"
#include "ir/source_names.h"
#include "ir/states.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {

i64 portable_float_bytes(const Graph& g, const Node& node) {
  const KernelCall& call = std::get<KernelCall>(node.op);
  if (call.delegate || is_of_dialect(call) || is_state_write(node.op)) return 0;
  i64 bytes = 0;
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const ValueId v : *list)
      if (!g.is_constant(v) && g.type(v).dtype == DType::f32) bytes += g.type(v).bytes();
  return bytes;
}

const char* why_in_float(std::span<const InFloat> meant, const Origin& origin) {
  for (const InFloat& in_float : meant)
    if (std::ranges::find_first_of(in_float.origin, origin) != in_float.origin.end())
      return in_float.why;
  return nullptr;
}

void warn_of_portable_calls(const Graph& g, i64 macs, const Target& target,
                            std::span<const InFloat> meant, Diagnostics& diagnostics) {
  struct Leftover {
    std::string name, operators;
    std::vector<std::string> kernels;
    i64 macs = 0, bytes = 0;
  };
  std::vector<Leftover> leftovers;
  for (const Node& node : g.nodes) {
    const KernelCall* call = call_of(node.op);
    const i64 bytes = call ? portable_float_bytes(g, node) : 0;
    if (bytes == 0 || why_in_float(meant, node.origin)) continue;
    const std::string name = user_names(g, node.origin),
                      operators = user_operators_text(g, node.origin);
    auto at = std::find_if(leftovers.begin(), leftovers.end(), [&](const Leftover& l) {
      return l.operators == operators && l.name == name;
    });
    if (at == leftovers.end()) at = leftovers.insert(at, {name, operators, {}, 0, 0});
    if (std::find(at->kernels.begin(), at->kernels.end(), call->name) == at->kernels.end())
      at->kernels.push_back(call->name);
    at->macs += call->macs;
    at->bytes += bytes;
  }
  for (const Leftover& l : leftovers) {
    const double share =
        macs > 0 ? 100.0 * static_cast<double>(l.macs) / static_cast<double>(macs) : 0;
    diagnostics.warning(fmt::format("{}: `{}`, {}", g.name, l.name, l.operators),
                        fmt::format("has no int8 form on {} and runs in float on the portable "
                                    "kernel{} {}: {:.1f} % of the multiply-adds, "
                                    "{} bytes of float tensors",
                                    target.name, l.kernels.size() == 1 ? "" : "s",
                                    fmt::join(l.kernels, ", "), share, l.bytes),
                        "target.portable",
                        "replace the operator, or accept the cost; --strict makes this an error");
  }
}

}  // namespace deuteron
