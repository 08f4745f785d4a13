// deuteron::gru: its arguments checked once, at load. docs/operators-own.md
#include "ops/device/kernels.h"
#include "ops/gru/prepare.h"
#include "runtime/instruction_set.h"

namespace deuteron {
namespace {

Status prepare(Call& call, Prepared* prepared) {
  GruArgs a{};
  if (Status s = read_gru(call, a); !s.ok()) return s;
  if (is_for<Feature::mve>(call)) return keep_for<Feature::mve, gru_s8_mve>(call, prepared, a);
  if (is_for<Feature::dsp>(call)) return keep_for<Feature::dsp, gru_s8_dsp>(call, prepared, a);
  return keep<gru_s8>(call, prepared, a);
}

}  // namespace

const Kernel kGru = {"deuteron::gru.out", "TtTTTTTTTBBBIIIIIIIOOX", prepare};

}  // namespace deuteron
