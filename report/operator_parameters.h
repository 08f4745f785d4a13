// The parameters that a call of an operator of PyTorch must have: readers of a graph refuse a node that lacks one.
#pragma once
#include <optional>
#include <string_view>

namespace deuteron {

// Names of the parameters of "aten.conv2d.default" that have no default, with blanks between; nothing for an operator that is not known.
std::optional<std::string_view> required_parameters(std::string_view target);

}  // namespace deuteron
