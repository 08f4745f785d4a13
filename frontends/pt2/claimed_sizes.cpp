// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/claimed_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace deuteron::pt2 {

bool check_claimed_sizes(const Archive& archive, const Program& program, Diagnostics& diagnostics) {
  const i64 most = most_claimed_elements(static_cast<i64>(archive.bytes.size()));
  std::set<std::string_view> weights;
  for (const ProgramInput& in : program.inputs)
    if (in.kind != ProgramInput::Kind::user) weights.insert(in.name);
  std::pair<i64, std::string_view> largest{0, ""};
  for (const auto& [name, meta] : program.tensors)
    if (!weights.contains(name)) largest = std::max(largest, {numel(meta.sizes), name});
  if (largest.first <= most) return true;
  diagnostics.add(
      {Severity::error, archive.name,
       fmt::format("`{}` has too many elements for a file of this size", largest.second),
       std::to_string(largest.first), std::to_string(most), "pt2.tensor.size",
       "export the model with an example of one sample"});
  return false;
}

}  // namespace deuteron::pt2
