// cortex_m::maximum: the other half of ops/minimum.
#include "ops/device/kernels.h"
#include "ops/minimum/prepare.h"
#include "runtime/instruction_set.h"

namespace deuteron {
namespace {

Status prepare_maximum(Call& call, Prepared* prepared) {
  if constexpr (kHasMve) return prepare_extremum(call, prepared, maximum_s8_mve);
  else if constexpr (kHasDsp) return prepare_extremum(call, prepared, maximum_s8_dsp);
  else return prepare_extremum(call, prepared, maximum_s8);
}

}  // namespace

const Kernel kMaximum = {"cortex_m::maximum.out", "TTO", prepare_maximum, true};

}  // namespace deuteron
