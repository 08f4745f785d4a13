// SPDX-License-Identifier: Apache-2.0
// Options of a model whose texts say several things (ModelOptions); the options themselves are
// declared in cli/compile_model.h.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/options.h"

namespace deuteron {

// --precision KIND[:LIMIT[,LIMIT]]: "int8", "mixed:cost=10%,db=30", "int4:loss=0.5".
struct PrecisionOption {
  NetworkPrecision kind = NetworkPrecision::int8;
  std::optional<double> max_cost;                // a share, of mixed: more instructions than int8
  std::optional<double> target_db, max_loss_db;  // of mixed and int4, of int4
  // What is wrong with the text, with what is allowed; empty: nothing.
  std::string read(std::string_view text);
};

// --io: kinds with commas between them.
struct PortsOption {
  PortTypes types = PortTypes::model;
  bool contiguous = false;
  std::vector<std::string> bytes;  // inputs that come as bytes; "" is the only one
  std::string read(std::string_view text);
};

}  // namespace deuteron
