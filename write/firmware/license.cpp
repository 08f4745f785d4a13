// SPDX-License-Identifier: Apache-2.0
#include "write/firmware/license.h"

#include <fmt/format.h>

#include <array>

namespace deuteron {
namespace {

struct CommentForm {
  std::string_view ending, begin, end;
};
constexpr std::array kForms = {
    CommentForm{".c", "/* ", " */"},         CommentForm{".h", "/* ", " */"},
    CommentForm{".S", "/* ", " */"},         CommentForm{".ld", "/* ", " */"},
    CommentForm{".cpp", "// ", ""},          CommentForm{".ino", "// ", ""},
    CommentForm{".cmake", "# ", ""},         CommentForm{".yml", "# ", ""},
    CommentForm{"CMakeLists.txt", "# ", ""}, CommentForm{"Kconfig", "# ", ""},
};

}  // namespace

void add_license(std::map<std::string, std::string>& files, const RuntimeSources& runtime) {
  for (auto& [path, content] : files)
    for (const CommentForm& form : kForms)
      if (path.ends_with(form.ending) && content.find(kSpdxLine) == content.npos)
        content.insert(0, fmt::format("{}{}{}\n", form.begin, kSpdxLine, form.end));
  for (const SourceFile& f : runtime.files)
    if (f.path == "LICENSE") files.emplace(f.path, f.text);
  if (const auto readme = files.find("README.md"); readme != files.end())
    readme->second +=
        "\n## Licence\n\nThe code is under the Apache License 2.0 (`LICENSE`). Weights stay under "
        "the licence of your model.\n";
}

}  // namespace deuteron
