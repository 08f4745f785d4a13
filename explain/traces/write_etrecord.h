// SPDX-License-Identifier: Apache-2.0
// Writes an ETRecord: what ExecuTorch's Inspector, and `deuteron inspect`, need besides a profile
// to say which operators of the user's model an event belongs to. A ZIP archive of JSON texts
// without compression; the same map gives the same bytes.
//
//   debug_handle_map   instruction -> handles; the handle of operator k is k + 1
//   delegate_map       instruction -> kernel inside the delegate -> handles, under both ids that a
//   profile may have for it: 1000 + running
//                      number (our runtime) and the running number (stock firmware). The extra key
//                      `deuteron`, which the Inspector does not look at, has the whole program map
//                      (explain/report/program_map.h)
//   edge_dialect_exported_program/forward   a node for each operator: target, module hierarchy,
//   stack trace, handle
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace deuteron {

std::vector<uint8_t> write_etrecord(const nlohmann::json& program_map);

}  // namespace deuteron
