// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate/output_parts.h"

#include "compile/calibrate/shared_out.h"
#include "ops/families.h"

namespace deuteron {

namespace {

// Along an axis with more indices lie positions, not channels.
constexpr i64 kMostParts = 256;
// From the largest to the smallest: three bits of eight.
constexpr double kSizesDiffer = 8;

// Of what is no image any axis may be that of channels; of images the second or the last one, as
// torch and as TFLite have it.
bool may_have_channels(i64 extent, size_t user_axis, size_t rank) {
  return extent > 1 && extent <= kMostParts &&
         (rank <= 3 || user_axis == 1 || user_axis + 1 == rank);
}

// By index along an axis of a value of a float graph: what fixed steps reach there; 0: another
// operator made it.
class FixedSizes {
 public:
  explicit FixedSizes(const Graph& g) : g_(g), uses_(g) {}

  std::vector<float> along(ValueId v, size_t axis) const {
    std::vector<float> sizes(static_cast<size_t>(g_.type(v).shape[axis]), of(v));
    const NodeId n = uses_.producer[v];
    if (n < 0 || sizes[0] > 0) return sizes;
    const Node& node = g_.nodes[n];
    if (joined_axis(g_, node) != static_cast<i64>(axis)) return sizes;
    sizes.clear();
    for (const ValueId operand : node.inputs)
      std::ranges::copy(along(operand, axis), std::back_inserter(sizes));
    return sizes;
  }

 private:
  // Of all its numbers alike, behind views.
  float of(ValueId v) const {
    NodeId n = uses_.producer[v];
    while (n >= 0 && (is_quantize_or_dequantize(g_.nodes[n].op) ||
                      facts_of(g_.nodes[n].op).values == Values::same))
      n = uses_.producer[g_.nodes[n].inputs[0]];
    if (n < 0 || !has_fixed_steps(g_.nodes[n].op)) return 0;
    const QuantSpec& fixed = quant_specs(g_.nodes[n].op).back();
    const float zero = static_cast<float>(fixed.fixed_zero);
    return fixed.fixed_scale * std::max(std::abs(-128 - zero), std::abs(127 - zero));
  }

  const Graph& g_;
  const Uses uses_;
};

}  // namespace

i64 joined_axis(const Graph& g, const Node& node) {
  if (node.inputs.size() < 2 || node.outputs.size() != 1) return -1;
  const Shape& all = g.type(node.outputs[0]).shape;
  i64 found = -1;
  for (size_t axis = 0; axis < all.size(); ++axis) {
    i64 sum = 0;
    const bool fit = std::ranges::all_of(node.inputs, [&](ValueId v) {
      Shape shape = g.type(v).shape;
      if (shape.size() != all.size()) return false;
      sum += shape[axis];
      shape[axis] = all[axis];
      return shape == all;
    });
    if (fit && sum == all[axis]) found = static_cast<i64>(axis);
  }
  return found;
}

void PartError::see(float x, float y) {
  const double error = static_cast<double>(x) - y;
  signal += static_cast<double>(x) * x;
  noise += error * error;
  largest = std::max(largest, std::fabs(error));
  ++count;
  equal += x == y;
  expected.see(x);
  found.see(y);
}

void PartError::add(const PartError& o) {
  signal += o.signal;
  noise += o.noise;
  largest = std::max(largest, o.largest);
  count += o.count;
  equal += o.equal;
  expected.see(o.expected);
  found.see(o.found);
}

double PartError::mean_square() const {
  constexpr double kOfSize = 0.25;  // root mean square of numbers that use their range, about
  return std::max(signal / static_cast<double>(std::max<i64>(count, 1)),
                  kOfSize * size * kOfSize * size);
}

double PartError::db() const {
  if (noise == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(size == 0 ? signal / noise
                                   : mean_square() * static_cast<double>(count) / noise);
}

bool PartError::is_constant() const {
  constexpr double kVaries = 0.1;
  return count > 1 && found.span() == 0 &&
         expected.span() > kVaries * std::max(expected.most(), size);
}

OutputError::OutputError(const Shape& shape, const Axes& order) {
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (may_have_channels(shape[axis], static_cast<size_t>(order[axis]), shape.size()))
      by_axis_.push_back({static_cast<i32>(order[axis]), numel(std::span(shape).subspan(axis + 1)),
                          std::vector<PartError>(static_cast<size_t>(shape[axis]))});
}

void OutputError::see(std::span<const float> expected, std::span<const float> found) {
  for (size_t k = 0; k < expected.size(); ++k) {
    whole_.see(expected[k], found[k]);
    for (Parts& parts : by_axis_) parts.errors[parts.of(k)].see(expected[k], found[k]);
  }
}

void OutputError::add(const OutputError& o) {
  if (by_axis_.empty()) by_axis_ = o.by_axis_;
  else
    for (size_t a = 0; a < by_axis_.size(); ++a)
      for (size_t p = 0; p < by_axis_[a].errors.size(); ++p)
        by_axis_[a].errors[p].add(o.by_axis_[a].errors[p]);
  whole_.add(o.whole_);
}

OutputError::Parts OutputError::parts(const Graph& g, const Port& port) const {
  const FixedSizes fixed(g);
  Parts best{-1, 1, {whole_}};
  double differ = kSizesDiffer;
  size_t constant = whole_.is_constant() ? 1 : 0;
  for (Parts parts : by_axis_) {
    const auto stored =
        std::ranges::find(port.order, static_cast<i64>(parts.axis)) - port.order.begin();
    const std::vector<float> sizes = fixed.along(port.value, static_cast<size_t>(stored));
    double least = std::numeric_limits<double>::infinity(), most = 0;
    size_t stuck = 0;
    for (size_t p = 0; p < parts.errors.size(); ++p) {
      parts.errors[p].size = sizes[p];
      const double size = std::max(parts.errors[p].expected.most(), double{sizes[p]});
      if (size > 0) least = std::min(least, size);
      most = std::max(most, size);
      stuck += parts.errors[p].is_constant() ? 1 : 0;
    }
    if (stuck < constant || (stuck == constant && most < differ * least)) continue;
    best = std::move(parts), differ = std::max(differ, most / least), constant = stuck;
  }
  return best;
}

}  // namespace deuteron
