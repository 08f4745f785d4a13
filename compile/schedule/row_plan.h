// SPDX-License-Identifier: Apache-2.0
// Which rows the operators of a chain compute, band after band, and which they keep from one band
// for the next. The columns of an image of one row are such rows, too: band_axis of ops/facts.h.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "compile/schedule/split_rows.h"
#include "ir/graph.h"

namespace deuteron {

struct Rows {
  i64 first = 0, end = 0;
  i64 count() const { return end - first; }
  bool operator==(const Rows&) const = default;
};

// One operator in one band. Of its result `computed` is new. Beside it lie `kept` rows that the
// band before computed and somebody still reads: before the new ones, where bands go from the last
// row to the first behind them.
struct RowStep {
  NodeId node = -1;
  Rows computed, kept;
  Rows held() const {
    return kept.count() == 0
               ? computed
               : Rows{std::min(kept.first, computed.first), std::max(kept.end, computed.end)};
  }
};

struct RowPlan {
  std::vector<std::vector<RowStep>>
      bands;      // in the order in which they run; the steps of a band in execution order
  i64 macs = 0;   // of all steps
  i64 calls = 0;  // without those that copy kept rows
  i64 copies = 0, copied_bytes = 0;
  // the most bytes between the chain's ends that are alive at a step, results and kept rows
  i64 between = 0;
};

// Nothing when a band would have no rows, or only ones that padding makes.
std::optional<RowPlan> plan_rows(const Graph& g, const Uses& uses, const RowSplit& split);

// Whether the operator can be computed in bands of rows.
bool can_be_split(const Graph& g, const Node& node);
// Whether the operand has a row, or a window of them, for each row of the result: else every band
// reads all of it.
bool has_rows(const Graph& g, const Node& node, ValueId operand);

// How many rows a value has.
i64 rows_of(const Type&);

// Reshapes that leave the rows as they are stand in no chain: it goes on behind them. What such a
// value is a view of; itself, if of nothing.
ValueId behind_row_views(const Graph& g, const Uses& uses, ValueId v);
// Whether the node is such a view.
bool is_view_of_rows(const Graph& g, const Node& node);
// Who reads a value, and as which operand: itself, or a view of it. Node -1: it is an output of the
// graph.
struct RowReader {
  NodeId node = -1;
  ValueId operand = -1;
};
std::vector<RowReader> row_readers(const Graph& g, const Uses& uses, ValueId v);

// Rows of such an operand that these rows of the result need, without padding; and that padding.
struct NeededRows {
  Rows rows;
  i64 pad_before = 0, pad_after = 0;
};
NeededRows needed_rows(const Graph& g, const Node& node, ValueId operand, Rows out);

// The operator that computes these rows of the node's result.
std::optional<Op> op_of_rows(const Graph& g, const Node& node, Rows out);

}  // namespace deuteron
