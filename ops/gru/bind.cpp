// deuteron::gru: its arguments checked once, at load. docs/operators-own.md
#include "ops/device/kernels.h"
#include "ops/gru/kernel.h"
#include "ops/recurrent/prepare.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(GruArgs, layer, state_bits, first_zero, first_multiplier, first_shift, states)

namespace {

enum { kStateBits = kRecurrentOwn, kFirstZero, kFirstMultiplier, kFirstShift, kY, kLastState, kScratch };

Status prepare(Call& call, Prepared* prepared) {
  GruArgs a{};
  if (Status s = read_recurrent(call, 3, kY, kLastState, &a.layer); !s.ok()) return s;
  const Tensor& scratch = call.tensor(kScratch);
  if (!lies_in(call.integer(kStateBits), 0, 15)) return bad_argument(kStateBits, "must be 0..15");
  if (!is_s8(call.integer(kFirstZero))) return bad_argument(kFirstZero, "must be int8");
  if (!is_multiplier(call.integer(kFirstMultiplier))) return bad_argument(kFirstMultiplier, "is out of range");
  if (!lies_in(call.integer(kFirstShift), -31, 20)) return bad_argument(kFirstShift, "must be -31..20");
  if (const char* why = why_not_scratch(scratch, 2 * int64_t{a.layer.units}, 2)) return bad_argument(kScratch, why);
  a.state_bits = static_cast<int32_t>(call.integer(kStateBits));
  a.first_zero = static_cast<int32_t>(call.integer(kFirstZero));
  a.first_multiplier = static_cast<int32_t>(call.integer(kFirstMultiplier));
  a.first_shift = static_cast<int32_t>(call.integer(kFirstShift));
  a.states = static_cast<int16_t*>(scratch.data);
  if (is_for<Feature::mve>(call)) return keep_for<Feature::mve, gru_s8_mve>(call, prepared, a);
  if (is_for<Feature::dsp>(call)) return keep_for<Feature::dsp, gru_s8_dsp>(call, prepared, a);
  return keep<gru_s8>(call, prepared, a);
}

}  // namespace

const Kernel kGru = {"deuteron::gru.out", "TtTTTTTTTBBBIIIIIIIOOX", prepare};

}  // namespace deuteron
