// deuteron::svdf: its arguments checked once, at load.
#include "ops/device/kernels.h"
#include "ops/device/prepare_s16.h"
#include "ops/svdf/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(SvdfArgs, batch, inputs, filters, memory, units, x_zero, feature_multiplier, feature_shift, y_zero, y_multiplier, y_shift)

namespace {

enum {
  kX,
  kFeatureWeight,
  kTimeWeight,
  kBias,
  kState,
  kXZero,
  kFeatureMultiplier,
  kFeatureShift,
  kYZero,
  kYMultiplier,
  kYShift,
  kOut,
  kNewState
};

Status why_not_numbers(const Call& call) {
  for (const int zero : {int{kXZero}, int{kYZero}})
    if (!is_s8(call.integer(zero))) return bad_argument(zero, "must be int8");
  for (const int multiplier : {int{kFeatureMultiplier}, int{kYMultiplier}}) {
    if (!is_multiplier(call.integer(multiplier))) return bad_argument(multiplier, "is out of range");
    if (!is_shift(call.integer(multiplier + 1))) return bad_argument(multiplier + 1, "must be -31..30");
  }
  return {};
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &features = call.tensor(kFeatureWeight), &times = call.tensor(kTimeWeight);
  const Tensor &state = call.tensor(kState), &y = call.tensor(kOut), &next = call.tensor(kNewState);
  for (const int i : {int{kX}, int{kFeatureWeight}, int{kOut}})
    if (const char* why = why_not_dense(call.tensor(i), ScalarType::s8, 2)) return bad_argument(i, why);
  for (const int i : {int{kTimeWeight}, int{kState}, int{kNewState}}) {
    if (const char* why = why_not_dense(call.tensor(i), ScalarType::s16, 2)) return bad_argument(i, why);
    if (!is_aligned(call.tensor(i), 2)) return bad_argument(i, "must be 2-aligned");
  }
  if (const Status status = why_not_numbers(call); !status.ok()) return status;
  const int32_t batch = x.sizes[0], inputs = x.sizes[1], filters = features.sizes[0], units = y.sizes[1];
  if (y.numel == 0 || x.numel == 0 || times.numel == 0) return keep_nothing(prepared);
  if (features.sizes[1] != inputs) return bad_argument(kFeatureWeight, "must have a column for each input");
  if (inputs > kMostSvdfInputs) return bad_argument(kX, "has too many inputs for sums within int32");
  if (times.sizes[0] != filters) return bad_argument(kTimeWeight, "must have a row for each row of the other weight");
  if (y.sizes[0] != batch) return bad_argument(kOut, "must have the batch of the input");
  if (filters % units != 0) return bad_argument(kOut, "must have units that divide the filters");
  if (state.sizes[0] != batch || state.sizes[1] != times.numel)
    return bad_argument(kState, "must have memory for each filter");
  if (!same_layout(state, next)) return bad_argument(kNewState, "must have the sizes of the state");
  const int32_t* bias = nullptr;
  if (const Tensor* given = call.optional_tensor(kBias)) {
    if (const char* why = why_not_channel_sums(*given, units)) return bad_argument(kBias, why);
    bias = static_cast<const int32_t*>(given->data);
  }
  const auto number = [&](int i) { return static_cast<int32_t>(call.integer(i)); };
  const SvdfArgs a{batch,
                   inputs,
                   filters,
                   times.sizes[1],
                   units,
                   number(kXZero),
                   number(kFeatureMultiplier),
                   number(kFeatureShift),
                   number(kYZero),
                   number(kYMultiplier),
                   number(kYShift)};
  return keep<svdf_s8>(call, prepared, a, static_cast<const int8_t*>(x.data), static_cast<const int8_t*>(features.data),
                       static_cast<const int16_t*>(times.data), bias, static_cast<const int16_t*>(state.data), static_cast<int8_t*>(y.data),
                       static_cast<int16_t*>(next.data));
}

}  // namespace

const Kernel kSvdf = {"deuteron::svdf.out", "TTTtTIIIIIIOO", prepare, true};

}  // namespace deuteron
