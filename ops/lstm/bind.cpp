// deuteron::lstm: its arguments checked once, at load. docs/operators-own.md
#include "ops/device/kernels.h"
#include "ops/lstm/prepare.h"
#include "runtime/instruction_set.h"

namespace deuteron {
namespace {

Status prepare(Call& call, Prepared* prepared) {
  LstmArgs a{};
  if (Status s = read_lstm(call, a); !s.ok()) return s;
  if (is_for<Feature::mve>(call)) return keep_for<Feature::mve, lstm_s8_mve>(call, prepared, a);
  if (is_for<Feature::dsp>(call)) return keep_for<Feature::dsp, lstm_s8_dsp>(call, prepared, a);
  return keep<lstm_s8>(call, prepared, a);
}

}  // namespace

const Kernel kLstm = {"deuteron::lstm.out", "TtTTTTTTTBBBIIItIIIIIIIOOOX", prepare};

}  // namespace deuteron
