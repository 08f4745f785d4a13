// SPDX-License-Identifier: Apache-2.0
// From the numbers of a layer to a call with weights packed for an instruction set. The bits stay
// those of the plain call: where the packed kernel cannot give them, that one stays, and the
// refusal says why.
#pragma once
#include "ops/kernel_call/numbers.h"

namespace deuteron {

struct PackFor {
  Isa isa;
  size_t operands;         // of the plain call, of which the first is x
  bool has_zeros = false;  // at the end of its input, which its units were put in order for
                           // (compile/simplify/order_units.h)
  bool may_be_four_bits = false;
};

// The rule of a refusal that is of the kind of layer, not of its numbers.
inline constexpr char kNoPacking[] = "kind";

Result<Lowered> pack_layer(const DenseNumbers& n, const PackFor& p);

}  // namespace deuteron
