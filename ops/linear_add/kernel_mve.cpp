// Addition in one step with the M-profile Vector Extension, eight elements at a time: VQMOVNT puts the second four between the first, and
// the narrowing store takes the lower byte of each word.
#include <arm_mve.h>

#include "ops/linear_add/kernel.h"

namespace deuteron {

// The arguments by value: for all the compiler knows, y might lie over them.
static void add(const LinearAddArgs a, const int8_t* x, const int8_t* other, int8_t* y) {
  const int32x4_t x_factor = vdupq_n_s32(a.x_factor);
  const auto sum = [&](int32x4_t u, int32x4_t v) {
    return vshrq_n_s32(vmlaq_n_s32(vmlasq_n_s32(u, x_factor, a.first), v, a.other_factor), kLinearAddRight);
  };
  for (int32_t done = 0; done < a.count; done += a.period) {
    const int8_t* from = other;
    for (int32_t i = a.period / 8; i > 0; --i, x += 8, from += 8, y += 8) {
      const int32x4_t low = sum(vldrbq_s32(x), vldrbq_s32(from)), high = sum(vldrbq_s32(x + 4), vldrbq_s32(from + 4));
      const int16x8_t both = vqmovntq_s32(vqmovnbq_s32(vreinterpretq_s16_s32(low), low), high);
      const int32x4_t bytes = vreinterpretq_s32_s8(vqmovnbq_s16(vreinterpretq_s8_s16(both), both));
      vstrbq_s32(y, bytes);
      vstrbq_s32(y + 4, vshrq_n_s32(bytes, 16));
    }
    for (int32_t rest = a.period % 8; rest > 0;) {
      const mve_pred16_t here = vctp32q(static_cast<uint32_t>(rest));
      const int32_t count = rest < 4 ? rest : 4;
      const int32x4_t v = sum(vldrbq_z_s32(x, here), vldrbq_z_s32(from, here));
      vstrbq_p_s32(y, vminq_s32(vmaxq_s32(v, vdupq_n_s32(-128)), vdupq_n_s32(127)), here);
      rest -= count, x += count, from += count, y += count;
    }
  }
}

void linear_add_s8_mve(const LinearAddArgs& a, const int8_t* x, const int8_t* other, int8_t* y) { add(a, x, other, y); }

}  // namespace deuteron
