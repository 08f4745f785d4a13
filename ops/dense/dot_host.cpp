#include "ops/dense/dot_host.h"

#include <cstring>

#include "ops/device/host_vectors.h"

namespace deuteron {

#if defined(__x86_64__)
namespace {

constexpr int32_t kBlockBytes = kHostBlock * kHostTile;  // of a tile

#define DEUTERON_VNNI gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")

// A block of a window for each filter of a tile.
[[DEUTERON_VNNI]] inline __m512i repeated(const uint8_t* x) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}
[[gnu::target("avx2")]] inline __m256i both(const int32_t* v) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(v)));
}

// The results of four filters, of each tile in its place.
inline void put(const HostPanel& p, int32_t tile, const int8_t* results, int8_t* place) {
  if (p.filters == kHostTile) std::memcpy(place + p.offset[tile], results, kHostTile);
  else std::memcpy(place + p.offset[tile], results, static_cast<size_t>(p.filters));
}

// Four vectors, each with four parts of a sum in a lane: lane f of the result has the sums of their lanes f.
[[DEUTERON_VNNI]] inline __m512i added(__m512i a, __m512i b, __m512i c, __m512i d) {
  const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  const __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
  return _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
}

// 64 products an instruction: VPDPBUSD multiplies a window's block, repeated for each filter, by the block of a tile. Four windows share
// the weights of all tiles, and these share the windows. A lane of 128 bits is a filter; in what is added up, a lane has it of each tile.
template <int32_t kTiles>
[[DEUTERON_VNNI]] void run_tiles_vnni(const HostPanel& p, const uint8_t* const* windows, int8_t* const* places, int32_t count) {
  const int32_t bytes = p.blocks * kHostBlock;
  __m512i weights[kHostTiles] = {};  // their sums, which the 128 of every element has been multiplied by
  for (int32_t t = 0; t < kTiles; ++t)
    for (int32_t b = 0; b < p.blocks; ++b)
      weights[t] = _mm512_dpbusd_epi32(weights[t], _mm512_set1_epi8(1), _mm512_loadu_si512(p.weights[t] + b * kBlockBytes));
  const __m512i by_lane = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);  // number f of each tile in lane f
  const __m512i all = _mm512_permutexvar_epi32(by_lane, _mm512_loadu_si512(p.first));
  const __m512i first = _mm512_sub_epi32(all, _mm512_slli_epi32(added(weights[0], weights[1], weights[2], weights[3]), 7));
  const __m512i multiplier = _mm512_permutexvar_epi32(by_lane, _mm512_loadu_si512(p.multiplier)),
                odd_multiplier = _mm512_srli_epi64(multiplier, 32);
  const __m512i half = _mm512_set1_epi64(int64_t{1} << (p.shift - 1)), zero = _mm512_set1_epi32(p.zero);
  const __m128i right = _mm_cvtsi32_si128(p.shift), left = _mm_cvtsi32_si128(32 - p.shift);
  const __m128i by_tile = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const bool is_row = kTiles == kHostTiles && p.filters == kHostTile && p.offset[1] == 4 && p.offset[2] == 8 && p.offset[3] == 12;
  for (int32_t w = 0; w < count; w += kHostWindows) {
    const uint8_t *x0 = windows[w], *x1 = windows[w + 1], *x2 = windows[w + 2], *x3 = windows[w + 3];
    __m512i s[kHostWindows][kHostTiles] = {};
    for (int32_t e = 0; e < bytes; e += kHostBlock) {
      __m512i v[kTiles];
      for (int32_t t = 0; t < kTiles; ++t) v[t] = _mm512_loadu_si512(p.weights[t] + e * kHostTile);
      const __m512i block[kHostWindows] = {repeated(x0 + e), repeated(x1 + e), repeated(x2 + e), repeated(x3 + e)};
      for (int32_t i = 0; i < kHostWindows; ++i)
        for (int32_t t = 0; t < kTiles; ++t) s[i][t] = _mm512_dpbusd_epi32(s[i][t], block[i], v[t]);
    }
    for (int32_t i = 0; i < kHostWindows && w + i < count; ++i) {
      const __m512i sum = _mm512_add_epi32(first, added(s[i][0], s[i][1], s[i][2], s[i][3]));
      const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(sum, multiplier), half);
      const __m512i odd = _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(sum, 32), odd_multiplier), half);
      const __m512i scaled = _mm512_mask_blend_epi32(0xaaaa, _mm512_srl_epi64(even, right), _mm512_sll_epi64(odd, left));
      const __m128i out = _mm_shuffle_epi8(_mm512_cvtsepi32_epi8(_mm512_add_epi32(scaled, zero)), by_tile);
      if (is_row) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(places[w + i] + p.offset[0]), out);
      } else {
        alignas(16) int8_t results[kHostTiles * kHostTile];
        _mm_store_si128(reinterpret_cast<__m128i*>(results), out);
        for (int32_t t = 0; t < kTiles; ++t) put(p, t, results + t * kHostTile, places[w + i]);
      }
    }
  }
}

void run_vnni(const HostPanel& p, const uint8_t* const* windows, int8_t* const* places, int32_t count) {
  constexpr HostPanelKernel kKernels[] = {run_tiles_vnni<1>, run_tiles_vnni<2>, run_tiles_vnni<3>, run_tiles_vnni<4>};
  kKernels[p.tiles - 1](p, windows, places, count);
}

// 16 products an instruction: VPMADDWD on elements widened to int16. Two windows and four filters at a time.
[[gnu::target("avx2")]] void run_tile_avx2(const HostPanel& p, int32_t t, const uint8_t* const* windows, int8_t* const* places,
                                           int32_t count) {
  const int32_t bytes = p.blocks * kHostBlock;
  int32_t first[kHostTile];
  for (int32_t f = 0; f < kHostTile; ++f) {
    uint32_t sum = 0;
    for (int32_t b = 0; b < p.blocks; ++b)
      for (int32_t e = 0; e < kHostBlock; ++e) sum += static_cast<uint32_t>(int32_t{p.weights[t][b * kBlockBytes + f * kHostBlock + e]});
    first[f] = static_cast<int32_t>(static_cast<uint32_t>(p.first[t][f]) - 128 * sum);
  }
  const __m256i begin = both(first), multiplier = both(p.multiplier[t]), half = _mm256_set1_epi64x(int64_t{1} << (p.shift - 1));
  const __m256i zero = _mm256_set1_epi32(p.zero);
  const __m128i right = _mm_cvtsi32_si128(p.shift), left = _mm_cvtsi32_si128(32 - p.shift);
  for (int32_t w = 0; w < count; w += 2) {
    __m256i s[2][kHostTile] = {};
    const int8_t* weight = p.weights[t];
    for (int32_t e = 0; e < bytes; e += kHostBlock, weight += kBlockBytes) {
      const __m256i x0 = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(windows[w] + e)));
      const __m256i x1 = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(windows[w + 1] + e)));
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
    alignas(32) int8_t results[32];
    _mm256_store_si256(reinterpret_cast<__m256i*>(results), _mm256_packs_epi16(_mm256_packs_epi32(words, words), words));
    put(p, t, results, places[w]);
    if (w + 1 < count) put(p, t, results + 16, places[w + 1]);
  }
}
void run_avx2(const HostPanel& p, const uint8_t* const* windows, int8_t* const* places, int32_t count) {
  for (int32_t t = 0; t < p.tiles; ++t) run_tile_avx2(p, t, windows, places, count);
}

HostKernels<HostPanelKernel> find_kernels() {
  HostKernels<HostPanelKernel> found{};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vnni"))
    found.kernel[found.count++] = run_vnni;
  if (__builtin_cpu_supports("avx2")) found.kernel[found.count++] = run_avx2;
  return found;
}

}  // namespace

const HostKernels<HostPanelKernel>& host_panel_kernels() {
  static const HostKernels<HostPanelKernel> found = find_kernels();
  return found;
}

#else

const HostKernels<HostPanelKernel>& host_panel_kernels() {
  static constexpr HostKernels<HostPanelKernel> kNone{};
  return kNone;
}

#endif

}  // namespace deuteron
