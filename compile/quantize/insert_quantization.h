// SPDX-License-Identifier: Apache-2.0
// Post-training quantization of a float graph: puts Quantize/Dequantize pairs where the target's
// rules want them, as PT2E would have.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "compile/calibrate/calibrate.h"
#include "compile/calibrate/input_moments.h"
#include "compile/quantize/border_scales.h"

namespace deuteron {

class RoundedWeights;  // compile/quantize/round_weights.h

// int16: operators that have a form work on int16 (ops/int16.h), all others stay in float.
enum class Precision : u8 { int8, int16 };

// int16_result: operands and weights stay int8 (ops/int16.h).
enum class LayerPrecision : u8 { int8, int16_result, int16, in_float };

// With 65536 steps one bit more buys what no sample has shown: rounding weights costs more than the
// bit, and cutting off more than both.
inline constexpr double kWideMargin = 1;

// A kernel with one multiplier for the whole layer needs weights by tensor.
enum class LinearWeights : u8 {
  by_channel,
  by_tensor,
  searched,  // by tensor where a search finds that it costs next to nothing, else by channel, as a
             // 1x1 convolution
};

struct QuantizeOptions {
  Precision precision = Precision::int8;
  // Nodes of another precision than the network's. Of int8: with ranges as seen and kWideMargin;
  // what is asked for without a form of that kind stays in float. Empty: there are none.
  std::function<LayerPrecision(const Graph&, const Node&)> precision_of;
  // Nodes whose weights have four bits (compile/quantize/int4_weights.h), where they have such a
  // form and work on int8. Empty: none do.
  std::function<bool(const Graph&, const Node&)> has_int4_weights;
  std::optional<Observer> observer;  // none: for each value the one with the lower squared error
  LinearWeights linear_weights = LinearWeights::by_channel;
  i32 weight_low = -127;  // symmetric weights use weight_low..127
  // the mean error that rounding a channel's weights makes is taken out of its bias
  bool correct_bias = true;
  bool choose_bias_correction = false;  // correct_bias only where a search finds that it helps
  // Weights of a layer that it knows are rounded together (compile/quantize/round_weights.h), and
  // their mean error goes into the bias. Null: each weight by itself.
  const LayerMoments* moments = nullptr;
  // What layers were rounded to with these moments, for those who quantize a network many times.
  // Null: nobody remembers.
  std::shared_ptr<RoundedWeights> rounded;
  // scores without an upper end (compile/quantize/open_ended.h) stay in float
  bool may_use_float = false;
  bool front_ends_in_float = false;  // so does what front_ends.h names
  bool equalize = true;  // channels may be scaled alike, where a search finds that it helps
  std::function<bool(const Graph&, const Node&)>
      runs_on_npu;         // these nodes are quantized by the rules of the NPU; empty: none are
  FloatPorts float_ports;  // whose channels may have scales of their own
  double margin = 0;  // both ends of every range lie so much further out, 0.05 = 5 %, unless values
                      // cannot come that far
  double sized_margin = 0;  // at least so much where channels were brought to one size, each by
                            // what few samples have of it
};

// One line of the report: which value got which parameters and why.
struct QuantizedValue {
  std::string name;
  float low, high;  // observed
  ActivationQuant chosen;
  bool shared = false;
  bool fixed = false;      // the operator says the parameters
  i32 cluster = 0;         // values of one cluster have the same parameters
  bool symmetric = false;  // the zero point must be 0
};

// For every node whose quant_specs() is not empty: each non-constant operand and the result get a
// Quantize and a Dequantize (one Quantize for each value, one Dequantize for each use); weights
// become int8 constants with a Dequantize, biases int32 constants with a Dequantize (scale =
// x.scale * weight.scale, per channel). Values joined by `shared` specs (in both directions: pool,
// reshape, permute, pad, cat) and graph inputs/outputs get one set of parameters for the whole
// cluster. `fixed` results get their constants, also when an equal cluster would differ. Where one
// works on int16 and the other on int8, a value is as its producer makes it (an input: int16 if any
// reader wants it), and the reader of the other kind reads it through one more Quantize: int8 as
// int16 exactly, 128 steps for one.
std::vector<QuantizedValue> insert_quantization(Graph& graph,
                                                const std::vector<Observation>& observations,
                                                const QuantizeOptions& options,
                                                Diagnostics& diagnostics);

}  // namespace deuteron
