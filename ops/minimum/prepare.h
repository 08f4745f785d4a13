// What the checks of cortex_m::minimum and cortex_m::maximum have in common; defined in bind.cpp.
#pragma once
#include "ops/minimum/kernel.h"
#include "runtime/kernel.h"

namespace deuteron {

// What prepare() of both does; `kernel` is one of the above.
Status prepare_extremum(Call& call, Prepared* prepared, void (*kernel)(const ExtremumArgs&, const int8_t*, const int8_t*, int8_t*));

}  // namespace deuteron
