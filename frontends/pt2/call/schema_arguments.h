// SPDX-License-Identifier: Apache-2.0
// A call's arguments against torch's schema of its operator.
#pragma once
#include <optional>
#include <string_view>

#include "frontends/pt2/file/program.h"
#include "frontends/pt2/schema/torch_schema.h"

namespace deuteron::pt2 {

// What the argument is when the model leaves it out. Nothing where that is None or an empty list:
// both mean that the operator decides.
std::optional<Argument> default_argument(std::string_view target, std::string_view argument);

// Can a parameter of that type have such an argument? Yes for kinds that the reader does not know:
// who reads one says so.
bool takes(const TorchParameter& parameter, const Argument& argument);

// "a list of integers": what a reader is told to give.
std::string_view describe_kind(const TorchParameter& parameter);

}  // namespace deuteron::pt2
