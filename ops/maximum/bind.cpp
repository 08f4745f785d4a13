// cortex_m::maximum: the other half of ops/minimum.
#include "ops/kernels.h"
#include "ops/minimum/prepare.h"

namespace deuteron {
namespace {

Status prepare_maximum(Call& call, Prepared* prepared) { return prepare_extremum(call, prepared, maximum_s8); }

}  // namespace

const Kernel kMaximum = {"cortex_m::maximum.out", "TTO", prepare_maximum, true};

}  // namespace deuteron
