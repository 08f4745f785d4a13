// SPDX-License-Identifier: Apache-2.0
// Operators that go along one dimension, line by line: any memory order, up to two outs.
#pragma once
#include <initializer_list>

#include "kernels/portable/strided.h"

namespace deuteron::portable {

struct Lines {
  const void* x;
  void *y, *z;             // z null where there is one out
  const int32_t* numbers;  // sizes of the other dimensions, then strides of x, of y, of z
  int32_t size, out_size;  // along the dimension
  int32_t x_stride, y_stride, z_stride;
  uint8_t rank;  // of the other dimensions
  ScalarType type, out_type;
  bool flag;
};

// Fills all but out_size's meaning and the flag. Outs have the input's sizes but along `dim`.
inline Status fill_lines(Call& call, int dim, int y_at, int z_at, Lines* l) {
  const Tensor &x = call.tensor(0), &y = call.tensor(y_at),
               &z = call.tensor(z_at < 0 ? y_at : z_at);
  for (const Tensor* t : {&y, &z}) {
    if (t->rank != x.rank) return bad_argument(t == &y ? y_at : z_at, "has the wrong rank");
    for (int i = 0; i < x.rank; ++i)
      if (i == dim ? t->sizes[i] != y.sizes[i] : t->sizes[i] != x.sizes[i])
        return bad_argument(t == &y ? y_at : z_at, "has the wrong sizes");
  }
  const int others = x.rank > 0 ? x.rank - 1 : 0;
  int32_t* numbers = call.arena->make<int32_t>(size_t{4} * static_cast<size_t>(others));
  if (!numbers) return out_of_memory();
  int32_t strides[3][kMaxRank] = {};
  strides_of(x, strides[0]);
  strides_of(y, strides[1]);
  strides_of(z, strides[2]);
  for (int i = 0, k = 0; i < x.rank; ++i) {
    if (i == dim) continue;
    numbers[k] = x.sizes[i];
    for (int n = 0; n < 3; ++n) numbers[(n + 1) * others + k] = strides[n][i];
    ++k;
  }
  const bool scalar = x.rank == 0;
  *l = {x.data,
        y.data,
        z_at < 0 ? nullptr : z.data,
        numbers,
        scalar ? 1 : x.sizes[dim],
        scalar ? 1 : y.sizes[dim],
        strides[0][dim],
        strides[1][dim],
        strides[2][dim],
        static_cast<uint8_t>(others),
        x.type,
        y.type,
        false};
  return Status{};
}

// visit(offset in x, in y, in z) for the beginning of each line.
template <class Visit>
void each_line(const Lines& l, Visit visit) {
  const int32_t* const strides[] = {l.numbers + l.rank, l.numbers + 2 * l.rank,
                                    l.numbers + 3 * l.rank};
  walk<3>(l.rank, l.numbers, strides, [&](const int32_t* at) { visit(at[0], at[1], at[2]); });
}

}  // namespace deuteron::portable
