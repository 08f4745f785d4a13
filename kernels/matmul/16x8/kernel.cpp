// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul/16x8/kernel.h"

#include "kernels/matmul/16x8/rows.h"

namespace deuteron {
namespace {

class Products {
 public:
  void add(const int16_t* x, const int16_t* other, int32_t step, int32_t count) {
    for (int32_t i = 0; i < count; ++i)
      sum_[0] += x[i] * other[i], sum_[1] += x[i] * other[i + step];
  }
  int64_t total(int32_t k) const { return sum_[k]; }

 private:
  int64_t sum_[2] = {};
};

}  // namespace

void matmul_16x8(const Matmul16x8Args& a, const int16_t* x, const int16_t* other, int16_t* y) {
  matmul_16x8_with<Products>(a, x, other, y);
}

}  // namespace deuteron
