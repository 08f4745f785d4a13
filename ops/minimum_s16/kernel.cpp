#include "ops/minimum_s16/kernel.h"

#include "ops/minimum/rows.h"

namespace deuteron {
namespace {

template <class F>
void run(const ExtremumArgs& a, const int16_t* x, const int16_t* other, int16_t* y) {
  extremum([](int32_t count, const int16_t* u, int32_t u_step, const int16_t* v, int32_t v_step,
              int16_t* to) { extremum_row(F{}, count, u, u_step, v, v_step, to); },
           a, x, other, y);
}

}  // namespace

void minimum_s16(const ExtremumArgs& a, const int16_t* x, const int16_t* other, int16_t* y) { run<Least>(a, x, other, y); }
void maximum_s16(const ExtremumArgs& a, const int16_t* x, const int16_t* other, int16_t* y) { run<Most>(a, x, other, y); }

}  // namespace deuteron
