// Gives the channels of an image in front of a depthwise convolution like ranges, so that one scale suits them all.
#pragma once
#include <vector>

#include "calibrate/calibrate.h"
#include "ir/graph.h"

namespace deuteron {

//   x -> conv, relu -> depthwise    becomes    x -> conv / s, relu -> depthwise * s        s = (channel's largest / the largest)^power
// The same function: relu commutes with positive factors, and a depthwise weight has a scale for each channel, so nothing is lost
// there. Refused when anybody else reads the value in between, when its bounds are others than relu's, or when what lies between is not
// a pad with zeros. Answers how many values were changed; their observations no longer hold.
int equalize_depthwise(Graph& graph, const std::vector<Observation>& observations, float power);

}  // namespace deuteron
