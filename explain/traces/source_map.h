// SPDX-License-Identifier: Apache-2.0
// The program map (explain/report/program_map.h) as the inspector reads it: from a record, from a
// report, or made up from what a stock record has. Everything that it refers to by number is
// checked to exist.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor/type.h"

namespace deuteron {

struct MapOperator {
  std::string name, target, module, placement, reason;
};
// A call of the program, or a kernel inside a delegate's call.
struct MapKernel {
  i64 id = 0;  // instruction, or number inside the delegate's call
  std::string kernel, placement;
  std::vector<i64> operators;  // sorted, each once
  bool added = false;
  i64 macs = -1, bytes = -1, predicted_cycles = -1;  // -1: not known
  i64 apart_cycles = 0;  // of a kernel that the open machine is assumed to have: of the two that
                         // would take its place; else 0
  std::string bound;
  std::string open;  // what is not known of its operators, and why; empty: nothing
  std::vector<MapKernel> inside;
};
struct SourceMap {
  std::string program_id, model, target;
  std::vector<MapOperator> operators;
  std::vector<MapKernel> calls;
  bool npu_is_open_model = false;  // so its ticks are the predicted ones by construction
  bool is_stock = false;  // made from a stock record: calls have no kernels' names or costs
  nlohmann::json
      json;  // the whole map as it was, for the page; of a stock record what could be made of it

  const MapKernel* call(i64 instruction) const;  // null: not in the map
};
const MapKernel* find_kernel(const MapKernel& call, i64 id);

// Takes a map apart. `where` is for messages.
std::optional<SourceMap> read_source_map(nlohmann::json json, const std::string& where,
                                         Diagnostics& diagnostics);

}  // namespace deuteron
