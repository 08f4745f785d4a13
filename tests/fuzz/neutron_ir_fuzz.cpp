// SPDX-License-Identifier: Apache-2.0
// Neutron IR through the converter; what it accepts, the driver must accept. The same bytes as a
// converted model and as a payload.
#include <cstdlib>

#include "npu/neutron/converter/converter.h"
#include "npu/neutron/converter/run_extracted.h"
#include "npu/neutron/delegate/payload.h"
#include "npu/neutron/machine/test_machine.h"

using namespace deuteron;
using namespace deuteron::neutron;

constexpr i64 kMostMemory = 1 << 24;  // of what is run

extern "C" int LLVMFuzzerTestOneInput(const u8* data, size_t size) {
  const std::vector<u8> bytes(data, data + size);
  Diagnostics d;
  (void)extract(bytes, "fuzz", d);
  NeutronPayload payload;
  (void)read_payload(bytes.data(), static_cast<uint32_t>(bytes.size()), &payload);
  for (const bool fetch : {false, true}) {
    ConvertOptions options;
    options.machine = n3_64();
    options.fetch_constants_to_sram = fetch;
    Diagnostics of_converter;
    const auto c = convert(bytes, options, of_converter);
    if (c.has_value() == of_converter.has_errors()) std::abort();
    if (!c || c->scratch_bytes + c->sram_bytes > kMostMemory) continue;
    i64 work = 0;
    for (const KernelUse& k : c->kernels) work += k.cost.total();
    const auto e = extract(c->model, "fuzz", of_converter);
    if (!e) std::abort();
    if (work > kMostMemory) continue;
    const std::vector<std::vector<u8>> inputs(static_cast<size_t>(e->model_inputs),
                                              std::vector<u8>(1 << 12, 17));
    if (run_extracted(*e, inputs).error != kNeutronOk) std::abort();
  }
  return 0;
}
