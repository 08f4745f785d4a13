// SPDX-License-Identifier: Apache-2.0
// What the driver, the compiler and the reports must know of a kernel's call, beside the kernel
// itself (kernel_table.h). Each folder in npu/neutron/kernels defines one; what is missing does not
// compile or does not link.
#pragma once
#include <cstdint>
#include <cstring>

#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// Whether the kernel only moves bytes: such a call is no work of the user's that a report would
// have to name.
enum class Moves : bool { kNo, kYes };

// `call` points to the structure behind the head.
struct KernelDef {
  int32_t call_words;  // of the structure
  Reason (*check)(const Layout& layout, Kind kind, const void* call);
  Cost (*cost)(const Machine& machine, Kind kind, const void* call);
  int64_t (*bytes)(Kind kind, const void* call);  // of its operands, each counted once
  Moves moves;
};

// Null for a value that is no kind.
const KernelDef* def_of(Kind kind);

#define NEUTRON_KIND(value, name, call, folder) extern const KernelDef folder##_kernel;
#include "npu/neutron/machine/kinds.inc"

template <class Call>
Call decoded(const void* at) {
  Call call;
  std::memcpy(&call, at, sizeof call);
  return call;
}

// From functions of the structure itself.
template <class Call, void (*kCheck)(CallCheck&, Kind, const Call&),
          Cost (*kCost)(const Machine&, Kind, const Call&), int64_t (*kBytes)(Kind, const Call&)>
constexpr KernelDef kernel_def(Moves moves) {
  static_assert(sizeof(Call) % 4 == 0);
  return {static_cast<int32_t>(sizeof(Call) / 4),
          [](const Layout& layout, Kind kind, const void* at) {
            const Call call = decoded<Call>(at);
            CallCheck check(layout);
            kCheck(check, kind, call);
            return check.reason();
          },
          [](const Machine& machine, Kind kind, const void* at) {
            return kCost(machine, kind, decoded<Call>(at));
          },
          [](Kind kind, const void* at) { return kBytes(kind, decoded<Call>(at)); }, moves};
}

}  // namespace deuteron::neutron
