// SPDX-License-Identifier: Apache-2.0
// Runs a loaded program call by call. During a call all planned memory is poisoned that is not the
// call's, so that AddressSanitizer sees a read or write from one tensor into the next; after it,
// nothing may have changed but what the call writes. Outs and scratch hold `fill` before a call,
// and scratch something else after it: nothing may depend on either. For delegates only the first
// holds: which of their arguments they write is known to their backend alone.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/deuteron.h"
#include "runtime/schema.h"

#if defined(__SANITIZE_ADDRESS__)
#define DEUTERON_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DEUTERON_POISONS 1
#endif
#endif
#ifdef DEUTERON_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace deuteron::test {

#ifdef DEUTERON_POISONS
inline constexpr bool kPoisons = true;
inline void poison(const void* p, size_t bytes) { __asan_poison_memory_region(p, bytes); }
inline void unpoison(const void* p, size_t bytes) { __asan_unpoison_memory_region(p, bytes); }
#else
inline constexpr bool kPoisons = false;
inline void poison(const void*, size_t) {}
inline void unpoison(const void*, size_t) {}
#endif

class GuardedRun {
 public:
  GuardedRun(const Program& program, const KernelTable& kernels, Memory planned)
      : program_(program),
        kernels_(kernels),
        planned_(static_cast<uint8_t*>(planned.data)),
        bytes_(planned.bytes) {
    for (int32_t i = 0; i < program.input_count(); ++i) note_end(program.input(i));
    for (int32_t i = 0; i < program.output_count(); ++i) {
      note_end(program.output(i));
      has_copies_ |= is_copy(program.output(i));
    }
    for (int32_t k = 0; k < program.instruction_count(); ++k) ranges_of(k);
  }

  // Whether constants, of calls or as outputs, were copied into planned memory: then only load()
  // may fill it.
  bool has_copies() const { return has_copies_; }

  [[nodiscard]] Status run(uint8_t fill) {
    for (int32_t k = 0; k < program_.instruction_count(); ++k) {
      const bool is_delegate = program_.delegate(k) != nullptr;
      const std::vector<Range> ranges = ranges_of(k);
      if (!is_delegate) fill_outs(ranges, fill);
      before_.assign(planned_, planned_ + bytes_);
      poison(planned_, bytes_);
      for (const Range& r : ranges) unpoison(planned_ + r.begin, r.end - r.begin);
      if (is_delegate) unpoison(planned_ + workspace_, bytes_ - workspace_);
      const Status s = program_.run_one(k);
      unpoison(planned_, bytes_);
      if (!s.ok()) return s;
      if (is_delegate) continue;
      check_changes(k, ranges);
      for (const Range& r : ranges)
        if (r.use == 'X') std::memset(planned_ + r.begin, ~fill, r.end - r.begin);
    }
    return Status{};
  }

 private:
  // Of the planned memory.
  struct Range {
    size_t begin, end;
    char use;  // 'T' read, 'O' written, 'X' scratch
  };

  bool lies_here(const Tensor& t) const {
    const auto* data = static_cast<const uint8_t*>(t.data);
    return data >= planned_ && data < planned_ + bytes_;
  }
  bool is_copy(const Tensor& t) const { return t.constant && lies_here(t); }
  size_t end_of(const Tensor& t) const {
    return static_cast<size_t>(static_cast<const uint8_t*>(t.data) - planned_) +
           static_cast<size_t>(t.numel) * element_bytes(t.type);
  }
  // What lies behind all tensors is the delegates' workspace.
  void note_end(const Tensor& t) {
    if (lies_here(t))
      workspace_ = std::min(bytes_, std::max(workspace_, (end_of(t) + 15) / 16 * 16));
  }

  const Kernel& kernel_of(int32_t k) const {
    const CallName name = program_.name_of_call(k);
    const std::string full =
        std::string(name.op) +
        (name.overload && *name.overload ? std::string(".") + name.overload : "");
    for (int32_t i = 0; i < kernels_.count; ++i)
      if (full == kernels_.kernels[i]->name) return *kernels_.kernels[i];
    std::fprintf(stderr, "call %d: there is no kernel %s\n", k, full.c_str());
    std::abort();
  }

  std::vector<Range> ranges_of(int32_t k) {
    std::vector<Range> ranges;
    const Program::Step step = program_.step(k);
    const char* schema = step.delegate ? nullptr : kernel_of(k).schema;
    const auto take = [&](const Value* v, char letter) {
      if (v->kind != Kind::tensor) return;
      note_end(*v->tensor);
      const char use = letter == 'W' ? 'O' : is_out(letter) ? letter : 'T';
      has_copies_ |= is_copy(*v->tensor);
      if (lies_here(*v->tensor))
        ranges.push_back(
            {static_cast<size_t>(static_cast<const uint8_t*>(v->tensor->data) - planned_),
             end_of(*v->tensor), use});
    };
    for (int32_t i = 0; i < step.count; ++i) {
      const char letter = schema ? schema[i] : 'T';
      take(step.args[i], letter);
      if (step.args[i]->kind == Kind::tensor_list)
        for (int32_t n = 0; n < step.args[i]->list.count; ++n)
          take(step.args[i]->list.items[n], letter);
    }
    return ranges;
  }

  // But those that take the place of an input.
  void fill_outs(const std::vector<Range>& ranges, uint8_t fill) {
    for (const Range& out : ranges) {
      if (out.use == 'T') continue;
      const bool in_place = std::any_of(ranges.begin(), ranges.end(), [&](const Range& r) {
        return r.use == 'T' && r.begin < out.end && out.begin < r.end;
      });
      if (!in_place) std::memset(planned_ + out.begin, fill, out.end - out.begin);
    }
  }

  void check_changes(int32_t k, const std::vector<Range>& ranges) {
    for (const Range& r : ranges)
      if (r.use != 'T') std::memcpy(before_.data() + r.begin, planned_ + r.begin, r.end - r.begin);
    const auto [was, is] = std::mismatch(before_.begin(), before_.end(), planned_);
    if (was == before_.end()) return;
    std::fprintf(
        stderr,
        "call %d (%s) changed byte %td of the planned memory, which is not its own: %d was %d\n", k,
        program_.name_of_call(k).op, is - planned_, *is, *was);
    std::abort();
  }

  const Program& program_;
  const KernelTable& kernels_;
  uint8_t* planned_;
  size_t bytes_, workspace_ = 0;
  bool has_copies_ = false;
  std::vector<uint8_t> before_;
};

}  // namespace deuteron::test
