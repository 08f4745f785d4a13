// SPDX-License-Identifier: Apache-2.0
// Operators that run a subgraph.
#include "frontends/tflite/operators/import_table.h"

namespace deuteron::tflite {

static void import_if(Call& c) {
  const auto* o = c.options<IfOptions>();
  c.takes(1, 1 << 12, c.results());
  if (!c.ok()) return;
  const i32 yes = o->then_subgraph_index(), no = o->else_subgraph_index();
  if (const std::optional<bool> condition = c.known_truth(0)) c.take_branch(*condition ? yes : no);
  else c.pick_branch(yes, no);
}

static void import_while(Call& c) {
  const auto* o = c.options<WhileOptions>();
  c.takes(1, 1 << 12, c.operands());
  if (c.ok()) c.run_loop(o->cond_subgraph_index(), o->body_subgraph_index());
}

static constexpr ImportRow kBranchesRows[] = {
    {BuiltinOperator::IF, import_if, Int16::taken},
    {BuiltinOperator::WHILE, import_while, Int16::taken},
};
ImportRows branches_rows() { return kBranchesRows; }

}  // namespace deuteron::tflite
