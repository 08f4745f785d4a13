// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/operators/weighted_sums.h"

#include <algorithm>

#include "base/tensor/axes.h"
#include "frontends/pt2/operators/compose.h"

namespace deuteron::pt2 {
namespace {

// A dense row of weights costs as many multiply-adds as the axis has elements, a picked term a
// copy, a product and a sum.
constexpr i64 kCostOfTerm = 16;

i64 most_terms(const Weights& w) {
  i64 most = 1;
  for (i64 o = 0; o < w.out; ++o) {
    const auto row = w.values.begin() + o * w.in;
    most = std::max<i64>(most, w.in - std::count(row, row + w.in, 0.0f));
  }
  return most;
}

ValueId picked_terms(Call& c, ValueId x, i64 axis, const Weights& w, i64 terms,
                     std::string_view suffix) {
  std::vector<Axes> index(static_cast<size_t>(terms));
  std::vector<std::vector<float>> factor(static_cast<size_t>(terms));
  for (i64 o = 0; o < w.out; ++o) {
    i64 term = 0;
    for (i64 i = 0; i < w.in; ++i) {
      const float value = w.values[static_cast<size_t>(o * w.in + i)];
      if (value != 0) index[term].push_back(i), factor[term++].push_back(value);
    }
    for (; term < terms; ++term)
      index[term].push_back(term == 0 ? 0 : index[term - 1].back()), factor[term].push_back(0);
  }
  Shape shape(static_cast<size_t>(c.rank(x)), 1);
  shape[axis] = w.out;
  ValueId total = -1;
  for (i64 term = 0; term < terms && c.ok(); ++term) {
    const std::string name = "term" + std::to_string(term);
    const ValueId part = product(c, picked(c, x, axis, index[term], name),
                                 c.constant(name + "_weight", shape, factor[term]), name);
    total = total < 0 ? part : sum(c, total, part, term + 1 == terms ? suffix : "sum");
  }
  return total;
}

}  // namespace

ValueId weighted_along(Call& c, ValueId x, i64 axis, const Weights& w, std::string_view suffix) {
  if (!c.ok() || !c.may_make(w.out * w.in)) return -1;
  if (const i64 terms = most_terms(w); terms * kCostOfTerm < w.in)
    return picked_terms(c, x, axis, w, terms, suffix);
  Axes perm;
  for (i64 k = 0; k < c.rank(x); ++k)
    if (k != axis) perm.push_back(k);
  perm.push_back(axis);
  const bool last = axis == c.rank(x) - 1;
  const ValueId y =
      c.add(Linear{}, {c.permute(x, perm, "in"), c.constant("weights", {w.out, w.in}, w.values)},
            last ? suffix : "sums");
  return c.ok() ? c.permute(y, inverse(perm), suffix) : -1;
}

}  // namespace deuteron::pt2
