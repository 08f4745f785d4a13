// SPDX-License-Identifier: Apache-2.0
// Some channels of a constant, in any order.
#pragma once
#include <span>

#include "ir/graph.h"

namespace deuteron {

// The steps of these places of an axis, where there are some for each; else those that there are.
Quant picked_channels(const Quant& quant, i64 axis, std::span<const i64> places);

struct PickedChannels {
  Type type;
  Constant data;
};
PickedChannels picked_channels(const GraphValue& constant, i64 axis, std::span<const i64> places);

}  // namespace deuteron
