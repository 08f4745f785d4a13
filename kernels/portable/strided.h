// SPDX-License-Identifier: Apache-2.0
// Walking through tensors whose memory order is any permutation of their dimensions. Slow and
// general: portable kernels stand in where no dialect kernel exists.
#pragma once
#include "kernels/common/prepare.h"
#include "kernels/copy/kernel.h"
#include "kernels/copy/walk.h"
#include "runtime/kernel.h"

namespace deuteron::portable {

static_assert(kMaxRank <= kMostDimensions);

// Elements between neighbours along each logical dimension. A tensor without elements may have any
// other extents; its strides are nobody's.
inline void strides_of(const Tensor& t, int32_t* strides) {
  int32_t stride = t.numel > 0 ? 1 : 0;
  for (int i = t.rank - 1; i >= 0; --i) {
    const int dim = t.dim_order[i];
    strides[dim] = stride;
    stride *= t.sizes[dim];
  }
}

// A dimension given as -rank..rank-1; -1 if it is none of the tensor's. A tensor of rank 0 has
// dimensions -1 and 0, both answered as 0.
inline int dimension(int64_t dim, int rank) {
  const int64_t count = rank > 0 ? rank : 1;
  if (dim < -count || dim >= count) return -1;
  return static_cast<int>(dim < 0 ? dim + count : dim);
}

inline uint8_t* bytes_of(const Tensor& t) { return static_cast<uint8_t*>(t.data); }

// Copies in[sum of index * in_strides] to out[sum of index * out_strides] for every index of
// `sizes`.
struct StridedCopy {
  const uint8_t* in;
  uint8_t* out;
  const int32_t* sizes;  // rank of them, then in_strides, then out_strides, in elements; the last
                         // dimension is the inner loop
  int32_t plain_bytes;   // not negative: one copy of so many bytes does it
  uint8_t rank, element_bytes;
};
void run_strided_copy(const StridedCopy& c);

// Keeps copies, made one after the other; their tables live as long as the program.
Status keep_copy(Call& call, Prepared* prepared, const StridedCopy& copy);
Status keep_copies(Call& call, Prepared* prepared, const StridedCopy* copies, int32_t count);

// Brings the numbers of a copy, of up to twice kMaxRank dimensions, to as few as give the same
// elements, in the order in which they lie in `out`.
void join_dimensions(int32_t* numbers, uint8_t* rank);

// Keeps a copy over the sizes of `out`. The caller has proved that every offset lies inside `in`.
Status keep_strided_copy(Call& call, Prepared* prepared, const Tensor& in, int32_t first,
                         const int32_t* in_strides, const Tensor& out, bool plain);

inline bool same_type(const Tensor& a, const Tensor& b) { return a.type == b.type; }

// Reading and writing elements of any type. Conversions to integers saturate; NaN becomes 0.
double read_real(const void* data, int32_t i, ScalarType type);
int64_t read_integer(const void* data, int32_t i, ScalarType type);  // integers and bools only
void write_real(void* data, int32_t i, ScalarType type, double v);
void write_integer(void* data, int32_t i, ScalarType type, int64_t v);
inline bool is_real(ScalarType t) { return t == ScalarType::f32 || t == ScalarType::f64; }
inline bool is_known(ScalarType t) { return t != ScalarType::f16; }

}  // namespace deuteron::portable
