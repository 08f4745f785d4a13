// What an argument of torch's operators is when the model leaves it out.
#pragma once
#include <optional>
#include <string_view>

#include "frontends/pt2_archive/program.h"

namespace deuteron::pt2 {

std::optional<Argument> default_argument(std::string_view target, std::string_view argument);

}  // namespace deuteron::pt2
