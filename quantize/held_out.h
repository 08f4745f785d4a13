// SPDX-License-Identifier: Apache-2.0
// What a quantized network may give on other data, from samples that its ranges were not chosen on.
#pragma once

namespace deuteron {

// dB of signal to noise against the float network, of halves of the samples: which half decides, where a few samples are hard.
inline constexpr double kNoNoise = 200;  // dB: no error that float32 can show is smaller

struct HeldOut {
  double db;               // the mean of the halves
  double low_db, high_db;  // a tenth of them gives less than low_db, a tenth more than high_db
  bool has_noise() const { return low_db < kNoNoise; }
};

}  // namespace deuteron
