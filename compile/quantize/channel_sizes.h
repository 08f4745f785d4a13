// SPDX-License-Identifier: Apache-2.0
// Brings the channels of a value to one size: which one, and what becomes of the layers around it.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "compile/calibrate/calibrate.h"
#include "ir/graph.h"
#include "ops/batch_norm/channel_line.h"

namespace deuteron {

// Steps that are so many times coarser than a channel's own are worth a scale for each channel.
inline constexpr double kCoarse = 2;
// Of more, the samples do not say enough about each, and each costs eight bytes.
inline constexpr size_t kFewChannels = 64;

struct Interval {
  double low = 0, high = 0;
  double span() const { return high - low; }
};
inline Interval with_zero(const Interval& r) {
  return {std::min(0.0, r.low), std::max(0.0, r.high)};
}
inline double step_of(const Interval& r) { return r.span() / 255; }

// What was seen of a value in calibration; values without observations are new, and nothing is
// known of them.
struct SeenRanges {
  const std::vector<Observation>& observations;  // of all samples: what is done
  const std::vector<Observation>& reached;       // of some of them: how large each channel is
  const Observation* of(ValueId v) const;        // null: nothing
  Interval range(ValueId v) const;
  // Of one scale for all; 0: the steps are exact.
  double step(ValueId v) const;
  // By index of the last axis; empty: not known.
  std::vector<Interval> channels(ValueId v) const;
  std::vector<Interval> channels_to_size(ValueId v) const;
};

// u = (x + add) * times for each channel.
struct ChannelSizes {
  std::vector<double> add, times;
  std::vector<bool> is_zero;  // it always was: any steps are exact
};
inline ChannelSizes unchanged_sizes() { return {{0}, {1}, {false}}; }

// Brings the channels from their ranges to `to`, or, without moving, as near to it as their ends
// allow. A channel that never changes may reach as far from zero as it lies; one that is always
// zero, as far as the largest.
ChannelSizes sizes_to(const Interval& to, const std::vector<Interval>& ranges, bool may_move);
// As far from zero on both sides as the largest channel reaches, or to 1 where that is far from it.
Interval balanced(const std::vector<Interval>& ranges, bool may_move);
// What a step of int8 over `to` is for each channel.
std::vector<double> own_steps(const Interval& to, const ChannelSizes& sizes);

// A layer with float constants whose result is a sum over the channels of its operand, the last
// axis.
bool sums_channels(const Graph& graph, const Node& node, ValueId x);
// It reads zeros beside the image, so that channels cannot be moved.
bool is_padded(const Node& node);
// A layer with float constants whose output channels can be scaled, and moved where it has no
// bounds.
bool makes_channels(const Graph& graph, const Node& node);

// The layer with these of its output channels alone, which makes `result`.
Node layer_of_channels(Graph& graph, const Node& layer, const std::vector<i64>& channels,
                       ValueId result);

// How many times coarser a result of the layer is for `now` than for `own`, steps of each channel
// of what it reads.
double coarser(const Graph& graph, const Node& layer, const std::vector<double>& now,
               const std::vector<double>& own);

// The layer reads u instead of x, and makes u instead of y.
void read_sized(Graph& graph, Node& layer, const ChannelSizes& sizes);
void make_sized(Graph& graph, Node& layer, const ChannelSizes& sizes);

// An operator by channel that has no int8 form, such as an Affine: what it makes is float.
bool is_float_by_channel(const Op& op);

// Of a value that such an operator makes: nearly all of its channels reach to both ends of its
// range. Each end is then the largest of few samples, and what follows goes further out.
bool fills_each_channel(const Observation& seen);

// How much further than seen a channel of this value is expected to reach, as a share of its range:
// as far as all of so many channels do together, once they are of one size. Each has only its own
// samples, which are few.
double room_of(const Observation& seen, size_t channels);
void with_room(std::vector<Interval>& ranges, double room);

// Puts an Affine before node `at`: u = (line(x) + add) * times.
ValueId add_affine(Graph& graph, ValueId x, const ChannelLine& line, const ChannelSizes& sizes,
                   NodeId at, const Origin& origin);

}  // namespace deuteron
