// SPDX-License-Identifier: Apache-2.0
// A cache of past steps that is written at a position of its own for each sequence.
#include <fmt/format.h>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"

namespace deuteron::onnx {
namespace {

constexpr i64 kMostRows = i64{1} << 24;  // float32 holds what counts them

struct Cache {
  i64 sequences = 1, most = 1,
      steps = 1;  // how many there are, how long each may be, how many steps are written
  bool is_ring = false;
};

// Where each step of each sequence goes among the rows of all, in a row.
Operand places(Call& c, const Cache& m) {
  const i64 count = m.sequences * m.steps;
  std::optional<std::vector<i64>> known = std::vector<i64>(static_cast<size_t>(m.sequences), 0);
  if (c.has(2)) {
    const Shape given = c.shape(c.operand(2));
    known = c.known_integers(c.operand(2));
    c.require(!c.ok() || numel(given) == m.sequences, "does not have a position for each sequence",
              to_text(given), std::to_string(m.sequences), "onnx.sequence.lengths");
  }
  c.require(!c.ok() || m.sequences * m.most <= kMostRows, "has too many steps",
            fmt::format("{} x {}", m.sequences, m.most), std::to_string(kMostRows),
            "onnx.cache.steps");
  if (!c.ok() || !c.may_make(count)) return {};
  std::vector<i64> steps, rows;
  for (i64 n = 0; n < m.sequences; ++n) rows.push_back(n * m.most);
  for (i64 k = 0; k < m.steps; ++k) steps.push_back(k);
  if (known) {
    std::vector<i64> at;
    for (i64 n = 0; n < m.sequences; ++n) {
      const i64 first = (*known)[static_cast<size_t>(n)];
      c.require(first >= 0 && (m.is_ring || first <= m.most - m.steps), "writes beyond its end",
                std::to_string(first), fmt::format("0..{}", m.most - m.steps), "onnx.cache.steps");
      for (const i64 k : steps)
        at.push_back(rows[static_cast<size_t>(n)] + (first % m.most + k) % m.most);
    }
    return c.known("places", {DType::s64, {count}, {}}, at);
  }
  const Shape all{m.sequences, m.steps};
  const auto added = [&](const Operand& at, const Shape& shape, const std::vector<i64>& more,
                         const char* name) {
    return c.torch_as("aten.add.Tensor",
                      {{"self", at}, {"other", c.known(name, {DType::s64, shape, {}}, more)}},
                      DType::s64, all, name);
  };
  Operand at = view(c, as_integers(c, c.operand(2)), {m.sequences, 1}, "first");
  if (m.steps > 1) at = added(at, {1, m.steps}, steps, "steps");
  at = as_index(c, at, m.most);
  if (m.sequences > 1) at = added(at, {m.sequences, 1}, rows, "rows");
  return view(c, at, {count}, "places");
}

}  // namespace

static void import_tensor_scatter(Call& c) {
  const Operand x = c.operand(0), update = c.operand(1);
  const Shape s = c.shape(x), u = c.shape(update);
  const i64 rank = c.rank(x), axis = c.axis(c.integer("axis", -2), rank);
  const std::string mode = c.text("mode", "linear");
  c.require(mode == "linear" || mode == "circular", "has an unknown mode", mode, "linear, circular",
            "onnx.cache.mode");
  bool fits = rank >= 2 && axis > 0 && u.size() == s.size();
  for (i64 k = 0; fits && k < rank; ++k) fits = k == axis ? u[k] <= s[k] : u[k] == s[k];
  c.require(!c.ok() || fits, "has an update that does not fit the cache", to_text(u), to_text(s),
            "onnx.scatter.extent");
  if (!c.ok()) return;
  const Cache m{s[0], s[axis], u[axis], mode == "circular"};
  const Operand at = places(c, m);
  if (m.sequences == 1) return c.result(written(c, x, axis, at, update, false, ""));
  Axes order{0, axis}, back(static_cast<size_t>(rank));
  for (i64 k = 1; k < rank; ++k)
    if (k != axis) order.push_back(k);
  for (i64 k = 0; k < rank; ++k) back[static_cast<size_t>(order[static_cast<size_t>(k)])] = k;
  Shape turned;
  for (const i64 k : order) turned.push_back(s[k]);
  const i64 inner = numel(s) / (m.sequences * m.most);
  const auto as_rows = [&](const Operand& v, i64 steps, const char* suffix) {
    return view(c, axis == 1 ? v : permuted(c, v, order, suffix), {m.sequences * steps, inner},
                suffix);
  };
  const Operand rows = as_rows(x, m.most, "cache"), source = as_rows(update, m.steps, "update");
  const Operand y = written(c, rows, 0, at, source, false, "written");
  const Operand split = view(c, y, turned, axis == 1 ? "" : "split");
  c.result(axis == 1 ? split : permuted(c, split, back, ""));
}

static constexpr ImportRow kCachesRows[] = {
    {"TensorScatter", import_tensor_scatter},
};
ImportRows caches_rows() { return kCachesRows; }

}  // namespace deuteron::onnx
