// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_call/kernel_call.h"

#include <numeric>

#include "ops/kernel_call/numbers.h"

namespace deuteron {

Face plain_face(const Shape& storage) {
  Axes order(storage.size());
  std::iota(order.begin(), order.end(), 0);
  return {storage, std::move(order)};
}

Face channels_last_face(const Shape& s) {
  DEUTERON_CHECK(s.size() == 4, to_text(s));
  return {{s[0], s[3], s[1], s[2]}, {0, 2, 3, 1}};
}

Face elementwise_face(const Shape& s) {
  return s.size() == 4 ? channels_last_face(s) : plain_face(s);
}

CallBuilder& CallBuilder::in(i64 operand, Face face) {
  lowered_.call.args.push_back({KernelArg::Kind::input, operand, 0, {}, std::move(face)});
  return *this;
}
CallBuilder& CallBuilder::all_in() {
  std::vector<i64> all(operands_);
  std::iota(all.begin(), all.end(), 0);
  lowered_.call.args.push_back({KernelArg::Kind::inputs, 0, 0, std::move(all), {}});
  return *this;
}
CallBuilder& CallBuilder::overload(std::string name) {
  lowered_.call.overload = std::move(name);
  return *this;
}
CallBuilder& CallBuilder::out(i64 result, Face face) {
  lowered_.call.args.push_back({KernelArg::Kind::output, result, 0, {}, std::move(face)});
  return *this;
}
CallBuilder& CallBuilder::constant(Type type, Constant data, Face face) {
  DEUTERON_CHECK(type.bytes() == static_cast<i64>(data.bytes.size()), to_text(type));
  in(static_cast<i64>(operands_ + lowered_.constants.size()), std::move(face));
  lowered_.constants.push_back({std::move(type), std::move(data)});
  return *this;
}
CallBuilder& CallBuilder::scratch(i64 bytes) {
  return scratch({DType::u8, {bytes}, {}}, plain_face({bytes}));
}
CallBuilder& CallBuilder::scratch(i64 bytes, OwnScratch own) {
  lowered_.call.own_scratch.push_back(own);
  return scratch(bytes);
}
CallBuilder& CallBuilder::scratch(Type type, Face face) {
  out(static_cast<i64>(results_ + lowered_.scratch.size()), std::move(face));
  lowered_.scratch.push_back(std::move(type));
  return *this;
}
CallBuilder& CallBuilder::integer(i64 v) {
  lowered_.call.args.push_back({KernelArg::Kind::integer, v, 0, {}, {}});
  return *this;
}
CallBuilder& CallBuilder::real(double v) {
  lowered_.call.args.push_back({KernelArg::Kind::real, 0, v, {}, {}});
  return *this;
}
CallBuilder& CallBuilder::boolean(bool v) {
  lowered_.call.args.push_back({KernelArg::Kind::boolean, v, 0, {}, {}});
  return *this;
}
CallBuilder& CallBuilder::integers(std::vector<i64> v) {
  lowered_.call.args.push_back({KernelArg::Kind::integers, 0, 0, std::move(v), {}});
  return *this;
}
CallBuilder& CallBuilder::none() {
  lowered_.call.args.push_back({});
  return *this;
}
CallBuilder& CallBuilder::may_share(i64 result, i64 operand) {
  lowered_.call.in_place.emplace_back(result, operand);
  return *this;
}
CallBuilder& CallBuilder::numbers(CallNumbers numbers) {
  lowered_.call.numbers = std::make_shared<const CallNumbers>(std::move(numbers));
  return *this;
}

}  // namespace deuteron
