// SPDX-License-Identifier: Apache-2.0
// A graph and what quantization makes of it, for tests.
#pragma once
#include <algorithm>

#include "compile/calibrate/float_executor.h"
#include "compile/calibrate/test_graph.h"
#include "compile/quantize/insert_quantization.h"

namespace deuteron {

inline Samples samples_of(const Graph& g, size_t count, float low = -1, float high = 1,
                          unsigned seed = 300) {
  Samples samples(count);
  for (unsigned s = 0; s < count; ++s)
    for (const Port& port : g.inputs)
      samples[s].push_back(random_floats(g.type(port.value).elements(), seed + s, low, high));
  return samples;
}

struct Quantized {
  Graph g;
  std::vector<QuantizedValue> report;
  Diagnostics diagnostics;
};

inline Quantized quantize(const Graph& g, const Samples& samples,
                          const QuantizeOptions& options = {}) {
  Quantized q{g, {}, {}};
  EXPECT_FALSE(find_fault(g)) << *find_fault(g);
  const auto seen = observe(g, samples, 2, q.diagnostics);
  EXPECT_TRUE(seen);
  q.report = insert_quantization(q.g, *seen, options, q.diagnostics);
  const auto fault = find_fault(q.g);
  EXPECT_FALSE(fault) << *fault;
  return q;
}

inline double sqnr(const Graph& g, const Graph& quantized, const Samples& samples) {
  const FloatExecutor a(g), b(quantized);
  std::vector<float> x, y;
  for (const auto& sample : samples) {
    const auto p = a.run(sample, {}), q = b.run(sample, {});
    for (size_t o = 0; o < p.size(); ++o)
      x.insert(x.end(), p[o].begin(), p[o].end()), y.insert(y.end(), q[o].begin(), q[o].end());
  }
  return sqnr_db(x, y);
}

// The parameters to which the value of that name is quantized.
inline Quant quant_of(const Graph& g, const std::string& name) {
  const ValueId v = find_value(g, name + "_q");
  EXPECT_GE(v, 0) << name;
  return v < 0 ? Quant{} : g.type(v).quant;
}

}  // namespace deuteron
