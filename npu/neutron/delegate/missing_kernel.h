// SPDX-License-Identifier: Apache-2.0
// Which NPU kernel a firmware was linked without, when the open machine model refuses a payload for
// that reason.
#pragma once
#include <cstdint>

namespace deuteron {

// "the NPU kernel Softmax is not linked in"; null: `error`, the answer to prepare, says something
// else. The payload must have been read before (npu/neutron/delegate/payload.h).
const char* missing_kernel(const uint8_t* payload, uint32_t payload_bytes, int32_t error);

}  // namespace deuteron
