// SPDX-License-Identifier: Apache-2.0
// Windows over signals, images and volumes: average, maximum and norm pooling, and pooling over
// everything.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/layers.h"
#include "frontends/onnx/operators/positions_of_largest.h"
#include "frontends/onnx/operators/window.h"

namespace deuteron::onnx {
namespace {

// torch's pools pad both sides alike, and may cut the last window. Uneven padding: the windows
// begin some strides earlier than wanted, or go on beyond, and what is not wanted is sliced away.
struct Even {
  std::vector<i64> pad, first,
      out;  // padding; of the pool's windows the first that counts, and how many do
  bool ceil = false;
  bool found = false;
};

std::optional<i64> even_padding(i64 extent, const Window& w, size_t k, bool ceil, i64 wanted,
                                i64* first) {
  const i64 most = w.kernel[k] / 2;  // torch's bound
  for (i64 early = 0; w.before[k] + early * w.stride[k] <= most; ++early) {
    Window even = w;
    even.before[k] = even.after[k] = w.before[k] + early * w.stride[k];
    if (extent_after(extent, even, k, ceil) < early + wanted) continue;
    *first = early;
    return even.before[k];
  }
  return std::nullopt;
}

Even make_even(const Window& w, const Shape& x, bool ceil_mode) {
  const size_t axes = w.kernel.size();
  for (const bool ceil : {ceil_mode, true}) {
    Even e{{}, std::vector<i64>(axes, 0), {}, ceil, true};
    for (size_t k = 0; k < axes && e.found; ++k) {
      e.out.push_back(extent_after(x[k + 2], w, k, ceil_mode));
      const auto pad = even_padding(x[k + 2], w, k, ceil, e.out[k], &e.first[k]);
      e.found = pad.has_value();
      e.pad.push_back(pad.value_or(0));
    }
    if (e.found) return e;
  }
  return {};
}

std::string pool_target(std::string_view kind, size_t axes) {
  return fmt::format("aten.{}_pool{}d.default", kind, axes);
}

// `args`: what the kind of pool has besides.
Operand pooled(Call& c, const Operand& x, std::string_view kind, const Window& w, const Even& e,
               Args args, std::string_view suffix) {
  const Shape in = c.shape(x);
  Window even = w;
  even.before = even.after = e.pad;
  std::vector<size_t> cut;
  for (size_t k = 0; k < e.out.size(); ++k)
    if (extent_after(in[k + 2], even, k, e.ceil) != e.out[k]) cut.push_back(k);
  args.insert(args.end(), {{"self", x},
                           {"kernel_size", w.kernel},
                           {"stride", w.stride},
                           {"padding", e.pad},
                           {"ceil_mode", e.ceil}});
  Operand y = c.torch(pool_target(kind, w.kernel.size()), std::move(args),
                      cut.empty() ? suffix : "windows");
  for (const size_t k : cut)
    y = sliced(c, y, static_cast<i64>(k) + 2, e.first[k], e.first[k] + e.out[k], 1,
               k == cut.back() ? suffix : "rows");
  return y;
}

void refuse_padding(Call& c, const Window& w) {
  c.refuse(
      {"pads by more than half of its window in a way that is not supported",
       to_text(w.before) + " and " + to_text(w.after), to_text(w.kernel), "onnx.window.padding"},
      "give the padding to a Pad in front of it");
}

bool is_dilated(const Window& w) {
  return std::any_of(w.dilation.begin(), w.dilation.end(), [](i64 v) { return v != 1; });
}

i64 elements_of(const Window& w) {
  i64 n = 1;
  for (const i64 k : w.kernel) n = n > kMostStep ? n : n * k;
  return n;
}

// With zeros around it, and what no window sees cut off, so that the windows fit without padding.
Operand fitted(Call& c, const Operand& x, const Window& w, bool ceil_mode, std::vector<i64>* out) {
  if (!c.ok()) return {};
  const Shape in = c.shape(x);
  std::vector<i64> behind;
  for (size_t k = 0; k < w.kernel.size(); ++k) {
    out->push_back(extent_after(in[k + 2], w, k, ceil_mode));
    behind.push_back((out->back() - 1) * w.stride[k] + (w.kernel[k] - 1) * w.dilation[k] + 1 -
                     in[k + 2] - w.before[k]);
  }
  const auto none = [](i64 v) { return v == 0; };
  if (std::all_of(behind.begin(), behind.end(), none) &&
      std::all_of(w.before.begin(), w.before.end(), none))
    return x;
  return padded(c, x, w.before, behind, 0, "fitted");
}

// The sum of each window's elements times `factor`: a convolution of every channel with equal
// weights.
Operand summed(Call& c, const Operand& x, const Window& w, double factor, std::string_view suffix) {
  if (!c.ok()) return {};
  const i64 channels = c.shape(x)[1], elements = elements_of(w);
  c.require(elements <= kMostStep, "has a window of too many elements", to_text(w.kernel),
            std::to_string(kMostStep), "onnx.window.range");
  if (!c.ok() || !c.may_make(channels * elements)) return {};
  Shape shape{channels, 1};
  shape.insert(shape.end(), w.kernel.begin(), w.kernel.end());
  const Operand ones = c.numbers(
      "weights", shape,
      std::vector<float>(static_cast<size_t>(channels * elements), static_cast<float>(factor)));
  return convolved_inside(c, x, ones, {}, w.stride, w.dilation, channels, suffix);
}

// How many elements window `at` has along an axis that reaches from `low` to before `end`.
i64 counted(const Window& w, size_t k, i64 at, i64 low, i64 end) {
  const i64 first = at * w.stride[k] - w.before[k], step = w.dilation[k];
  const i64 skipped = first >= low ? 0 : (low - first + step - 1) / step;
  const i64 last = first >= end ? 0 : std::min(w.kernel[k], (end - 1 - first) / step + 1);
  return std::max<i64>(last - skipped, 1);
}

// An average pool of any padding and dilation: the sum of each window, divided by the number of
// elements that it has.
Operand average_of_sums(Call& c, const Operand& x, const Window& w, bool ceil_mode,
                        bool counts_padding, std::string_view suffix) {
  const Shape in = c.shape(x);
  std::vector<i64> out;
  const Operand fit = fitted(c, x, w, ceil_mode, &out);
  if (!c.ok()) return {};
  const i64 all = elements_of(w);
  std::vector<float> shares{1};
  bool even = true;
  for (size_t k = 0; k < out.size(); ++k) {
    const i64 low = counts_padding ? -w.before[k] : 0,
              end = in[k + 2] + (counts_padding ? w.after[k] : 0);
    if (!c.may_make(static_cast<i64>(shares.size()) * out[k])) return {};
    std::vector<float> wider;
    for (const float share : shares)
      for (i64 at = 0; at < out[k]; ++at) {
        const i64 n = counted(w, k, at, low, end);
        even = even && n == w.kernel[k];
        wider.push_back(share * static_cast<float>(w.kernel[k]) / static_cast<float>(n));
      }
    shares = std::move(wider);
  }
  const Operand y = summed(c, fit, w, 1 / static_cast<double>(all), even ? suffix : "sums");
  if (even) return y;
  Shape shape{1, 1};
  shape.insert(shape.end(), out.begin(), out.end());
  return product(c, y, c.numbers("shares", shape, std::move(shares)), suffix);
}

}  // namespace

Operand averaged(Call& c, const Operand& x, const std::vector<i64>& kernel,
                 const std::vector<i64>& stride, std::string_view suffix) {
  return c.torch(pool_target("avg", kernel.size()),
                 {{"self", x}, {"kernel_size", kernel}, {"stride", stride}}, suffix);
}

Operand pooled_average(Call& c, const Operand& x, std::string_view suffix) {
  const bool ceil = c.integer("ceil_mode", 0) != 0,
             counted = c.integer("count_include_pad", 0) != 0;
  Window w = read_window(c, c.shape(x), {}, ceil);
  if (!c.ok()) return {};
  if (is_dilated(w)) return average_of_sums(c, x, w, ceil, counted, suffix);
  const Window given = w;
  Operand in = x;
  if (counted && !w.is_even()) {  // zeros that count are elements like any other
    in = padded(c, x, w.before, w.after, 0, "padded");
    w.before.assign(w.before.size(), 0);
    w.after = w.before;
  }
  if (!c.ok()) return {};
  const Even e = make_even(w, c.shape(in), ceil);
  if (!e.found) return average_of_sums(c, x, given, ceil, counted, suffix);
  return pooled(c, in, "avg", w, e, {{"count_include_pad", counted}}, suffix);
}

static void import_average_pool(Call& c) { c.result(pooled_average(c, c.operand(0), "")); }

// The root of the sum of powers of each window's elements; what is padded is zero.
static void import_norm_pool(Call& c) {
  const Operand x = c.operand(0);
  const bool ceil = c.integer("ceil_mode", 0) != 0;
  const i64 p = c.integer("p", 2);
  c.require(p >= 1 && p <= 64, "pools by a norm that is not supported", std::to_string(p), "1..64",
            "onnx.norm.p");
  const Window w = read_window(c, c.shape(x), {}, ceil);
  c.require(!c.ok() || elements_of(w) <= kMostStep, "has a window of too many elements",
            to_text(w.kernel), std::to_string(kMostStep), "onnx.window.range");
  if (!c.ok()) return;
  Operand y =
      c.torch(p == 2 ? "aten.square.default" : "aten.abs.default", {{"self", x}}, "magnitudes");
  if (p > 2)
    y = c.torch("aten.pow.Tensor_Scalar", {{"self", y}, {"exponent", static_cast<double>(p)}},
                "powers");
  std::vector<i64> out;
  y = fitted(c, y, w, ceil, &out);
  const std::string_view sums = p == 1 ? "" : "sums";
  if (is_dilated(w)) {
    y = summed(c, y, w, 1, sums);
  } else {
    y = averaged(c, y, w.kernel, w.stride, "means");
    y = scaled(c, y, static_cast<double>(elements_of(w)), sums);
  }
  if (p == 1) return c.result(y);
  if (p == 2) return c.result(c.torch("aten.sqrt.default", {{"self", y}}));
  c.result(
      c.torch("aten.pow.Tensor_Scalar", {{"self", y}, {"exponent", 1 / static_cast<double>(p)}}));
}

// Where a window reaches beyond the border it has the element at the border, too: repeating that
// one changes no maximum.
static Operand repeated_border(Call& c, const Operand& x, Window& w) {
  for (size_t k = 0; k < w.kernel.size(); ++k)
    if (w.dilation[k] != 1 || w.before[k] >= w.kernel[k] || w.after[k] >= w.kernel[k])
      return refuse_padding(c, w), Operand{};
  const Operand y = c.torch(
      "aten.pad.default",
      {{"self", x}, {"pad", torch_padding(w.before, w.after)}, {"mode", "replicate"}}, "padded");
  w.before.assign(w.before.size(), 0);
  w.after = w.before;
  return y;
}

static void import_max_pool(Call& c) {
  Operand x = c.operand(0);
  const bool ceil = c.integer("ceil_mode", 0) != 0;
  Window w = read_window(c, c.shape(x), {}, ceil);
  if (c.ok() && c.wants(1)) return finish_max_pool_with_positions(c, x, w, ceil);
  if (!c.ok()) return;
  Even e = make_even(w, c.shape(x), ceil);
  if (!e.found) {
    x = repeated_border(c, x, w);
    if (!c.ok()) return;
    e = make_even(w, c.shape(x), ceil);
  }
  c.result(pooled(c, x, "max", w, e, {{"dilation", w.dilation}}, ""));
}

// Of steps, with the channels last.
static void import_channels_last_max_pool(Call& c) {
  Operand x = with_channels_moved(c, c.operand(0), true, "first");
  const bool ceil = c.integer("ceil_mode", 0) != 0;
  const Window w = read_window(c, c.shape(x), {}, ceil);
  if (!c.ok()) return;
  const Even e = make_even(w, c.shape(x), ceil);
  c.require(e.found, "has more padding than half of its window", to_text(w.before),
            to_text(w.kernel), "onnx.window.padding");
  if (c.ok())
    c.result(with_channels_moved(c, pooled(c, x, "max", w, e, {{"dilation", w.dilation}}, "pool"),
                                 false, ""));
}

// Over all axes behind the channels, which stay with extent 1.
Operand pooled_globally(Call& c, const Operand& x, std::string_view target,
                        std::string_view suffix) {
  const i64 rank = c.rank(x);
  c.require(!c.ok() || rank >= 3, "pools over no axes", std::to_string(rank), "3",
            "onnx.window.rank");
  std::vector<i64> axes;
  for (i64 k = 2; k < rank; ++k) axes.push_back(k);
  return c.torch(target, {{"self", x}, {"dim", axes}, {"keepdim", true}}, suffix);
}
static void import_global_average_pool(Call& c) {
  c.result(pooled_globally(c, c.operand(0), "aten.mean.dim", ""));
}
static void import_global_max_pool(Call& c) {
  c.result(pooled_globally(c, c.operand(0), "aten.amax.default", ""));
}

static constexpr ImportRow kPoolingRows[] = {
    {"AveragePool", import_average_pool},
    {"GlobalAveragePool", import_global_average_pool},
    {"GlobalMaxPool", import_global_max_pool, {}, true},
    {"LpPool", import_norm_pool},
    {"MaxPool", import_max_pool, {}, true},
    {"NhwcMaxPool", import_channels_last_max_pool, kMicrosoft, true},
};
ImportRows pooling_rows() { return kPoolingRows; }

}  // namespace deuteron::onnx
