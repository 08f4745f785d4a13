// SPDX-License-Identifier: Apache-2.0
// deuteron::svdf and deuteron::svdf_bytes: their arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/svdf/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(SvdfArgs, batch, inputs, filters, memory, units, x_zero, feature_multiplier,
                feature_shift, y_zero, y_multiplier, y_shift, state_zero)

namespace {

// svdf_bytes has the zero point of its state behind these numbers, and so its results one further
// on.
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
  kLast
};

template <class State>
constexpr bool kOfBytes = sizeof(State) == 1;

Status why_not_numbers(const Call& call) {
  for (const int zero : {int{kXZero}, int{kYZero}})
    if (!is_s8(call.integer(zero))) return bad_argument(zero, "must be int8");
  for (const int multiplier : {int{kFeatureMultiplier}, int{kYMultiplier}}) {
    if (!is_multiplier(call.integer(multiplier)))
      return bad_argument(multiplier, "is out of range");
    if (!is_shift(call.integer(multiplier + 1)))
      return bad_argument(multiplier + 1, "must be -31..30");
  }
  return {};
}

// What is of the type of the state: why it is not, or null.
template <class State>
const char* why_not_of_state(const Tensor& t) {
  if (const char* why = why_not_dense(t, kOfBytes<State> ? ScalarType::s8 : ScalarType::s16, 2))
    return why;
  return is_aligned(t, sizeof(State)) ? nullptr : "must be 2-aligned";
}

template <class State, auto kernel>
Status prepare(Call& call, Prepared* prepared) {
  constexpr int kOut = kLast + kOfBytes<State>, kNewState = kOut + 1;
  const Tensor &x = call.tensor(kX), &features = call.tensor(kFeatureWeight),
               &times = call.tensor(kTimeWeight);
  const Tensor &state = call.tensor(kState), &y = call.tensor(kOut), &next = call.tensor(kNewState);
  for (const int i : {int{kX}, int{kFeatureWeight}, kOut})
    if (const char* why = why_not_dense(call.tensor(i), ScalarType::s8, 2))
      return bad_argument(i, why);
  for (const int i : {int{kTimeWeight}, int{kState}, kNewState})
    if (const char* why = why_not_of_state<State>(call.tensor(i))) return bad_argument(i, why);
  if (const Status status = why_not_numbers(call); !status.ok()) return status;
  const int64_t state_zero = kOfBytes<State> ? call.integer(kLast) : 0;
  if (!is_s8(state_zero)) return bad_argument(kLast, "must be int8");
  const int32_t batch = x.sizes[0], inputs = x.sizes[1], filters = features.sizes[0],
                units = y.sizes[1];
  if (y.numel == 0 || x.numel == 0 || times.numel == 0) return keep_nothing(prepared);
  if (features.sizes[1] != inputs)
    return bad_argument(kFeatureWeight, "must have a column for each input");
  if (inputs > kMostSvdfInputs)
    return bad_argument(kX, "has too many inputs for sums within int32");
  if (times.sizes[0] != filters)
    return bad_argument(kTimeWeight, "must have a row for each row of the other weight");
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
                   number(kYShift),
                   static_cast<int32_t>(state_zero)};
  return keep<kernel>(call, prepared, a, static_cast<const int8_t*>(x.data),
                      static_cast<const int8_t*>(features.data),
                      static_cast<const State*>(times.data), bias,
                      static_cast<const State*>(state.data), static_cast<int8_t*>(y.data),
                      static_cast<State*>(next.data));
}

}  // namespace

const Kernel kSvdf = {"deuteron::svdf.out", "TTTtTIIIIIIOO", prepare<int16_t, svdf_s8>, true};
const Kernel kSvdfBytes = {"deuteron::svdf_bytes.out", "TTTtTIIIIIIIOO",
                           prepare<int8_t, svdf_bytes>, true};

}  // namespace deuteron
