// Rules about operators that only move or rename elements. Several passes use them; each is a picture and a function.
#pragma once
#include <span>

#include "rewrite/patch.h"

namespace deuteron {

// What stays after them: no permute or reshape of a constant, no two in a row, none that does nothing.
std::span<const Rule> view_rules();

bool is_identity(const Axes& perm);
Axes inverse(const Axes& perm);
// True when `perm` keeps the order of all axes of more than one element: then it moves nothing.
bool moves_nothing(const Axes& perm, const Shape& shape);
Shape permuted(const Shape& shape, const Axes& perm);

}  // namespace deuteron
