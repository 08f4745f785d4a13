// SPDX-License-Identifier: Apache-2.0
#include "compile/cost/npu_cost.h"

#include "npu/neutron/converter/converter.h"
#include "npu/neutron/converter/forms.h"
#include "npu/neutron/converter/neutron_ir.h"
#include "targets/target.h"

namespace deuteron {

std::optional<NpuCost> npu_cost(Graph body, const Npu& npu, bool fetch_constants_to_sram) {
  neutron::to_neutron_forms(body, nullptr);
  neutron::ConvertOptions options;
  options.machine = npu.machine;
  options.fetch_constants_to_sram = fetch_constants_to_sram;
  Diagnostics ignored;
  const std::optional<neutron::Converted> converted =
      neutron::convert(neutron::write_neutron_ir(body).flatbuffer, options, ignored);
  if (!converted) return std::nullopt;
  NpuCost cost{0, converted->microcode_bytes + converted->weights_bytes};
  for (const neutron::KernelUse& use : converted->kernels) cost.cycles += use.cost.total();
  return cost;
}

}  // namespace deuteron
