// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate/input_moments.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "compile/calibrate/each_sample.h"
#include "compile/calibrate/float_executor.h"
#include "ops/families.h"

namespace deuteron {

namespace {

// So many windows are enough to know the products of n terms: 4 for each term, more for few terms.
constexpr i64 kWindowsPerTerm = 4, kFewestWindows = 1024;

struct Layer {
  NodeId node;
  ValueId x;
  Shape in, weight, out;
  ImageWindow window;
  i64 groups, terms;
  i64 windows;  // to draw from each sample
};

std::vector<Layer> layers_of(const Graph& g, size_t samples) {
  std::vector<Layer> layers;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    const Node& node = g.nodes[n];
    if (!is_layer(node.op) || node.inputs.size() < 2 || g.is_constant(node.inputs[0]) ||
        !g.is_constant(node.inputs[1]))
      continue;
    const Type *const x = &g.type(node.inputs[0]), *const weight = &g.type(node.inputs[1]);
    const Type* const types[] = {x, weight};
    const std::optional<ImageWindow> window = window_of(node.op, TypeView(types));
    if (!window && weight->shape.size() != 2) continue;  // a linear layer has no windows
    const i64 inputs = weight->shape.back(), filters = weight->shape[0],
              outputs = g.type(node.outputs[0]).elements();
    if (filters == 0 || inputs == 0 || outputs == 0) continue;
    const i64 terms = weight->elements() / filters;
    if (terms > kMostTerms) continue;
    const i64 wanted = std::max(kFewestWindows, kWindowsPerTerm * terms),
              places = outputs / filters;
    const i64 each = (wanted + static_cast<i64>(samples) - 1) / static_cast<i64>(samples);
    layers.push_back({static_cast<NodeId>(n), node.inputs[0], x->shape, weight->shape,
                      g.type(node.outputs[0]).shape, window.value_or(ImageWindow{}),
                      x->shape.back() / inputs, terms, std::min(each, places)});
  }
  return layers;
}

// The inputs of one result's window, all groups: [groups, terms].
void read_window(const Layer& l, std::span<const float> x, i64 place, float* to) {
  const i64 channels = l.in.back(), inputs = l.weight.back();
  if (l.weight.size() == 2) {  // linear
    std::copy_n(x.begin() + place * channels, channels, to);
    return;
  }
  const i64 height = l.in[1], width = l.in[2], out_h = l.out[1], out_w = l.out[2];
  const i64 n = place / (out_h * out_w), oh = place / out_w % out_h, ow = place % out_w;
  for (i64 kh = 0; kh < l.window.rows.kernel; ++kh)
    for (i64 kw = 0; kw < l.window.columns.kernel; ++kw) {
      const i64 h = oh * l.window.rows.stride - l.window.rows.pad + kh * l.window.rows.dilation;
      const i64 w =
          ow * l.window.columns.stride - l.window.columns.pad + kw * l.window.columns.dilation;
      const bool inside = h >= 0 && h < height && w >= 0 && w < width;
      const i64 tap = kh * l.window.columns.kernel + kw;
      for (i64 c = 0; c < channels; ++c)
        to[c / inputs * l.terms + tap * inputs + c % inputs] =
            inside ? x[((n * height + h) * width + w) * channels + c] : 0;
    }
}

// Windows at places that a lot draws, the same everywhere.
std::vector<float> draw_windows(const Layer& l, std::span<const float> x, size_t sample) {
  const i64 size = l.groups * l.terms, places = numel(l.out) / l.weight[0];
  std::vector<float> drawn(static_cast<size_t>(l.windows * size));
  std::minstd_rand lot(static_cast<unsigned>(sample + 1));
  for (i64 k = 0; k < l.windows; ++k)
    read_window(
        l, x,
        l.windows == places ? k : static_cast<i64>(lot() % static_cast<unsigned long>(places)),
        drawn.data() + k * size);
  return drawn;
}

void add_windows(const Layer& l, std::span<const float> drawn, InputMoments& to) {
  to.groups = l.groups, to.terms = l.terms, to.windows += l.windows;
  to.sum.resize(static_cast<size_t>(l.groups * l.terms));
  to.products.resize(static_cast<size_t>(l.groups * l.terms * l.terms));
  for (i64 k = 0; k < l.windows; ++k)
    for (i64 group = 0; group < l.groups; ++group) {
      const float* const x = drawn.data() + (k * l.groups + group) * l.terms;
      double* const sum = to.sum.data() + group * l.terms;
      double* const products = to.products.data() + group * l.terms * l.terms;
      for (i64 i = 0; i < l.terms; ++i) {
        sum[i] += x[i];
        if (x[i] == 0) continue;  // half of what follows a relu
        double* const row = products + i * l.terms;
        for (i64 j = 0; j <= i; ++j) row[j] += static_cast<double>(x[i]) * x[j];
      }
    }
}

void mirror(InputMoments& m) {
  for (i64 group = 0; group < m.groups; ++group) {
    double* const products = m.products.data() + group * m.terms * m.terms;
    for (i64 i = 0; i < m.terms; ++i)
      for (i64 j = 0; j < i; ++j) products[j * m.terms + i] = products[i * m.terms + j];
  }
}

}  // namespace

void InputMoments::add(const InputMoments& o) {
  if (o.empty()) return;
  groups = o.groups, terms = o.terms, windows += o.windows;
  sum.resize(o.sum.size());
  products.resize(o.products.size());
  for (size_t k = 0; k < sum.size(); ++k) sum[k] += o.sum[k];
  for (size_t k = 0; k < products.size(); ++k) products[k] += o.products[k];
}

void InputMoments::take_away(const InputMoments& part) {
  constexpr double kRounding = 1e-12;
  if (part.empty()) return;
  windows -= part.windows;
  const auto subtract = [](std::vector<double>& from, const std::vector<double>& what) {
    for (size_t k = 0; k < from.size(); ++k) {
      const double left = from[k] - what[k];
      from[k] = std::abs(left) <= kRounding * std::abs(from[k]) ? 0 : left;
    }
  };
  subtract(sum, part.sum);
  subtract(products, part.products);
}

std::vector<LayerMoments> input_moments(const Graph& g,
                                        std::span<const std::vector<std::vector<float>>> inputs,
                                        std::span<const i32> part_of, i32 parts, int threads) {
  const FloatExecutor executor(g);
  const std::vector<Layer> layers = layers_of(g, inputs.size());
  std::vector<LayerMoments> by_part(static_cast<size_t>(parts), LayerMoments(g.nodes.size()));
  std::vector<std::vector<float>> drawn(layers.size());
  for (size_t s = 0; s < inputs.size();
       ++s) {  // one after the other: sums of floats depend on their order
    if (part_of[s] < 0) continue;
    executor.run(inputs[s], [&](ValueId v, std::span<const float> data) {
      for (size_t l = 0; l < layers.size(); ++l)
        if (layers[l].x == v) drawn[l] = draw_windows(layers[l], data, s);
    });
    for_each_sample(layers.size(), threads, [&](size_t l, int) {
      const bool was_seen = !drawn[l].empty();  // what depends on constants alone is not
      if (was_seen) add_windows(layers[l], drawn[l], by_part[part_of[s]][layers[l].node]);
    });
  }
  for (LayerMoments& part : by_part)
    for_each_sample(part.size(), threads, [&](size_t n, int) { mirror(part[n]); });
  return by_part;
}

}  // namespace deuteron
