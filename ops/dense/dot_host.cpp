#include "ops/dense/dot_host.h"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)  // gcc 12 warns of its own header: _mm512_undefined_epi32() reads what it declares
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include <cstring>
#endif

namespace deuteron {

#if defined(__x86_64__)
namespace {

constexpr int32_t kWindows = 4;                          // at a time
constexpr int32_t kBlockBytes = kHostBlock * kHostTile;  // of a tile

#define DEUTERON_VNNI gnu::target("avx512f,avx512bw,avx512vnni")

// A block of a window for each filter of a tile.
[[DEUTERON_VNNI]] inline __m512i repeated(const uint8_t* x) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}
// A number of each filter, in its lane.
[[DEUTERON_VNNI]] inline __m512i each(const int32_t* v) {
  return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3),
                                  _mm512_castsi128_si512(_mm_loadu_si128(reinterpret_cast<const __m128i*>(v))));
}
[[gnu::target("avx2")]] inline __m256i both(const int32_t* v) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(v)));
}

// 64 products an instruction: VPDPBUSD multiplies a window's block, repeated for each filter, by the block of a tile. Four windows share
// the weights. A lane of 128 bits is a filter.
[[DEUTERON_VNNI]] void run_vnni(const HostTile& t, const uint8_t* windows, int32_t count, int8_t* y) {
  const int32_t bytes = t.blocks * kHostBlock;
  __m512i weights = _mm512_setzero_si512();  // their sums, which the 128 of every element has been multiplied by
  for (int32_t b = 0; b < t.blocks; ++b)
    weights = _mm512_dpbusd_epi32(weights, _mm512_set1_epi8(1), _mm512_loadu_si512(t.weights + b * kBlockBytes));
  weights = _mm512_add_epi32(weights, _mm512_shuffle_epi32(weights, _MM_PERM_BADC));
  weights = _mm512_add_epi32(weights, _mm512_shuffle_epi32(weights, _MM_PERM_CDAB));
  const __m512i first = _mm512_sub_epi32(each(t.first), _mm512_slli_epi32(weights, 7)), multiplier = each(t.multiplier);
  const __m512i half = _mm512_set1_epi64(int64_t{1} << (t.shift - 1)), zero = _mm512_set1_epi32(t.zero);
  const __m128i right = _mm_cvtsi32_si128(t.shift), left = _mm_cvtsi32_si128(32 - t.shift);
  const __m128i by_window = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  for (int32_t w = 0; w < count; w += kWindows, windows += kWindows * bytes, y += kWindows * kHostTile) {
    __m512i s0 = _mm512_setzero_si512(), s1 = s0, s2 = s0, s3 = s0;
    const int8_t* weight = t.weights;
    for (const uint8_t* x = windows; x < windows + bytes; x += kHostBlock, weight += kBlockBytes) {
      const __m512i v = _mm512_loadu_si512(weight);
      s0 = _mm512_dpbusd_epi32(s0, repeated(x), v);
      s1 = _mm512_dpbusd_epi32(s1, repeated(x + bytes), v);
      s2 = _mm512_dpbusd_epi32(s2, repeated(x + 2 * bytes), v);
      s3 = _mm512_dpbusd_epi32(s3, repeated(x + 3 * bytes), v);
    }
    const __m512i s01 = _mm512_add_epi32(_mm512_unpacklo_epi32(s0, s1), _mm512_unpackhi_epi32(s0, s1));
    const __m512i s23 = _mm512_add_epi32(_mm512_unpacklo_epi32(s2, s3), _mm512_unpackhi_epi32(s2, s3));
    const __m512i sum = _mm512_add_epi32(first, _mm512_add_epi32(_mm512_unpacklo_epi64(s01, s23), _mm512_unpackhi_epi64(s01, s23)));
    const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(sum, multiplier), half);
    const __m512i odd = _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(sum, 32), multiplier), half);
    const __m512i scaled = _mm512_mask_blend_epi32(0xaaaa, _mm512_srl_epi64(even, right), _mm512_sll_epi64(odd, left));
    const __m128i out = _mm512_cvtsepi32_epi8(_mm512_add_epi32(scaled, zero));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y), _mm_shuffle_epi8(out, by_window));
  }
}

// 16 products an instruction: VPMADDWD on elements widened to int16. Two windows and four filters at a time.
[[gnu::target("avx2")]] void run_avx2(const HostTile& t, const uint8_t* windows, int32_t count, int8_t* y) {
  const int32_t bytes = t.blocks * kHostBlock;
  int32_t first[kHostTile];
  for (int32_t f = 0; f < kHostTile; ++f) {
    uint32_t sum = 0;
    for (int32_t b = 0; b < t.blocks; ++b)
      for (int32_t e = 0; e < kHostBlock; ++e) sum += static_cast<uint32_t>(int32_t{t.weights[b * kBlockBytes + f * kHostBlock + e]});
    first[f] = static_cast<int32_t>(static_cast<uint32_t>(t.first[f]) - 128 * sum);
  }
  const __m256i begin = both(first), multiplier = both(t.multiplier), half = _mm256_set1_epi64x(int64_t{1} << (t.shift - 1));
  const __m256i zero = _mm256_set1_epi32(t.zero);
  const __m128i right = _mm_cvtsi32_si128(t.shift), left = _mm_cvtsi32_si128(32 - t.shift);
  for (int32_t w = 0; w < count; w += 2, windows += 2 * bytes, y += 2 * kHostTile) {
    __m256i s[2][kHostTile] = {};
    const int8_t* weight = t.weights;
    for (const uint8_t* x = windows; x < windows + bytes; x += kHostBlock, weight += kBlockBytes) {
      const __m256i x0 = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
      const __m256i x1 = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + bytes)));
      for (int32_t f = 0; f < kHostTile; ++f) {
        const __m256i v = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weight + f * kHostBlock)));
        s[0][f] = _mm256_add_epi32(s[0][f], _mm256_madd_epi16(x0, v));
        s[1][f] = _mm256_add_epi32(s[1][f], _mm256_madd_epi16(x1, v));
      }
    }
    // Lanes of 128 bits: the four filters of window 0, of window 1.
    const __m256i a = _mm256_hadd_epi32(_mm256_hadd_epi32(s[0][0], s[0][1]), _mm256_hadd_epi32(s[0][2], s[0][3]));
    const __m256i b = _mm256_hadd_epi32(_mm256_hadd_epi32(s[1][0], s[1][1]), _mm256_hadd_epi32(s[1][2], s[1][3]));
    const __m256i sum =
        _mm256_add_epi32(begin, _mm256_add_epi32(_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31)));
    const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(sum, multiplier), half);
    const __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(sum, 32), _mm256_srli_epi64(multiplier, 32)), half);
    const __m256i scaled = _mm256_blend_epi32(_mm256_srl_epi64(even, right), _mm256_sll_epi64(odd, left), 0xaa);
    const __m256i words = _mm256_add_epi32(scaled, zero);
    const __m256i out = _mm256_packs_epi16(_mm256_packs_epi32(words, words), words);
    const int32_t y0 = _mm256_extract_epi32(out, 0), y1 = _mm256_extract_epi32(out, 4);
    std::memcpy(y, &y0, sizeof y0);
    std::memcpy(y + kHostTile, &y1, sizeof y1);
  }
}

HostTileKernels find_kernels() {
  HostTileKernels found{};
  const bool has_vnni = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni");
  if (has_vnni) found.kernel[found.count++] = run_vnni;
  if (__builtin_cpu_supports("avx2")) found.kernel[found.count++] = run_avx2;
  return found;
}

}  // namespace

const HostTileKernels& host_tile_kernels() {
  static const HostTileKernels found = find_kernels();
  return found;
}

#else

const HostTileKernels& host_tile_kernels() {
  static constexpr HostTileKernels kNone{};
  return kNone;
}

#endif

}  // namespace deuteron
