// SPDX-License-Identifier: Apache-2.0
// How far the program is from the model that it was made of.
#pragma once
#include "calibrate/samples.h"

namespace deuteron {

struct Compilation;

// Error of the program against Compilation::reference on the samples, in dB; all outputs together. Microcode of the vendor's converter runs
// on the chip alone: then it is that of the same program with our own conversion of the same parts, which computes the same numbers.
struct Accuracy {
  double sqnr_db = 0;
  double max_abs_error = 0;
  i64 samples = 0;
  bool of_own_conversion = false;
};
// Of a compilation with a program_to_run().
Accuracy measure_accuracy(const Compilation& compilation, const Samples& samples, int threads);

}  // namespace deuteron
