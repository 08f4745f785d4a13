// SPDX-License-Identifier: Apache-2.0
// For tests: what a compiled program gives, loaded and run by the runtime.
#pragma once
#include <gtest/gtest.h>

#include <cstddef>

#include "base/tensor/elements.h"
#include "compile/compilation.h"

namespace deuteron {

// With its memory. The file must live as long.
struct LoadedProgram {
  std::vector<std::max_align_t> tables, planned;
  Program program;
  bool is_loaded = false;

  explicit LoadedProgram(const std::vector<uint8_t>& pte) {
    const File file{pte.data(), pte.size()};
    Needs needs;
    EXPECT_TRUE(measure(file, kAllKernels, &needs).ok());
    tables.resize(needs.tables_bytes / sizeof(std::max_align_t) + 1),
        planned.resize(needs.planned_bytes / sizeof(std::max_align_t) + 1);
    const Status status =
        program.load(file, kAllKernels, {tables.data(), tables.size() * sizeof(std::max_align_t)},
                     {planned.data(), planned.size() * sizeof(std::max_align_t)});
    EXPECT_TRUE(status.ok()) << (status.detail ? status.detail : "");
    is_loaded = status.ok();
  }
};

// Of one int8 input and one int8 output.
inline std::vector<int8_t> int8_result_of(const Compilation& c, const std::vector<float>& x) {
  LoadedProgram loaded(c.pte);
  if (!loaded.is_loaded) return {};
  Program& program = loaded.program;
  const Type& type = c.graph.type(c.graph.inputs[0].value);
  const std::vector<std::byte> steps = elements_of(x, type);
  EXPECT_TRUE(program.set_input(0, steps.data(), steps.size()).ok());
  EXPECT_TRUE(program.run().ok());
  const auto* y = static_cast<const int8_t*>(program.output(0).data);
  return {y, y + program.output(0).numel};
}

}  // namespace deuteron
