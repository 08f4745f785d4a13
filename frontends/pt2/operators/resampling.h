// SPDX-License-Identifier: Apache-2.0
// Parts of operators that change an image's extents.
#pragma once
#include <vector>

#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// The whole operator, from `self` and `pad` or `padding`. Modes: reflect, replicate, circular.
void finish_pad_by_elements(Call& c, std::string_view mode);

// An axis that is resized: its extents, and how far apart in x the result's elements lie.
struct ResizedAxis {
  i64 in, out;
  float step;
  bool is_even() const { return step == static_cast<float>(in) / static_cast<float>(out); }
};

// Axes 2, 3, .. of x by `output_size` or `scale_factors`. torch steps by the factor where one is
// given, else by the ratio of extents; in float32.
std::vector<ResizedAxis> resized_axes(Call& c, ValueId x);
// Element k of the result is element floor(k * step) of x; "exact" takes the middle of k.
Axes nearest_elements(const ResizedAxis& axis, bool exact);

}  // namespace deuteron::pt2
