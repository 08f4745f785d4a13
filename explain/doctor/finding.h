// SPDX-License-Identifier: Apache-2.0
// What the doctor finds: one thing that costs, where it is, why, and what to change.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor/type.h"

namespace deuteron {

// What a finding costs. Numbers of different units are not weighed against each other: concerns
// come in this order, and within one the dearest first.
enum class Concern : u8 { fit, answers, time, accuracy, ram, flash };
std::string_view name_of(Concern);  // "fit", "answers", ..
std::string_view unit_of(Concern);  // of `cost`: "bytes", "cycles", "dB", "bytes", "bytes"

// Kinds of findings, their texts, and the option that may mend each: explain/doctor/kinds.inc.
enum class FindingKind : u8 {
#define KIND(name, concern, attempt, why, change, code) name,
#include "explain/doctor/kinds.inc"
#undef KIND
};

struct FindingPlace {
  std::string name;       // "backbone.7.conv"
  std::string operators;  // "conv2d_7 (aten.conv2d.default)"; empty: no operator of the user's
  std::string line;  // "nets.py:50 in forward: x = self.conv(x)"; empty: the model does not say
};

struct Finding {
  FindingKind kind;
  Concern concern;
  std::string rule;  // "neutron.conv2d.taps", "doctor.float_ports"
  std::string what;  // a sentence without a full stop
  std::vector<FindingPlace> where;
  double cost = -1;  // -1: not known
  std::string cost_text;
  std::string why, change, code;
  std::string attempt;  // the option that may mend it: "--io int8"; empty: only the model can
};

// With the texts of its kind. The rule is doctor.<kind>.
Finding finding_of(FindingKind kind, std::string what, std::vector<FindingPlace> where, double cost,
                   std::string cost_text);

// The order in which they are told. Findings of equal cost keep theirs.
void rank(std::vector<Finding>& findings);

}  // namespace deuteron
