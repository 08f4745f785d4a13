// SPDX-License-Identifier: Apache-2.0
// How far an output is from the float model's, and each of its parts: the error of one that holds
// sizes near 100 and sizes near 0.01 tells of the large ones alone. Parts are the numbers at one
// index of an axis, where their sizes differ; else an output is one part.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace deuteron {

// Of so many numbers: what the float model answers, and how far the program is from it.
struct PartError {
  struct Range {
    float low = std::numeric_limits<float>::infinity(),
          high = -std::numeric_limits<float>::infinity();
    void see(float x) { low = std::min(low, x), high = std::max(high, x); }
    void see(const Range& o) { low = std::min(low, o.low), high = std::max(high, o.high); }
    double most() const {
      return high < low ? 0 : std::max(std::abs(double{low}), std::abs(double{high}));
    }
    double span() const { return high < low ? 0 : double{high} - low; }
  };
  double signal = 0, noise = 0, largest = 0;
  // of the fixed steps that made it; 0: other steps, and its size is what was seen
  double size = 0;
  i64 count = 0, equal = 0;
  Range expected, found;

  void see(float expected, float found);
  void add(const PartError& other);
  double mean_square() const;  // of the float model's
  double db()
      const;  // infinity: no error; minus infinity: of zeros, which came out as something else
  bool is_constant()
      const;  // one number, where the float model's vary by a good part of their size
};

// The axis along which the operands of a node lie beside each other, as a concatenation has them;
// -1: they do not.
i64 joined_axis(const Graph& graph, const Node& node);

// Of one output, over the samples that were seen.
class OutputError {
 public:
  OutputError() = default;
  // The shape as the numbers lie in memory, and the user's axis for each of its axes.
  OutputError(const Shape& shape, const Axes& order);
  void see(std::span<const float> expected, std::span<const float> found);
  void add(const OutputError& other);
  const PartError& whole() const { return whole_; }

  struct Parts {
    i32 axis = -1;  // the user's; -1: the output is one part
    i64 inner = 1;  // elements from one part to the next
    std::vector<PartError> errors;
    size_t of(size_t element) const {
      return axis < 0 ? 0 : element / static_cast<size_t>(inner) % errors.size();
    }
  };
  // Along the axis where sizes differ most, if they do, or where some are constant. `port`: the
  // output in the float model. What an operator with fixed steps makes has the size of these
  // whatever the samples show: a class that no sample belongs to is no small part.
  Parts parts(const Graph& graph, const Port& port) const;

 private:
  std::vector<Parts> by_axis_;  // that may be one of channels
  PartError whole_;
};

}  // namespace deuteron
