// Rules that bring resize2d to what the dialect and the portable kernels have.
#pragma once
#include <span>

#include "rewrite/patch.h"

namespace deuteron {

std::span<const Rule> resize_rules();

}  // namespace deuteron
