// SPDX-License-Identifier: Apache-2.0
// What the command line says of itself, made from one table: --help, completions of shells, and a
// manual page.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "cli/command_line.h"

namespace deuteron {

// Lines of at most 100 columns, options under their titles.
std::string help_text(const VerbFacts& verb);
std::string help_text(std::span<const VerbFacts> verbs);

// A script for `bash`, `zsh` or `fish`.
std::string completions(std::string_view shell, std::span<const VerbFacts> verbs);

// deuteron(1), as roff.
std::string manual_page(std::span<const VerbFacts> verbs);

}  // namespace deuteron
