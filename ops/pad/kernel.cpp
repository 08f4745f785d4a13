// Portable padding.
#include "ops/pad/kernel.h"

#include <cstddef>
#include <cstring>

#include "ops/pad/walk.h"

namespace deuteron {

void pad_s8(const PadArgs& a, const int8_t* x, int8_t* y) {
  walk_padding(
      a, x, y, [&](int8_t* to, int32_t count) { std::memset(to, a.value, static_cast<size_t>(count)); },
      [](int8_t* to, const int8_t* from, int32_t count) { std::memcpy(to, from, static_cast<size_t>(count)); });
}

}  // namespace deuteron
