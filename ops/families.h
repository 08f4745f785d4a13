// What several operators have in common, for passes that treat them alike.
#pragma once
#include "ops/all.h"

namespace deuteron {

// y = f(a, b) for each element, with broadcasting.
inline bool is_binary(const Op& op) {
  return std::holds_alternative<Add>(op) || std::holds_alternative<Mul>(op) || std::holds_alternative<Div>(op) ||
         std::holds_alternative<Minimum>(op) || std::holds_alternative<Maximum>(op);
}

// The bounds of an operator that has them; null for another.
inline Bounds* bounds_of(Op& op) {
  return std::visit(
      []<class T>(T& o) -> Bounds* {
        if constexpr (requires { o.bounds; }) return &o.bounds;
        else return nullptr;
      },
      op);
}

}  // namespace deuteron
