// Dequantization for cores with the DSP extension and single-precision floats: four elements a turn.
#include "ops/dequantize/kernel.h"

#if defined(__ARM_FP)
namespace deuteron {

void dequantize_s8_dsp(const DequantizeArgs& args, const int8_t* x, float* y) {
  const DequantizeArgs a = args;  // for all the compiler knows, y might lie over the arguments
#pragma GCC unroll 4
  for (int32_t i = 0; i < a.count; ++i) y[i] = static_cast<float>(x[i] - a.zero) * a.scale;
}

}  // namespace deuteron
#endif
