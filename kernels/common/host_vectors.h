// SPDX-License-Identifier: Apache-2.0
// Intel's names of vector instructions, for kernels of a host, and what several of them do with
// these.
#pragma once
#include <cstdint>

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)  // gcc 12 warns of its own header:
                                              // _mm512_undefined_epi32() reads what it declares
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

namespace deuteron {

#define DEUTERON_VNNI gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")
#define DEUTERON_VNNI_INLINE DEUTERON_VNNI, gnu::always_inline

inline bool host_has_vnni() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}

// Adds 128 to every element, as uint8. Writes up to 63 bytes more.
[[DEUTERON_VNNI]] inline void copy_as_unsigned(const int8_t* from, int32_t count, uint8_t* to) {
  const __m512i sign = _mm512_set1_epi8(-128);
  int32_t i = 0;
  for (; i + 64 <= count; i += 64)
    _mm512_storeu_si512(to + i, _mm512_xor_si512(sign, _mm512_loadu_si512(from + i)));
  if (i == count) return;
  const __mmask64 rest = ~uint64_t{0} >> (64 - (count - i));
  _mm512_storeu_si512(to + i, _mm512_xor_si512(sign, _mm512_maskz_loadu_epi8(rest, from + i)));
}

}  // namespace deuteron
#endif
