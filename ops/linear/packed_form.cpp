// SPDX-License-Identifier: Apache-2.0
#include "ops/linear/packed_form.h"

#include <array>
#include <cmath>
#include <cstdlib>

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
    for (int j = 0; j < kValues; ++j)
      x[j] = static_cast<int8_t>(i - 128), other[j] = static_cast<int8_t>(j - 128);
    add_s8(a, x.data(), other.data(), steps[i].data());
  }
  return steps;
}

// A pair of values, and its sum.
struct Corner {
  i32 a, b, step;
};

// Whether `p` lies on the line from `first` to `last`, or to its right.
bool is_no_left_turn(const Corner& first, const Corner& last, const Corner& p) {
  return (last.a - first.a) * (p.b - first.b) - (last.b - first.b) * (p.a - first.a) <= 0;
}

// Adds one side of the convex hull of the points, which are sorted.
void add_side(const std::vector<Corner>& points, std::vector<Corner>& hull) {
  const size_t begin = hull.size();
  for (const Corner& p : points) {
    while (hull.size() >= begin + 2 && is_no_left_turn(hull[hull.size() - 2], hull.back(), p))
      hull.pop_back();
    hull.push_back(p);
  }
}

// The pairs whose sum is one step lie in a convex figure, and a linear form gives all of them that
// step when it gives it to its corners. Those of all steps.
std::vector<Corner> corners_of(const Steps& steps) {
  std::array<std::vector<Corner>, kValues> of_step;
  for (int i = 0; i < kValues; ++i)
    for (int j = 0; j < kValues; ++j) {
      const bool ends = j == 0 || j == kValues - 1 || steps[i][j] != steps[i][j - 1] ||
                        steps[i][j] != steps[i][j + 1];
      if (ends) of_step[steps[i][j] + 128].push_back({i - 128, j - 128, steps[i][j]});
    }
  std::vector<Corner> corners;
  for (const std::vector<Corner>& points : of_step) {
    add_side(points, corners);
    add_side(std::vector<Corner>(points.rbegin(), points.rend()), corners);
  }
  return corners;
}

// How much room the factors leave for `first`, in its units; less than 0: none does. And how it
// changes with the second factor.
struct Room {
  double width, slope;
};
Room room_for_first(const std::vector<Corner>& corners, double x_factor, double other_factor,
                    i32 right) {
  const double step = 1 << right;
  double low = -1e18, high = 1e18;
  i32 at_low = 0, at_high = 0;
  for (const Corner& c : corners) {
    const double sum = c.a * x_factor + c.b * other_factor;
    if (c.step > -128 && c.step * step - sum > low) low = c.step * step - sum, at_low = c.b;
    if (c.step < 127 && (c.step + 1) * step - sum < high)
      high = (c.step + 1) * step - sum, at_high = c.b;
  }
  return {high - low, static_cast<double>(at_low - at_high)};
}

constexpr double kReach = 512;  // from the real factors, in which the best ones are looked for

struct Best {
  double other, width;
};
// The second factor that leaves most room beside a first one. Room is a concave function of
// straight pieces: where the tangents of two points on both sides of its top meet, no more room can
// be, and a few such points reach the top.
Best best_other(const std::vector<Corner>& corners, double x, double middle, i32 right) {
  constexpr int kMostPoints = 64;
  const auto at = [&](double other) { return room_for_first(corners, x, other, right); };
  double left = middle - kReach, behind = middle + kReach;
  Room l = at(left), r = at(behind);
  if (l.slope <= 0) return {left, l.width};
  if (r.slope >= 0) return {behind, r.width};
  for (int k = 0; k < kMostPoints; ++k) {
    const double meet =
        (r.width - l.width + l.slope * left - r.slope * behind) / (l.slope - r.slope);
    const double most = l.width + l.slope * (meet - left);
    const Room m = at(meet);
    if (m.slope == 0 || m.width >= most - 1e-6) return {meet, m.width};
    if (m.slope > 0) left = meet, l = m;
    else behind = meet, r = m;
  }
  return l.width > r.width ? Best{left, l.width} : Best{behind, r.width};
}

struct Factors {
  double x, other;
};

// The factors that leave most room: rounding three times can move them some units from the real
// ones. The first one by golden section.
Factors with_most_room(const std::vector<Corner>& corners, const Factors& real, i32 right) {
  constexpr int kCuts = 30;
  constexpr double kGolden = 0.6180339887498949;
  const auto width_at = [&](double x) { return best_other(corners, x, real.other, right).width; };
  double low = real.x - kReach, high = real.x + kReach;
  double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
  double at_a = width_at(a), at_b = width_at(b);
  for (int k = 0; k < kCuts; ++k) {
    if (at_a < at_b)
      low = a, a = b, at_a = at_b, b = low + kGolden * (high - low), at_b = width_at(b);
    else high = b, b = a, at_b = at_a, a = high - kGolden * (high - low), at_a = width_at(a);
  }
  const double x = (low + high) / 2;
  return {x, best_other(corners, x, real.other, right).other};
}

// The `first` in the middle of those that give every corner its step.
std::optional<i64> first_for(const std::vector<Corner>& corners, i64 x_factor, i64 other_factor,
                             i32 right) {
  i64 low = INT32_MIN, high = INT32_MAX;
  for (const Corner& c : corners) {
    const i64 sum = c.a * x_factor + c.b * other_factor;
    if (c.step > -128) low = std::max(low, (i64{c.step} << right) - sum);
    if (c.step < 127) high = std::min(high, (i64{c.step + 1} << right) - 1 - sum);
    if (low > high) return std::nullopt;
  }
  return low + (high - low) / 2;
}

bool gives(const LinearAddArgs& a, i32 right, const Steps& steps) {
  const auto add = right == kLinearAddRight ? linear_add_s8 : linear_add_q21_s8;
  std::array<int8_t, kValues> x, other, y;
  for (int i = 0; i < kValues; ++i) {
    for (int j = 0; j < kValues; ++j)
      x[j] = static_cast<int8_t>(i - 128), other[j] = static_cast<int8_t>(j - 128);
    add(a, x.data(), other.data(), y.data());
    if (y != steps[i]) return false;
  }
  return true;
}

// The real factor of an operand, in units of 2^-right.
double factor_of(const Rescale& operand, const Rescale& y, i32 right) {
  const auto scale = [](const Rescale& r) { return std::ldexp(r.multiplier, r.shift - 31); };
  return std::ldexp(scale(operand) * scale(y), 20 + right);
}

// No sum wraps.
bool stays_in_int32(i64 x_factor, i64 other_factor, i64 first) {
  const i64 middle = first - (x_factor + other_factor) / 2,
            reach = (std::abs(x_factor) + std::abs(other_factor)) * 128;
  return std::abs(middle) + reach <= INT32_MAX;
}

// Factors near these, the nearest first.
std::optional<LinearForm> form_near(const Factors& factors, i32 right,
                                    const std::vector<Corner>& corners, const Steps& steps) {
  constexpr i64 kMostUnits = 4;
  for (i64 reach = 0; reach <= kMostUnits; ++reach)
    for (i64 dx = -reach; dx <= reach; ++dx)
      for (i64 dother = -reach; dother <= reach; ++dother) {
        if (std::max(std::abs(dx), std::abs(dother)) != reach) continue;
        const i64 x_factor = std::llround(factors.x) + dx,
                  other_factor = std::llround(factors.other) + dother;
        const auto first = first_for(corners, x_factor, other_factor, right);
        if (!first || !stays_in_int32(x_factor, other_factor, *first)) continue;
        const LinearAddArgs found{kValues, kValues, static_cast<i32>(x_factor),
                                  static_cast<i32>(other_factor), static_cast<i32>(*first)};
        if (gives(found, right, steps)) return LinearForm{found, right};
      }
  return std::nullopt;
}

// With as few bits behind the point as do.
std::optional<LinearForm> linear_form(const AddArgs& a) {
  const Steps steps = steps_of(a);
  const std::vector<Corner> corners = corners_of(steps);
  for (const i32 right : {kLinearAddRight, kLinearAddQ21Right}) {
    const Factors real{factor_of(a.x, a.y, right), factor_of(a.other, a.y, right)};
    if (!(std::abs(real.x) + std::abs(real.other) < 1 << 24))
      return std::nullopt;  // a sum would wrap
    if (const auto found = form_near(real, right, corners, steps)) return found;
    const Factors best = with_most_room(corners, real, right);
    if (room_for_first(corners, best.x, best.other, right).width < 0) return std::nullopt;
    if (const auto found = form_near(best, right, corners, steps)) return found;
  }
  return std::nullopt;
}

}  // namespace

const std::optional<LinearForm>& LinearForms::of(const Rescale& x, const Rescale& other,
                                                 const Rescale& y) {
  std::array<i32, 9> scales;
  auto next = scales.begin();
  for (const Rescale* r : {&x, &other, &y})
    *next++ = r->zero, *next++ = r->multiplier, *next++ = r->shift;
  auto at = found_.find(scales);
  if (at == found_.end())
    at = found_.emplace(scales, linear_form({0, 0, x, other, y, -128, 127})).first;
  return at->second;
}

Result<Lowered> linearize_add(const AddNumbers& n, LinearForms& forms) {
  if (n.a.y_min != -128 || n.a.y_max != 127)
    return Refusal{"the result has bounds of its own", "", "", ""};
  const std::optional<LinearForm>& found = forms.of(n.a.x, n.a.other, n.a.y);
  if (!found) return Refusal{"no factors give the same bits for all pairs of values", "", "", ""};
  CallBuilder call("deuteron::linear_add", 2, 1);
  if (found->right == kLinearAddQ21Right) call.overload("q21");
  call.in(0, elementwise_face(n.x)).in(1, elementwise_face(n.other));
  call.integer(found->args.x_factor)
      .integer(found->args.other_factor)
      .integer(found->args.first)
      .out(0, elementwise_face(n.y));
  if (n.x == n.y) call.may_share(0, 0);
  if (n.other == n.y) call.may_share(0, 1);
  return call.numbers(*found).done();
}

}  // namespace deuteron
