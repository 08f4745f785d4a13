// SPDX-License-Identifier: Apache-2.0
// From the call of a plain kernel to that of deuteron::packed_conv2d, with the weights packed for an instruction set. The bits stay: where
// the packed kernel cannot give them, the call stays as it is, and the refusal says why.
#pragma once
#include "ops/op.h"

namespace deuteron {

class LinearForms;  // ops/linear_add/linear_form.h

// A lowered call. `data[i]` is null where operand i is not a constant.
struct PlainCall {
  const KernelCall& call;
  std::span<const Constant* const> data;
  Isa isa;
  bool has_zeros = false;            // at the end of its input, which its units were put in order for (passes/order_units.h)
  LinearForms* additions = nullptr;  // of the program; null: this call's alone
};

// The rule of a refusal that is of the kind of call, not of its numbers.
inline constexpr char kNoPacking[] = "kind";

Result<Lowered> pack_conv2d(const PlainCall&);            // cortex_m::quantized_conv2d
Result<Lowered> pack_depthwise_conv2d(const PlainCall&);  // cortex_m::quantized_depthwise_conv2d over one input channel
Result<Lowered> pack_conv_transpose2d(const PlainCall&);  // cortex_m::quantized_transpose_conv2d, to deuteron::packed_conv_transpose2d
Result<Lowered> pack_linear(const PlainCall&);            // cortex_m::quantized_linear
Result<Lowered> pack_linear_once(const PlainCall&);       // deuteron::linear_once

}  // namespace deuteron
