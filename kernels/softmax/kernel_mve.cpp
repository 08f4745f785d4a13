// SPDX-License-Identifier: Apache-2.0
// Softmax with the M-profile Vector Extension: 4 elements at a time. The exponentials are in a
// table of 256. Where the call has few elements, they are those of a row, one after the other. Else
// they stand by distance to the maximum, of which there are no more: the table serves all rows, and
// gets as long as the row that reaches farthest wants it. What lies below diff_min has 0, which
// becomes -128. Assembly, because gcc 12 makes no loops that end within a vector.
#include <arm_mve.h>

#include "kernels/integer/reciprocal.h"
#include "kernels/softmax/kernel.h"

namespace deuteron {
namespace {

constexpr int32_t kSoftmaxDistances = 256;

// Of exponential() in kernel.cpp: 1/3, then exp(-1/4), exp(-1/2), .. exp(-16), Q0.31.
constexpr int32_t kSoftmaxFactors[] = {715827883, 1672461947, 1302514674, 790015084,
                                       290630308, 39332535,   720401,     242};

// A bit of v that is clear asks for its factor.
#define BIT_TO_SIGN(shift) "vshl.i32 q5, q1, #" #shift "\n"
#define WHERE_CLEAR(factor) "vpt.s32 ge, q5, zr\nvqrdmulht.s32 q3, q3, %[" factor "]\n"

// `count` exponentials into the table. Of a row: start is its maximum. Without one: of distances
// from -start on; count a multiple of 4. Nothing that is shifted is negative, so VRSHR rounds
// halves as round_shift_right(). v = 0, which is 1, is put right behind the factors.
[[gnu::noinline]] void softmax_fill(const SoftmaxArgs& a, const int8_t* row, int32_t start,
                                    int32_t count, int32_t* table) {
  constexpr int32_t kExpOfEighth = 1895147668;  // exp(-1/8), Q0.31
  int32_t other;
  asm volatile(
      "dlstp.32 lr, %[f]\n"
      "1:\n"
      "cbz %[row], 2f\n"
      "vldrb.s32 q0, [%[row]], #4\n"
      "vsub.i32 q0, q0, %[start]\n"
      "b 3f\n"
      "2:\n"
      "vddup.u32 q0, %[start], #1\n"
      "3:\n"
      "vshl.s32 q1, q0, %q[shift]\n"
      "ldrd %[f], %[g], [%[factors]]\n"
      "vqrdmulh.s32 q1, q1, %[multiplier]\n"
      "vshl.i32 q2, q1, #8\n"  // x of exp_of_negative(): the low 24 bits, less 2^23
      "vadd.i32 q2, q2, %[half]\n"
      "vshr.s32 q2, q2, #3\n"
      "vqrdmulh.s32 q3, q2, q2\n"
      "vqrdmulh.s32 q4, q3, q3\n"
      "vqrdmulh.s32 q5, q3, q2\n"
      "vrshr.s32 q4, q4, #2\n"
      "vadd.i32 q4, q4, q5\n"
      "vqrdmlah.s32 q3, q4, %[f]\n"
      BIT_TO_SIGN(7)
      "vrshr.s32 q3, q3, #1\n"
      "vadd.i32 q3, q3, q2\n"
      "vqrdmlash.s32 q3, %q[eighths], %[eighth]\n"
      WHERE_CLEAR("g")
      "ldrd %[f], %[g], [%[factors], #8]\n"
      BIT_TO_SIGN(6) WHERE_CLEAR("f")
      BIT_TO_SIGN(5) WHERE_CLEAR("g")
      "ldrd %[f], %[g], [%[factors], #16]\n"
      BIT_TO_SIGN(4) WHERE_CLEAR("f")
      BIT_TO_SIGN(3) WHERE_CLEAR("g")
      "ldrd %[f], %[g], [%[factors], #24]\n"
      BIT_TO_SIGN(2) WHERE_CLEAR("f")
      BIT_TO_SIGN(1) WHERE_CLEAR("g")
      "vpt.i32 eq, q1, zr\n"
      "vmvnt.i32 q3, #0x80000000\n"
      "vpt.s32 lt, q0, %[none]\n"
      "vmovt.i32 q3, #0\n"
      "vstrw.32 q3, [%[table]], #16\n"
      "letp lr, 1b\n"
      : [row] "+&l"(row), [start] "+&Te"(start), [table] "+&r"(table), [f] "+&r"(count),
        [g] "=&r"(other)
      : [shift] "w"(vdupq_n_s32(a.shift)), [multiplier] "r"(a.multiplier), [none] "r"(a.diff_min),
        [half] "r"(INT32_MIN), [eighths] "w"(vdupq_n_s32(kExpOfEighth)), [eighth] "r"(kExpOfEighth),
        [factors] "r"(kSoftmaxFactors)
      : "q0", "q1", "q2", "q3", "q4", "q5", "lr", "memory");
}

struct SoftmaxEnds {
  int32_t least, most;
};
inline SoftmaxEnds softmax_ends(const int8_t* x, int32_t count) {
  int8x16_t least = vdupq_n_s8(127), most = vdupq_n_s8(-128);
  asm volatile(
      "dlstp.8 lr, %[count]\n"
      "1:\n"
      "vldrb.u8 q0, [%[x]], #16\n"
      "vmin.s8 %q[least], %q[least], q0\n"
      "vmax.s8 %q[most], %q[most], q0\n"
      "letp lr, 1b\n"
      : [x] "+&r"(x), [least] "+&w"(least), [most] "+&w"(most)
      : [count] "r"(count)
      : "q0", "lr", "memory");
  return {vminvq_s8(127, least), vmaxvq_s8(-128, most)};
}

// The sum of a row's exponentials, Q.19.
inline uint64_t softmax_sum(const int32_t* e, int32_t count) {
  uint64_t sum = 0;
  asm volatile(
      "dlstp.32 lr, %[count]\n"
      "1:\n"
      "vldrw.u32 q0, [%[e]], #16\n"
      "vrshr.s32 q0, q0, #12\n"
      "vaddlva.u32 %Q[sum], %R[sum], q0\n"
      "letp lr, 1b\n"
      : [sum] "+&r"(sum), [e] "+&r"(e)
      : [count] "r"(count)
      : "q0", "lr", "memory");
  return sum;
}
inline uint64_t softmax_sum_by_distance(const int8_t* x, int32_t most, const int32_t* e,
                                        int32_t count) {
  uint64_t sum = 0;
  asm volatile(
      "dlstp.32 lr, %[count]\n"
      "1:\n"
      "vldrb.s32 q0, [%[x]], #4\n"
      "vsub.i32 q0, %q[most], q0\n"
      "vldrw.u32 q1, [%[e], q0, uxtw #2]\n"
      "vrshr.s32 q1, q1, #12\n"
      "vaddlva.u32 %Q[sum], %R[sum], q1\n"
      "letp lr, 1b\n"
      : [sum] "+&r"(sum), [x] "+&l"(x)
      : [count] "r"(count), [most] "w"(vdupq_n_s32(most)), [e] "r"(e)
      : "q0", "q1", "lr", "memory");
  return sum;
}

// 1 / sum: an exponential's product with `factor`, shifted, is a result in steps from 0 to 256.
struct SoftmaxScale {
  int32_t factor, shift;
};
SoftmaxScale softmax_scale(uint64_t sum) {
  if (sum >= uint64_t{1} << 28) return {0, 0};  // all results are the least
  const int32_t headroom = __builtin_clz(static_cast<uint32_t>(sum));
  return {reciprocal_of_one_plus(
              static_cast<int32_t>((static_cast<uint32_t>(sum) << headroom) - 0x80000000u)),
          headroom - 35};
}

inline void softmax_results(const int32_t* e, const SoftmaxScale& s, int32_t count, int8_t* y) {
  asm volatile(
      "dlstp.32 lr, %[count]\n"
      "1:\n"
      "vldrw.u32 q0, [%[e]], #16\n"
      "vqrdmulh.s32 q0, q0, %[factor]\n"
      "vrshl.s32 q0, %[shift]\n"
      "vmin.s32 q0, q0, %q[high]\n"
      "vsub.i32 q0, q0, %[zero]\n"
      "vstrb.32 q0, [%[y]], #4\n"
      "letp lr, 1b\n"
      : [e] "+&r"(e), [y] "+&l"(y)
      : [count] "r"(count), [factor] "r"(s.factor), [shift] "r"(s.shift),
        [high] "w"(vdupq_n_s32(255)), [zero] "r"(128)
      : "q0", "lr", "memory");
}
inline void softmax_results_by_distance(const int8_t* x, int32_t most, const int32_t* e,
                                        const SoftmaxScale& s, int32_t count, int8_t* y) {
  asm volatile(
      "dlstp.32 lr, %[count]\n"
      "1:\n"
      "vldrb.s32 q0, [%[x]], #4\n"
      "vsub.i32 q0, %q[most], q0\n"
      "vldrw.u32 q1, [%[e], q0, uxtw #2]\n"
      "vqrdmulh.s32 q1, q1, %[factor]\n"
      "vrshl.s32 q1, %[shift]\n"
      "vmin.s32 q1, q1, %q[high]\n"
      "vsub.i32 q1, q1, %[zero]\n"
      "vstrb.32 q1, [%[y]], #4\n"
      "letp lr, 1b\n"
      : [x] "+&l"(x), [y] "+&l"(y)
      : [count] "r"(count), [most] "w"(vdupq_n_s32(most)), [e] "r"(e), [factor] "r"(s.factor),
        [shift] "r"(s.shift), [high] "w"(vdupq_n_s32(255)), [zero] "r"(128)
      : "q0", "q1", "lr", "memory");
}

}  // namespace

void softmax_s8_mve(const SoftmaxArgs& a, const int8_t* x, int8_t* y) {
  int32_t e[kSoftmaxDistances];
  const int32_t columns = a.columns;
  const bool few = a.rows * ((columns + 3) / 4) <= kSoftmaxFewVectors;
  int32_t known = 0;
  for (int32_t r = a.rows; r > 0; --r, x += columns, y += columns) {
    const SoftmaxEnds ends = softmax_ends(x, columns);
    if (few) {
      softmax_fill(a, x, ends.most, columns, e);
      softmax_results(e, softmax_scale(softmax_sum(e, columns)), columns, y);
      continue;
    }
    if (const int32_t more = ends.most - ends.least + 1 - known; more > 0) {
      const int32_t whole = (more + 3) / 4 * 4;
      softmax_fill(a, nullptr, -known, whole, e + known);
      known += whole;
    }
    const SoftmaxScale s = softmax_scale(softmax_sum_by_distance(x, ends.most, e, columns));
    softmax_results_by_distance(x, ends.most, e, s, columns, y);
  }
}

}  // namespace deuteron
