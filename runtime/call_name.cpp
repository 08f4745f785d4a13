// SPDX-License-Identifier: Apache-2.0
// The name of a call with its overload, for profiles: apart from program.cpp, so that a program
// without a profile does not have it.
#include "runtime/plan.h"

namespace deuteron {

CallName Program::name_of_call(int32_t k) const {
  if (k < 0 || k >= instruction_count_) return {nullptr, nullptr};
  const CallView call = known_call(*plan_, static_cast<uint32_t>(k));
  if (call.delegate) return {call.op, nullptr};
  const FlatReader& r = plan_->reader;
  const FlatVector overload = r.known_vector(r.known_table(plan_->operators, call.op_index), 1);
  if (overload.count == 0) return {call.op, nullptr};
  return {call.op, reinterpret_cast<const char*>(r.bytes + overload.at)};
}

}  // namespace deuteron
