// SPDX-License-Identifier: Apache-2.0
// Puts what an operator becomes (ops/form.h) into the place of its node.
#pragma once
#include "ir/rewrite/patch.h"
#include "ops/families.h"

namespace deuteron {

struct FormTarget {
  Isa isa = Isa::scalar;
  bool beside_npu = false;
  CmsisNn cmsis_nn = CmsisNn::at_dbf45dbf;
  bool for_stock = false;
  bool operator==(const FormTarget&) const = default;
};
// Nothing when the operator stays what it is.
std::optional<Patch> form_of(const Graph& g, const Uses& uses, NodeId root, FormKind kind,
                             const FormTarget& target = {});

// As rules. What is simpler in any graph, before and after quantization; and int8 operators as the
// kernels of a processor take them.
std::optional<Patch> simpler_form(const Graph& g, const Uses& uses, NodeId root);
Rule kernel_form(const FormTarget& target);
// Not together with rules that merge neighbours: it takes apart.
std::optional<Patch> last_form(const Graph& g, const Uses& uses, NodeId root);
// lstm(x, ..) in float   becomes   linear layers, sigmoid, tanh and sums, step by step: no kernel
// computes it in float. So do GRU and RNN.
std::optional<Patch> recurrent_in_steps(const Graph& g, const Uses& uses, NodeId root);
// In float, for targets that have no int8 kernel of the operator.
std::optional<Patch> in_parts(const Graph& g, const Uses& uses, NodeId root);

}  // namespace deuteron
