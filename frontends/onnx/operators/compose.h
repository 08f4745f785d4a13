// SPDX-License-Identifier: Apache-2.0
// Short spellings for importers that compose an operator of ONNX from several of torch.
#pragma once
#include <span>
#include <string_view>

#include "frontends/onnx/call/call.h"

namespace deuteron::onnx {

// Operators that torch has under another name. Empty: not one of them.
struct Spelling {
  std::string_view op, target;
};
inline std::string_view target_of(std::span<const Spelling> spellings, std::string_view op) {
  for (const Spelling& s : spellings)
    if (s.op == op) return s.target;
  return {};
}

inline Operand scaled(Call& c, const Operand& x, double factor, std::string_view suffix) {
  return factor == 1 ? x : c.torch("aten.mul.Scalar", {{"self", x}, {"other", factor}}, suffix);
}
inline Operand shifted(Call& c, const Operand& x, double by, std::string_view suffix) {
  return by == 0 ? x : c.torch("aten.add.Scalar", {{"self", x}, {"other", by}}, suffix);
}
inline Operand sum(Call& c, const Operand& a, const Operand& b, std::string_view suffix) {
  return c.torch("aten.add.Tensor", {{"self", a}, {"other", b}}, suffix);
}
inline Operand product(Call& c, const Operand& a, const Operand& b, std::string_view suffix) {
  return c.torch("aten.mul.Tensor", {{"self", a}, {"other", b}}, suffix);
}
inline Operand difference(Call& c, const Operand& a, const Operand& b, std::string_view suffix) {
  return c.torch("aten.sub.Tensor", {{"self", a}, {"other", b}}, suffix);
}
inline Operand flipped(Call& c, const Operand& x, i64 axis, std::string_view suffix) {
  return c.torch("aten.flip.default", {{"self", x}, {"dims", std::vector<i64>{axis}}}, suffix);
}
// Behind one another along an axis.
inline Operand joined(Call& c, const std::vector<Operand>& parts, i64 axis,
                      std::string_view suffix) {
  return c.torch("aten.cat.default", {{"tensors", parts}, {"dim", axis}}, suffix);
}
inline Operand chosen(Call& c, const Operand& mask, const Operand& yes, const Operand& no,
                      const Shape& shape, std::string_view suffix) {
  return c.torch_as("aten.where.self", {{"condition", mask}, {"self", yes}, {"other", no}},
                    c.dtype(yes), shape, suffix);
}
// Slice k of the source goes to position at[k] along an axis.
inline Operand written(Call& c, const Operand& x, i64 axis, const Operand& at,
                       const Operand& source, bool adds, std::string_view suffix) {
  return c.torch(adds ? "aten.index_add.default" : "aten.index_copy.default",
                 {{"self", x}, {"dim", axis}, {"index", at}, {"source", source}}, suffix);
}
inline Operand view(Call& c, const Operand& x, const Shape& shape, std::string_view suffix) {
  return c.torch("aten.view.default", {{"self", x}, {"size", shape}}, suffix);
}
inline Operand permuted(Call& c, const Operand& x, const Axes& order, std::string_view suffix) {
  return c.torch("aten.permute.default", {{"self", x}, {"dims", order}}, suffix);
}
// An image whose channels stand last, as ONNX Runtime writes some of its own operators, with the
// channels behind the batch; and back.
inline bool has_channels_last(Call& c) { return c.integer("channels_last", 0) != 0; }
inline Operand with_channels_moved(Call& c, const Operand& x, bool to_front,
                                   std::string_view suffix) {
  const i64 last = c.rank(x) - 1;
  Axes order{0};
  if (to_front) order.push_back(last);
  for (i64 k = to_front ? 1 : 2; k < last + (to_front ? 0 : 1); ++k) order.push_back(k);
  if (!to_front) order.push_back(1);
  c.require(!c.ok() || last >= 2, "has no axes between batch and channels",
            std::to_string(last + 1), "3", "onnx.window.rank");
  return c.ok() ? permuted(c, x, order, suffix) : Operand{};
}
// Elements first, first + step, .. of one axis, before `end`.
inline Operand sliced(Call& c, const Operand& x, i64 axis, i64 first, i64 end, i64 step,
                      std::string_view suffix) {
  return c.torch("aten.slice.Tensor",
                 {{"self", x}, {"dim", axis}, {"start", first}, {"end", end}, {"step", step}},
                 suffix);
}
inline Operand converted(Call& c, const Operand& x, DType to, std::string_view suffix) {
  return c.torch("aten.to.dtype", {{"self", x}, {"dtype", Arg::dtype(to)}}, suffix);
}
inline Operand as_integers(Call& c, const Operand& x) {
  return c.dtype(x) == DType::s64 ? x : converted(c, x, DType::s64, "wide");
}
inline Operand clamped(Call& c, const Operand& x, double low, double high,
                       std::string_view suffix) {
  return c.torch("aten.clamp.default", {{"self", x}, {"min", low}, {"max", high}}, suffix);
}
// Over some axes, which stay with extent 1 where they are kept.
inline Args over_axes(const Operand& x, std::vector<i64> axes, bool keep) {
  return {{"self", x}, {"dim", std::move(axes)}, {"keepdim", keep}};
}
inline Operand position_of_largest(Call& c, const Operand& x, i64 axis, bool keep, Shape shape,
                                   std::string_view suffix) {
  return c.torch_as("aten.argmax.default", {{"self", x}, {"dim", axis}, {"keepdim", keep}},
                    DType::s64, std::move(shape), suffix);
}
inline Operand with_axis_moved(Call& c, const Operand& x, i64 from, i64 to,
                               std::string_view suffix) {
  return c.torch("aten.movedim.int", {{"self", x}, {"source", from}, {"destination", to}}, suffix);
}
// Rows of a table [rows, width] by computed positions: [.., width]. `exact`: numbers stay in float
// (ops/kernel_call/number_calls.cpp).
inline Operand looked_up(Call& c, const Operand& table, const Operand& at, Shape shape,
                         std::string_view suffix, bool exact = false) {
  const Args args{{"weight", table}, {"indices", at}, {"sparse", exact}};
  return c.torch_as("aten.embedding.default", args, c.dtype(table), std::move(shape), suffix);
}
// What a gather takes: elements along an axis by positions, one for each.
inline Args along(const Operand& x, i64 axis, const Operand& at, bool exact) {
  return {{"self", x}, {"dim", axis}, {"index", at}, {"sparse_grad", exact}};
}
// Positions along an axis as torch takes them: ONNX counts negative ones from its end.
inline Operand as_index(Call& c, const Operand& x, i64 extent) {
  auto known = c.known_integers(x);
  if (!known)
    return c.torch_as("aten.remainder.Scalar", {{"self", as_integers(c, x)}, {"other", extent}},
                      DType::s64, c.shape(x), "index");
  for (i64& p : *known) {
    c.require(p >= -extent && p < extent, "an index lies outside the axis", std::to_string(p),
              std::to_string(-extent) + ".." + std::to_string(extent - 1), "onnx.gather.range");
    if (p < 0) p += extent;
  }
  return c.known("index", {DType::s64, c.shape(x), {}}, *known);
}
inline Operand leaky_relu(Call& c, const Operand& x, std::string_view suffix) {
  return c.torch("aten.leaky_relu.default",
                 {{"self", x}, {"negative_slope", c.number("alpha", 0.01)}}, suffix);
}
// Elements of one axis by their positions.
inline Operand picked(Call& c, const Operand& x, i64 axis, const std::vector<i64>& positions,
                      std::string_view suffix) {
  const Operand index =
      c.known("positions", {DType::s64, {static_cast<i64>(positions.size())}, {}}, positions);
  return c.torch("aten.index_select.default", {{"self", x}, {"dim", axis}, {"index", index}},
                 suffix);
}

}  // namespace deuteron::onnx
