// SPDX-License-Identifier: Apache-2.0
// What the kernels have in common: how they are defined, and the end of every sum. Scalar results
// only; the loops are each kernel's own.
#pragma once
#include <cstdint>
#include <cstring>

#include "kernels/integer/requantize.h"
#include "npu/neutron/machine/kernel_table.h"
#include "npu/neutron/machine/memory.h"
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

#define NEUTRON_KIND(value, name, call, folder) struct call;
#include "npu/neutron/machine/kinds.inc"
// The structure of a kind's calls.
template <Kind>
struct CallOf;
#define NEUTRON_KIND(value, name, call, folder) \
  template <>                                   \
  struct CallOf<Kind::k##name> {                \
    using type = call;                          \
  };
#include "npu/neutron/machine/kinds.inc"

}  // namespace deuteron::neutron

// extern "C" int32_t neutron_kernel_NAME(call, memory) around a body in deuteron::neutron that is
// given the kind, its call `a` and `memory`.
#define DEUTERON_NEUTRON_KERNEL(name, ...)                                     \
  extern "C" int32_t neutron_kernel_##name(const void* call, const void* at) { \
    using namespace deuteron::neutron;                                         \
    [[maybe_unused]] constexpr Kind kind = Kind::k##name;                      \
    const auto& a = *static_cast<const CallOf<Kind::k##name>::type*>(call);    \
    [[maybe_unused]] const auto& memory = *static_cast<const Memory*>(at);     \
    __VA_ARGS__;                                                               \
    return 0;                                                                  \
  }

namespace deuteron::neutron {

// Of an output channel. Constants are not looked at before a run, so a shift that no multiplier has
// reads as the nearest one that exists.
struct ChannelParams {
  int32_t bias, multiplier, shift;
};
inline ChannelParams params_of(const int8_t* params, int32_t channel) {
  const int8_t* at = params + int64_t{kParamBytes} * channel;
  ChannelParams p;
  std::memcpy(&p.bias, at, 4);
  std::memcpy(&p.multiplier, at + 4, 4);
  p.shift = clamp_to(at[8], -31, 30);
  return p;
}

// y_zero + rq(sum), in bounds.
inline int8_t finish(int32_t sum, int32_t multiplier, int32_t shift, int32_t y_zero, int32_t y_min,
                     int32_t y_max) {
  const uint32_t scaled = static_cast<uint32_t>(requantize(sum, multiplier, shift));
  // The zero point is added without wrapping: a result beyond int32 would change its sign.
  const int64_t y = int64_t{static_cast<int32_t>(scaled)} + y_zero;
  return static_cast<int8_t>(y < y_min ? y_min : y > y_max ? y_max : static_cast<int32_t>(y));
}

}  // namespace deuteron::neutron
