// SPDX-License-Identifier: Apache-2.0
// How far the program is from the model that it was made of.
#pragma once
#include "calibrate/samples.h"

namespace deuteron {

struct Compilation;

// Error of the program against Compilation::reference on the samples, in dB; all outputs together.
struct Accuracy {
  double sqnr_db = 0;
  double max_abs_error = 0;
  i64 samples = 0;
};
Accuracy measure_accuracy(const Compilation& compilation, const Samples& samples, int threads);

}  // namespace deuteron
