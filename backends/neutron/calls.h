// Steps as kernel calls of the open machine: the kernel for each shape, its packed constants, its operands' places.
#pragma once
#include "backends/neutron/place.h"
#include "backends/neutron_model/cycles.h"
#include "backends/neutron_model/microcode.h"
#include "ir/diagnostic.h"

namespace deuteron::neutron {

// An operand of a call that is constant: what its two words must become once constants have a place.
struct ConstantUse {
  size_t word = 0;  // of Operand::place, from the start of the call's structure
  i32 blob = 0;
  i64 offset = 0;  // in the blob
};

struct Call {
  Kind kind{};
  std::vector<i32> words;  // of the structure, without its head
  std::vector<i32> ops;    // TFLite operators that it computes
  std::vector<ConstantUse> constants;
};

struct CallList {
  std::vector<Call> calls;
  std::vector<std::vector<u8>> blobs;  // constants, all different
};

// Empty: diagnostics say what no kernel can do.
std::optional<CallList> make_calls(const Model& model, const Placement& placement, const Machine& machine, Diagnostics& diagnostics);

}  // namespace deuteron::neutron
