// Operators that become calls of portable kernels.
#pragma once
#include <span>

#include "frontends/pt2_call/call.h"

namespace deuteron::pt2 {

// For importers that have a form of their own for some calls of an operator only.
void import_leftover(Call& c);

struct LeftoverKernel {
  std::string_view target, kernel;  // "aten.argmax.default", "aten::argmax.out"
};
std::span<const LeftoverKernel> leftover_kernels();

}  // namespace deuteron::pt2
