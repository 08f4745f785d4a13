// SPDX-License-Identifier: Apache-2.0
// Which images are channels-first and which channels-last: transposes move as few bytes as can be.
#pragma once
#include "ir/graph.h"

namespace deuteron {

// Where transposes between the two orders are left: operators that can work in either, and ports
// where `ports_may_turn`, get the order that is cheapest for all that hangs together (a minimum
// cut); each image is transposed once. What is no better stays.
void turn_images(Graph& g, bool ports_may_turn);

}  // namespace deuteron
