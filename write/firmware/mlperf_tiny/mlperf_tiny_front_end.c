/* SPDX-License-Identifier: Apache-2.0 */
#include "mlperf_tiny_front_end.h"

#include "mlperf_tiny_tables.h"

/* 512 complex numbers, the samples in pairs, in sixteenths of a sample's unit. No step can
   overflow: whatever is summed is at most the sum of all samples, 63 x 2^15 x 16 x 1024 x 0.54 <
   2^29.2, and twice that stands at the end. */
enum { kPoints = kWindow / 2 };
static int32_t work[kWindow];

/* cos(2 pi t / 1024) by 2^30, t in 0 to 512. */
static int32_t cosine(int t) { return t <= 256 ? quarter_wave[t] : -quarter_wave[512 - t]; }

struct turn {
  int32_t cosine, sine;
};
/* e^(-2 pi i t / 1024), t in 0 to 511. */
static struct turn turn_of(int t) {
  struct turn result;
  result.cosine = cosine(t);
  result.sine = cosine(t <= 256 ? 256 - t : t - 256);
  return result;
}
static int32_t real_turned(const int32_t x[2], struct turn by) {
  return (int32_t)(((int64_t)x[0] * by.cosine + (int64_t)x[1] * by.sine + (1 << 29)) >> 30);
}
static int32_t imaginary_turned(const int32_t x[2], struct turn by) {
  return (int32_t)(((int64_t)x[1] * by.cosine - (int64_t)x[0] * by.sine + (1 << 29)) >> 30);
}

/* Emphasized and in a Hamming window, 0.54 - 0.46 cos: the pairs lie by the reversed bits of their
   numbers, as the transform wants them. */
static void load_window(const int16_t* samples, int32_t before) {
  int n, at = 0;
  for (n = 0; n < kWindow; n++) {
    const int32_t emphasized = 32 * samples[n] - 31 * before; /* in 1/32 */
    const int32_t c = cosine(n < kPoints ? n : kWindow - n),
                  weight = 579820585 - (int32_t)((int64_t)493921239 * c >> 30);
    before = samples[n];
    work[2 * at + n % 2] = (int32_t)(((int64_t)emphasized * weight + (1 << 30)) >> 31);
    if (n % 2) {
      int bit = kPoints / 2;
      for (; at & bit; bit /= 2) at ^= bit;
      at |= bit;
    }
  }
}

static void transform(void) {
  int half, j, k;
  for (half = 1; half < kPoints; half *= 2)
    for (j = 0; j < half; j++) {
      const struct turn by = turn_of(j * (kPoints / half));
      for (k = j; k < kPoints; k += 2 * half) {
        int32_t *a = work + 2 * k, *b = a + 2 * half;
        const int32_t real = j ? real_turned(b, by) : b[0];
        const int32_t imaginary = j ? imaginary_turned(b, by) : b[1];
        b[0] = a[0] - real;
        b[1] = a[1] - imaginary;
        a[0] += real;
        a[1] += imaginary;
      }
    }
}

/* The square of twice the spectrum of the real samples at k, 1 to 511. */
static uint64_t power(int k) {
  const int32_t *a = work + 2 * k, *b = work + 2 * (kPoints - k);
  const struct turn by = turn_of(k);
  const int32_t odd[2] = {a[1] + b[1], b[0] - a[0]};
  const int32_t real = a[0] + b[0] + real_turned(odd, by);
  const int32_t imaginary = a[1] - b[1] + imaginary_turned(odd, by);
  return (uint64_t)((int64_t)real * real) + (uint64_t)((int64_t)imaginary * imaginary);
}

/* In 1/2^15; of 0: less than anything. */
static int32_t log2_of(uint64_t v) {
  int shift, whole = 63, at;
  if (v == 0) return -(64 << 15);
  for (shift = 32; shift; shift /= 2)
    if (!(v >> (64 - shift))) {
      v <<= shift;
      whole -= shift;
    }
  at = (int)(v >> 57 & 63);
  return (whole << 15) + log2_steps[at] +
         (int32_t)((log2_steps[at + 1] - log2_steps[at]) * (int32_t)(v >> 42 & 0x7fff) >> 15);
}

void mlperf_tiny_features(const int16_t samples[kWindow], int16_t before,
                          int8_t features[kFeatures]) {
  /* From edge m to edge m + 1 filter m rises and filter m - 1 falls by the same. Sums of all
     filters are below 2^60, as 512 times the squares of the samples are. */
  uint64_t energy[kFeatures + 2] = {0};
  int m, k;
  load_window(samples, before);
  transform();
  for (m = 0; m <= kFeatures; m++)
    for (k = mel_edge[m]; k < mel_edge[m + 1]; k++) {
      const uint64_t whole = power(k) >> 16, rising = whole * mel_rise[k - 1];
      energy[m] += (whole << 15) - rising;
      energy[m + 1] += rising;
    }
  for (m = 0; m < kFeatures; m++) {
    int32_t step = (int32_t)((int64_t)log2_of(energy[m + 1]) * FEATURE_GAIN >> 19) + FEATURE_OFFSET;
    if (step < FEATURE_LEAST) step = FEATURE_LEAST;
    if (step > FEATURE_MOST) step = FEATURE_MOST;
    features[m] = (int8_t)(step < 0 ? -(-step >> 16) : step >> 16);
  }
}
