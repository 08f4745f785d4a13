// For tests: what a compiled program gives, loaded and run by the runtime.
#pragma once
#include <gtest/gtest.h>

#include <cstddef>

#include "passes/compilation.h"
#include "tensor/elements.h"

namespace deuteron {

// Of one int8 input and one int8 output.
inline std::vector<int8_t> int8_result_of(const Compilation& c, const std::vector<float>& x) {
  const File file{c.pte.data(), c.pte.size()};
  Needs needs;
  EXPECT_TRUE(measure(file, kAllKernels, &needs).ok());
  std::vector<std::max_align_t> tables(needs.tables_bytes / sizeof(std::max_align_t) + 1),
      planned(needs.planned_bytes / sizeof(std::max_align_t) + 1);
  Program program;
  const Status status = program.load(file, kAllKernels, {tables.data(), tables.size() * sizeof(std::max_align_t)},
                                     {planned.data(), planned.size() * sizeof(std::max_align_t)});
  EXPECT_TRUE(status.ok()) << (status.detail ? status.detail : "");
  if (!status.ok()) return {};
  const Type& type = c.graph.type(c.graph.inputs[0].value);
  const std::vector<std::byte> steps = elements_of(x, type);
  EXPECT_TRUE(program.set_input(0, steps.data(), steps.size()).ok());
  EXPECT_TRUE(program.run().ok());
  const auto* y = static_cast<const int8_t*>(program.output(0).data);
  return {y, y + program.output(0).numel};
}

}  // namespace deuteron
