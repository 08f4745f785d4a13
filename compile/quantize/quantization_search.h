// SPDX-License-Identifier: Apache-2.0
// Chooses among ways to quantize a network by what they cost at its outputs: each is simulated in
// float on the calibration samples.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compile/calibrate/samples.h"
#include "compile/quantize/front_ends.h"
#include "compile/quantize/held_out.h"
#include "compile/quantize/insert_quantization.h"
#include "compile/quantize/precision_search.h"
#include "compile/quantize/weight_search.h"
#include "compile/quantize/yardstick.h"

namespace deuteron {

// An operator that is computed in float on purpose.
struct InFloat {
  Origin origin;
  const char* why;
};

struct QuantizationChoice {
  std::string policy;  // "histogram, channels equalized (0.5), biases corrected (+0.31 dB)"
  double sqnr_db = 0;  // simulated, on the calibration samples, all outputs together: in-sample
  // What other samples may give: those that the ranges were not chosen on (cross-validation);
  // nothing for one sample, or without a search.
  std::optional<HeldOut> held_out;
  double gain_db = 0;            // over plain histogram ranges, held out
  i64 simulations = 0;           // passes over all samples, and work that takes as long
  std::vector<size_t> left_out;  // samples with a spike, which no range is chosen on
  std::optional<FrontEndsInFloat> front_ends;
  std::vector<InFloat> in_float;
  std::vector<QuantizedValue> values;
  std::optional<PrecisionDecision> precision;  // of a search with `mixed`
  std::optional<WeightDecision> weights;       // of a search with `int4`
  Graph equalized;  // the float graph that was quantized: the same function, its channels scaled
};

// Calibrates and quantizes the float graph in place. With options.observer set there is no search:
// that observer, and nothing equalized. Else the candidates are min/max and histogram ranges, a
// margin wider, also with equalized channels as far as the budget goes, and what is best by
// cross-validation is taken: each version of the network answers on the samples that its ranges
// were not chosen on. How long it searches depends on the network's multiply-adds and the number of
// samples, never on a clock: same input, same result. Nothing, when calibration fails. Samples with
// a spike (compile/calibrate/spikes.h) are named in a warning, and left out of the search where
// samples that are held out gain by that. mixed: what is best in int8 then gets layers that work on
// int16; int4: layers whose weights have four bits. One of them at most; it needs the search, and
// two samples.
std::optional<QuantizationChoice> calibrate_and_quantize(Graph& graph, const Samples& samples,
                                                         const QuantizeOptions& options,
                                                         int threads, Diagnostics& diagnostics,
                                                         const MixedPrecision* mixed = nullptr,
                                                         const WeightLimits* int4 = nullptr);

// With several ranges of all samples, and no search but for scales at the borders: what tells forms
// of a network apart. Nothing, when calibration fails.
std::optional<Score> plain_score(Graph graph, const Samples& samples,
                                 const QuantizeOptions& options, int threads);

}  // namespace deuteron
