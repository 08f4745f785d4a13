// Weights get their storage order, and movements that undo each other go.
#include "passes/pass.h"
#include "passes/view_rules.h"

namespace deuteron {

void fold_constants(PassContext& pass) { rewrite(pass.graph, view_rules(), pass.rewrites_left); }

}  // namespace deuteron
