// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/neutron/kernels/table/call.h"
#include "backends/neutron_model/cycles.h"
#include "backends/neutron_model/traffic.h"

namespace deuteron::neutron {

constexpr Cost cost_of(const Machine& m, Kind, const TableCall& a) { return cycles::element_wise(m, a.count, 2 * int64_t{a.count} + 256); }

constexpr int64_t bytes_of(Kind, const TableCall& a) { return 2 * int64_t{a.count} + 256; }

}  // namespace deuteron::neutron
