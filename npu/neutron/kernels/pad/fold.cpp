// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/pad/fold.h"

#include <fmt/format.h>

#include "npu/neutron/kernels/pad/operation.h"

namespace deuteron::neutron {

bool fold_pad(Model& m, const TensorUses& uses, Operation& s, Window& window, i32 outside,
              bool must_see) {
  const Operation* before = maker_of_operand(m, uses, s);
  if (!before || before->def != &pad_operation) return false;
  const Padding& p = before->as<Padding>();
  if (p.fn != PadFn::value || p.before.size() != 4) return false;
  if (p.before[0] | p.after[0] | p.before[3] | p.after[3]) return false;
  if (p.value != outside) return false;
  Window grown = window;
  grown.top += p.before[1], grown.bottom += p.after[1], grown.left += p.before[2],
      grown.right += p.after[2];
  const Shape& x = m.type(before->inputs[0]).shape;
  const Shape& y = m.type(s.output).shape;
  const bool blind = grown.top >= grown.kernel_h || grown.left >= grown.kernel_w ||
                     (y[1] - 1) * grown.stride_h - grown.top >= x[1] ||
                     (y[2] - 1) * grown.stride_w - grown.left >= x[2];
  if (must_see && blind) return false;
  window = grown;
  s.inputs[0] = before->inputs[0];
  if (uses.read_once(before->output))
    vanish(m, before->origins, fmt::format("folded into {}", name_in_reports(m, s)));
  join_origins(s, *before);
  return true;
}

}  // namespace deuteron::neutron
