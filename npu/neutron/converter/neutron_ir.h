// SPDX-License-Identifier: Apache-2.0
// Neutron IR: a partition as a LiteRT (TFLite) model, int8, channels-last, that any interpreter of
// that format runs. It is what a converter, ours or the vendor's, takes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace deuteron::neutron {

struct NeutronIr {
  std::vector<uint8_t>
      flatbuffer;  // one subgraph; its inputs and outputs are those of the body, in order
  std::vector<Origin> origins;  // by operator of the subgraph
};

// The body after to_neutron_forms(), whose nodes have passed the checks of the NPU. A node may
// become several operators, and a permute that a matrix product takes as a flag none.
NeutronIr write_neutron_ir(const Graph& body);

}  // namespace deuteron::neutron
