// SPDX-License-Identifier: Apache-2.0
// scaled_dot_product_attention as its parts: softmax(scale * q k' + mask) v. The factor goes into
// the first product.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/tensor/elements.h"
#include "frontends/pt2/operators/choices.h"
#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/matrix_product.h"
#include "ops/common/broadcast.h"

namespace deuteron::pt2 {
namespace {

// Below this a mask means minus infinity, as float16 and float32 models spell it.
constexpr float kMaskedOut = -1e4f;

std::vector<float> with_infinite_blocks(std::vector<float> mask) {
  for (float& v : mask)
    if (!(v > kMaskedOut)) v = kMinusInfinity;
  return mask;
}

// The mask as a constant of the scores' shape.
ValueId repeated(Call& c, const Shape& shape, const std::vector<float>& mask, const Shape& scores) {
  Shape full = shape;
  c.require(full.size() <= scores.size(), "the mask has more axes than the scores", to_text(shape),
            to_text(scores), "pt2.attention.mask");
  if (!c.ok()) return -1;
  full.insert(full.begin(), scores.size() - full.size(), 1);
  for (size_t k = 0; k < full.size(); ++k)
    c.require(full[k] == 1 || full[k] == scores[k], "the mask does not broadcast to the scores",
              to_text(shape), to_text(scores), "pt2.attention.mask");
  if (!c.ok()) return -1;
  return c.constant("mask", scores, broadcast_numbers(mask, shape, scores));
}

ValueId causal_mask(Call& c, const Shape& scores) {
  const i64 rows = scores[scores.size() - 2], columns = scores.back();
  std::vector<float> mask;
  for (i64 r = 0; r < rows; ++r)
    for (i64 k = 0; k < columns; ++k) mask.push_back(k <= r ? 0 : kMinusInfinity);
  return repeated(c, {rows, columns}, mask, scores);
}

// Additive, or true where a score counts.
ValueId given_mask(Call& c, const Shape& scores) {
  const TensorMeta* meta = c.meta("attn_mask");
  const bool boolean = meta && meta->dtype == DType::b8;
  const ValueId choice = boolean ? c.any_tensor("attn_mask") : -1;
  if (c.ok() && boolean && !c.is_derived_from_constants(choice))
    return chosen_by_kernel(c, choice, c.constant("kept", {}, {0.0f}),
                            c.constant("blocked", {}, {kMinusInfinity}),
                            {DType::f32, c.shape(choice), {}});
  const ValueId mask = c.tensor("attn_mask");
  if (!c.ok() || !c.is_constant(mask)) return mask;
  const auto given = c.graph().values[mask].constant->as<float>();
  std::vector<float> data(given.begin(), given.end());
  if (boolean)
    for (float& v : data) v = v != 0 ? 0 : -INFINITY;
  return repeated(c, c.shape(mask), with_infinite_blocks(std::move(data)), scores);
}

Axes with_last_two_swapped(i64 rank) {
  Axes perm(static_cast<size_t>(rank));
  for (i64 k = 0; k < rank; ++k) perm[k] = k;
  std::swap(perm[rank - 1], perm[rank - 2]);
  return perm;
}

}  // namespace

// Each head of `x` as often as several heads of the queries share it.
static ValueId shared_heads(Call& c, ValueId x, ValueId query, std::string_view suffix) {
  constexpr i64 kMostHeads = 4096;
  if (!c.ok()) return -1;
  const i64 axis = c.rank(x) - 3, heads = axis < 0 ? 0 : c.shape(x)[axis],
            wanted = c.rank(query) < 3 ? 0 : c.shape(query)[c.rank(query) - 3];
  c.require(heads > 0 && wanted > 0 && wanted <= kMostHeads && wanted % heads == 0,
            "has groups of queries that do not share the keys evenly", std::to_string(wanted),
            fmt::format("a multiple of {}, up to {}", heads, kMostHeads), "pt2.attention.groups");
  if (!c.ok()) return -1;
  Axes index;
  for (i64 head = 0; head < wanted; ++head) index.push_back(head * heads / wanted);
  return picked(c, x, axis, std::move(index), suffix);
}

static void import_attention(Call& c) {
  const ValueId q = c.tensor("query");
  ValueId k = c.tensor("key"), v = c.tensor("value");
  const bool causal = c.boolean("is_causal");
  c.require(!c.ok() || c.number("dropout_p") == 0, "drops scores at random, which is for training",
            "", "dropout_p 0", "pt2.attention.dropout");
  c.require(!c.ok() || (c.rank(q) >= 2 && c.rank(k) >= 2 && c.rank(v) >= 2), "works on matrices",
            "", "rank 2..", "pt2.attention.rank");
  if (c.ok() && c.boolean("enable_gqa"))
    k = shared_heads(c, k, q, "shared_keys"), v = shared_heads(c, v, q, "shared_values");
  if (!c.ok()) return;
  const double scale =
      c.has("scale") ? c.number("scale") : 1 / std::sqrt(static_cast<double>(c.shape(q).back()));
  const ValueId keys = c.permute(k, with_last_two_swapped(c.rank(k)), "keys");
  ValueId scores = matrix_product(c, q, keys, static_cast<float>(scale), "scores");
  if (!c.ok()) return;
  const Shape shape = c.shape(scores);  // a copy: masks add values to the graph
  if (causal) scores = c.add(Add{}, {scores, causal_mask(c, shape)}, "masked");
  else if (c.has("attn_mask")) scores = c.add(Add{}, {scores, given_mask(c, shape)}, "masked");
  if (!c.ok()) return;
  const ValueId weights = c.add(Softmax{c.rank(scores) - 1}, {scores}, "weights");
  c.result(matrix_product(c, weights, v, 1));
}

static constexpr ImportRow kAttentionRows[] = {
    {"aten.scaled_dot_product_attention.default", import_attention},
};
ImportRows attention_rows() { return kAttentionRows; }

}  // namespace deuteron::pt2
