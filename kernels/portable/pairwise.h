// SPDX-License-Identifier: Apache-2.0
// Two operands, tensors of any dtype and memory order or a number, element by element with
// broadcasting: one loop for all operators, which differ in a function alone. Two integers are
// computed as int64, all else as float.
#pragma once
#include "kernels/portable/elementwise.h"

namespace deuteron::portable {

// The third number is the call's alpha: 1 where there is none.
using RealPair = float (*)(float, float, float);
using IntegerPair = int64_t (*)(int64_t, int64_t, int64_t);

enum class PairRule : uint8_t {
  arithmetic,  // two integers give an integer (or a float out), all else a float
  real,        // computed as float whatever the operands are: division
  predicate,   // 1 or 0 in an out of any dtype
  bits,        // integers and bools only
};

struct PairOp {
  RealPair real;
  IntegerPair integer;
  PairRule rule;
};

// Arguments `a` and `b` are tensors or numbers (at most one of them a number), `alpha` is the
// number of an argument or -1.
Status keep_pairwise(Call& call, Prepared* prepared, int a, int b, int alpha, int out,
                     const PairOp& op);

// The same with the number `b` as second operand, for operators of one tensor.
Status keep_with_number(Call& call, Prepared* prepared, int a, int64_t b, int out,
                        const PairOp& op);

// Wrapping, as the processor does it.
inline int64_t wrap_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t wrap_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// (a, b, out)
template <const PairOp& op>
Status prepare_pair(Call& call, Prepared* prepared) {
  return keep_pairwise(call, prepared, 0, 1, -1, 2, op);
}

}  // namespace deuteron::portable
