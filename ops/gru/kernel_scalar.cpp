// SPDX-License-Identifier: Apache-2.0
// GRU on cores with neither vectors nor the DSP extension.
#include "ops/gru/cells.h"
#include "ops/recurrent/rows_scalar.h"

#if defined(DEUTERON_SCALAR)
namespace deuteron {

void gru_s8_scalar(const GruArgs& a) { run_gru<ScalarRows>(a); }

}  // namespace deuteron
#endif
