/* SPDX-License-Identifier: Apache-2.0 */
/* What the streaming wake word's model is given: 40 log mel energies of 1024 samples at 16 kHz, as
   steps of its input. Source: mlcommons/tiny 1afd2c9, get_lfbe_func of benchmark/training/
   streaming_wakeword/get_dataset.py: emphasis of 31/32, Hamming window, squares of the spectrum by
   1024, mel filters of 0 to 8 kHz, (10 log10 + 52) / 64 in 0 to 1. As th_compute_lfbe_f32 of its
   reference board has it the window is periodic, and a step is cut towards 0. Integers alone. */
#ifndef MLPERF_TINY_FRONT_END_H
#define MLPERF_TINY_FRONT_END_H
#include <stdint.h>

enum { kWindow = 1024, kStride = 512, kFeatures = 40 };

/* before: the sample before the first one. */
void mlperf_tiny_features(const int16_t samples[kWindow], int16_t before,
                          int8_t features[kFeatures]);
#endif
