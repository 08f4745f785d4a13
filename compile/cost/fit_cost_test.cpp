// SPDX-License-Identifier: Apache-2.0
#include "compile/cost/fit_cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compile/cost/cpu_cost.h"
#include "targets/target.h"

namespace deuteron {
namespace {

constexpr const char* kKernel = "a_kernel";

CpuWork made_up(std::mt19937& bits) {
  const auto up_to = [&](int64_t most) { return 1 + static_cast<int64_t>(bits()) % most; };
  const int64_t windows = up_to(200), filters = up_to(64), taps = up_to(300);
  return {.macs = windows * filters * taps,
          .results = windows * filters,
          .operands = windows * up_to(16),
          .constants = filters * taps,
          .taps = windows * taps,
          .windows = windows,
          .lines = windows * up_to(3)};
}

// A chip that waits a third of a cycle for each byte of weights.
double cycles_on_chip(const CpuWork& w) {
  return 900 + 1.1 * static_cast<double>(w.macs) + 14.0 * static_cast<double>(w.results) +
         40.0 * static_cast<double>(w.windows) + 0.33 * static_cast<double>(w.constants);
}

Target cortex_m4() {
  Diagnostics d;
  return find_target("cortex-m4", d).value();
}

TEST(FitCost, PredictsCallsThatItWasNotGiven) {
  std::mt19937 bits(3);
  std::vector<MeasuredCall> calls;
  for (int k = 0; k < 20; k++) {
    const CpuWork w = made_up(bits);
    calls.push_back({{kKernel, "*"}, w, cycles_on_chip(w)});
  }
  Target target = cortex_m4();
  const CostFit fit = fit_cost(calls, target);
  target.cpu_cost = fit.cost, target.cpu_cycles = fit.cycles;
  for (int k = 0; k < 200; k++) {
    const CpuWork w = made_up(bits);
    const auto predicted = static_cast<double>(cpu_cycles({kKernel, "*"}, w, target).value());
    EXPECT_NEAR(predicted / cycles_on_chip(w), 1, 0.02) << w.macs << " " << w.windows;
  }
  ASSERT_EQ(fit.lines.size(), 1u);
  EXPECT_TRUE(fit.lines[0].is_fitted);
  EXPECT_LT(fit.lines[0].largest, 0.02);
}

// Two calls are no fit: the target's line stays, at the ratio that they show. What begins with its
// name is of its kind, and all else has the ratio of all calls.
TEST(FitCost, ScalesWhatItSawTooLittleOf) {
  Target target = cortex_m4();
  target.cpu_cost = {{.kernel = "*", .call = 100, .result = 256},
                     {.kernel = "small", .call = 1000, .mac = 256},
                     {.kernel = "small_sum", .call = 1000, .mac = 256}};
  const std::vector<MeasuredCall> calls = {{{"small", "*"}, {.macs = 1000}, 4000},
                                           {{"small", "*"}, {.macs = 3000}, 8000}};
  const CostFit fit = fit_cost(calls, target);
  EXPECT_EQ(fit.cost, target.cpu_cost);
  target.cpu_cycles = fit.cycles;
  EXPECT_EQ(cpu_cycles({"small", "*"}, {.macs = 1000}, target), 4000);
  EXPECT_EQ(cpu_cycles({"small_sum", "*"}, {.macs = 1000}, target), 4000);
  EXPECT_EQ(cpu_cycles({"other", "*"}, {.results = 300}, target), 800);
  EXPECT_FALSE(fit.lines[0].is_fitted);
  EXPECT_EQ(fit.lines[0].largest, 0);
}

}  // namespace
}  // namespace deuteron
