// SPDX-License-Identifier: Apache-2.0
// What every kind of operation must bring: one OperationDef, all members given. A missing member
// does not compile. Each folder in npu/neutron/kernels that has an operation defines it in its
// operation.cpp; reading, fusing, placing and lowering ask the definition.
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "base/tflite/tflite_generated.h"
#include "npu/neutron/converter/operation.h"
#include "ops/op.h"

namespace deuteron::neutron {

class Lowering;
class OperatorReader;
class Sharing;
struct TensorUses;

// Nothing: fine.
using Fault = std::optional<Refusal>;

#define DEUTERON_TRY(expression) \
  if (Fault fault_ = (expression)) return fault_

// A TFLite builtin and who takes it over.
struct TfliteRow {
  tflite::BuiltinOperator builtin;
  std::string_view rule;  // "conv_2d": neutron.ir.conv_2d
  size_t fewest, most;    // operands
  bool optional_last;     // the last of the most operands may be left out
  Fault (*read)(OperatorReader&, const tflite::Operator&);
};

// How a kernel ends: bounded: `low` and `high` hold for its result. requantized: and the zero point
// of `y` is added before.
enum class Ending : u8 { plain, bounded, requantized };

// A function of one operand, element for element: the result for -128 to 127.
struct FunctionOfOne {
  TensorId x = kNoTensor;
  std::array<int8_t, 256> value{};
};

// Whether it has changed anything. An operation that has become part of another one is left without
// an output.
using Rewrite = bool (*)(Model&, const TensorUses&, Operation&);

// fuse.h says in which order.
struct Fusing {
  bool (*is_identity)(const Model&,
                      const Operation&);  // its result is all of its operand, in order
  Ending (*ending)(const Operation&);
  bool only_moves;  // a function of each element may as well come before it
  std::optional<FunctionOfOne> (*as_function)(const Model&, const Operation&);
  Rewrite fold;  // the operation with those before it; null: none
  Rewrite fuse;  // tried on every operation once nothing folds any more: it and the one before it
                 // become an operation of this kind
};

struct Placing {
  bool (*reads_gaps)(size_t operand);  // between pixels
  bool (*writes_gaps)(const Model&, const Operation&);
  size_t overwrites;  // so many first operands, each of which the kernel may write its result over
  // The parts of the result, by operand, that lie there without a kernel. Null: the operation
  // always needs one.
  std::vector<bool> (*share)(Sharing&, size_t operation);
  std::string_view without_kernel;  // why, where all parts lie there
};

struct OperationDef {
  std::span<const TfliteRow> tflite;
  Fusing fusing;
  Placing placing;
  Fault (*lower)(Lowering&, const Operation&);  // to calls of kernels
};

#define NEUTRON_OPERATION(folder) extern const OperationDef folder##_operation;
#include "npu/neutron/machine/kinds.inc"

std::span<const OperationDef* const> operation_defs();

// Answers that several kinds give.
inline constexpr std::string_view kSameBytes = "the same bytes under another shape";
inline bool never_identity(const Model&, const Operation&) { return false; }
inline Ending plain_ending(const Operation&) { return Ending::plain; }
inline Ending requantized_ending(const Operation&) { return Ending::requantized; }
inline std::optional<FunctionOfOne> no_function(const Model&, const Operation&) {
  return std::nullopt;
}
inline bool reads_all_gaps(size_t) { return true; }
inline bool reads_no_gaps(size_t) { return false; }
inline bool writes_any_gaps(const Model&, const Operation&) { return true; }
inline bool writes_no_gaps(const Model&, const Operation&) { return false; }

inline constexpr Fusing kNoFusing = {.is_identity = never_identity,
                                     .ending = plain_ending,
                                     .only_moves = false,
                                     .as_function = no_function,
                                     .fold = nullptr,
                                     .fuse = nullptr};
inline constexpr Fusing kRequantizes = {.is_identity = never_identity,
                                        .ending = requantized_ending,
                                        .only_moves = false,
                                        .as_function = no_function,
                                        .fold = nullptr,
                                        .fuse = nullptr};
inline constexpr Placing kDense = {.reads_gaps = reads_no_gaps,
                                   .writes_gaps = writes_no_gaps,
                                   .overwrites = 0,
                                   .share = nullptr,
                                   .without_kernel = {}};
inline constexpr Placing kWithGaps = {.reads_gaps = reads_all_gaps,
                                      .writes_gaps = writes_any_gaps,
                                      .overwrites = 0,
                                      .share = nullptr,
                                      .without_kernel = {}};

}  // namespace deuteron::neutron
