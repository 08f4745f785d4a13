// SPDX-License-Identifier: Apache-2.0
#include "compile/cost/fit_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

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

using Square = std::array<Terms, kTerms>;

// Of the terms in `set` alone, by Cholesky's method; nothing: some of them tell the same, or one
// would be below zero. The diagonal of `a` is 1.
std::optional<Terms> solve(const Square& a, const Terms& b, size_t set) {
  constexpr double kTheSame = 1e-9;
  Square l{};
  Terms x{};
  const auto is_in = [&](size_t i) { return (set >> i & 1) != 0; };
  for (size_t i = 0; i < kTerms; i++) {
    if (!is_in(i)) continue;
    double rest = b[i];
    for (size_t j = 0; j <= i; j++) {
      if (!is_in(j)) continue;
      double sum = a[i][j];
      for (size_t k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
      if (j < i) l[i][j] = sum / l[j][j], rest -= l[i][j] * x[j];
      else if (sum < kTheSame) return std::nullopt;
      else l[i][i] = std::sqrt(sum);
    }
    x[i] = rest / l[i][i];
  }
  for (size_t i = kTerms; i-- > 0;) {
    if (!is_in(i)) continue;
    for (size_t k = i + 1; k < kTerms; k++) x[i] -= l[k][i] * x[k];
    x[i] /= l[i][i];
    if (x[i] < 0) return std::nullopt;
  }
  return x;
}

// The best solution without a coefficient below zero is that of one set of terms: all are tried.
Terms least_squares(const Calls& calls) {
  Square a{};
  Terms b{}, scale{}, best{};
  for (const MeasuredCall* call : calls) {
    const Terms x = terms_of(call->work);
    for (size_t i = 0; i < kTerms; i++) {
      b[i] += x[i] / call->cycles;
      for (size_t j = 0; j < kTerms; j++) a[i][j] += x[i] * x[j] / (call->cycles * call->cycles);
    }
  }
  size_t known = 0;
  for (size_t i = 0; i < kTerms; i++)
    if (a[i][i] > 0) scale[i] = std::sqrt(a[i][i]), known |= size_t{1} << i;
  for (size_t i = 0; i < kTerms; i++) {
    if (scale[i] == 0) continue;
    b[i] /= scale[i];
    for (size_t j = 0; j < kTerms; j++) a[i][j] = scale[j] == 0 ? 0 : a[i][j] / scale[i] / scale[j];
  }
  double explained = 0;
  for (size_t set = 1; set < size_t{1} << kTerms; set++) {
    if ((set & known) != set) continue;
    const std::optional<Terms> x = solve(a, b, set);
    if (!x) continue;
    double sum = 0;
    for (size_t i = 0; i < kTerms; i++) sum += b[i] * (*x)[i];
    if (sum <= explained) continue;
    explained = sum;
    for (size_t i = 0; i < kTerms; i++) best[i] = scale[i] == 0 ? 0 : (*x)[i] / scale[i];
  }
  return best;
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
