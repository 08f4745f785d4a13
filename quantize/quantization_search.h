// Chooses among ways to quantize a network by what they cost at its outputs: each is simulated in float on the calibration samples.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "calibrate/samples.h"
#include "quantize/insert_quantization.h"

namespace deuteron {

struct QuantizationChoice {
  std::string policy;   // "histogram, channels equalized (0.5), 6 ranges adjusted"
  double sqnr_db = 0;   // simulated, on the calibration samples, all outputs together
  double gain_db = 0;   // of that over plain histogram ranges, for what the search changed
  i64 simulations = 0;  // passes over all samples, and work that takes as long
  std::vector<QuantizedValue> values;
  Graph equalized;  // the float graph that was quantized: the same function, its channels scaled
};

// Calibrates and quantizes the float graph in place. With options.observer set there is no search: that observer, and nothing equalized.
// Else the candidates are min/max and histogram ranges, also with equalized channels as far as the budget goes; then single ranges are
// narrowed or widened while that helps; linear layers get weights by tensor where that costs next to nothing. How long it searches depends
// on the network's multiply-adds and the number of samples, never on a clock: same input, same result. Nothing, when calibration fails.
std::optional<QuantizationChoice> calibrate_and_quantize(Graph& graph, const Samples& samples, const QuantizeOptions& options, int threads,
                                                         Diagnostics& diagnostics);

}  // namespace deuteron
