// SPDX-License-Identifier: Apache-2.0
// Portable sums of slices: those of a block of neighbours lie on the stack, and each row of the
// slice adds to all of them.
#include "kernels/reduce/kernel.h"

#include "kernels/common/host_clones.h"
#include "kernels/reduce/result.h"

// Only few sums come here where there is a kernel of an instruction set: no more code for them than
// they need.
#if defined(__ARM_FEATURE_DSP)
#pragma GCC optimize("Os")
#endif

namespace deuteron {
namespace {

constexpr int32_t kSumBlock = 64;

void sum_block(const SumArgs& a, const int8_t* x, int32_t count, int8_t* y) {
  int32_t sums[kSumBlock];
  for (int32_t i = 0; i < count; ++i) sums[i] = 0;
  for (int32_t k = 0; k < a.slice; ++k, x += a.inner)
    for (int32_t i = 0; i < count; ++i) sums[i] += x[i];
  for (int32_t i = 0; i < count; ++i) y[i] = sum_result(a, sums[i]);
}

void sum_row(const SumArgs& a, const int8_t* x, int8_t* y) {
  int32_t sum = 0;
  for (int32_t k = 0; k < a.slice; ++k) sum += x[k];
  *y = sum_result(a, sum);
}

}  // namespace

DEUTERON_HOST_CLONES void sum_s8(const SumArgs& a, const int8_t* x, int8_t* y) {
  for (int32_t o = 0; o < a.outer; ++o, x += a.slice * a.inner, y += a.inner) {
    if (a.inner == 1) sum_row(a, x, y);
    else
      for (int32_t i = 0; i < a.inner; i += kSumBlock)
        sum_block(a, x + i, a.inner - i < kSumBlock ? a.inner - i : kSumBlock, y + i);
  }
}

}  // namespace deuteron
