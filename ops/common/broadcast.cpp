// SPDX-License-Identifier: Apache-2.0
#include "ops/common/broadcast.h"

#include "ops/common/refusals.h"

namespace deuteron {

static Shape aligned(const Shape& shape, size_t rank) {
  Shape full(rank, 1);
  std::copy(shape.begin(), shape.end(), full.end() - static_cast<std::ptrdiff_t>(shape.size()));
  return full;
}

std::vector<float> broadcast_numbers(std::span<const float> numbers, const Shape& of,
                                     const Shape& to) {
  const Shape full = aligned(of, to.size());
  std::vector<float> data(static_cast<size_t>(numel(to)));
  Shape at(to.size(), 0);
  for (float& v : data) {
    i64 from = 0;
    for (size_t k = 0; k < full.size(); ++k) from = from * full[k] + (full[k] == 1 ? 0 : at[k]);
    v = numbers[static_cast<size_t>(from)];
    for (size_t k = to.size(); k-- > 0;) {
      if (++at[k] < to[k]) break;
      at[k] = 0;
    }
  }
  return data;
}

MergedAxes merged_axes(const Shape& a, const Shape& b, const Shape& y) {
  const Shape full_a = aligned(a, y.size()), full_b = aligned(b, y.size());
  MergedAxes m;
  for (size_t k = 0; k < y.size(); ++k) {
    if (y[k] == 1) continue;
    const bool in_a = full_a[k] != 1, in_b = full_b[k] != 1;
    const bool joins = !m.y.empty() && (m.a.back() != 1) == in_a && (m.b.back() != 1) == in_b;
    if (!joins) m.a.push_back(1), m.b.push_back(1), m.y.push_back(1);
    if (in_a) m.a.back() *= y[k];
    if (in_b) m.b.back() *= y[k];
    m.y.back() *= y[k];
  }
  if (m.y.empty()) m = {{1}, {1}, {1}};
  return m;
}

bool is_repeated_whole(const Shape& operand, const Shape& y) {
  const Shape full = aligned(operand, y.size());
  size_t k = 0;
  while (k < y.size() && full[k] == 1) ++k;
  return std::equal(full.begin() + static_cast<std::ptrdiff_t>(k), full.end(),
                    y.begin() + static_cast<std::ptrdiff_t>(k));
}

Result<Lowered> lower_extremum(const char* name, const LowerContext& c, const std::string& rule) {
  for (const Type* t : {&c.in[0], &c.in[1], &c.out[0]})
    if (auto r = require_int8(*t, "an operand", (rule + ".dtype").c_str())) return *r;
  return extremum_call(name, c, rule);
}

Result<Lowered> extremum_call(const char* name, const LowerContext& c, const std::string& rule) {
  const Type &a = c.in[0], &b = c.in[1], &y = c.out[0];
  for (const Type* t : {&a, &b})
    if (auto r = require_same_quant(*t, y, (rule + ".quant").c_str())) return *r;
  const MergedAxes m = merged_axes(a.shape, b.shape, y.shape);
  if (m.y.size() > kMostMergedAxes)
    return Refusal{"the operands alternate between broadcast and whole axes too often",
                   std::to_string(m.y.size()), std::to_string(kMostMergedAxes), rule + ".rank"};
  CallBuilder call(name, c.in.size(), 1);
  call.in(0, plain_face(m.a)).in(1, plain_face(m.b)).out(0, plain_face(m.y));
  if (m.a == m.y) call.may_share(0, 0);
  if (m.b == m.y) call.may_share(0, 1);
  return call.done();
}

}  // namespace deuteron
