// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/prepare_channels.h"

namespace deuteron {

bool have_channels(const Call& call, int32_t channels, Status* why) {
  if (channels < 1 || call.tensor(0).numel % channels != 0)
    return refuse(why, 2, "must have an element for each channel");
  return call.tensor(1).numel == channels ||
         refuse(why, 1, "must have as many elements as the factor");
}

}  // namespace deuteron
