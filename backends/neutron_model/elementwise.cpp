// Kernels that work element for element: pairs with broadcasting, parametric rectifier, change of scale, tables; and softmax.
#include "backends/neutron_model/kernel.h"
#include "ops/softmax/kernel.h"
#include "ops/unary/kernel.h"

namespace deuteron::neutron {
namespace {

// Calls y[i] = of(x[i], other[i]) along both tensors' strides; y follows without gaps.
template <class Of>
void pairs(const int32_t (&extent)[kMaxRank], const int8_t* x, const int32_t* x_stride, const int8_t* other, const int32_t* other_stride,
           int8_t* y, Of of) {
  const Walk walk = walk_of(extent, x_stride, other_stride, nullptr);
  const int last = walk.rank - 1;
  const int32_t count = walk.extent[last], x_step = walk.stride[0][last], other_step = walk.stride[1][last];
  for_each_row(walk, [&](int32_t x_at, int32_t other_at, int32_t) {
    for (int32_t i = 0; i < count; ++i) *y++ = of(x[x_at + int64_t{i} * x_step], other[other_at + int64_t{i} * other_step]);
  });
}

template <class Of>
void pairs(const PairCall& a, const Memory& memory, Of of) {
  pairs(a.extent, memory.read(a.x), a.x_stride, memory.read(a.other), a.other_stride, memory.write(a.y), of);
}

void add(const PairCall& a, const Memory& memory, bool subtract) {
  pairs(a, memory, [&a, subtract](int32_t x, int32_t other) {
    const int32_t u = aligned_term(x, a.x_zero, a.left_shift, a.x_multiplier, a.x_shift);
    const int32_t v = aligned_term(other, a.other_zero, a.left_shift, a.other_multiplier, a.other_shift);
    return finish(subtract ? subtract_wrapping(u, v) : add_wrapping(u, v), a.y_multiplier, a.y_shift, a.y_zero, a.y_min, a.y_max);
  });
}

void multiply(const PairCall& a, const Memory& memory) {
  pairs(a, memory, [&a](int32_t x, int32_t other) {
    return finish((x - a.x_zero) * (other - a.other_zero), a.y_multiplier, a.y_shift, a.y_zero, a.y_min, a.y_max);
  });
}

void choose(const PairCall& a, const Memory& memory, bool larger) {
  pairs(a, memory, [&a, larger](int32_t x, int32_t other) {
    return static_cast<int8_t>(clamp_to((x > other) == larger ? x : other, a.y_min, a.y_max));
  });
}

void prelu(const PreluCall& a, const Memory& memory) {
  const Strides strides = dense_strides(a.extent);
  pairs(a.extent, memory.read(a.x), strides.of, memory.read(a.alpha), a.alpha_stride, memory.write(a.y), [&a](int32_t x, int32_t alpha) {
    const int32_t v = x - a.x_zero;
    return v >= 0 ? finish(v, a.positive_multiplier, a.positive_shift, a.y_zero, a.y_min, a.y_max)
                  : finish(v * (alpha - a.alpha_zero), a.negative_multiplier, a.negative_shift, a.y_zero, a.y_min, a.y_max);
  });
}

void rescale(const RescaleCall& a, const Memory& memory) {
  const int8_t* x = memory.read(a.x);
  int8_t* y = memory.write(a.y);
  for (int32_t i = 0; i < a.count; ++i) y[i] = finish(x[i] - a.x_zero, a.multiplier, a.shift, a.y_zero, a.y_min, a.y_max);
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(Add, PairCall, deuteron::neutron::add(a, memory, false))
DEUTERON_NEUTRON_KERNEL(Sub, PairCall, deuteron::neutron::add(a, memory, true))
DEUTERON_NEUTRON_KERNEL(Mul, PairCall, deuteron::neutron::multiply(a, memory))
DEUTERON_NEUTRON_KERNEL(Maximum, PairCall, deuteron::neutron::choose(a, memory, true))
DEUTERON_NEUTRON_KERNEL(Minimum, PairCall, deuteron::neutron::choose(a, memory, false))
DEUTERON_NEUTRON_KERNEL(Prelu, PreluCall, deuteron::neutron::prelu(a, memory))
DEUTERON_NEUTRON_KERNEL(GlobalBiasScale, RescaleCall, deuteron::neutron::rescale(a, memory))
DEUTERON_NEUTRON_KERNEL(Table, TableCall, deuteron::lookup_s8(a.count, memory.read(a.table), memory.read(a.x), memory.write(a.y)))
DEUTERON_NEUTRON_KERNEL(Softmax, SoftmaxCall,
                        deuteron::softmax_s8({a.rows, a.columns, a.multiplier, a.shift, a.diff_min}, memory.read(a.x), memory.write(a.y)))
