// SPDX-License-Identifier: Apache-2.0
#include "kernels/recurrent/prepare.h"

namespace deuteron {
namespace {

constexpr int32_t kMostColumns = 32768, kMostBias = 1 << 30, kMostShift = 60;

// Constants of int32, [directions, (kinds,) rows].
const char* why_not_rows(const Tensor& t, int64_t count, int32_t low, int32_t high) {
  if (count > INT32_MAX) return "has too many entries";
  return why_not_channel_constants(t, static_cast<int32_t>(count), low, high);
}

template <class Step>
const char* why_not_steps(const Tensor& t) {
  if (const char* why = why_not_dense(t, sizeof(Step) == 1 ? ScalarType::s8 : ScalarType::s16, 3))
    return why;
  if (sizeof(Step) > 1 && !is_aligned(t, sizeof(Step))) return "is not aligned";
  return nullptr;
}

template <class Step>
const char* why_not_weight(const Tensor& t, int32_t directions, int32_t rows, int32_t columns) {
  if (const char* why = why_not_steps<Step>(t)) return why;
  if (t.sizes[0] != directions || t.sizes[1] != rows || t.sizes[2] != columns)
    return "must have a row for each gate and unit";
  return nullptr;
}

const int32_t* words(const Tensor& t) { return static_cast<const int32_t*>(t.data); }

}  // namespace

template <class Step>
const char* why_not_state(const Tensor& t, const RecurrentArgsOf<Step>& a) {
  if (const char* why = why_not_steps<Step>(t)) return why;
  if (t.sizes[0] != a.directions || t.sizes[1] != a.batch || t.sizes[2] != a.units)
    return "must have a state for each direction and batch entry";
  return nullptr;
}

const char* why_not_scratch(const Tensor& t, int64_t bytes, uintptr_t alignment) {
  if (t.type != ScalarType::u8 && t.type != ScalarType::s8) return "must be bytes";
  if (t.numel < bytes) return "is too small";
  if (!is_aligned(t, alignment)) return "is not aligned";
  return nullptr;
}

namespace {

// The extents: of the input and of the state's weight, which has units and directions.
template <class Step>
Status read_extents(const Call& call, int32_t gates, RecurrentArgsOf<Step>* a) {
  const Tensor &x = call.tensor(kRecurrentX), &u = call.tensor(kRecurrentStateWeight);
  if (const char* why = why_not_steps<Step>(x)) return bad_argument(kRecurrentX, why);
  if (x.numel < 1) return bad_argument(kRecurrentX, "must have elements");
  a->steps = x.sizes[a->batch_first ? 1 : 0];
  a->batch = x.sizes[a->batch_first ? 0 : 1];
  a->inputs = x.sizes[2];
  if (a->inputs > kMostColumns) return bad_argument(kRecurrentX, "must have at most 32768 inputs");
  if (const char* why = why_not_steps<Step>(u)) return bad_argument(kRecurrentStateWeight, why);
  a->directions = u.sizes[0];
  a->units = u.sizes[2];
  if (!lies_in(a->directions, 1, 2) || !lies_in(a->units, 1, kMostColumns))
    return bad_argument(kRecurrentStateWeight, "must have 1 or 2 directions, 1..32768 units");
  const int32_t rows = gates * a->units;
  if (const char* why = why_not_weight<Step>(u, a->directions, rows, a->units))
    return bad_argument(kRecurrentStateWeight, why);
  if (const char* why =
          why_not_weight<Step>(call.tensor(kRecurrentWeight), a->directions, rows, a->inputs))
    return bad_argument(kRecurrentWeight, why);
  return Status{};
}

// What each gate has for each unit, `count` in all directions; of `kinds` parts where a state
// comes in.
Status check_constants(const Call& call, int64_t count, int64_t kinds, int32_t most_multiplier) {
  const struct {
    int at;
    int64_t count;
    int32_t low, high;
  } constants[] = {{kRecurrentBias, count, -kMostBias, kMostBias},
                   {kRecurrentStateBias, count * kinds, -kMostBias, kMostBias},
                   {kRecurrentMultiplier, count, 0, most_multiplier},
                   {kRecurrentStateMultiplier, count * kinds, 0, most_multiplier},
                   {kRecurrentShift, count, 1, kMostShift}};
  for (const auto& c : constants)
    if (const char* why = why_not_rows(call.tensor(c.at), c.count, c.low, c.high))
      return bad_argument(c.at, why);
  return Status{};
}

template <class Step>
Status check_results(const Call& call, int y_at, int h_n_at, const RecurrentArgsOf<Step>& a) {
  const Tensor &x = call.tensor(kRecurrentX), &y = call.tensor(y_at);
  if (a.sequence) {
    if (const char* why = why_not_steps<Step>(y)) return bad_argument(y_at, why);
    if (y.sizes[0] != x.sizes[0] || y.sizes[1] != x.sizes[1] ||
        y.sizes[2] != a.directions * a.units)
      return bad_argument(y_at, "must have a row for each row of the input");
  } else if (const char* why = why_not_scratch(
                 y, 2 * int64_t{a.units} * static_cast<int64_t>(sizeof(Step)), sizeof(Step))) {
    return bad_argument(y_at, why);
  }
  if (const char* why = why_not_state(call.tensor(h_n_at), a)) return bad_argument(h_n_at, why);
  return Status{};
}

template <class Step>
constexpr Argument kResultNumbers[] = {
    number(sizeof(Step) == 1 ? Is::step : Is::wide_step,
           field_at<offsetof(RecurrentArgsOf<Step>, y_zero)>()),
    number(Is::multiplier, field_at<offsetof(RecurrentArgsOf<Step>, y_multiplier)>()),
    number(Is::shift_right, field_at<offsetof(RecurrentArgsOf<Step>, y_shift)>())};

}  // namespace

template <class Step>
Status read_recurrent(const Call& call, int32_t gates, int y_at, int h_n_at,
                      RecurrentArgsOf<Step>* a) {
  a->batch_first = call.boolean(kRecurrentBatchFirst);
  a->reverse = call.boolean(kRecurrentReverse);
  a->sequence = call.boolean(kRecurrentSequence);
  if (Status s = read_extents(call, gates, a); !s.ok()) return s;
  const Tensor* h_0 = call.optional_tensor(kRecurrentInitial);
  if (h_0 != nullptr)
    if (const char* why = why_not_state(*h_0, *a)) return bad_argument(kRecurrentInitial, why);
  if (Status s = check_constants(call, int64_t{a->directions} * gates * a->units,
                                 h_0 != nullptr ? 2 : 1, sizeof(Step) == 1 ? INT32_MAX : 65535);
      !s.ok())
    return s;
  if (Status s = read_arguments(call, kResultNumbers<Step>, 3, kRecurrentYZero, a); !s.ok())
    return s;
  if (Status s = check_results(call, y_at, h_n_at, *a); !s.ok()) return s;
  const auto steps = [&](int i) { return static_cast<Step*>(call.tensor(i).data); };
  a->weight = steps(kRecurrentWeight), a->recurrent = steps(kRecurrentStateWeight);
  a->bias = words(call.tensor(kRecurrentBias));
  a->recurrent_bias = words(call.tensor(kRecurrentStateBias));
  a->multiplier = words(call.tensor(kRecurrentMultiplier));
  a->recurrent_multiplier = words(call.tensor(kRecurrentStateMultiplier));
  a->shift = words(call.tensor(kRecurrentShift));
  a->x = steps(kRecurrentX),
  a->h_0 = h_0 != nullptr ? static_cast<const Step*>(h_0->data) : nullptr;
  a->y = steps(y_at), a->h_n = steps(h_n_at);
  return Status{};
}

template const char* why_not_state(const Tensor&, const RecurrentArgsOf<int8_t>&);
template const char* why_not_state(const Tensor&, const RecurrentArgsOf<int16_t>&);
template Status read_recurrent(const Call&, int32_t, int, int, RecurrentArgsOf<int8_t>*);
template Status read_recurrent(const Call&, int32_t, int, int, RecurrentArgsOf<int16_t>*);

}  // namespace deuteron
