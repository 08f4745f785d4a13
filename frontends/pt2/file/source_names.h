// SPDX-License-Identifier: Apache-2.0
// The user's own names for an operator: module path and stack, from the strings that torch keeps
// with each node.
#pragma once
#include <string>
#include <string_view>

namespace deuteron::pt2 {

// "L__self__,,nets.Net;L__self__stem.conv,stem.conv,torch.nn...Conv2d" -> "stem.conv"; empty for
// the root.
std::string innermost_module(std::string_view nn_module_stack);

// Lines `  File "/home/a/nets.py", line 50, in forward` become "nets.py:50 in forward: <the line of
// code>"; outermost frame first.
std::string short_stack(std::string_view stack_trace);

// The line of a short stack that is the user's own code: the innermost one outside torch's modules.
std::string_view users_line(std::string_view stack);

}  // namespace deuteron::pt2
