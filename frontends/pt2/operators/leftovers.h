// SPDX-License-Identifier: Apache-2.0
// Operators that become calls of portable kernels.
#pragma once
#include <span>

#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// For importers that have a form of their own for some calls of an operator only.
void import_leftover(Call& c);

struct LeftoverKernel {
  std::string_view target, kernel;  // "aten.argmax.default", "aten::argmax.out"
  // where `other` is a number and not a tensor; empty: the same
  std::string_view beside_number = {};
  bool has_in_place_form = false;  // ImportRow
};
std::span<const LeftoverKernel> leftover_kernels();
bool is_leftover(std::string_view target);

}  // namespace deuteron::pt2
