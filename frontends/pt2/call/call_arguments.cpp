// SPDX-License-Identifier: Apache-2.0
// A call's arguments: found by name, checked for kind and range.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/pt2/call/call.h"
#include "frontends/pt2/call/schema_arguments.h"

namespace deuteron::pt2 {

// Kernel extents, strides, padding and the like: far above any operator, small enough that products
// of two stay within 64 bits.
static constexpr i64 kMaxAttribute = 1 << 24;

void Call::warn(std::string_view what, std::string_view rule, std::string fix) {
  if (ok_)
    state_.diagnostics.warning(describe_source(state_.graph, source_), std::string(what),
                               std::string(rule), std::move(fix));
}

void Call::refuse(Refusal why, std::string fix) {
  if (why.measured.empty() != why.limit.empty())
    (why.measured.empty() ? why.measured : why.limit) = "none";  // shapes without axes
  if (ok_)
    state_.diagnostics.add({Severity::error, describe_source(state_.graph, source_),
                            std::move(why.what), std::move(why.measured), std::move(why.limit),
                            std::move(why.rule), std::move(fix)});
  ok_ = false;
}

void Call::require(bool condition, std::string_view what, std::string measured, std::string limit,
                   std::string_view rule) {
  if (!condition)
    refuse({std::string(what), std::move(measured), std::move(limit), std::string(rule)});
}

std::string_view Call::operator_name() const {
  const size_t first = base_target_.find('.') + 1;
  return base_target_.substr(first, base_target_.find('.', first) - first);
}

const Argument* Call::given(std::string_view argument) const {
  for (const auto& [name, value] : node_.arguments)
    if (name == argument) return &value;
  return nullptr;
}

void Call::check_arguments() {
  const auto parameters = parameters_of(
      node_.target);  // an in-place form may have names of its own: self for dropout's input
  if (!parameters) return;
  for (const TorchParameter& p : *parameters) {
    const Argument* a = given(p.name);
    if (a ? takes(p, *a) : !p.is_required()) continue;
    const bool is_open =
        a && (a->kind == Argument::Kind::symbol || a->kind == Argument::Kind::symbols);
    const char* fault = !a                      ? "is missing"
                        : !is_open              ? "is of another kind"
                        : a->is_number_symbol() ? "is a number that nothing before it makes"
                                                : "is a size that nothing before it makes";
    refuse({fmt::format("argument `{}` {}, expected {}", p.name, fault, describe_kind(p)), "", "",
            "pt2.argument.kind"});
  }
}

const Argument* Call::find(std::string_view argument) {
  if (const Argument* value = given(argument)) return value;
  if (auto value = default_argument(base_target_, argument))
    return defaults_.emplace_back(std::make_unique<Argument>(std::move(*value))).get();
  return nullptr;
}

const Argument* Call::need(std::string_view argument, std::initializer_list<Argument::Kind> kinds,
                           std::string_view expected) {
  if (!ok_) return nullptr;
  const Argument* a = find(argument);
  if (a && std::find(kinds.begin(), kinds.end(), a->kind) != kinds.end()) return a;
  const std::string found =
      a ? (a->kind == Argument::Kind::other || a->kind == Argument::Kind::complex
               ? "is " + a->text
               : "is of another kind")
        : "is missing";
  refuse({fmt::format("argument `{}` {}, expected {}", argument, found, expected), "", "",
          "pt2.argument.kind"});
  return nullptr;
}

bool Call::has(std::string_view argument) {
  const Argument* a = find(argument);
  return a && a->kind != Argument::Kind::none;
}

bool Call::is_tensor(std::string_view argument) {
  const Argument* a = find(argument);
  return a && a->kind == Argument::Kind::tensor;
}

i64 Call::integer(std::string_view argument) {
  const Argument* a =
      need(argument, {Argument::Kind::integer, Argument::Kind::boolean, Argument::Kind::dtype},
           "an integer");
  return a ? a->integer : 0;
}

double Call::number(std::string_view argument) {
  const Argument* a =
      need(argument, {Argument::Kind::integer, Argument::Kind::boolean, Argument::Kind::real},
           "a number");
  return !a ? 0 : a->kind == Argument::Kind::real ? a->real : static_cast<double>(a->integer);
}

bool Call::boolean(std::string_view argument) {
  const Argument* a =
      need(argument, {Argument::Kind::boolean, Argument::Kind::integer}, "true or false");
  return a && a->integer != 0;
}

std::string Call::text(std::string_view argument) {
  const Argument* a = need(argument, {Argument::Kind::text}, "a string");
  return a ? a->text : std::string();
}

std::vector<i64> Call::integers(std::string_view argument) {
  const Argument* a =
      need(argument, {Argument::Kind::integers, Argument::Kind::integer}, "a list of integers");
  if (!a) return {};
  return a->kind == Argument::Kind::integer ? std::vector<i64>{a->integer} : a->integers;
}

std::vector<double> Call::reals(std::string_view argument) {
  const Argument* a = need(argument, {Argument::Kind::reals}, "a list of numbers");
  return a ? a->reals : std::vector<double>{};
}

HW Call::pair(std::string_view argument, i64 lowest) {
  const std::vector<i64> list = integers(argument);
  if (ok_ && list.size() != 1 && list.size() != 2)
    refuse({fmt::format("argument `{}` does not have two entries", argument),
            std::to_string(list.size()), "2", "pt2.argument.count"});
  if (!ok_) return {lowest, lowest};
  for (const i64 v : list)
    if (v < lowest || v > kMaxAttribute)
      refuse({fmt::format("argument `{}` is out of range", argument), std::to_string(v),
              fmt::format("{}..{}", lowest, kMaxAttribute), "pt2.argument.range"});
  return ok_ ? HW{list.front(), list.back()} : HW{lowest, lowest};
}

i64 Call::normalized_axis(i64 value, i64 rank) {
  const i64 span = std::max<i64>(rank, 1);  // torch takes 0 and -1 for a tensor without axes
  if (ok_ && (value < -span || value >= span))
    refuse({"axis is out of range", std::to_string(value), fmt::format("{}..{}", -span, span - 1),
            "pt2.argument.axis"});
  return !ok_ ? 0 : value < 0 ? value + span : value;
}

i64 Call::axis(std::string_view argument, i64 rank) {
  return normalized_axis(integer(argument), rank);
}

std::vector<i64> Call::axes(std::string_view argument, i64 rank) {
  std::vector<i64> list = integers(argument);
  for (i64& v : list) v = normalized_axis(v, rank);
  for (size_t i = 0; ok_ && i < list.size(); ++i)
    if (std::find(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i), list[i]) !=
        list.begin() + static_cast<std::ptrdiff_t>(i))
      refuse({fmt::format("argument `{}` names an axis twice", argument), "", "",
              "pt2.argument.axis"});
  return list;
}

}  // namespace deuteron::pt2
