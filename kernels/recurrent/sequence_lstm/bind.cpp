// SPDX-License-Identifier: Apache-2.0
// deuteron::sequence_lstm: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/recurrent/sequence_lstm/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(SequenceLstmArgs, steps, batch, inputs, units, batch_first, multiplier, shift,
                cell_bits, cell_clip, y_zero, y_multiplier, y_shift, weight, recurrent, bias,
                recurrent_bias, x, h_0, c_0, y, h_n, c_n)

namespace {

enum {
  kX,
  kHidden,
  kCell,
  kWeight,
  kRecurrent,
  kBias,
  kRecurrentBias,
  kMultipliers,
  kShifts,
  kBatchFirst,
  kCellBits,
  kCellClip,
  kYZero,
  kYMultiplier,
  kYShift,
  kOut,
  kNewHidden,
  kNewCell
};
constexpr int32_t kMostElements = 32768;

Status read_numbers(const Call& call, SequenceLstmArgs* a) {
  const auto number = [&](int i) { return static_cast<int32_t>(call.integer(i)); };
  for (const int i : {int{kMultipliers}, int{kShifts}})
    if (call.list(i).count != 2 * kLstmGates)
      return bad_argument(i, "must have two numbers for each gate");
  for (int32_t k = 0; k < 2 * kLstmGates; ++k) {
    const int64_t multiplier = call.list(kMultipliers).integer(k),
                  shift = call.list(kShifts).integer(k);
    if (!is_multiplier(multiplier)) return bad_argument(kMultipliers, "is out of range");
    if (!is_shift(shift)) return bad_argument(kShifts, "must be -31..30");
    a->multiplier[k] = static_cast<int32_t>(multiplier);
    a->shift[k] = static_cast<int32_t>(shift);
  }
  if (!lies_in(call.integer(kCellBits), 9, 15)) return bad_argument(kCellBits, "must be 9..15");
  if (!lies_in(call.integer(kCellClip), 0, INT16_MAX))
    return bad_argument(kCellClip, "must be 0..32767");
  if (!is_s8(call.integer(kYZero))) return bad_argument(kYZero, "must be int8");
  if (!is_multiplier(call.integer(kYMultiplier)))
    return bad_argument(kYMultiplier, "is out of range");
  if (!is_shift(call.integer(kYShift))) return bad_argument(kYShift, "must be -31..30");
  a->batch_first = call.boolean(kBatchFirst);
  a->cell_bits = number(kCellBits), a->cell_clip = number(kCellClip);
  a->y_zero = number(kYZero), a->y_multiplier = number(kYMultiplier), a->y_shift = number(kYShift);
  return {};
}

Status check_types(const Call& call) {
  for (const int i : {int{kX}, int{kOut}})
    if (const char* why = why_not_dense(call.tensor(i), ScalarType::s8, 3))
      return bad_argument(i, why);
  for (const int i : {int{kHidden}, int{kWeight}, int{kRecurrent}, int{kNewHidden}})
    if (const char* why = why_not_dense(call.tensor(i), ScalarType::s8, 2))
      return bad_argument(i, why);
  for (const int i : {int{kCell}, int{kNewCell}}) {
    if (const char* why = why_not_dense(call.tensor(i), ScalarType::s16, 2))
      return bad_argument(i, why);
    if (!is_aligned(call.tensor(i), 2)) return bad_argument(i, "must be 2-aligned");
  }
  return {};
}

bool is_state(const Tensor& t, const SequenceLstmArgs& a) {
  return t.sizes[0] == a.batch && t.sizes[1] == a.units;
}

// The extents of x, y and the states.
Status read_sizes(const Call& call, SequenceLstmArgs* a) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  a->steps = x.sizes[a->batch_first ? 1 : 0], a->batch = x.sizes[a->batch_first ? 0 : 1],
  a->inputs = x.sizes[2], a->units = y.sizes[2];
  if (y.sizes[0] != x.sizes[0] || y.sizes[1] != x.sizes[1])
    return bad_argument(kOut, "must have a row for each row of the input");
  if (a->inputs > kMostElements) return bad_argument(kX, "has too many inputs");
  if (a->units > kMostElements) return bad_argument(kOut, "has too many units");
  for (const int i : {int{kHidden}, int{kCell}, int{kNewHidden}, int{kNewCell}})
    if (!is_state(call.tensor(i), *a))
      return bad_argument(i, "must have a state of each unit for each batch entry");
  const int32_t rows = kLstmGates * a->units;
  const Tensor &weight = call.tensor(kWeight), &recurrent = call.tensor(kRecurrent);
  if (weight.sizes[0] != rows || weight.sizes[1] != a->inputs)
    return bad_argument(kWeight, "must have a row for each gate and a column for each input");
  if (recurrent.sizes[0] != rows || recurrent.sizes[1] != a->units)
    return bad_argument(kRecurrent, "must have a row for each gate and a column for each unit");
  for (const int i : {int{kBias}, int{kRecurrentBias}})
    if (const char* why = why_not_channel_sums(call.tensor(i), rows)) return bad_argument(i, why);
  return {};
}

Status prepare(Call& call, Prepared* prepared) {
  SequenceLstmArgs a{};
  if (const Status s = check_types(call); !s.ok()) return s;
  if (const Status s = read_numbers(call, &a); !s.ok()) return s;
  if (const Status s = read_sizes(call, &a); !s.ok()) return s;
  if (a.units == 0) return keep_nothing(prepared);
  const auto bytes = [&](int i) { return static_cast<const int8_t*>(call.tensor(i).data); };
  const auto words = [&](int i) { return static_cast<const int32_t*>(call.tensor(i).data); };
  a.weight = bytes(kWeight), a.recurrent = bytes(kRecurrent), a.bias = words(kBias),
  a.recurrent_bias = words(kRecurrentBias);
  a.x = bytes(kX), a.h_0 = bytes(kHidden),
  a.c_0 = static_cast<const int16_t*>(call.tensor(kCell).data);
  a.y = static_cast<int8_t*>(call.tensor(kOut).data),
  a.h_n = static_cast<int8_t*>(call.tensor(kNewHidden).data);
  a.c_n = static_cast<int16_t*>(call.tensor(kNewCell).data);
  return keep_fastest<sequence_lstm_s8, sequence_lstm_s8_mve, sequence_lstm_s8_dsp,
                      sequence_lstm_s8_scalar>(call, prepared, a);
}

}  // namespace

const Kernel kSequenceLstm = {"deuteron::sequence_lstm.out", "TTTTTTTLLBIIIIIOOO", prepare};

}  // namespace deuteron
