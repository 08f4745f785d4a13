// SPDX-License-Identifier: Apache-2.0
#include "cli/unused_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/compile_model.h"

namespace deuteron {

// --profile is not among them: the CPU's calls are profiled as well.
void warn_of_npu_options(const ModelOptions& o, const Target& target, Diagnostics& diagnostics) {
  if (target.npu) return;
  const NpuOptions& npu = o.compile.npu;
  const std::pair<const char*, bool> options[] = {
      {"--layer NAME=cpu",
       std::ranges::any_of(o.layers,
                           [](const std::string& text) { return cpu_layer(text).has_value(); })},
      {"--prefer", !o.prefer.empty()},
      {"--neutron-converter", !npu.converter.path.empty()},
      {"--neutron-option", !o.neutron_options.empty()},
      {"--neutron-kernel-selection", !o.kernel_selection.empty()},
  };
  for (const auto& [name, given] : options)
    if (given)
      diagnostics.warning(o.model, fmt::format("{} does nothing: {} has no NPU", name, target.name),
                          "target.no_npu",
                          fmt::format("leave {} out, or compile for imxrt700cm", name));
}

}  // namespace deuteron
