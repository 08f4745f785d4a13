// Portable minimum and maximum.
#include "ops/minimum/kernel.h"

#include "ops/minimum/rows.h"

namespace deuteron {
namespace {

template <class F>
void run(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  extremum([](int32_t count, const int8_t* u, int32_t u_step, const int8_t* v, int32_t v_step,
              int8_t* to) { extremum_row(F{}, count, u, u_step, v, v_step, to); },
           a, x, other, y);
}

}  // namespace

void minimum_s8(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y) { run<Least>(a, x, other, y); }
void maximum_s8(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y) { run<Most>(a, x, other, y); }

}  // namespace deuteron
