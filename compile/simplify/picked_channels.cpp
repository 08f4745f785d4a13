// SPDX-License-Identifier: Apache-2.0
#include "compile/simplify/picked_channels.h"

#include <vector>

namespace deuteron {

Quant picked_channels(const Quant& quant, i64 axis, std::span<const i64> places) {
  if (quant.axis != axis) return quant;
  Quant result = quant;
  result.scale.clear(), result.zero_point.clear();
  for (const i64 c : places) {
    result.scale.push_back(quant.scale[static_cast<size_t>(c)]);
    result.zero_point.push_back(quant.zero_point[static_cast<size_t>(c)]);
  }
  return result;
}

PickedChannels picked_channels(const GraphValue& constant, i64 axis, std::span<const i64> places) {
  Type type = constant.type;
  const std::span<const std::byte> from = constant.constant->bytes;
  i64& channels = type.shape[static_cast<size_t>(axis)];
  i64 bytes = bytes_of(type.dtype);  // of a channel
  for (size_t k = static_cast<size_t>(axis) + 1; k < type.shape.size(); ++k) bytes *= type.shape[k];
  std::vector<std::byte> to;
  for (size_t row = 0; row < from.size(); row += static_cast<size_t>(bytes * channels))
    for (const i64 c : places) {
      const auto channel =
          from.subspan(row + static_cast<size_t>(c * bytes), static_cast<size_t>(bytes));
      to.insert(to.end(), channel.begin(), channel.end());
    }
  channels = static_cast<i64>(places.size());
  type.quant = picked_channels(type.quant, axis, places);
  return {std::move(type), constant_of(std::move(to))};
}

}  // namespace deuteron
