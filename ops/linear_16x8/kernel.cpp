// Portable fully connected layer of int16 by int8. A core without doubles calls its compiler's, which round as IEEE 754 says.
#include "ops/linear_16x8/kernel.h"

#include <cstring>

#include "ops/integer/requantize.h"
#include "ops/integer/sum_16x8.h"

namespace deuteron {
namespace {

// round(v * scale), held to int16: -contract=off keeps the product rounded.
int32_t steps_of(int64_t v, int64_t scale_bits) {
  double scale;
  std::memcpy(&scale, &scale_bits, sizeof scale);
  const double product = static_cast<double>(v) * scale;
  if (product >= 32767) return 32767;
  if (product <= -32768) return -32768;
  const auto whole = static_cast<int32_t>(product);  // towards zero
  if (product >= whole + 0.5) return whole + 1;
  if (product <= whole - 0.5) return whole - 1;
  return whole;
}

template <class Total>
void each_result(const Linear16x8Args& args, const int16_t* x, const int8_t* weight, const int64_t* scale, int16_t* y, Total total) {
  const Linear16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  for (int32_t r = 0; r < a.rows; ++r, x += a.inputs) {
    const int8_t* w = weight;
    for (int32_t o = 0; o < a.outputs; ++o, w += a.inputs) {
      Sum16x8 sum;
      sum.add(x, w, a.inputs);
      *y++ = static_cast<int16_t>(clamp_to(steps_of(total(o, sum.total()), scale[o]), a.y_min, a.y_max));
    }
  }
}

}  // namespace

void linear_16x8(const Linear16x8Args& a, const int16_t* x, const int8_t* weight, const int64_t* first, const int64_t* scale, int16_t* y) {
  each_result(a, x, weight, scale, y, [&](int32_t o, int64_t sum) { return sum_from(first != nullptr ? first[o] : 0, sum); });
}

void linear_16x8_narrow(const Linear16x8Args& a, const int16_t* x, const int8_t* weight, const int32_t* first, const int64_t* scale,
                        int16_t* y) {
  each_result(a, x, weight, scale, y, [&](int32_t o, int64_t sum) { return int64_t{add_wrapping(first[o], static_cast<int32_t>(sum))}; });
}

}  // namespace deuteron
