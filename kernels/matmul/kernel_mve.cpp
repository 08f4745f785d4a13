// SPDX-License-Identifier: Apache-2.0
// Matrix product with the M-profile Vector Extension: two rows meet eight columns at a time
// (kernels/matmul/tile_mve.h).
#include "kernels/matmul/by_linear.h"
#include "kernels/matmul/tile_mve.h"

namespace deuteron {
namespace {

// bytes of two rows each that lie on the stack: 64 rows of 32 elements, 34 of 64
constexpr int32_t kRoom = 2444;

// What is added to the sums of a row: factor * (its sum), and more.
struct Added {
  uint32_t factor, more;
};

// Records of so many pairs of rows, an odd last row with the one before it. What they have no
// elements for stays as it is.
[[gnu::noinline]] void put_records(const MatmulArgs& a, Added added, const int8_t* x, int32_t rows,
                                   int32_t padded, int8_t* to) {
  int32_t* tail = nullptr;
  const int32_t inner = a.inner;
  do {
    if (rows == 1) x -= inner, tail[2] = 0;
    uint32_t sum = 0, second_sum = 0;
    const int8_t *from = x, *other = x + inner;
    int8_t* at = to;
    asm volatile(
        "dlstp.8 lr, %[inner]\n"
        "1:\n"
        "vldrb.u8 q0, [%[from]], #16\n"
        "vldrb.u8 q1, [%[other]], #16\n"
        "vaddva.s8 %[sum], q0\n"
        "vstrb.8 q0, [%[at]]\n"
        "vaddva.s8 %[second_sum], q1\n"
        "vstrb.8 q1, [%[at], #16]\n"
        "add %[at], #32\n"
        "letp lr, 1b\n"
        : [from] "+&r"(from), [other] "+&r"(other), [at] "+&r"(at), [sum] "+&Te"(sum),
          [second_sum] "+&Te"(second_sum)
        : [inner] "r"(inner)
        : "q0", "q1", "lr", "memory");
    tail = reinterpret_cast<int32_t*>(to + 2 * padded);
    tail[0] = static_cast<int32_t>(added.factor * sum + added.more);
    tail[1] = static_cast<int32_t>(added.factor * second_sum + added.more);
    tail[2] = a.columns;
    to = reinterpret_cast<int8_t*>(tail + 3);
    x += 2 * inner;
    rows -= 2;
  } while (rows > 0);
  tail[2] = -1;
}

// The last rows and columns overlap their neighbours.
void run_tiles(const MatmulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  alignas(8) int8_t room[kRoom] = {};
  const int32_t padded = a.inner > kMveShort ? kMveLong : kMveShort,
                fit = (kRoom - kMveRecordTail) / (2 * padded + kMveRecordTail) * 2;
  const uint32_t factor = static_cast<uint32_t>(a.other_offset);
  const Added added{factor, factor * static_cast<uint32_t>(a.inner * a.x_offset)};
  int8_t* const start = room + kMveRecordTail - 4;
  *reinterpret_cast<int32_t*>(start) = -a.columns;
  MveProduct product{start,      nullptr,      nullptr,   a.inner,
                     a.x_offset, a.multiplier, a.columns, a.y_zero};
  for (int32_t b = 0; b < a.batch;
       ++b, x += a.rows * a.inner, other += a.columns * a.inner, y += a.rows * a.columns)
    for (int32_t begin = 0; begin < a.rows; begin += fit) {
      const int32_t left = a.rows - begin, first = left == 1 ? begin - 1 : begin;
      put_records(a, added, x + first * a.inner, left < fit ? a.rows - first : fit, padded,
                  room + kMveRecordTail);
      for (int32_t c = 0; c < a.columns; c += kMveColumns) {
        const int32_t column = c < a.columns - kMveColumns ? c : a.columns - kMveColumns;
        product.columns = other + column * a.inner;
        product.y = y + first * a.columns + column;
        deuteron_product_mve(&product);
      }
    }
}

}  // namespace

void matmul_s8_mve(const MatmulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  if (!meets_mve_tiles(a)) return matmul_by<linear_s8_mve>(a, x, other, y);
  run_tiles(a, x, other, y);
}

}  // namespace deuteron
