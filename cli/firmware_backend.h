// SPDX-License-Identifier: Apache-2.0
// deuteron firmware --as executorch: the backend that runs parts in ExecuTorch's own runtime, with
// the kernels of these.
#pragma once
#include "cli/firmware_as.h"

namespace deuteron {

int firmware_backend(const FirmwareAs& options);

}  // namespace deuteron
