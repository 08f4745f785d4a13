// SPDX-License-Identifier: Apache-2.0
// deuteron::layer_norm: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/layer_norm/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(LayerNormArgs, rows, columns, x_zero, y_zero, epsilon_bits, shift, epsilon,
                centered)

namespace {

enum { kX, kWeight, kBias, kXZero, kYZero, kCentered, kEpsilonBits, kEpsilon, kShift, kOut };
constexpr int32_t kMostFactor = 1 << 30;

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut), &weight = call.tensor(kWeight);
  if (x.type != ScalarType::s8 || x.rank < 1)
    return bad_argument(kX, "must be int8 and have a dimension");
  if (!is_dense(x)) return bad_argument(kX, "must be stored in the order of its dimensions");
  if (y.type != ScalarType::s8) return bad_argument(kOut, "must be int8");
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the input");
  const int32_t columns = weight.numel;
  if (columns < 1 || columns > kMostNormalized)
    return bad_argument(kWeight, "must have 1..32768 elements");
  for (int argument = kWeight; argument <= kBias; ++argument)
    if (const char* why =
            why_not_channel_constants(call.tensor(argument), columns, -kMostFactor, kMostFactor))
      return bad_argument(argument, why);
  int32_t slice = 1;
  for (int k = x.rank - 1; k >= 0 && slice < columns && x.sizes[k] > 0 && x.sizes[k] <= columns;
       --k)
    slice *= x.sizes[k];
  if (slice != columns)
    return bad_argument(kWeight, "must have an element for each of a slice of the input");
  if (!is_s8(call.integer(kXZero))) return bad_argument(kXZero, "must be int8");
  if (!is_s8(call.integer(kYZero))) return bad_argument(kYZero, "must be int8");
  const int64_t bits = call.integer(kEpsilonBits), epsilon = call.integer(kEpsilon);
  if (!lies_in(bits, 0, kMostEpsilonBits) || bits % 2 != 0)
    return bad_argument(kEpsilonBits, "must be 0..16 and even");
  const int64_t variance = (int64_t{65025} * columns * columns)
                           << bits;  // within 2^62: 2^16 * 2^30 * 2^16
  if (!lies_in(epsilon, 0, (int64_t{1} << 62) - 1) || variance > (int64_t{1} << 62) - 1 - epsilon)
    return bad_argument(kEpsilon, "does not leave room for the variance");
  if (!lies_in(call.integer(kShift), 0, kMostNormShift))
    return bad_argument(kShift, "must be 0..40");
  const LayerNormArgs a{x.numel / columns,
                        columns,
                        static_cast<int32_t>(call.integer(kXZero)),
                        static_cast<int32_t>(call.integer(kYZero)),
                        static_cast<int32_t>(bits),
                        static_cast<int32_t>(call.integer(kShift)),
                        epsilon,
                        call.boolean(kCentered)};
  return keep<layer_norm_s8>(call, prepared, a, static_cast<const int8_t*>(x.data),
                             static_cast<const int32_t*>(weight.data),
                             static_cast<const int32_t*>(call.tensor(kBias).data),
                             static_cast<int8_t*>(y.data));
}

}  // namespace

const Kernel kLayerNorm = {"deuteron::layer_norm.out", "TTTIIBIIIO", prepare, true};

}  // namespace deuteron
