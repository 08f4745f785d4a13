// Multiplication for Cortex-M3.
#include "runtime/instruction_set.h"

#if defined(DEUTERON_THUMB2)
#include "ops/mul/words.h"

namespace deuteron {

void mul_s8_scalar(const MulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) { mul_s8_words(a, x, other, y); }

}  // namespace deuteron
#endif
