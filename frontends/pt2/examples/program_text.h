// SPDX-License-Identifier: Apache-2.0
// A model of torch.export from lines of text: the statements of tests/pt2_text.py, without those
// that make damaged files.
#pragma once
#include <memory>
#include <string_view>

#include "frontends/pt2/file/archive.h"
#include "frontends/pt2/file/program.h"

namespace deuteron::pt2 {

struct TextModel {
  Program program;
  std::shared_ptr<const Archive> archive;  // of the parameters; it comes from no file
};

// The text is ours: a line that is no statement is a fault of ours.
TextModel model_from_text(std::string_view text, std::string_view name);

}  // namespace deuteron::pt2
