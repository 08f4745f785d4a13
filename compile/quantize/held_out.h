// SPDX-License-Identifier: Apache-2.0
// What a quantized network may give on other data, from samples that its ranges were not chosen on.
#pragma once
#include <vector>

#include "base/tensor/type.h"

namespace deuteron {

// dB of signal to noise against the float network, of halves of the samples: which half decides,
// where a few samples are hard.
inline constexpr double kNoNoise = 200;  // dB: no error that float32 can show is smaller

// Of one part of an output (compile/calibrate/output_parts.h).
struct HeldOutPart {
  i32 output;
  i32 axis;  // the user's; -1: all of it
  i64 index;
  double db;                // of all samples together
  double equal_share = -1;  // of an output of integers, which has no dB; -1: another
};

struct HeldOut {
  double db;               // the mean of the halves
  double low_db, high_db;  // a tenth of them gives less than low_db, a tenth more than high_db
  std::vector<HeldOutPart> parts = {};
  bool has_noise() const { return low_db < kNoNoise; }
};

}  // namespace deuteron
