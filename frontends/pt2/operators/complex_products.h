// SPDX-License-Identifier: Apache-2.0
// Products of complex tensors, as real ones.
#pragma once
#include <string_view>

#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// The same of both parts; a real tensor has one.
template <class Function>
Call::Complex each_part(Call::Complex z, Function f) {
  const ValueId re = f(z.re);
  return {re, z.im < 0 ? -1 : f(z.im)};
}

// a b, element by element, broadcast; real where both are.
Call::Complex complex_product(Call& c, Call::Complex a, Call::Complex b);

// a @ b as torch.matmul takes them, in one product of real matrices: [re a | im a] with the parts
// of b in two columns and two rows. A part that is a constant of zeros is none. Real where both
// are.
Call::Complex complex_matrix_product(Call& c, Call::Complex a, Call::Complex b);

// With an imaginary part of zeros, where there is none.
Call::Complex with_imaginary_part(Call& c, Call::Complex z);

}  // namespace deuteron::pt2
