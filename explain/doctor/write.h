// SPDX-License-Identifier: Apache-2.0
// Findings as text for a person and as JSON.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "explain/doctor/finding.h"

namespace deuteron {

// A program made with other options.
struct Attempt {
  std::string option;  // "--io int8"
  std::string result;  // "2 429 494 cycles (-63.4 %); RAM .."; or why there is none
  bool has_program = false;
  double gain_db = 0;
};

std::string findings_text(const std::vector<Finding>& findings,
                          const std::vector<Attempt>& attempts);
nlohmann::ordered_json findings_json(const std::vector<Finding>& findings,
                                     const std::vector<Attempt>& attempts);

}  // namespace deuteron
