// SPDX-License-Identifier: Apache-2.0
// Cells of recurrent layers that stand written out in a float graph: what a loop of Keras, ONNX or
// PyTorch has become.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace deuteron {

// Elements of a value that lie side by side, seen through what only moves them.
struct ElementSpan {
  ValueId base = -1;
  i64 first = 0, count = 0;
  bool operator==(const ElementSpan&) const = default;
};

// Where elements come from; what movements do is looked up once.
class ElementMoves {
 public:
  ElementMoves(const Graph& g, const Uses& uses) : g_(g), uses_(uses) {}
  ElementSpan whole(ValueId v) const { return {v, 0, g_.type(v).elements()}; }
  ElementSpan behind(ElementSpan span);
  bool is_zero(const ElementSpan& span) const;  // a part of a float constant

 private:
  std::optional<ElementSpan> before(NodeId mover, const ElementSpan& span);
  const std::vector<i32>& places(NodeId mover);

  const Graph& g_;
  const Uses& uses_;
  std::map<NodeId, std::vector<i32>> places_;
};

// A part of a constant matrix times elements of a value: rows from `row` on, columns from `column`
// on, as many as there are elements.
struct MatrixTimes {
  ElementSpan x;
  ValueId weight;
  i64 row, column;
};

// What a gate takes: sum of products + bias.
struct GateSum {
  std::vector<MatrixTimes> products;
  std::vector<double> bias;
};

enum class CellKind : u8 { lstm, gru, rnn };

// One step. Gates stand in the order of the operator (ops/lstm/lstm.h and its like); GRU has a
// fourth sum behind them, which its first gate scales: what n takes of the state.
struct RecurrentCell {
  CellKind kind;
  ValueId h, c = -1;                              // c: of an LSTM
  std::vector<std::optional<GateSum>> gates;      // nothing: without a part, as the state is zero
  std::optional<ElementSpan> h_before, c_before;  // where the step itself reads them
  i64 c_readers = 2;                              // that are the cell itself and the next step
  ValueId y = -1;                                 // h under another name
};
inline size_t sums_of(CellKind kind) { return kind == CellKind::rnn ? 1 : 4; }
inline bool takes_x(CellKind kind, size_t k) { return kind != CellKind::gru || k != 3; }
inline bool takes_state(CellKind kind, size_t k) { return kind != CellKind::gru || k != 2; }

// A layer of such cells.
Op cell_op(CellKind kind, const RecurrentForm& form);

// The cell whose result the node makes, if it makes one.
std::optional<RecurrentCell> cell_at(const Graph& g, const Uses& uses, ElementMoves& moves,
                                     NodeId node);

}  // namespace deuteron
