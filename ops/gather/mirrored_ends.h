// SPDX-License-Identifier: Apache-2.0
// Gathers that mirror the ends of their axis, as reflection padding does: MIRROR_PAD of TFLite and
// of Neutron IR.
#pragma once
#include <optional>

#include "ops/gather/gather.h"

namespace deuteron {

struct MirroredEnds {
  i64 before, after;
  bool with_edge;  // the first element beyond the end is the last one before it; else the one
                   // before that
};
// Nothing for any other gather.
std::optional<MirroredEnds> mirrored_ends(const Gather&, i64 extent);

}  // namespace deuteron
