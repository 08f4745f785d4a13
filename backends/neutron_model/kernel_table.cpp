// The default table: every kernel. Weak, so that a table of the application's own replaces it.
#include "backends/neutron_model/kernel_table.h"

#include "backends/neutron_model/microcode.h"

static_assert(kNeutronKernelKinds == deuteron::neutron::kKinds, "a kind is missing in kernel_table.h");

#define DEUTERON_ENTRY(name) neutron_kernel_##name,
__attribute__((weak)) extern const NeutronKernel neutron_kernel_table[kNeutronKernelKinds] = {
    nullptr, DEUTERON_NEUTRON_KERNEL_NAMES(DEUTERON_ENTRY)};
#undef DEUTERON_ENTRY
#define DEUTERON_ENTRY(name) "neutron::" #name "\0"
__attribute__((weak)) extern const char neutron_kernel_list[] = "\0" DEUTERON_NEUTRON_KERNEL_NAMES(DEUTERON_ENTRY);
#undef DEUTERON_ENTRY

namespace {

// The table is in the order of the kinds.
constexpr const char* kNames[] = {"ProfileDump",
#define DEUTERON_ENTRY(name) #name,
                                  DEUTERON_NEUTRON_KERNEL_NAMES(DEUTERON_ENTRY)
#undef DEUTERON_ENTRY
};
constexpr bool in_order() {
  for (int kind = 0; kind < deuteron::neutron::kKinds; ++kind) {
    const char *want = deuteron::neutron::name_of(static_cast<deuteron::neutron::Kind>(kind)), *have = kNames[kind];
    for (; *want != 0 && *want == *have; ++want, ++have) {}
    if (*want != *have) return false;
  }
  return true;
}
static_assert(in_order(), "kernel_table.h and microcode.h name the kinds in different orders");

}  // namespace
