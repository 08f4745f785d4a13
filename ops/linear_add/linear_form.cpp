#include "ops/linear_add/linear_form.h"

#include <array>
#include <cmath>
#include <cstdlib>

#include "ops/add/kernel.h"
#include "ops/linear_add/kernel.h"

namespace deuteron {
namespace {

constexpr int kValues = 256;

// steps[i][j] = the sum of the values i - 128 and j - 128, as the plain kernel gives it.
using Steps = std::array<std::array<int8_t, kValues>, kValues>;

Steps steps_of(AddArgs a) {
  Steps steps;
  std::array<int8_t, kValues> x, other;
  a.count = a.period = kValues;
  for (int i = 0; i < kValues; ++i) {
    for (int j = 0; j < kValues; ++j) x[j] = static_cast<int8_t>(i - 128), other[j] = static_cast<int8_t>(j - 128);
    add_s8(a, x.data(), other.data(), steps[i].data());
  }
  return steps;
}

// A pair of values at the end of a run of equal sums in its row. Sums never fall or never rise along a row, and nor does the linear form,
// so that the ends of every run say it.
struct Corner {
  i32 a, b, step;
};

std::vector<Corner> corners_of(const Steps& steps) {
  std::vector<Corner> corners;
  for (int k = 0; k < kValues; ++k) {
    const int i = (k * 179 + 255) % kValues;  // rows far apart first, which shows soon that factors do not do
    for (int j = 0; j < kValues; ++j) {
      const bool ends = j == 0 || j == kValues - 1 || steps[i][j] != steps[i][j - 1] || steps[i][j] != steps[i][j + 1];
      if (ends) corners.push_back({i - 128, j - 128, steps[i][j]});
    }
  }
  return corners;
}

// The `first` in the middle of those that give every corner its step.
std::optional<i64> first_for(const std::vector<Corner>& corners, i64 x_factor, i64 other_factor) {
  i64 low = INT32_MIN, high = INT32_MAX;
  for (const Corner& c : corners) {
    const i64 sum = c.a * x_factor + c.b * other_factor;
    if (c.step > -128) low = std::max(low, (i64{c.step} << kLinearAddRight) - sum);
    if (c.step < 127) high = std::min(high, (i64{c.step + 1} << kLinearAddRight) - 1 - sum);
    if (low > high) return std::nullopt;
  }
  return low + (high - low) / 2;
}

bool gives(const LinearAddArgs& a, const Steps& steps) {
  std::array<int8_t, kValues> x, other, y;
  for (int i = 0; i < kValues; ++i) {
    for (int j = 0; j < kValues; ++j) x[j] = static_cast<int8_t>(i - 128), other[j] = static_cast<int8_t>(j - 128);
    linear_add_s8(a, x.data(), other.data(), y.data());
    if (y != steps[i]) return false;
  }
  return true;
}

// The real factor of an operand, in units of 2^-20.
double factor_of(const Rescale& operand, const Rescale& y) {
  const auto scale = [](const Rescale& r) { return std::ldexp(r.multiplier, r.shift - 31); };
  return std::ldexp(scale(operand) * scale(y), 20 + kLinearAddRight);
}

std::optional<LinearAddArgs> linear_form(const AddArgs& a) {
  constexpr i64 kReach = 4;
  const double x = factor_of(a.x, a.y), other = factor_of(a.other, a.y);
  if (!(std::abs(x) + std::abs(other) < 1 << 23)) return std::nullopt;  // 128 times that stays below 2^30
  const Steps steps = steps_of(a);
  const std::vector<Corner> corners = corners_of(steps);
  for (i64 reach = 0; reach <= kReach; ++reach)  // the nearest first
    for (i64 dx = -reach; dx <= reach; ++dx)
      for (i64 dother = -reach; dother <= reach; ++dother) {
        if (std::max(std::abs(dx), std::abs(dother)) != reach) continue;
        const i64 x_factor = std::llround(x) + dx, other_factor = std::llround(other) + dother;
        const auto first = first_for(corners, x_factor, other_factor);
        if (!first || std::abs(*first) >= 1 << 30) continue;
        const LinearAddArgs found{kValues, kValues, static_cast<i32>(x_factor), static_cast<i32>(other_factor), static_cast<i32>(*first)};
        if (gives(found, steps)) return found;
      }
  return std::nullopt;
}

}  // namespace

Result<Lowered> linearize_add(const PlainCall& c) {
  enum { kX, kXRescale, kOther = 4, kOtherRescale, kYRescale = 8, kYMin = 11, kYMax, kOut };
  const auto number = [&](int arg) { return static_cast<i32>(c.call.args[arg].integer); };
  const auto rescale = [&](int arg) { return Rescale{number(arg), number(arg + 1), number(arg + 2)}; };
  if (number(kYMin) != -128 || number(kYMax) != 127) return Refusal{"the result has bounds of its own", "", "", ""};
  const auto found = linear_form({0, 0, rescale(kXRescale), rescale(kOtherRescale), rescale(kYRescale), -128, 127});
  if (!found) return Refusal{"no factors give the same bits for all pairs of values", "", "", ""};
  CallBuilder call("deuteron::linear_add", 2, 1);
  call.in(c.call.args[kX].integer, c.call.args[kX].face).in(c.call.args[kOther].integer, c.call.args[kOther].face);
  call.integer(found->x_factor).integer(found->other_factor).integer(found->first).out(0, c.call.args[kOut].face);
  for (const auto& [result, operand] : c.call.in_place) call.may_share(result, operand);
  return call.done();
}

}  // namespace deuteron
