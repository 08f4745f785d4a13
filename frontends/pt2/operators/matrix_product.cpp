// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/operators/matrix_product.h"

#include <algorithm>

#include "frontends/pt2/operators/import_table.h"

namespace deuteron::pt2 {
namespace {

// Batch axes by who has them. Nothing is repeated for broadcasting: axes that only `a` has become
// rows of its matrices, axes that only `b` has become columns of the result.
struct BatchAxes {
  Axes both, of_a, of_b;
  Shape extents;  // broadcast
};

BatchAxes match(Call& c, const Shape& a, const Shape& b) {
  BatchAxes axes;
  for (i64 k = 0; k < static_cast<i64>(a.size()) - 2; ++k) {
    (a[k] == b[k] ? axes.both : b[k] == 1 ? axes.of_a : axes.of_b).push_back(k);
    c.require(a[k] == b[k] || a[k] == 1 || b[k] == 1, "batch axes do not broadcast", to_text(a),
              to_text(b), "pt2.matmul.batch");
    axes.extents.push_back(std::max(a[k], b[k]));
  }
  return axes;
}

Axes joined(std::initializer_list<const Axes*> parts) {
  Axes result;
  for (const Axes* part : parts) result.insert(result.end(), part->begin(), part->end());
  return result;
}

i64 elements_of(const Shape& extents, const Axes& axes) {
  i64 product = 1;
  for (const i64 k : axes) product *= extents[k];
  return product;
}

ValueId with_rank(Call& c, ValueId v, size_t rank, std::string_view suffix) {
  Shape shape = c.shape(v);
  if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
  return c.reshape(v, std::move(shape), suffix);
}

// a [..,m,k], b [..,k,n], of one rank of at least 2.
ValueId product(Call& c, ValueId a, ValueId b, float scale, std::string_view suffix) {
  const Shape sa = c.shape(a), sb = c.shape(b);
  const i64 rank = c.rank(a), m = sa[rank - 2], k = sa[rank - 1], n = sb[rank - 1];
  const BatchAxes axes = match(c, sa, sb);
  if (!c.ok()) return -1;
  const Axes rows{rank - 2, rank - 1}, columns{rank - 1, rank - 2}, row{rank - 2}, column{rank - 1};
  const i64 batch = elements_of(axes.extents, axes.both), more_m = elements_of(sa, axes.of_a),
            more_n = elements_of(sb, axes.of_b);
  const ValueId left = c.permute(a, joined({&axes.both, &axes.of_a, &axes.of_b, &rows}), "left");
  const ValueId right =
      c.permute(b, joined({&axes.both, &axes.of_b, &axes.of_a, &columns}), "right");

  // [both, of_a, m, of_b, n] and the way from there to [batch.., m, n]
  Shape split;
  const auto take = [&](const Axes& which) {
    for (const i64 axis : which) split.push_back(axes.extents[axis]);
  };
  take(axes.both), take(axes.of_a), split.push_back(m), take(axes.of_b), split.push_back(n);
  const Axes stored = joined({&axes.both, &axes.of_a, &row, &axes.of_b, &column});
  Axes back(stored.size());
  for (size_t at = 0; at < stored.size(); ++at) back[stored[at]] = static_cast<i64>(at);

  ValueId y;
  if (batch == 1 && scale == 1 && c.is_derived_from_constants(right) &&
      !c.is_derived_from_constants(left)) {
    y = c.add(
        Linear{},
        {c.reshape(left, {more_m * m, k}, "left"), c.reshape(right, {more_n * n, k}, "weight")},
        "product");
  } else if (batch == 1 && scale == 1 && c.is_derived_from_constants(left) &&
             !c.is_derived_from_constants(right)) {
    y = c.add(
        Linear{},
        {c.reshape(right, {more_n * n, k}, "right"), c.reshape(left, {more_m * m, k}, "weight")},
        "product");
    y = c.permute(y, {1, 0}, "product");
  } else {
    // A series of matrices is one of rank 3, however many axes it has: torch's own decompositions
    // say bmm.
    y = c.add(Matmul{scale},
              {c.reshape(left, {batch, more_m * m, k}, "left"),
               c.reshape(right, {batch, more_n * n, k}, "right")},
              "product");
  }
  return c.permute(c.reshape(y, std::move(split), suffix), std::move(back), suffix);
}

}  // namespace

ValueId matrix_product(Call& c, ValueId a, ValueId b, float scale, std::string_view suffix) {
  if (!c.ok()) return -1;
  const Shape sa = c.shape(a), sb = c.shape(b);
  if (sa.empty() || sb.empty()) {
    c.refuse({"multiplies a tensor without axes", to_text(sa), to_text(sb), "pt2.matmul.rank"});
    return -1;
  }
  const i64 inner = sb.size() == 1 ? sb[0] : sb[sb.size() - 2];
  c.require(sa.back() == inner,
            "the columns of the left matrix are not as many as the rows of the right one",
            to_text(sa), to_text(sb), "pt2.matmul.inner");
  if (!c.ok()) return -1;
  // A parameter on the right that all matrices share: a fully connected layer over the last axis,
  // whatever stands before it.
  if (sb.size() == 2 && scale == 1 && c.is_derived_from_constants(b) &&
      !c.is_derived_from_constants(a))
    return c.add(Linear{}, {a, c.permute(b, {1, 0}, "weight")}, suffix);
  ValueId left = a, right = b;
  if (sa.size() == 1) left = c.reshape(a, {1, sa[0]}, "row");
  if (sb.size() == 1) right = c.reshape(b, {sb[0], 1}, "column");
  if (!c.ok()) return -1;
  const size_t rank = std::max(c.shape(left).size(), c.shape(right).size());
  left = with_rank(c, left, rank, "left");
  right = with_rank(c, right, rank, "right");
  if (!c.ok()) return -1;
  const bool vectors = sa.size() == 1 || sb.size() == 1;
  const ValueId y = product(c, left, right, scale, vectors ? "product" : suffix);
  if (!c.ok() || !vectors) return y;
  Shape shape = c.shape(y);
  if (sb.size() == 1) shape.pop_back();
  if (sa.size() == 1) shape.erase(shape.end() - (sb.size() == 1 ? 1 : 2));
  return c.reshape(y, std::move(shape), suffix);
}

}  // namespace deuteron::pt2
