// SPDX-License-Identifier: Apache-2.0
// Every call of a microcode: that it is whole, and that it keeps its kernel's rules.
#include "npu/neutron/machine/check.h"
#include "npu/neutron/machine/kernel_def.h"
#include "npu/neutron/machine/kernel_table.h"

namespace deuteron::neutron {

Reason check_call(const Layout& layout, Kind kind, const void* call) {
  const KernelDef* def = def_of(kind);
  return def != nullptr ? def->check(layout, kind, call) : Reason::kCallKind;
}

NeutronError check_calls(const Layout& layout) {
  const int32_t* at = layout.first_call;
  int64_t left = layout.microcode_bytes / 4 - (at - layout.words);
  for (int32_t call = 1; call <= layout.calls; ++call) {
    constexpr int32_t kHead = sizeof(CallHead) / 4;
    if (left < kHead) return error(kNeutronBadMicrocode, Reason::kCallWords, call);
    const int32_t kind = at[0];
    const KernelDef* def = def_of(static_cast<Kind>(kind));
    if (def == nullptr) return error(kNeutronUnsupported, Reason::kCallKind, call);
    if (at[1] != kHead + def->call_words || left < at[1])
      return error(kNeutronBadMicrocode, Reason::kCallWords, call);
    if (neutron_kernel_table[kind] == nullptr)
      return error(kNeutronUnsupported, Reason::kKernelNotLinked, call);
    const Reason reason = def->check(layout, static_cast<Kind>(kind), at + kHead);
    if (reason != Reason::kNone) return error(kNeutronBadMicrocode, reason, call);
    left -= at[1];
    at += at[1];
  }
  if (left != 0) return error(kNeutronBadMicrocode, Reason::kCallWords);
  return kNeutronOk;
}

}  // namespace deuteron::neutron
