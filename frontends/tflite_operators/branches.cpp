// Operators that run a subgraph.
#include "frontends/tflite_operators/import_table.h"

namespace deuteron::tflite {

static void import_if(Call& c) {
  const auto* o = c.options<IfOptions>();
  c.takes(1, 1 << 12, c.results());
  if (!c.ok()) return;
  const std::optional<bool> condition = c.known_truth(0);
  if (!condition)
    return c.refuse({"has a condition that is computed, and a program here has one order of operators", "", "", "tflite.if.condition"},
                    "compute both branches and pick one with tf.where, or convert the branch that is needed");
  const i32 yes = o->then_subgraph_index(), no = o->else_subgraph_index();
  c.take_branch(*condition ? yes : no, *condition ? no : yes);
}

static constexpr ImportRow kBranchesRows[] = {{BuiltinOperator::IF, import_if, Int16::taken}};
ImportRows branches_rows() { return kBranchesRows; }

}  // namespace deuteron::tflite
