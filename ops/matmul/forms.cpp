#include "ops/form.h"

namespace deuteron {

// matmul with a factor, in float   becomes   a product and a multiplication
bool portable_form(const Matmul& a, FormBuilder& b) {
  if (a.scale == 1 || b.result().dtype != DType::f32) return false;
  Matmul plain = a;
  plain.scale = 1;
  const ValueId product = b.add(plain, b.inputs());
  return b.finish(Mul{}, {product, b.constant(DType::f32, Shape(b.result().shape.size(), 1), std::vector<float>{a.scale}, "number")});
}

}  // namespace deuteron
