// SPDX-License-Identifier: Apache-2.0
#include "ops/form.h"

namespace deuteron {

// matmul in float   becomes   the call of a kernel that reads both operands as they are stored,
// which is all that stock firmware takes
static bool product_as_stored(FormBuilder& b) {
  const ValueId rows = b.add(Permute{{0, 2, 1}}, {1}, {}, b.name(1) + "_rows");
  CallBuilder call("aten::bmm", 2, 1);
  call.in(0, plain_face(b.type(0).shape))
      .in(1, plain_face(b.type(rows).shape))
      .out(0, plain_face(b.result().shape));
  Lowered lowered = call.done();
  lowered.call.macs = b.type(0).elements() * b.type(1).shape[1];
  return b.finish(b.add_typed(std::move(lowered.call), {0, rows}, b.result(), b.result_name()));
}

// matmul with a factor, in float   becomes   a product and a multiplication
bool portable_form(const Matmul& a, FormBuilder& b) {
  if (b.result().dtype != DType::f32) return false;
  if (a.scale == 1) return product_as_stored(b);
  Matmul plain = a;
  plain.scale = 1;
  const ValueId product = b.add(plain, b.inputs());
  return b.finish(Mul{}, {product, b.constant(DType::f32, Shape(b.result().shape.size(), 1),
                                              std::vector<float>{a.scale}, "number")});
}

}  // namespace deuteron
