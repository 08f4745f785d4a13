// Rules that put one operator into another, for float and int8 operators alike.
#pragma once
#include <span>

#include "passes/patch.h"

namespace deuteron {

std::span<const Rule> fuse_rules();

}  // namespace deuteron
