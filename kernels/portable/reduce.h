// SPDX-License-Identifier: Apache-2.0
// What all reductions over any dimensions share: which elements of the input belong to which
// result, in any memory order.
#pragma once
#include "kernels/portable/strided.h"

namespace deuteron::portable {

// numbers: sizes, strides of x, of y and of z of the kept dimensions, then sizes and strides of x
// of the reduced ones.
struct Reduction {
  const void* x;
  void *y, *z;  // z: a second out of the same sizes, or null
  const int32_t* numbers;
  int32_t count;  // elements that one result comes from
  uint8_t kept, reduced;
  bool empty, smallest;
  ScalarType type, out_type;
  double parameter;
};

// each_result(y offset, z offset, each) where each(visit) calls visit(x offset) for all elements of
// that result.
template <class Result>
void reduce(const Reduction& r, Result result) {
  if (r.empty) return;
  const int32_t* const kept[] = {r.numbers + r.kept, r.numbers + 2 * r.kept,
                                 r.numbers + 3 * r.kept};
  const int32_t* sizes = r.numbers + 4 * r.kept;
  const int32_t* const strides[] = {sizes + r.reduced};
  walk<3>(r.kept, r.numbers, kept, [&](const int32_t* at) {
    const int32_t first = at[0];
    result(at[1], at[2], [&](auto visit) {
      walk<1>(r.reduced, sizes, strides, [&](const int32_t* k) { visit(first + k[0]); });
    });
  });
}

inline uint32_t all_dims(const Tensor& x) { return (1u << x.rank) - 1; }

// Which dimensions a call reduces: all if it names none.
const char* read_dims(const Call& call, int argument, int rank, uint32_t* dims);
// The one that it names.
const char* read_dim(const Call& call, int argument, int rank, uint32_t* dims);

// The outs' sizes are checked against the input's; z is -1 where there is one out.
Status keep_reduction(Call& call, Prepared* prepared, uint32_t dims, bool keep_dims, int y, int z,
                      bool smallest, double parameter, void (*run)(const Reduction&));

}  // namespace deuteron::portable
