// The windows of an int16 convolution, two at a time, as the inner loops want them: where they lie in x, or gathered in scratch.
#pragma once
#include <cstring>

#include "ops/conv2d_s16/kernel.h"
#include "ops/image/window.h"
#include "runtime/instruction_set.h"
#if defined(DEUTERON_MVE)
#include <arm_mve.h>
#endif

namespace deuteron {

// Copies elements of int16. On a core vectors or words at a time, where a call of memcpy costs more than it moves.
inline int16_t* copy_s16(const int16_t* from, int32_t count, int16_t* to) {
#if defined(DEUTERON_MVE)
  for (int32_t i = 0; i < count; i += 8) {
    const mve_pred16_t here = vctp16q(static_cast<uint32_t>(count - i));
    vst1q_p_s16(to + i, vld1q_z_s16(from + i, here), here);
  }
  return to + count;
#elif defined(DEUTERON_MICROCONTROLLER)
  for (; count >= 4; count -= 4, from += 4, to += 4) {
    uint32_t a, b;
    std::memcpy(&a, from, 4), std::memcpy(&b, from + 2, 4);
    std::memcpy(to, &a, 4), std::memcpy(to + 2, &b, 4);
  }
  for (; count > 0; --count) *to++ = *from++;
  return to;
#else
  std::memcpy(to, from, static_cast<size_t>(count) * 2);
  return to + count;
#endif
}
inline int16_t* clear_s16(int32_t count, int16_t* to) {
  for (; count > 0; --count) *to++ = 0;
  return to;
}

// One window, row of taps by row of taps; taps outside of the image are 0. What lies behind its last element stays as it is.
inline void gather_s16(const Conv2dS16Args& a, const int16_t* image, int32_t ih, int32_t iw, int16_t* to) {
  const Taps w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
  const int32_t c = a.in_c, left = w.first * c, inside = (w.end - w.first) * c, right = (a.kernel_w - w.end) * c;
  for (int32_t kh = 0; kh < a.kernel_h; ++kh, ih += a.dilation_h) {
    if (ih < 0 || ih >= a.in_h) {
      to = clear_s16(a.kernel_w * c, to);
      continue;
    }
    to = clear_s16(left, to);
    const int16_t* from = image + (ih * a.in_w + iw + w.first * a.dilation_w) * c;
    if (a.dilation_w == 1) to = copy_s16(from, inside, to);
    else
      for (int32_t t = w.first; t < w.end; ++t, from += a.dilation_w * c) to = copy_s16(from, c, to);
    to = clear_s16(right, to);
  }
}

// Calls two(x0, x1, y0, y1) for windows and the places of their results; the last one of an odd number goes to one(x, y).
template <class Two, class One>
void each_window_s16(const Conv2dS16Args& a, const int16_t* x, void* scratch, int16_t* y, Two two, One one) {
  const bool in_one_piece = conv2d_s16_is_in_one_piece(a);
  const int32_t padded = s16_blocks(a.length()) * kS16Block;
  int16_t* const gathered[2] = {static_cast<int16_t*>(scratch), static_cast<int16_t*>(scratch) + (in_one_piece ? 0 : padded)};
  if (!in_one_piece)
    for (int16_t* window : gathered) clear_s16(padded - a.length(), window + a.length());
  const int16_t* waiting = nullptr;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c)
    for (int32_t oh = 0; oh < a.out_h; ++oh)
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.out_c) {
        const int32_t ih = oh * a.stride_h - a.pad_h, iw = ow * a.stride_w - a.pad_w;
        const int16_t* here = x + (ih * a.in_w + iw) * a.in_c;
        if (!in_one_piece) {
          int16_t* const to = gathered[waiting == nullptr ? 0 : 1];
          gather_s16(a, x, ih, iw, to);
          here = to;
        }
        if (waiting != nullptr) two(waiting, here, y - a.out_c, y), waiting = nullptr;
        else waiting = here;
      }
  if (waiting != nullptr) one(waiting, y - a.out_c);
}

// Element e of filter i of a tile; nothing is assumed of the bytes.
inline int32_t packed_s16_weight(const int8_t* tile, int32_t filter, int32_t e) {
  int16_t w;
  std::memcpy(&w, tile + ((e / kS16Block * kPackedTile + filter) * kS16Block + e % kS16Block) * 2, 2);
  return w;
}

}  // namespace deuteron
