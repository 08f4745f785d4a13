// SPDX-License-Identifier: Apache-2.0
// What an NPU takes: rows of measured against limit. The formulas are the operator's, the limits
// are the target's.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor/constant.h"
#include "base/tensor/type.h"
#include "ops/quant_spec.h"

namespace deuteron {

// The limits of an NPU of the Neutron family, the table [npu.limits] of a target file. Where the
// numbers come from is said there.
struct NpuLimits {
  // multiply-adds of one dot-product unit: channels count in multiples of it
  i64 vector_length = 0;
  i64 kernel = 0, stride = 0, dilation = 0;
  i64 taps = 0;  // kernel height * kernel width * channels rounded up to vector_length
  i64 transposed_stride = 0;
  i64 matmul_multiple = 0;  // 1: any extents
  i64 softmax_channels = 0, softmax_rows = 0, softmax_elements = 0;
  i64 resize_factor = 0;
  i64 rank = 0, permute_rank = 0, reshape_rank = 0;
  i64 ports = 0;  // inputs of one partition, and outputs
};

// A node as the rows see it. `data[k]` is null where operand k is not a constant. Before
// quantization the types are float: rows that need scales then say nothing.
struct NpuOperands {
  TypeView in, out;
  std::span<const Constant* const> data;
  const NpuLimits& limits;

  bool is_quantized() const { return out[0].dtype == DType::s8 && !out[0].quant.empty(); }
};

enum class NpuTest : u8 { at_most, at_least, equals, multiple_of, holds };

// A refused user reads "<what>: <measured>, limit <limit>", or, where there is nothing to measure,
// a sentence.
struct NpuCondition {
  NpuTest test;
  std::string_view refused = {};
  consteval NpuCondition(NpuTest t) : test(t) {
    if (t == NpuTest::holds) throw "a row of yes or no needs a sentence: must_hold(..)";
  }
  constexpr NpuCondition(NpuTest t, std::string_view sentence) : test(t), refused(sentence) {}
};
// measured is 0 or 1, and must be 1. `{}` in the sentence stands for what the row has found.
constexpr NpuCondition must_hold(std::string_view otherwise) { return {NpuTest::holds, otherwise}; }

// One limit. `measured` answers nothing where the row does not apply (yet).
template <class T>
struct NpuRow {
  std::string_view rule;  // "taps": neutron.conv2d.taps
  std::string_view what;
  NpuCondition condition;
  std::optional<i64> (*measured)(const T&, const NpuOperands&);
  i64 NpuLimits::*limit = nullptr;  // null: `fixed`
  i64 fixed = 1;
  std::string (*found)(const T&) = nullptr;  // what a number does not say
};

template <class T>
struct NpuSupport {
  std::span<const NpuRow<T>> rows;
  std::string_view
      builtin;  // what it is in Neutron IR: "CONV_2D"; empty: `absent` says why it has none
  std::string_view absent;
  // where the NPU wants other parameters than OpDef::quantize
  std::span<const QuantSpec> (*quantize)(const T&) = nullptr;
  // where the builtin depends on the attributes
  std::string_view (*builtin_of)(const T&) = nullptr;
};

template <class T>
constexpr NpuSupport<T> not_on_npu(std::string_view why) {
  return {.rows = {}, .builtin = {}, .absent = why};
}

// A row, evaluated. Without a number `what` is a whole sentence, of what holds or of what is in the
// way.
struct NpuCheck {
  std::string rule;  // "neutron.conv2d.taps"
  std::string what, measured, limit;
  bool passed;
};

// A row without a node, for the table of what a target supports.
struct NpuConstraint {
  std::string rule,
      text;  // "neutron.conv2d.taps", "kernel taps, channels rounded up to the MAC width <= 65535"
};

inline i64 round_up(i64 v, i64 multiple) { return (v + multiple - 1) / multiple * multiple; }

// Rows that several operators have.
// The larger operand already has the result's shape: nothing is repeated on both sides.
template <class T>
std::optional<i64> one_operand_is_whole(const T&, const NpuOperands& o) {
  const i64 whole = o.out[0].elements();
  return o.in[0].elements() == whole || o.in[1].elements() == whole ? 1 : 0;
}
template <class T, size_t K>
std::optional<i64> operand_is_constant(const T&, const NpuOperands& o) {
  return K >= o.in.size() || o.data[K] ? 1 : 0;
}
template <class T, size_t K>
std::optional<i64> operand_is_symmetric(const T&, const NpuOperands& o) {
  if (!o.is_quantized()) return std::nullopt;
  for (const i32 zero : o.in[K].quant.zero_point)
    if (zero != 0) return 0;
  return 1;
}
template <class T>
std::optional<i64> parameters_are_shared(const T&, const NpuOperands& o) {
  if (!o.is_quantized()) return std::nullopt;
  for (size_t k = 0; k < o.in.size(); ++k)
    if (o.in[k].quant != o.out[0].quant) return 0;
  return 1;
}
template <class T>
std::optional<i64> rank_of_result(const T&, const NpuOperands& o) {
  return o.out[0].rank();
}

}  // namespace deuteron
