// SPDX-License-Identifier: Apache-2.0
// Gives the channels of an image like ranges, so that one scale suits them all.
#pragma once
#include <vector>

#include "compile/calibrate/calibrate.h"
#include "ir/graph.h"

namespace deuteron {

//   conv -> x -> conv    becomes    conv / s -> x / s -> conv * s        s = (channel's largest /
//   the largest)^power
// x is every value whose channels can only be scaled together: what additions, pools, pads with
// zeros, resizing and reshapes tie to each other between the convolutions that make them and the
// convolutions and linear layers that read them. The same function where the makers' bounds are
// relu's or none. Bounds at a number (relu6) do not scale with the channel: a channel is then
// scaled with a power of at most a half and never past the bound, so that no sample is cut, and
// other data only beyond the geometric mean of the channel's largest value and the largest of all.
// Left as they are: values that anybody else reads or makes, and the network's own inputs and
// outputs. Answers how many groups of values were changed; their observations no longer hold.
// depthwise: only what depthwise convolutions alone read. Their weights have a scale for each
// channel, so nothing is lost there; the weights of the others spread by as much as the ranges come
// together.
enum class Equalize : u8 { depthwise, all };
int equalize_channels(Graph& graph, const std::vector<Observation>& observations, Equalize which,
                      float power);

}  // namespace deuteron
