// SPDX-License-Identifier: Apache-2.0
// Variables: what a model keeps from one call to the next. They become states of the graph.
#include "frontends/tflite/operators/import_table.h"

namespace deuteron::tflite {

static void import_var_handle(Call& c) {
  const auto* o = c.options<VarHandleOptions>();
  c.takes(0, 0);
  if (c.ok()) c.name_variable(*o);
}

static void import_read_variable(Call& c) {
  c.takes(1, 1);
  c.result(c.variable(0));
}

static void import_assign_variable(Call& c) {
  c.takes(2, 2, 0);
  c.assign(0, 1);
}

static void import_call_once(Call& c) {
  const auto* o = c.options<CallOnceOptions>();
  c.takes(0, 0, 0);
  if (c.ok()) c.run_once(o->init_subgraph_index());
}

static constexpr ImportRow kVariableRows[] = {
    {BuiltinOperator::ASSIGN_VARIABLE, import_assign_variable},
    {BuiltinOperator::CALL_ONCE, import_call_once},
    {BuiltinOperator::READ_VARIABLE, import_read_variable},
    {BuiltinOperator::VAR_HANDLE, import_var_handle},
};
ImportRows variables_rows() { return kVariableRows; }

}  // namespace deuteron::tflite
