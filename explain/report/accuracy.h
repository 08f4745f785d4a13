// SPDX-License-Identifier: Apache-2.0
// How far the program is from the model that it was made of.
#pragma once
#include <vector>

#include "compile/calibrate/samples.h"
#include "explain/report/output_accuracy.h"

namespace deuteron {

struct Compilation;

// Error of the program against Compilation::reference on the samples, in dB; all outputs together
// that are no integers. Microcode of the vendor's converter runs on the chip alone: then it is that
// of the same program with our own conversion of the same parts, which computes the same numbers.
struct Accuracy {
  double sqnr_db = 0;  // infinity: no error, or all outputs are integers
  double max_abs_error = 0;
  i64 samples = 0;
  bool of_own_conversion = false;
  std::vector<OutputAccuracy> outputs = {};
  bool is_exact() const;     // all outputs are equal to the float model's
  bool has_numbers() const;  // an output that is no integer
};
// Of a compilation with a program_to_run().
Accuracy measure_accuracy(const Compilation& compilation, const Samples& samples, int threads);

}  // namespace deuteron
