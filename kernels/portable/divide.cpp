// SPDX-License-Identifier: Apache-2.0
// Divisions that round and their remainders. An integer divided by 0 gives 0 (a remainder too):
// data cannot stop a run.
#include <cmath>
#include <cstring>

#include "kernels/portable/kernels.h"
#include "kernels/portable/pairwise.h"

namespace deuteron {
namespace {
using namespace portable;

// Of integers: towards zero, or down.
int64_t truncated(int64_t a, int64_t b, int64_t) {
  return b == 0 ? 0 : b == -1 ? wrap_mul(a, -1) : a / b;
}
int64_t floored(int64_t a, int64_t b, int64_t) {
  if (b == 0 || b == -1) return truncated(a, b, 1);
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}
// has the sign of a
int64_t rest(int64_t a, int64_t b, int64_t) { return b == 0 || b == -1 ? 0 : a % b; }
int64_t floor_rest(int64_t a, int64_t b, int64_t) {  // has the sign of b
  const int64_t r = rest(a, b, 1);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

float real_quotient(float a, float b, float) { return a / b; }
float real_truncated(float a, float b, float) { return std::trunc(a / b); }
float real_rest(float a, float b, float) { return std::fmod(a, b); }
float real_floor_rest(float a, float b, float) {
  const float r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
// From the exact remainder, so that a quotient just below a whole number is not rounded up to it
// first.
float real_floored(float a, float b, float) {
  if (b == 0) return a / b;
  const float r = std::fmod(a, b);
  float q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0)) q -= 1;
  if (q == 0) return std::copysign(0.0f, a / b);
  const float down = std::floor(q);
  return q - down > 0.5f ? down + 1 : down;
}

constexpr PairOp kQuotient = {real_quotient, nullptr, PairRule::real};
constexpr PairOp kTruncated = {real_truncated, truncated, PairRule::arithmetic};
constexpr PairOp kFloored = {real_floored, floored, PairRule::arithmetic};
constexpr PairOp kRest = {real_rest, rest, PairRule::arithmetic};
constexpr PairOp kFloorRest = {real_floor_rest, floor_rest, PairRule::arithmetic};

// A divisor that is known already must not be the integer 0.
Status keep_division(Call& call, Prepared* prepared, int out, const PairOp& op) {
  const Value& b = *call.args[1];
  if (op.integer && !is_real(call.tensor(0).type) && b.kind != Kind::tensor &&
      b.kind != Kind::real && call.real(1) == 0)
    return bad_argument(1, "divides integers by 0");
  return keep_pairwise(call, prepared, 0, 1, -1, out, op);
}
// (a, b, out)
template <const PairOp& op>
Status prepare_division(Call& call, Prepared* prepared) {
  return keep_division(call, prepared, 2, op);
}
// (a, b, rounding?, out)
Status prepare_rounded(Call& call, Prepared* prepared) {
  if (call.args[2]->kind == Kind::none) return keep_division(call, prepared, 3, kQuotient);
  if (std::strcmp(call.args[2]->string, "trunc") == 0)
    return keep_division(call, prepared, 3, kTruncated);
  if (std::strcmp(call.args[2]->string, "floor") == 0)
    return keep_division(call, prepared, 3, kFloored);
  return bad_argument(2, "must be none, trunc or floor");
}

}  // namespace

extern const Kernel kAtenDivScalar = {"aten::div.Scalar_out", "TFO", prepare_division<kQuotient>};
extern const Kernel kAtenDivMode = {"aten::div.out_mode", "TTSO", prepare_rounded};
extern const Kernel kAtenDivScalarMode = {"aten::div.Scalar_mode_out", "TFSO", prepare_rounded};
extern const Kernel kAtenFloorDivide = {"aten::floor_divide.out", "TTO",
                                        prepare_division<kFloored>};
extern const Kernel kAtenFmod = {"aten::fmod.Tensor_out", "TTO", prepare_division<kRest>};
extern const Kernel kAtenFmodScalar = {"aten::fmod.Scalar_out", "TFO", prepare_division<kRest>};
extern const Kernel kAtenRemainder = {"aten::remainder.Tensor_out", "TTO",
                                      prepare_division<kFloorRest>};
extern const Kernel kAtenRemainderScalar = {"aten::remainder.Scalar_out", "TFO",
                                            prepare_division<kFloorRest>};

}  // namespace deuteron
