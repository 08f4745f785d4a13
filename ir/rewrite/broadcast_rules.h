// SPDX-License-Identifier: Apache-2.0
// Rules that bring int8 operators with broadcast operands to what the dialect's kernels take.
#pragma once
#include <span>

#include "ir/rewrite/patch.h"

namespace deuteron {

std::span<const Rule> broadcast_rules();

}  // namespace deuteron
