// Intel's names of vector instructions, for kernels of a host.
#pragma once

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)  // gcc 12 warns of its own header: _mm512_undefined_epi32() reads what it declares
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#endif
