// SPDX-License-Identifier: Apache-2.0
// A layer of which only parts are read becomes a layer for each part, so that each has its own
// steps: the boxes, angles and scores of a detector are often channels of one convolution.
#pragma once
#include <vector>

#include "compile/calibrate/calibrate.h"
#include "ir/graph.h"

namespace deuteron {

//   layer -> part, part, ..     becomes    layer with some of the weights -> .., for each part
// Parts are slices along the output channels, also behind moves. Done where the steps of the whole
// are coarse for a part; parts of one size stay together. Both get those of the new values, and
// `observations` decides. Answers how many layers were split. Values that are no longer used are
// left.
int split_layers(Graph& graph, std::vector<Observation>& observations,
                 std::vector<Observation>& reached);

}  // namespace deuteron
