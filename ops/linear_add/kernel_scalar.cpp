// Addition in one step on cores with neither vectors nor the DSP extension.
#include "ops/linear_add/words.h"

namespace deuteron {

void linear_add_s8_scalar(const LinearAddArgs& a, const int8_t* x, const int8_t* other, int8_t* y) { linear_add_s8_words(a, x, other, y); }

}  // namespace deuteron
