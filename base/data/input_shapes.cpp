// SPDX-License-Identifier: Apache-2.0
#include "base/data/input_shapes.h"

#include <charconv>

namespace deuteron {

// Of the last `=`: names may have one.
static bool parse(const std::string& text, std::string& name, Shape& shape) {
  const size_t sign = text.rfind('=');
  if (sign == std::string::npos || sign == 0) return false;
  name = text.substr(0, sign);
  const char* at = text.data() + sign + 1;
  const char* const end = text.data() + text.size();
  while (true) {
    i64 extent = 0;
    const auto [next, fault] = std::from_chars(at, end, extent);
    if (fault != std::errc() || extent < 1) return false;
    shape.push_back(extent);
    if (next == end) return true;
    if (*next != ',') return false;
    at = next + 1;
  }
}

InputShapes parse_input_shapes(const std::vector<std::string>& texts, Diagnostics& diagnostics) {
  InputShapes shapes;
  for (const std::string& text : texts) {
    std::string name;
    Shape shape;
    if (!parse(text, name, shape))
      diagnostics.error("--input-shape",
                        "`" + text + "` is not the name of an input with its extents",
                        "input_shape.text", "write it as NAME=1,3,96,96, extents from 1 on");
    else if (!shapes.try_emplace(name, shape).second)
      diagnostics.error("--input-shape", "`" + name + "` is given twice", "input_shape.text");
  }
  return shapes;
}

}  // namespace deuteron
