// Tensors that the model makes from nothing: zeros and full become constants.
#include <fmt/format.h>

#include "frontends/pt2/import_table.h"

namespace deuteron::pt2 {
namespace {

void make(Call& c, double value) {
  const std::vector<i64> shape = c.integers("size");
  i64 elements = 1;
  for (const i64 extent : shape) {
    c.require(extent >= 1 && extent <= kMaxElements && elements * extent <= kMaxElements, "the size is out of range", to_text(shape),
              fmt::format("1..{} elements", kMaxElements), "pt2.constant.size");
    if (!c.ok()) return;
    elements *= extent;
  }
  const DType dtype = c.has("dtype") ? dtype_of_code(c.integer("dtype")).value_or(DType::u8) : DType::f32;
  c.require(dtype == DType::f32, "makes a constant of a dtype that is not supported", std::string(name_of(dtype)), "f32",
            "pt2.constant.dtype");
  if (c.ok()) c.result(c.constant("", shape, std::vector<float>(static_cast<size_t>(elements), static_cast<float>(value))));
}

}  // namespace

void import_zeros(Call& c) { make(c, 0); }
void import_full(Call& c) { make(c, c.number("fill_value")); }

}  // namespace deuteron::pt2
