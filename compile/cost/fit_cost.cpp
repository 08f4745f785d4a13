// SPDX-License-Identifier: Apache-2.0
#include "compile/cost/fit_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "compile/cost/cpu_cost.h"
#include "targets/target.h"

namespace deuteron {
namespace {

constexpr size_t kMinCalls = 6;                // one more than most kernels have coefficients
constexpr int64_t kMaxCyclesOf256 = 256 * 16;  // what a target file takes
constexpr size_t kTerms = 8;
using Terms = std::array<double, kTerms>;
using Calls = std::vector<const MeasuredCall*>;

Terms terms_of(const CpuWork& w) {
  return {1,
          static_cast<double>(w.macs),
          static_cast<double>(w.results),
          static_cast<double>(w.operands),
          static_cast<double>(w.taps),
          static_cast<double>(w.constants),
          static_cast<double>(w.windows),
          static_cast<double>(w.lines)};
}

// By coordinate descent on the normal equations: the problem is convex, so it ends at the least.
Terms least_squares(const Calls& calls) {
  std::array<Terms, kTerms> a{};
  Terms b{}, c{};
  for (const MeasuredCall* call : calls) {
    const Terms x = terms_of(call->work);
    const double weight = 1 / (call->cycles * call->cycles);
    for (size_t i = 0; i < kTerms; i++) {
      b[i] += x[i] * call->cycles * weight;
      for (size_t j = 0; j < kTerms; j++) a[i][j] += x[i] * x[j] * weight;
    }
  }
  for (int round = 0; round < 50'000; round++) {
    double moved = 0;
    for (size_t i = 0; i < kTerms; i++) {
      if (a[i][i] == 0) continue;
      double rest = b[i];
      for (size_t j = 0; j < kTerms; j++)
        if (j != i) rest -= a[i][j] * c[j];
      const double next = std::max(0.0, rest / a[i][i]);
      moved = std::max(moved, std::abs(next - c[i]) * std::sqrt(a[i][i]));
      c[i] = next;
    }
    if (moved < 1e-9) break;
  }
  return c;
}

CpuKernelCost line_of(const std::string& kernel, const Terms& c) {
  const auto q8 = [](double v) { return static_cast<int64_t>(std::llround(256 * v)); };
  CpuKernelCost line;
  line.kernel = kernel;
  line.call = std::llround(c[0]);
  line.mac = q8(c[1]), line.result = q8(c[2]), line.operand = q8(c[3]), line.tap = q8(c[4]);
  line.constant = q8(c[5]), line.window = q8(c[6]), line.line = q8(c[7]);
  return line;
}

// Cycles of 256 instructions, of all these calls together.
int64_t ratio_of(const Calls& calls, const Target& target) {
  double measured = 0, counted = 0;
  for (const MeasuredCall* call : calls) {
    const std::optional<i64> n = cpu_instructions(call->lines, call->work, target);
    if (n && *n > 0) measured += call->cycles, counted += static_cast<double>(*n);
  }
  if (counted == 0) return 0;
  return std::clamp<int64_t>(std::llround(256 * measured / counted), 1, kMaxCyclesOf256);
}

// Of the measured kernel whose name `kernel` begins with, the longest; 0: there is none.
int64_t ratio_of_alike(const std::map<std::string, int64_t>& ratios, const std::string& kernel) {
  int64_t found = 0;
  for (const auto& [name, ratio] : ratios)
    if (kernel.starts_with(name)) found = ratio;  // in order: a longer one comes later
  return found;
}

CostFit::Line errors_of(const std::string& kernel, const Calls& calls, const Target& target) {
  std::vector<double> errors;
  for (const MeasuredCall* call : calls)
    if (const std::optional<i64> cycles = cpu_cycles(call->lines, call->work, target))
      errors.push_back(std::abs(static_cast<double>(*cycles) / call->cycles - 1));
  std::ranges::sort(errors);
  return {kernel,
          calls.size(),
          errors.empty() ? 0 : errors[errors.size() / 2],
          errors.empty() ? 0 : errors.back(),
          calls.size() >= kMinCalls,
          !errors.empty()};
}

}  // namespace

CostFit fit_cost(std::span<const MeasuredCall> calls, const Target& target) {
  std::map<std::string, Calls> by_kernel;
  Calls all;
  for (const MeasuredCall& call : calls)
    if (call.cycles > 0) by_kernel[call.lines.at(0)].push_back(&call), all.push_back(&call);
  std::map<std::string, int64_t> ratios;
  for (const auto& [kernel, list] : by_kernel)
    if (const int64_t ratio = ratio_of(list, target); ratio > 0) ratios[kernel] = ratio;

  Target fitted = target;
  fitted.cpu_cycles = {{"*", std::max<int64_t>(1, ratio_of(all, target))}};
  for (CpuKernelCost& line : fitted.cpu_cost) {
    if (const int64_t ratio = ratio_of_alike(ratios, line.kernel); ratio > 0)
      fitted.cpu_cycles.push_back({line.kernel, ratio});
  }
  for (const auto& [kernel, list] : by_kernel) {
    if (list.size() < kMinCalls) continue;
    const auto is_its = [&name = kernel](const auto& line) { return line.kernel == name; };
    std::erase_if(fitted.cpu_cost, is_its);
    std::erase_if(fitted.cpu_cycles, is_its);
    fitted.cpu_cost.push_back(line_of(kernel, least_squares(list)));
    fitted.cpu_cycles.push_back({kernel, 256});
  }
  std::ranges::sort(fitted.cpu_cost, {}, &CpuKernelCost::kernel);
  std::ranges::sort(fitted.cpu_cycles, {}, &CpuKernelCycles::kernel);
  CostFit fit{fitted.cpu_cost, fitted.cpu_cycles, {}};
  for (const auto& [kernel, list] : by_kernel)
    if (const CostFit::Line line = errors_of(kernel, list, fitted); line.is_known)
      fit.lines.push_back(line);
  return fit;
}

}  // namespace deuteron
