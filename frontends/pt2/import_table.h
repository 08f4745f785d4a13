// Which function imports which operator of torch.
#pragma once
#include <string_view>

#include "frontends/pt2_operators/all.h"

namespace deuteron::pt2 {

// The row of a target or, for an in-place spelling, of the operator that it is a form of.
struct FoundRow {
  const ImportRow* row = nullptr;  // null: not known
  bool in_place = false;
};
FoundRow find_import(std::string_view target);

}  // namespace deuteron::pt2
