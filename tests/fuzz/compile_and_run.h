// SPDX-License-Identifier: Apache-2.0
// A small graph through every pass for some target; what comes out must load, and run under guard.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "targets/target.h"
#include "tests/fuzz/decisions.h"
#include "tests/fuzz/load_and_run.h"

namespace deuteron::test {

// Elements of all values and multiply-adds are few: every input takes milliseconds.
inline bool is_small(const Graph& graph) {
  constexpr i64 kMostElements = 1 << 14;
  i64 elements = 0;
  for (const GraphValue& v : graph.values) {
    i64 n = 1;
    for (const i64 extent : v.type.shape)
      n = std::min<i64>(n * std::max<i64>(extent, 1), kMostElements + 1);
    elements += n;
    if (elements > kMostElements) return false;
  }
  return graph.nodes.size() <= 64;
}

// What few ask for, one thing at a time, of few nodes: some search. What does not fit the target is
// refused with a diagnostic.
inline void choose_rare(CompileOptions& options, Decisions& decisions) {
  switch (decisions.below(7)) {
    case 0:
      options.precision = NetworkPrecision::int16;
      break;
    case 1:
      options.precision = NetworkPrecision::int4, options.packed_weights = true;
      break;
    case 2:
      options.precision = NetworkPrecision::int4, options.packed_weights = true,
      options.max_loss_db = 3;
      break;
    case 3:
      options.precision = NetworkPrecision::mixed, options.max_cost = 1.5;
      break;
    case 4:
      options.stream = std::to_string(decisions.below(4));
      if (decisions.maybe()) options.stream += "=" + std::to_string(1 + decisions.below(4));
      break;
    case 5:
      options.npu.prefer = "fastest";
      break;
    default:
      options.quantize.observer = Observer::min_max,
      options.quantize.equalize = options.quantize.correct_bias = false;
  }
}

inline void compile_and_run(Graph graph, Decisions& decisions) {
  static const std::vector<std::string> kTargets = {"cortex-m33", "cortex-m55",    "imxrt700cm",
                                                    "imxrt700",   "cortex-m0plus", "cortex-m4"};
  if (!is_small(graph)) return;
  Diagnostics diagnostics;
  const std::optional<Target> target = find_target(decisions.one_of(kTargets), diagnostics);
  DEUTERON_CHECK(target.has_value());
  CompileOptions options;
  options.threads = 1;
  const uint8_t flags = decisions.byte();
  options.ports = flags & 1 ? PortTypes::steps : PortTypes::floats;
  options.contiguous_io = flags & 2;
  options.npu.fetch_constants = flags & 4;
  options.npu.profile = flags & 8;
  options.packed_weights = flags & 32;
  if (flags & 16) options.max_ram = 64 + 64 * decisions.byte();
  if ((flags & 64) && graph.nodes.size() <= 8) choose_rare(options, decisions);
  Samples samples(static_cast<size_t>(1 + decisions.below(3)));
  for (auto& sample : samples)
    for (const Port& port : graph.inputs) {
      const Type& type = graph.type(port.value);
      std::vector<float>& numbers = sample.emplace_back(static_cast<size_t>(type.elements()));
      for (float& x : numbers)
        x = type.dtype == DType::f32
                ? decisions.number()
                : static_cast<float>(decisions.below(type.dtype == DType::b8 ? 2 : 8));
    }
  const std::optional<Compilation> compiled =
      compile(std::move(graph), *target, samples, options, diagnostics);
  DEUTERON_CHECK(compiled.has_value() != diagnostics.has_errors());
  if (!compiled || compiled->pte.empty()) return;
  const Outcome outcome = load_and_run(Block(compiled->pte).file(), kAllKernels);
  DEUTERON_CHECK(outcome != Outcome::refused, "the program does not load");
}

}  // namespace deuteron::test
