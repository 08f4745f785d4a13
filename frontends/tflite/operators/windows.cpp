// SPDX-License-Identifier: Apache-2.0
// Sums and extremes of windows along any axes, as images: STABLEHLO_REDUCE_WINDOW and
// REDUCE_WINDOW.
#include <fmt/format.h>

#include <algorithm>

#include "base/tensor/elements.h"
#include "frontends/tflite/operators/import_table.h"

namespace deuteron::tflite {
namespace {

constexpr i64 kMostExtent = 1 << 24;  // of windows, strides, dilations and paddings

// By axis.
struct Windows {
  std::vector<i64> size, stride, dilation, before, after;
};

void check_windows(Call& c, const Windows& w, i64 rank) {
  for (const std::vector<i64>* list : {&w.size, &w.stride, &w.dilation, &w.before, &w.after}) {
    const bool may_be_0 = list == &w.before || list == &w.after;
    c.require(static_cast<i64>(list->size()) == rank, "has windows for another number of axes",
              std::to_string(list->size()), std::to_string(rank), "tflite.reduce_window.axes");
    for (const i64 v : *list)
      c.require(v <= kMostExtent && v >= (may_be_0 ? -kMostExtent : 1),
                "has a window, stride, dilation or padding out of range", std::to_string(v),
                fmt::format("1..{}", kMostExtent), "tflite.window.range");
  }
}

// Along one axis, or two that lie side by side: [outer, h, w, inner] is an image.
ValueId reduced_image(Call& c, ReduceWindowFunction fn, const Windows& w, ValueId x, size_t h,
                      size_t last) {
  const Shape s = c.shape(x);
  const i64 outer = numel(std::span(s).first(h)), inner = numel(std::span(s).subspan(last + 1));
  const auto pair = [&](const std::vector<i64>& of) { return HW{of[h], last == h ? 1 : of[last]}; };
  const HW kernel = pair(w.size), stride = pair(w.stride), dilation = pair(w.dilation);
  for (const size_t k : {h, last})
    c.require((w.size[k] - 1) * w.dilation[k] + 1 <= s[k],
              "has a window that is larger than the image",
              std::to_string((w.size[k] - 1) * w.dilation[k] + 1), std::to_string(s[k]),
              "tflite.window.extent");
  x = c.reshape(x, {outer, s[h], last == h ? 1 : s[last], inner}, fmt::format("image{}", h));
  if (!c.ok()) return -1;
  ValueId y;
  if (fn == ReduceWindowFunction::ADD) {
    Conv2d sum;
    sum.stride = stride, sum.dilation = dilation, sum.groups = inner;
    const Type ones{DType::f32, {inner, kernel.h, kernel.w, 1}, {}};
    c.require(kernel.h * kernel.w <= kMostMadeElements / inner, "has a window of too many elements",
              std::to_string(kernel.h * kernel.w), std::to_string(kMostMadeElements / inner),
              "tflite.window.range");
    if (!c.ok()) return -1;
    const auto weight = constant_of(std::vector<float>(static_cast<size_t>(ones.elements()), 1));
    y = c.add(sum, {x, c.constant(fmt::format("ones{}", h), ones, weight)},
              fmt::format("sums{}", h));
  } else {
    MaxPool2d largest;
    largest.kernel = kernel, largest.stride = stride, largest.dilation = dilation;
    y = c.add(largest, {x}, fmt::format("largest{}", h));
  }
  if (!c.ok()) return -1;
  Shape to = s;
  to[h] = c.shape(y)[1];
  if (last != h) to[last] = c.shape(y)[2];
  return c.reshape(y, std::move(to), fmt::format("axis{}", h));
}

// Sums of all elements up to each.
bool is_running_sum(ReduceWindowFunction fn, const Windows& w, const Shape& s, size_t k) {
  return fn == ReduceWindowFunction::ADD && s[k] > 1 && w.size[k] == s[k] && w.stride[k] == 1 &&
         w.dilation[k] == 1 && w.before[k] == s[k] - 1 && w.after[k] == 0;
}

// The least is the opposite of the largest opposite.
void finish_windows(Call& c, ReduceWindowFunction fn, Windows w) {
  using F = ReduceWindowFunction;
  ValueId x = c.real(0);
  const std::vector<float> initial = c.numbers(1);
  c.require(initial.size() == 1, "begins with more than one value", std::to_string(initial.size()),
            "1", "tflite.operand.scalar");
  c.require(c.declared(0).quant.empty() && !c.is_quantized_result(),
            "works on steps, for which TFLite has no kernel",
            std::string(name_of(c.declared(0).dtype)), "FLOAT32", "tflite.reduce_window.type");
  c.require(fn == F::ADD || fn == F::MAXIMUM || fn == F::MINIMUM,
            "computes another function of its windows",
            fmt::format("function {}", static_cast<int>(fn)), "ADD, MAXIMUM, MINIMUM",
            "tflite.reduce_window.function");
  check_windows(c, w, c.rank(x));
  if (!c.ok()) return;
  const bool least = fn == F::MINIMUM;
  const float begin = least ? -initial[0] : initial[0];
  c.require(fn == F::ADD ? begin == 0 : begin < std::numeric_limits<float>::infinity(),
            "begins with a number that decides every result", fmt::format("{:g}", initial[0]),
            fn == F::ADD ? "0" : "finite, or the other infinity", "tflite.reduce_window.initial");
  if (!c.ok()) return;
  if (least) x = c.add(Unary{UnaryFn::neg, 0}, {x}, "opposite");
  const size_t rank = w.size.size();
  Pad pad{w.before, w.after, begin};
  const Shape given = c.shape(x);
  for (size_t k = 0; k < rank && c.ok(); ++k)
    if (is_running_sum(fn, w, given, k)) {
      x = c.add(Cumsum{static_cast<i64>(k)}, {x}, fmt::format("running{}", k));
      w.size[k] = 1, pad.before[k] = 0;
    }
  if (std::ranges::any_of(pad.before, [](i64 v) { return v != 0; }) ||
      std::ranges::any_of(pad.after, [](i64 v) { return v != 0; }))
    x = c.add(pad, {x}, "padded");
  const auto works = [&](size_t k) { return w.size[k] > 1 || w.stride[k] > 1; };
  for (size_t k = 0; k < rank && c.ok(); ++k) {
    if (!works(k)) continue;
    const size_t last = k + 1 < rank && works(k + 1) ? k + 1 : k;
    x = reduced_image(c, fn, w, x, k, last);
    k = last;
  }
  if (fn != F::ADD && begin > kMaskedBelow) x = c.add(Clamp{{.low = begin}}, {x}, "begun");
  if (least) x = c.add(Unary{UnaryFn::neg, 0}, {x}, "least");
  c.result(x);
}

ReduceWindowFunction function_of_body(Call& c, i32 subgraph) {
  using B = BuiltinOperator;
  using F = ReduceWindowFunction;
  const std::optional<B> body = c.body_of(subgraph);
  if (body == B::ADD || body == B::STABLEHLO_ADD) return F::ADD;
  if (body == B::MAXIMUM || body == B::STABLEHLO_MAXIMUM) return F::MAXIMUM;
  if (body == B::MINIMUM || body == B::STABLEHLO_MINIMUM) return F::MINIMUM;
  c.require(false, "computes another function of its windows",
            body ? name_of_builtin(static_cast<i32>(*body)) : "the second number",
            "ADD, MAXIMUM, MINIMUM", "tflite.reduce_window.function");
  return F::UNSUPPORTED;
}

}  // namespace

static void import_stablehlo_reduce_window(Call& c) {
  const auto* o = c.options<StablehloReduceWindowOptions>();
  c.takes(2, 2);
  if (!c.ok()) return;
  Windows w{longs_of(o->window_dimensions()),
            longs_of(o->window_strides()),
            longs_of(o->window_dilations()),
            {},
            {}};
  const size_t rank = w.size.size();
  const std::vector<i64> padding = longs_of(o->padding()), base = longs_of(o->base_dilations());
  for (const i64 v : base)
    c.require(v == 1, "spreads its operand before it takes windows", to_text(base), "1",
              "tflite.reduce_window.dilation");
  c.require(padding.empty() || padding.size() == 2 * rank,
            "has paddings for another number of axes", std::to_string(padding.size()),
            std::to_string(2 * rank), "tflite.pad.rank");
  if (!c.ok()) return;
  if (w.stride.empty()) w.stride.assign(rank, 1);
  if (w.dilation.empty()) w.dilation.assign(rank, 1);
  for (size_t k = 0; k < rank; ++k)
    w.before.push_back(padding.empty() ? 0 : padding[2 * k]),
        w.after.push_back(padding.empty() ? 0 : padding[2 * k + 1]);
  finish_windows(c, function_of_body(c, o->body_subgraph_index()), std::move(w));
}

static void import_reduce_window(Call& c) {
  const auto* o = c.options<ReduceWindowOptions>();
  c.takes(5, 5);
  const Windows w{c.integers(2), c.integers(3), c.integers(4),
                  std::vector<i64>(c.declared(0).shape.size()),
                  std::vector<i64>(c.declared(0).shape.size())};
  if (c.ok()) finish_windows(c, o->reduce_function(), w);
}

static constexpr ImportRow kWindowsRows[] = {
    {BuiltinOperator::REDUCE_WINDOW, import_reduce_window},
    {BuiltinOperator::STABLEHLO_REDUCE_WINDOW, import_stablehlo_reduce_window},
};
ImportRows windows_rows() { return kWindowsRows; }

}  // namespace deuteron::tflite
