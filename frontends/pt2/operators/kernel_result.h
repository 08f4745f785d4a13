// SPDX-License-Identifier: Apache-2.0
// A call of a portable kernel with one result, as importers that need one spell it.
#pragma once
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// One operand: a tensor, or what stands in the call itself.
struct Passed {
  KernelArg arg;
  ValueId value = -1;
  Passed(ValueId v)
      : arg{KernelArg::Kind::input, 0, 0, {}, {}}, value(v) {}  // NOLINT: spelled as the value
  explicit Passed(KernelArg a) : arg(std::move(a)) {}
};
inline Passed none() { return Passed(KernelArg{}); }
inline Passed whole(i64 v) { return Passed(KernelArg{KernelArg::Kind::integer, v, 0, {}, {}}); }
inline Passed truth(bool v) { return Passed(KernelArg{KernelArg::Kind::boolean, v, 0, {}, {}}); }
inline Passed real(double v) { return Passed(KernelArg{KernelArg::Kind::real, 0, v, {}, {}}); }
inline Passed wholes(Axes v) {
  return Passed(KernelArg{KernelArg::Kind::integers, 0, 0, std::move(v), {}});
}
// A list of indexes with one along this axis.
inline Passed at_axis(i64 axis, ValueId index) {
  Passed p(index);
  p.arg = {KernelArg::Kind::inputs, 0, 0, Axes(static_cast<size_t>(axis) + 1, -1), {}};
  return p;
}

// `kernel` is its whole name: "aten::eq.Tensor_out". Refused when the runtime would refuse the
// call.
inline ValueId kernel_result(Call& c, std::string_view kernel,
                             std::initializer_list<Passed> operands, Type result) {
  if (!c.ok()) return -1;
  KernelCall call;
  call.name = kernel.substr(0, kernel.find('.')),
  call.overload = kernel.substr(kernel.find('.') + 1);
  std::vector<ValueId> inputs;
  for (const Passed& p : operands) {
    KernelArg arg = p.arg;
    if (arg.kind == KernelArg::Kind::input) {
      arg.integer = static_cast<i64>(inputs.size()), arg.face = plain_face(c.shape(p.value));
      inputs.push_back(p.value);
    } else if (p.value >= 0) {
      arg.integers.back() = static_cast<i64>(inputs.size());
      inputs.push_back(p.value);
    }
    call.args.push_back(std::move(arg));
  }
  call.args.push_back({KernelArg::Kind::output, 0, 0, {}, plain_face(result.shape)});
  const std::vector<ValueId> results =
      c.add_call(std::move(call), std::move(inputs), {std::move(result)});
  return c.ok() ? results[0] : -1;
}

}  // namespace deuteron::pt2
