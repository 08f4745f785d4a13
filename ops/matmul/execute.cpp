// Float execution of Matmul.
#include <array>

#include "ops/matmul/matmul.h"
#include "ops/op.h"

namespace deuteron {

// Eight partial sums, which the compiler keeps in vector registers.
static float dot(const float* a, const float* b, i64 count) {
  std::array<float, 8> part{};
  i64 k = 0;
  for (; k + 8 <= count; k += 8)
    for (i64 j = 0; j < 8; ++j) part[static_cast<size_t>(j)] += a[k + j] * b[k + j];
  float sum = 0;
  for (; k < count; ++k) sum += a[k] * b[k];
  for (const float p : part) sum += p;
  return sum;
}

void execute(const Matmul& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const Shape &x = in[0].type->shape, &y = out[0].type->shape;
  const i64 inner = x[2];
  float* to = out[0].data;
  for (i64 b = 0; b < y[0]; ++b)
    for (i64 m = 0; m < y[1]; ++m)
      for (i64 n = 0; n < y[2]; ++n) *to++ = a.scale * dot(in[0].data + (b * y[1] + m) * inner, in[1].data + (b * y[2] + n) * inner, inner);
}

}  // namespace deuteron
