// SPDX-License-Identifier: Apache-2.0
// The attributes of any operator, by the names that the text form gives them.
#pragma once
#include <utility>
#include <variant>

#include "ops/all.h"

namespace deuteron {

// Calls visit(name, field) for each attribute; a call of a kernel or a delegate has none.
template <class Visit>
void visit_fields(AnyOp& op, Visit&& visit) {
  std::visit(
      [&]<class T>(T& a) {
        if constexpr (requires { T::fields(a, visit); }) T::fields(a, visit);
      },
      op);
}

}  // namespace deuteron
