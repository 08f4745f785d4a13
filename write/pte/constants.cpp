// SPDX-License-Identifier: Apache-2.0
#include "write/pte/constants.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>

namespace deuteron {

// Sorted by content, what a constant is the beginning of follows it at once.
std::vector<size_t> constant_homes(std::span<const std::span<const std::byte>> constants) {
  const auto text = [&](size_t i) {
    return std::string_view(reinterpret_cast<const char*>(constants[i].data()),
                            constants[i].size());
  };
  std::vector<size_t> sorted(constants.size());
  std::iota(sorted.begin(), sorted.end(), size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](size_t a, size_t b) { return text(a) < text(b); });
  std::vector<size_t> home(constants.size());
  for (size_t k = sorted.size(); k-- > 0;) {
    const bool begins_next =
        k + 1 < sorted.size() && text(sorted[k + 1]).starts_with(text(sorted[k]));
    home[sorted[k]] = begins_next ? home[sorted[k + 1]] : sorted[k];
  }
  return home;
}

ConstantSegment lay_out_constants(std::span<const std::span<const std::byte>> constants) {
  const std::vector<size_t> home = constant_homes(constants);
  constexpr uint64_t kNowhere = ~uint64_t{0};
  ConstantSegment segment;
  std::vector<uint64_t> at(constants.size(), kNowhere);
  for (size_t i = 0; i < constants.size(); ++i) {
    uint64_t& place = at[home[i]];
    if (place == kNowhere) {
      place = (segment.bytes + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment;
      segment.bytes = place + constants[home[i]].size();
    }
    segment.offsets.push_back(place);
  }
  if (segment.bytes == 0 && !constants.empty())
    segment.bytes = kConstantAlignment;  // loaders want a place even for no bytes
  return segment;
}

void write_constants(std::span<const std::span<const std::byte>> constants,
                     const ConstantSegment& segment, uint8_t* to) {
  for (size_t i = 0; i < constants.size(); ++i)
    if (!constants[i].empty())
      std::memcpy(to + segment.offsets[i], constants[i].data(), constants[i].size());
}

}  // namespace deuteron
