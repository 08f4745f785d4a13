// SPDX-License-Identifier: Apache-2.0
// Comparisons and other questions with a yes or no for each element, and logical and bitwise
// operators.
#include <cmath>

#include "kernels/portable/kernels.h"
#include "kernels/portable/pairwise.h"

namespace deuteron {
namespace {
using namespace portable;

constexpr PairOp kEqual = {[](float a, float b, float) { return a == b ? 1.0f : 0; },
                           [](int64_t a, int64_t b, int64_t) -> int64_t { return a == b; },
                           PairRule::predicate};
constexpr PairOp kUnequal = {[](float a, float b, float) { return a != b ? 1.0f : 0; },
                             [](int64_t a, int64_t b, int64_t) -> int64_t { return a != b; },
                             PairRule::predicate};
constexpr PairOp kLess = {[](float a, float b, float) { return a < b ? 1.0f : 0; },
                          [](int64_t a, int64_t b, int64_t) -> int64_t { return a < b; },
                          PairRule::predicate};
constexpr PairOp kAtMost = {[](float a, float b, float) { return a <= b ? 1.0f : 0; },
                            [](int64_t a, int64_t b, int64_t) -> int64_t { return a <= b; },
                            PairRule::predicate};
constexpr PairOp kGreater = {[](float a, float b, float) { return a > b ? 1.0f : 0; },
                             [](int64_t a, int64_t b, int64_t) -> int64_t { return a > b; },
                             PairRule::predicate};
constexpr PairOp kAtLeast = {[](float a, float b, float) { return a >= b ? 1.0f : 0; },
                             [](int64_t a, int64_t b, int64_t) -> int64_t { return a >= b; },
                             PairRule::predicate};

constexpr PairOp kBoth = {[](float a, float b, float) { return a != 0 && b != 0 ? 1.0f : 0; },
                          [](int64_t a, int64_t b, int64_t) -> int64_t { return a != 0 && b != 0; },
                          PairRule::predicate};
constexpr PairOp kEither = {
    [](float a, float b, float) { return a != 0 || b != 0 ? 1.0f : 0; },
    [](int64_t a, int64_t b, int64_t) -> int64_t { return a != 0 || b != 0; }, PairRule::predicate};
constexpr PairOp kOneOnly = {
    [](float a, float b, float) { return (a != 0) != (b != 0) ? 1.0f : 0; },
    [](int64_t a, int64_t b, int64_t) -> int64_t { return (a != 0) != (b != 0); },
    PairRule::predicate};

constexpr PairOp kIsNan = {[](float a, float, float) { return a != a ? 1.0f : 0; },
                           [](int64_t, int64_t, int64_t) -> int64_t { return 0; },
                           PairRule::predicate};
constexpr PairOp kIsInf = {
    [](float a, float, float) { return std::fabs(a) == __builtin_inff() ? 1.0f : 0; },
    [](int64_t, int64_t, int64_t) -> int64_t { return 0; }, PairRule::predicate};

constexpr PairOp kAnd = {nullptr, [](int64_t a, int64_t b, int64_t) -> int64_t { return a & b; },
                         PairRule::bits};
constexpr PairOp kOr = {nullptr, [](int64_t a, int64_t b, int64_t) -> int64_t { return a | b; },
                        PairRule::bits};
constexpr PairOp kXor = {nullptr, [](int64_t a, int64_t b, int64_t) -> int64_t { return a ^ b; },
                         PairRule::bits};
constexpr PairOp kEqualBits = {
    nullptr, [](int64_t a, int64_t b, int64_t) -> int64_t { return a == b; }, PairRule::predicate};
// Shifts beyond the width leave nothing but the sign (to the right), as in torch.
constexpr PairOp kShiftLeft = {
    nullptr,
    [](int64_t a, int64_t b, int64_t) -> int64_t {
      return b < 0 || b > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
    },
    PairRule::bits};
constexpr PairOp kShiftRight = {
    nullptr,
    [](int64_t a, int64_t b, int64_t) -> int64_t { return a >> (b < 0 || b > 63 ? 63 : b); },
    PairRule::bits};

// (x, out)
template <const PairOp& op>
Status prepare_question(Call& call, Prepared* prepared) {
  return keep_with_number(call, prepared, 0, 0, 1, op);
}
Status prepare_bitwise_not(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1);
  if (is_real(x.type)) return bad_argument(0, "must be integers or bools");
  if (!same_type(x, y)) return bad_argument(1, "must have the input's dtype");
  if (x.type == ScalarType::b8) return keep_with_number(call, prepared, 0, 0, 1, kEqualBits);
  return keep_with_number(call, prepared, 0, -1, 1, kXor);
}
template <const PairOp& op>
Status prepare_shift(Call& call, Prepared* prepared) {
  if (call.tensor(2).type == ScalarType::b8) return bad_argument(2, "must be integers");
  return keep_pairwise(call, prepared, 0, 1, -1, 2, op);
}

}  // namespace

extern const Kernel kAtenEq = {"aten::eq.Tensor_out", "TTO", prepare_pair<kEqual>};
extern const Kernel kAtenEqScalar = {"aten::eq.Scalar_out", "TFO", prepare_pair<kEqual>};
extern const Kernel kAtenNe = {"aten::ne.Tensor_out", "TTO", prepare_pair<kUnequal>};
extern const Kernel kAtenNeScalar = {"aten::ne.Scalar_out", "TFO", prepare_pair<kUnequal>};
extern const Kernel kAtenLt = {"aten::lt.Tensor_out", "TTO", prepare_pair<kLess>};
extern const Kernel kAtenLtScalar = {"aten::lt.Scalar_out", "TFO", prepare_pair<kLess>};
extern const Kernel kAtenLe = {"aten::le.Tensor_out", "TTO", prepare_pair<kAtMost>};
extern const Kernel kAtenLeScalar = {"aten::le.Scalar_out", "TFO", prepare_pair<kAtMost>};
extern const Kernel kAtenGt = {"aten::gt.Tensor_out", "TTO", prepare_pair<kGreater>};
extern const Kernel kAtenGtScalar = {"aten::gt.Scalar_out", "TFO", prepare_pair<kGreater>};
extern const Kernel kAtenGe = {"aten::ge.Tensor_out", "TTO", prepare_pair<kAtLeast>};
extern const Kernel kAtenGeScalar = {"aten::ge.Scalar_out", "TFO", prepare_pair<kAtLeast>};
extern const Kernel kAtenLogicalAnd = {"aten::logical_and.out", "TTO", prepare_pair<kBoth>};
extern const Kernel kAtenLogicalOr = {"aten::logical_or.out", "TTO", prepare_pair<kEither>};
extern const Kernel kAtenLogicalXor = {"aten::logical_xor.out", "TTO", prepare_pair<kOneOnly>};
extern const Kernel kAtenLogicalNot = {"aten::logical_not.out", "TO", prepare_question<kEqual>};
extern const Kernel kAtenIsnan = {"aten::isnan.out", "TO", prepare_question<kIsNan>};
extern const Kernel kAtenIsinf = {"aten::isinf.out", "TO", prepare_question<kIsInf>};
extern const Kernel kAtenBitwiseNot = {"aten::bitwise_not.out", "TO", prepare_bitwise_not};
extern const Kernel kAtenBitwiseAnd = {"aten::bitwise_and.Tensor_out", "TTO", prepare_pair<kAnd>};
extern const Kernel kAtenBitwiseAndScalar = {"aten::bitwise_and.Scalar_out", "TFO",
                                             prepare_pair<kAnd>};
extern const Kernel kAtenBitwiseOr = {"aten::bitwise_or.Tensor_out", "TTO", prepare_pair<kOr>};
extern const Kernel kAtenBitwiseOrScalar = {"aten::bitwise_or.Scalar_out", "TFO",
                                            prepare_pair<kOr>};
extern const Kernel kAtenBitwiseXor = {"aten::bitwise_xor.Tensor_out", "TTO", prepare_pair<kXor>};
extern const Kernel kAtenBitwiseXorScalar = {"aten::bitwise_xor.Scalar_out", "TFO",
                                             prepare_pair<kXor>};
extern const Kernel kAtenShiftLeft = {"aten::bitwise_left_shift.Tensor_out", "TTO",
                                      prepare_shift<kShiftLeft>};
extern const Kernel kAtenShiftLeftScalar = {"aten::bitwise_left_shift.Tensor_Scalar_out", "TFO",
                                            prepare_shift<kShiftLeft>};
extern const Kernel kAtenShiftRight = {"aten::bitwise_right_shift.Tensor_out", "TTO",
                                       prepare_shift<kShiftRight>};
extern const Kernel kAtenShiftRightScalar = {"aten::bitwise_right_shift.Tensor_Scalar_out", "TFO",
                                             prepare_shift<kShiftRight>};

}  // namespace deuteron
