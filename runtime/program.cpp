// SPDX-License-Identifier: Apache-2.0
// A loaded program: its inputs, running it, and looking at its calls.
#include "runtime/plan.h"

namespace deuteron {

Status Program::set_input(int32_t i, const void* data, size_t bytes) {
  Status s;
  s.code = Code::bad_input;
  if (i < 0 || i >= input_count_) {
    s.detail = "there is no input of that index";
    return s;
  }
  const Tensor& t = *inputs_[i];
  s.bytes_needed = static_cast<uint32_t>(t.numel) * element_bytes(t.type);
  if (bytes != s.bytes_needed || (!data && bytes != 0)) {
    s.detail = "the input has another number of bytes";
    return s;
  }
  if (bytes != 0) __builtin_memcpy(t.data, data, bytes);
  return Status{};
}

void Program::reset_state() const {
  for (int32_t i = 0; i < state_count_; ++i) {
    const Tensor& t = states_[i].tensor;
    if (t.numel > 0)
      __builtin_memcpy(t.data, states_[i].initial,
                       static_cast<size_t>(t.numel) * element_bytes(t.type));
  }
}

Status Program::run() const {
  if (!plan_) {
    Status s;
    s.code = Code::bad_input;
    s.detail = "no program is loaded";
    return s;
  }
  for (int32_t k = 0; k < instruction_count_; ++k) {
    const Prepared& call = calls_[k];
    if (!kHasDelegates || call.run) {
      call.run(call.args);
    } else if (const Status s = run_delegate(k); !s.ok()) {
      return s;
    }
  }
  return Status{};
}

Status Program::run_delegate(int32_t k) const {
  const PreparedDelegate& d = *static_cast<const PreparedDelegate*>(calls_[k].args);
  Status s = d.backend->run(d.state);
  if (s.ok()) return s;
  s.instruction = k;
  s.op = d.backend->id;
  return s;
}

void Program::unload() {
  for (int32_t k = 0; kHasDelegates && delegate_calls_ > 0 && k < instruction_count_; ++k) {
    if (calls_[k].run) continue;
    const PreparedDelegate& d = *static_cast<const PreparedDelegate*>(calls_[k].args);
    d.backend->close(d.state);
    --delegate_calls_;
  }
  *this = Program{};
}

Program::Step Program::step(int32_t k) const {
  if (k < 0 || k >= instruction_count_) return {nullptr, nullptr, 0, nullptr};
  const CallRoom room{room_args_, room_values_, room_tensors_, room_items_};
  const CallView call = known_call(*plan_, static_cast<uint32_t>(k));
  Step step{call.op, nullptr, 0, nullptr};
  if (kHasDelegates && !calls_[k].run)
    step.delegate = static_cast<const PreparedDelegate*>(calls_[k].args);
  step.args = decode_call(*plan_, call, room, &step.count);
  return step;
}

}  // namespace deuteron
