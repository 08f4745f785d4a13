// SPDX-License-Identifier: Apache-2.0
#include "compile/precision/fixed_steps.h"

#include <cmath>

#include "compile/place/npu_forms.h"
#include "compile/quantize/channel_sizes.h"
#include "ops/families.h"
#include "ops/pointwise/point_op.h"
#include "ops/unary/functions.h"

namespace deuteron {
namespace {

const FixedResult* fixed_of(const PointStep& s) {
  if (s.fn != PointFn::unary || row_of(s.unary).fixed.scale == 0) return nullptr;
  return &row_of(s.unary).fixed;
}

// Without bounds, which are a table's or another node's.
std::optional<PointProgram> program_on_npu(const Node& node) {
  if (!has_program(node.op) || bounds_of(node.op)) return std::nullopt;
  return in_builtins(node.op);
}

// The same program, with a round behind each of its functions of fixed steps.
PointProgram with_rounds(const PointProgram& given) {
  PointProgram all;
  std::vector<i64> place;  // by step of `given`
  const auto moved = [&](PointOperand o) {
    if (o.from >= 0) o.from = place[static_cast<size_t>(o.from)];
    return o;
  };
  const auto push = [&](PointStep s) {
    all.steps.push_back(s);
    return static_cast<i64>(all.steps.size()) - 1;
  };
  const auto times = [&](i64 of, float factor) {
    return push({PointFn::mul, UnaryFn::identity, {of}, {PointOperand::kNumber, factor}, 0, {}});
  };
  for (const PointStep& s : given.steps) {
    PointStep own = s;
    own.a = moved(s.a), own.b = moved(s.b);
    i64 last = push(own);
    if (const FixedResult* fixed = fixed_of(s)) {
      last = push({PointFn::unary, UnaryFn::round, {times(last, 1 / fixed->scale)}, {}, 0, {}});
      last = times(last, fixed->scale);
    }
    place.push_back(last);
  }
  return all;
}

float rounded(double v, double step) {
  return static_cast<float>(step > 0 ? std::nearbyint(v / step) * step : v);
}

}  // namespace

bool has_fixed_step_on_npu(const Node& node) {
  const std::optional<PointProgram> program = program_on_npu(node);
  return program && std::ranges::any_of(program->steps, fixed_of);
}

double loss_by_fixed_steps(const Node& node, const Observation& x, const Observation& y) {
  const std::optional<PointProgram> exact = program_of(node.op), parts = program_on_npu(node);
  if (!exact || !parts || x.bins.empty() || !y.seen) return 0;
  const PointProgram coarse = with_rounds(*parts);
  const FixedResult* last = fixed_of(parts->steps.back());
  const double step_of_x = x.bytes ? x.bytes->step : step_of(with_zero({x.low, x.high}));
  const double step_of_y = step_of(with_zero({y.low, y.high}));
  const std::vector<i64> counts = x.bins.counts();
  const double width = (double{x.high} - x.low) / static_cast<double>(counts.size());
  double of_table = 0, of_npu = 0;
  for (size_t k = 0; k < counts.size(); ++k) {
    const double at = x.low + (static_cast<double>(k) + 0.5) * width;
    const auto count = static_cast<double>(counts[k]);
    const float read = rounded(at, step_of_x), right = evaluate(*exact, static_cast<float>(at));
    const float fixed = evaluate(coarse, read);
    of_table += count * std::pow(rounded(evaluate(*exact, read), step_of_y) - right, 2);
    of_npu += count * std::pow((last ? fixed : rounded(fixed, step_of_y)) - right, 2);
  }
  return of_table > 0 && of_npu > 0 ? 10 * std::log10(of_npu / of_table) : 0;
}

}  // namespace deuteron
