// SPDX-License-Identifier: Apache-2.0
// Float execution of Matmul. A sum has eight parts, of every eighth product, whichever way it is
// computed: its bits do not depend on it.
#define DEUTERON_HOST_KERNELS  // no device has this file
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "kernels/common/host_clones.h"
#include "ops/matmul/matmul.h"
#include "ops/op.h"

namespace deuteron {
namespace {

constexpr i64 kParts = 8, kColumns = 16, kFewestRows = 4;
using Row = float __attribute__((vector_size(kColumns * sizeof(float))));

float dot(const float* a, const float* b, i64 count) {
  std::array<float, kParts> part{};
  i64 k = 0;
  for (; k + kParts <= count; k += kParts)
    for (i64 j = 0; j < kParts; ++j) part[static_cast<size_t>(j)] += a[k + j] * b[k + j];
  float sum = 0;
  for (; k < count; ++k) sum += a[k] * b[k];
  for (const float p : part) sum += p;
  return sum;
}

// One element of x after the other beside those of all columns: no sum over the lanes of a vector,
// which would take longer than the products of a short row.
DEUTERON_HOST_CLONES void multiply_by_panel(const float* x, i64 rows, i64 inner, const float* panel,
                                            float scale, float* y, i64 columns, i64 kept) {
  for (i64 m = 0; m < rows; ++m, x += inner, y += columns) {
    Row part[kParts] = {}, sum = {};
    const float* from = panel;
    i64 k = 0;
    for (; k + kParts <= inner; k += kParts) {
#pragma GCC unroll 8
      for (i64 j = 0; j < kParts; ++j, from += kColumns) {
        Row b;
        std::memcpy(&b, from, sizeof b);
        part[j] += x[k + j] * b;
      }
    }
    for (; k < inner; ++k, from += kColumns) {
      Row b;
      std::memcpy(&b, from, sizeof b);
      sum += x[k] * b;
    }
#pragma GCC unroll 8
    for (i64 j = 0; j < kParts; ++j) sum += part[j];
    sum *= scale;
    std::memcpy(y, &sum, static_cast<size_t>(kept) * sizeof(float));
  }
}

}  // namespace

void execute(const Matmul& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const Shape &x = in[0].type->shape, &y = out[0].type->shape;
  const i64 inner = x[2], rows = y[1], columns = y[2];
  std::vector<float> panel(static_cast<size_t>(inner * kColumns));
  for (i64 b = 0; b < y[0]; ++b) {
    const float *left = in[0].data + b * rows * inner, *right = in[1].data + b * columns * inner;
    float* to = out[0].data + b * rows * columns;
    if (rows < kFewestRows) {
      for (i64 m = 0; m < rows; ++m)
        for (i64 n = 0; n < columns; ++n)
          *to++ = a.scale * dot(left + m * inner, right + n * inner, inner);
      continue;
    }
    for (i64 n = 0; n < columns; n += kColumns) {
      const i64 kept = std::min(kColumns, columns - n);
      for (i64 c = 0; c < kept; ++c)
        for (i64 k = 0; k < inner; ++k)
          panel[static_cast<size_t>(k * kColumns + c)] = right[(n + c) * inner + k];
      multiply_by_panel(left, rows, inner, panel.data(), a.scale, to + n, columns, kept);
    }
  }
}

}  // namespace deuteron
