// SPDX-License-Identifier: Apache-2.0
// GRU on cores with neither vectors nor the DSP extension.
#include "kernels/recurrent/gru/cells.h"
#include "kernels/recurrent/rows_scalar.h"

#if defined(DEUTERON_SCALAR)
namespace deuteron {

void gru_s8_scalar(const GruArgs& a) { run_gru<ScalarRows>(a); }

}  // namespace deuteron
#endif
