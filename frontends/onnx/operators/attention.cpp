// SPDX-License-Identifier: Apache-2.0
// Attention, as torch's where it has no more than that, else as its parts; and the rotation of
// queries and keys by their positions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/tensor/elements.h"
#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/layers.h"
#include "frontends/onnx/operators/window.h"

namespace deuteron::onnx {
namespace {

constexpr float kBlockedBelow = -1e29f;  // what a mask has for minus infinity

struct Heads {
  Operand q, k, v;  // [batch, heads, steps, width]
  i64 batch = 1, heads = 1, past = 0, rows = 1, columns = 1;
  bool joined = false;  // q, k and v came as [batch, steps, heads * width]
};

// [batch, steps, heads * width] becomes [batch, heads, steps, width].
Operand split_heads(Call& c, const Operand& x, std::string_view attribute,
                    std::string_view suffix) {
  const i64 heads = c.integer(attribute, 0);
  const Shape s = c.shape(x);
  c.require(!c.ok() || (s.size() == 3 && heads >= 1 && heads <= s[2] && s[2] % heads == 0),
            "the heads do not divide the last axis", std::to_string(heads), to_text(s),
            "onnx.attention.heads");
  if (!c.ok()) return {};
  return permuted(c, view(c, x, {s[0], s[1], heads, s[2] / heads}, suffix), {0, 2, 1, 3}, suffix);
}

Operand behind_past(Call& c, const Operand& x, size_t past, std::string_view suffix) {
  if (!c.has(past)) return x;
  return joined(c, {c.operand(past), x}, 2, suffix);
}

// Each head of keys and values is that of several heads of queries, one after the other.
Operand for_each_query(Call& c, const Operand& x, i64 heads, std::string_view suffix) {
  const Shape s = c.shape(x);
  if (!c.ok() || s[1] == heads) return x;
  c.require(heads % s[1] == 0, "the heads of keys do not divide those of queries",
            std::to_string(s[1]), std::to_string(heads), "onnx.attention.heads");
  const Operand apart = view(c, x, {s[0], s[1], 1, s[2], s[3]}, suffix);
  const Shape wide{s[0], s[1], heads / s[1], s[2], s[3]};
  return view(c, c.torch("aten.expand.default", {{"self", apart}, {"size", wide}}, suffix),
              {s[0], heads, s[2], s[3]}, suffix);
}

Heads read_heads(Call& c) {
  Heads h{c.operand(0), c.operand(1), c.operand(2)};
  h.joined = c.rank(h.q) == 3;
  if (h.joined) {
    h.q = split_heads(c, h.q, "q_num_heads", "q"), h.k = split_heads(c, h.k, "kv_num_heads", "k");
    h.v = split_heads(c, h.v, "kv_num_heads", "v");
  }
  c.require(!c.ok() || (c.rank(h.q) == 4 && c.rank(h.k) == 4 && c.rank(h.v) == 4),
            "takes queries, keys and values of 3 or 4 axes", std::to_string(c.rank(h.q)), "3, 4",
            "onnx.attention.rank");
  c.require(c.has(4) == c.has(5), "has a past of keys or of values alone", "1", "2",
            "onnx.attention.past");
  if (!c.ok()) return h;
  h.past = c.shape(h.k)[2];
  h.k = behind_past(c, h.k, 4, "keys"), h.v = behind_past(c, h.v, 5, "values");
  if (!c.ok()) return h;
  const Shape q = c.shape(h.q), k = c.shape(h.k), v = c.shape(h.v);
  h.batch = q[0], h.heads = q[1], h.rows = q[2], h.columns = k[2], h.past = k[2] - h.past;
  c.require(k[0] == q[0] && v[0] == q[0] && k[1] == v[1] && k[2] == v[2] && k[3] == q[3],
            "the shapes of its operands do not fit",
            fmt::format("{} and {}", to_text(k), to_text(v)), to_text(q), "onnx.attention.rank");
  return h;
}

// What is known of the mask: [batches, heads, rows, columns], minus infinity where a score does not
// count.
struct Mask {
  Shape shape;
  std::vector<float> numbers;
  bool has_empty_rows = false;
};

// The mask of the model where it is known; a shorter one blocks what is behind it.
struct Given {
  Shape shape;
  std::vector<float> numbers;
  bool is_truth = false;
  float at(i64 n, i64 head, i64 row, i64 column) const {
    const i64 place[4] = {n, head, row, column};
    i64 index = 0;
    for (size_t k = 0; k < shape.size(); ++k) {
      const i64 position = place[4 - shape.size() + k];
      if (k + 1 == shape.size() && position >= shape[k] && shape[k] != 1) return kMinusInfinity;
      index = index * shape[k] + (shape[k] == 1 ? 0 : position);
    }
    const float v = numbers[static_cast<size_t>(index)];
    return is_truth ? (v != 0 ? 0 : kMinusInfinity) : std::max(v, kMinusInfinity);
  }
};

Given read_given(Call& c, const Heads& h) {
  const Operand mask = c.operand(3);
  Given g{c.shape(mask), {}, c.dtype(mask) == DType::b8};
  const Shape whole{h.batch, h.heads, h.rows, h.columns};
  c.require(!c.ok() || (!g.shape.empty() && g.shape.size() <= 4),
            "has a mask of other than 1 to 4 axes", to_text(g.shape), "1..4",
            "onnx.attention.mask");
  for (size_t k = 0; k < g.shape.size() && c.ok(); ++k) {
    const i64 extent = whole[4 - g.shape.size() + k];
    const bool shorter = k + 1 == g.shape.size() && g.shape[k] < extent;
    c.require(g.shape[k] == 1 || g.shape[k] == extent || shorter, "has a mask that does not fit",
              to_text(g.shape), to_text(whole), "onnx.attention.mask");
  }
  if (c.ok() && c.is_known(mask)) g.numbers = c.known_numbers(mask).value_or(std::vector<float>());
  return g;
}

// How far each sequence reaches: computed lengths would need a mask that is computed.
std::vector<i64> read_lengths(Call& c, const Heads& h) {
  if (!c.has(6)) return {};
  const std::vector<i64> lengths = c.integers_of(6, "lengths of keys");
  c.require(!c.ok() || static_cast<i64>(lengths.size()) == h.batch,
            "does not have a length for each sequence", std::to_string(lengths.size()),
            std::to_string(h.batch), "onnx.sequence.lengths");
  for (const i64 length : lengths)
    c.require(!c.ok() || (length >= 0 && length <= h.columns), "has a length out of range",
              std::to_string(length), fmt::format("0..{}", h.columns), "onnx.sequence.lengths");
  return lengths;
}

i64 reach_of(Call& c, std::string_view attribute) {
  const i64 reach = c.integer(attribute, -1);
  c.require(reach >= -1, fmt::format("attribute `{}` is out of range", attribute),
            std::to_string(reach), "-1..", "onnx.attention.window");
  return std::min<i64>(reach, i64{1} << 40);
}

// Causal, of a window, of lengths and of what the model gives. Nothing: all scores count.
Mask known_mask(Call& c, const Heads& h, const Given& given) {
  const bool causal = c.integer("is_causal", 0) != 0;
  const i64 left = reach_of(c, "left_window_size"), right = reach_of(c, "right_window_size");
  const std::vector<i64> lengths = read_lengths(c, h);
  const bool is_given = !given.numbers.empty();
  if (!c.ok() || (!causal && left < 0 && right < 0 && lengths.empty() && !is_given)) return {};
  const size_t axes = is_given ? given.shape.size() : 0;
  const bool by_batch = !lengths.empty() || (axes == 4 && given.shape[0] > 1),
             by_head = axes >= 3 && given.shape[axes - 3] > 1;
  Mask m{{by_batch ? h.batch : 1, by_head ? h.heads : 1, h.rows, h.columns}, {}};
  if (!c.may_make(numel(m.shape))) return {};
  for (i64 n = 0; n < m.shape[0]; ++n)
    for (i64 head = 0; head < m.shape[1]; ++head)
      for (i64 row = 0; row < h.rows; ++row) {
        const i64 place =
            row + (lengths.empty() ? h.past : lengths[static_cast<size_t>(n)] - h.rows);
        bool empty = true;
        for (i64 column = 0; column < h.columns; ++column) {
          const bool counts = (!causal || column <= place) &&
                              (left < 0 || place - column <= left) &&
                              (right < 0 || column - place <= right) &&
                              (lengths.empty() || column < lengths[static_cast<size_t>(n)]);
          const float v = !counts ? kMinusInfinity : is_given ? given.at(n, head, row, column) : 0;
          m.numbers.push_back(v);
          empty = empty && v < kBlockedBelow;
        }
        m.has_empty_rows = m.has_empty_rows || empty;
      }
  return m;
}

// A mask that is computed, as numbers to add; an empty operand: there is none.
Operand computed_mask(Call& c, const Heads& h, const Given& given) {
  if (!c.ok() || !c.has(3) || !given.numbers.empty()) return {};
  Operand mask = c.operand(3);
  if (given.is_truth) {
    const Operand kept = c.numbers("kept", {}, {0.0f}),
                  blocked = c.numbers("blocked", {}, {kMinusInfinity});
    mask = chosen(c, mask, kept, blocked, given.shape, "mask");
  }
  const i64 missing = given.shape.back() == 1 ? 0 : h.columns - given.shape.back();
  return missing == 0
             ? mask
             : padded(c, mask, {0}, {missing}, static_cast<double>(kMinusInfinity), "mask");
}

// The weights without those of rows in which no score counts, by a mask that is computed.
Operand without_empty_rows(Call& c, const Operand& weights, const Operand& mask) {
  if (!c.ok()) return {};
  Shape shape = c.shape(mask);
  const i64 last = static_cast<i64>(shape.size()) - 1;
  const Operand most =
      c.torch("aten.amax.default",
              {{"self", mask}, {"dim", std::vector<i64>{last}}, {"keepdim", true}}, "most");
  shape.back() = 1;
  const Operand counts =
      c.torch_as("aten.gt.Scalar", {{"self", most}, {"other", static_cast<double>(kBlockedBelow)}},
                 DType::b8, shape, "counts");
  return chosen(c, counts, weights, c.numbers("none", {}, {0.0f}), c.shape(weights), "some");
}

// 0 for the rows in which no score counts, else 1.
Operand rows_that_count(Call& c, const Mask& m) {
  Shape shape = m.shape;
  shape[3] = 1;
  std::vector<float> counts;
  for (size_t at = 0; at < m.numbers.size(); at += static_cast<size_t>(m.shape[3])) {
    const auto row = m.numbers.begin() + static_cast<std::ptrdiff_t>(at);
    counts.push_back(std::all_of(row, row + m.shape[3], [](float v) { return v < kBlockedBelow; })
                         ? 0.0f
                         : 1.0f);
  }
  return c.numbers("rows", shape, std::move(counts));
}

void finish(Call& c, const Heads& h, const Operand& y) {
  if (!c.ok()) return;
  const Shape s = c.shape(y);
  c.result(0, h.joined
                  ? view(c, permuted(c, y, {0, 2, 1, 3}, "steps"), {s[0], s[2], s[1] * s[3]}, "")
                  : y);
}

}  // namespace

static void import_attention(Call& c) {
  const Heads h = read_heads(c);
  if (!c.ok()) return;
  const Given given = c.has(3) ? read_given(c, h) : Given{};
  const Mask known = known_mask(c, h, given);
  Operand mask = computed_mask(c, h, given);
  if (!c.ok()) return;
  const double scale = c.number(
                   "scale", 1 / std::sqrt(static_cast<double>(std::max<i64>(c.shape(h.q)[3], 1)))),
               cap = c.number("softcap", 0);
  const i64 mode = c.integer("qk_matmul_output_mode", 0);
  c.require(mode >= 0 && mode <= 3, "gives scores in an unknown way", std::to_string(mode), "0..3",
            "onnx.attention.scores");
  c.require(mode != 2 || !c.wants(3) ||
                std::none_of(known.numbers.begin(), known.numbers.end(),
                             [](float v) { return v < kBlockedBelow; }),
            "gives scores that are minus infinity", "2", "0, 1, 3", "onnx.attention.scores");
  c.require(cap >= 0, "has a bound of its scores below 0", std::to_string(cap), "0",
            "onnx.attention.softcap");
  if (!c.ok()) return;
  if (c.wants(1)) c.result(1, h.k);
  if (c.wants(2)) c.result(2, h.v);
  const bool is_computed = static_cast<bool>(mask);
  const Operand k = for_each_query(c, h.k, h.heads, "all_keys"),
                v = for_each_query(c, h.v, h.heads, "all_values");
  if (!known.numbers.empty()) {
    const Operand constant = c.numbers("mask", known.shape, known.numbers);
    mask = mask ? sum(c, mask, constant, "masks") : constant;
  }
  if (cap == 0 && !c.wants(3) && !known.has_empty_rows && !is_computed) {
    Args args{{"query", h.q},     {"key", k},           {"value", v},
              {"dropout_p", 0.0}, {"is_causal", false}, {"scale", scale}};
    if (mask) args.emplace_back("attn_mask", mask);
    return finish(c, h,
                  c.torch("aten.scaled_dot_product_attention.default", std::move(args),
                          h.joined ? "heads" : ""));
  }
  Operand scores = scaled(c, multiplied(c, h.q, permuted(c, k, {0, 1, 3, 2}, "turned"), "product"),
                          scale, "scores");
  if (mode == 0 && c.wants(3)) c.result(3, scores);
  if (cap > 0)
    scores = scaled(
        c, c.torch("aten.tanh.default", {{"self", scaled(c, scores, 1 / cap, "below")}}, "tanh"),
        cap, "bounded");
  if (mode == 1 && c.wants(3)) c.result(3, scores);
  if (mask) scores = sum(c, scores, mask, "masked");
  if (mode == 2 && c.wants(3)) c.result(3, scores);
  Operand weights = c.torch("aten.softmax.int", {{"self", scores}, {"dim", 3}}, "weights");
  if (is_computed) weights = without_empty_rows(c, weights, mask);
  else if (known.has_empty_rows && c.ok())
    weights = product(c, weights, rows_that_count(c, known), "some");
  if (mode == 3 && c.wants(3)) c.result(3, weights);
  finish(c, h, multiplied(c, weights, v, h.joined ? "heads" : ""));
}

namespace {

// Rows of the cache for each step, [batch, steps, half], with an axis of 1 for the heads.
Operand turns(Call& c, size_t cache, const Shape& shape, std::string_view suffix) {
  Operand table = c.operand(cache);
  if (c.has(3) && c.ok()) {
    const Operand ids = c.operand(3);
    const i64 count = numel(c.shape(ids));
    c.require(!c.ok() || c.rank(table) == 2, "has a cache of other than two axes",
              std::to_string(c.rank(table)), "2", "onnx.rotary.cache");
    if (!c.ok()) return {};
    const Shape s = c.shape(table);
    const Operand at = as_index(c, ids, s[0]);
    const auto known = c.known_integers(at);
    const Operand flat =
        known ? at
              : c.torch_as("aten.view.default", {{"self", at}, {"size", Shape{count}}}, DType::s64,
                           {count}, "ids");
    table = known ? picked(c, table, 0, *known, suffix)
                  : c.torch_as("aten.embedding.default", {{"weight", table}, {"indices", flat}},
                               DType::f32, {count, s[1]}, suffix);
  }
  c.require(!c.ok() || numel(c.shape(table)) == numel(shape),
            "has a cache that does not fit steps and width", c.ok() ? to_text(c.shape(table)) : "",
            to_text(shape), "onnx.rotary.cache");
  return view(c, table, shape, suffix);
}

}  // namespace

// Pairs of elements of each head are turned by the angle of their position; what is behind them
// stays.
static void import_rotary_embedding(Call& c) {
  const Operand x = c.operand(0);
  const Shape given = c.shape(x);
  const bool is_flat = given.size() == 3, interleaved = c.integer("interleaved", 0) != 0;
  const i64 heads = is_flat ? c.integer("num_heads", 0) : 1;
  c.require(!c.ok() || given.size() == 4 || is_flat, "takes 3 or 4 axes",
            std::to_string(given.size()), "3, 4", "onnx.rotary.rank");
  c.require(!c.ok() || !is_flat || (heads >= 1 && heads <= given[2] && given[2] % heads == 0),
            "the heads do not divide the last axis", std::to_string(heads), to_text(given),
            "onnx.attention.heads");
  if (!c.ok()) return;
  const i64 width = is_flat ? given[2] / heads : given[3],
            asked = c.integer("rotary_embedding_dim", 0), turned = asked == 0 ? width : asked;
  c.require(turned >= 2 && turned <= width && turned % 2 == 0,
            "turns an odd number of elements, or too many", std::to_string(turned),
            std::to_string(width), "onnx.rotary.width");
  if (!c.ok()) return;
  const i64 half = turned / 2, steps = is_flat ? given[1] : given[2];
  const Shape whole = is_flat ? Shape{given[0], steps, heads, width} : given;
  Shape angle = is_flat ? Shape{given[0], steps, 1, half} : Shape{given[0], 1, steps, half};
  const Operand in = is_flat ? view(c, x, whole, "heads") : x;
  const Operand cosine = turns(c, 1, angle, "cosine"), sine = turns(c, 2, angle, "sine");
  const Operand a =
      interleaved ? sliced(c, in, 3, 0, turned, 2, "first") : sliced(c, in, 3, 0, half, 1, "first");
  const Operand b = interleaved ? sliced(c, in, 3, 1, turned, 2, "second")
                                : sliced(c, in, 3, half, turned, 1, "second");
  const Operand left = product(c, cosine, a, "left"), right = product(c, sine, b, "right");
  Operand re = difference(c, left, right, "real");
  const Operand up = product(c, sine, a, "up"), down = product(c, cosine, b, "down");
  Operand im = sum(c, up, down, "imaginary");
  if (interleaved) {
    Shape pairs = whole, row = whole;
    pairs[3] = half, row[3] = turned;
    pairs.push_back(1);
    re = view(c, re, pairs, "real"), im = view(c, im, pairs, "imaginary");
    re = view(c, joined(c, {re, im}, 4, "pairs"), row, "turned");
  } else {
    re = joined(c, {re, im}, 3, is_flat || turned < width ? "turned" : "");
  }
  if (turned < width)
    re = joined(c, {re, sliced(c, in, 3, turned, width, 1, "rest")}, 3, is_flat ? "whole" : "");
  c.result(is_flat ? view(c, re, given, "") : re);
}

static constexpr ImportRow kAttentionRows[] = {
    {"Attention", import_attention},
    {"RotaryEmbedding", import_rotary_embedding},
};
ImportRows attention_rows() { return kAttentionRows; }

}  // namespace deuteron::onnx
