// SPDX-License-Identifier: Apache-2.0
// deuteron::layer_norm: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/layer_norm/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(LayerNormArgs, rows, columns, x_zero, y_zero, epsilon_bits, shift, epsilon,
                centered)

namespace {

enum { kX, kWeight, kBias, kXZero, kYZero, kCentered, kEpsilonBits, kEpsilon, kShift };
constexpr int32_t kMostFactor = 1 << 30;

using Args = LayerNormArgs;
constexpr Argument kRow[] = {input(Is::s8_rows),
                             input(Is::any),
                             input(Is::any),
                             number(Is::step, DEUTERON_FIELD(x_zero)),
                             number(Is::step, DEUTERON_FIELD(y_zero)),
                             flag(DEUTERON_FIELD(centered)),
                             number(Is::any),
                             number(Is::any),
                             number(Is::bits_40, DEUTERON_FIELD(shift)),
                             output(Is::s8_like)};

bool more(const Call& call, Args& a, Status* why) {
  const Tensor& x = call.tensor(kX);
  a.columns = call.tensor(kWeight).numel;
  if (a.columns < 1 || a.columns > kMostNormalized)
    return refuse(why, kWeight, "must have 1..32768 elements");
  for (int argument = kWeight; argument <= kBias; ++argument)
    if (const char* words =
            why_not_channel_constants(call.tensor(argument), a.columns, -kMostFactor, kMostFactor))
      return refuse(why, argument, words);
  int32_t slice = 1;
  for (int k = x.rank - 1; k >= 0 && slice < a.columns && x.sizes[k] <= a.columns; --k)
    slice *= x.sizes[k];
  if (slice != a.columns)
    return refuse(why, kWeight, "must have an element for each of a slice of the input");
  const int64_t bits = call.integer(kEpsilonBits);
  if (!lies_in(bits, 0, kMostEpsilonBits) || bits % 2 != 0)
    return refuse(why, kEpsilonBits, "must be 0..16 and even");
  a.epsilon = call.integer(kEpsilon);
  const int64_t variance = (int64_t{65025} * a.columns * a.columns)
                           << bits;  // within 2^62: 2^16 * 2^30 * 2^16
  if (!lies_in(a.epsilon, 0, (int64_t{1} << 62) - 1) ||
      variance > (int64_t{1} << 62) - 1 - a.epsilon)
    return refuse(why, kEpsilon, "does not leave room for the variance");
  a.epsilon_bits = static_cast<int32_t>(bits), a.rows = x.numel / a.columns;
  return true;
}

}  // namespace

const Kernel kLayerNorm = kernel_and<kRow, Args, more, layer_norm_s8, layer_norm_s8_mve>(
    "deuteron::layer_norm.out", kInPlace);
static_assert(kMostNormShift == 40, "Is::bits_40");

}  // namespace deuteron
