// SPDX-License-Identifier: Apache-2.0
// Estimated cycles of another program than ours on an emulated board, by the same rules
// (bench/cycles.py).
//   price_blocks IMAGE.elf BLOCKS CORE     BLOCKS: what boards/cycles/block_counts.c wrote, for one
//   call; prints instructions and cycles
#include <fmt/format.h>

#include "base/files/read_file.h"
#include "boards/cycles/estimate_cycles.h"

int main(int argc, char** argv) {
  using namespace deuteron;
  const CoreModel* const core = argc == 4 ? find_core(argv[3]) : nullptr;
  if (!core) return fmt::print(stderr, "price_blocks IMAGE.elf BLOCKS CORE\n"), 2;
  Diagnostics diagnostics;
  const auto image = read_file(argv[1], diagnostics), blocks = read_file(argv[2], diagnostics);
  std::optional<CycleEstimate> estimate;
  if (image && blocks)
    estimate =
        estimate_cycles(*core, {reinterpret_cast<const uint8_t*>(image->data()), image->size()},
                        {reinterpret_cast<const uint8_t*>(blocks->data()), blocks->size()}, 1,
                        {"execute"}, diagnostics);
  for (const Diagnostic& d : diagnostics.list()) fmt::print(stderr, "{}\n", format_diagnostic(d));
  if (!estimate) return 1;
  fmt::print("{} {:.0f}\n", estimate->whole.instructions, estimate->whole.cycles);
  return 0;
}
