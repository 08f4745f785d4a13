// SPDX-License-Identifier: Apache-2.0
#include "explain/doctor/advice.h"

#include <algorithm>
#include <iterator>

namespace deuteron {

#define ADVICE(subject, limit, change, code) {subject, limit, {change, code}},
static constexpr NpuAdvice kNpuAdvice[] = {
#include "explain/doctor/npu_advice.inc"
#include "explain/doctor/operator_advice.inc"  // made by CMakeLists.txt: of ops/*/advice.inc
};
#undef ADVICE

struct FloatAdvice {
  std::string_view kernel;
  Change change;
};
#define ADVICE(kernel, change, code) {kernel, {change, code}},
static constexpr FloatAdvice kFloatAdvice[] = {
#include "explain/doctor/float_advice.inc"
};
#undef ADVICE

std::span<const NpuAdvice> npu_advice() { return kNpuAdvice; }

// "neutron.conv2d.taps": "conv2d" and "taps"; "neutron.exclude": "exclude" and "".
const Change* npu_advice_for(std::string_view rule) {
  constexpr std::string_view kPrefix = "neutron.";
  if (!rule.starts_with(kPrefix)) return nullptr;
  rule.remove_prefix(kPrefix.size());
  const size_t dot = std::min(rule.find('.'), rule.size());
  const std::string_view subject = rule.substr(0, dot),
                         limit = rule.substr(std::min(dot + 1, rule.size()));
  for (const std::string_view wanted : {subject, std::string_view("*")})
    for (const NpuAdvice& row : kNpuAdvice)
      if (row.subject == wanted && row.limit == limit) return &row.change;
  return nullptr;
}

const Change& float_advice_for(std::string_view kernel) {
  const auto row = std::ranges::find(kFloatAdvice, kernel, &FloatAdvice::kernel);
  return (row == std::end(kFloatAdvice) ? std::prev(std::end(kFloatAdvice)) : row)->change;
}

}  // namespace deuteron
