// SPDX-License-Identifier: Apache-2.0
// Memory where the kernels of a host keep weights in their own order, so that they need not bring
// them into it at every call. Whoever loads a program lends it, or does not; the runtime's
// interface and a microcontroller know nothing of it.
//
//   HostArena asking;                                  // while it lives, kernels say what they
//   would keep measure(file, kAllKernels, &needs);
//
//   HostArena lent({memory, asking.bytes()});          // while it lives, they keep it there
//   program.load(file, kAllKernels, tables, planned);  // the memory must outlive the program
#pragma once
#include "runtime/deuteron.h"

namespace deuteron {

// Of this thread, one at a time within another. It goes out of use in the order in which it came.
class HostArena {
 public:
  explicit HostArena(Memory lent = {});
  ~HostArena();
  HostArena(const HostArena&) = delete;

  // That have been asked for, wherever the memory begins; less than that is no error, some calls
  // then go without.
  size_t bytes() const;

  // For kernels, 64-aligned; null where nobody lends memory or not enough is left.
  static void* take(size_t bytes);
  template <class T>
  static T* make() {
    return static_cast<T*>(take(sizeof(T)));
  }

 private:
  Arena arena_;
  HostArena* const outer_;
};

// The arguments of a host's kernel `run`: its weights in their own order, and the tensors.
template <class Conv, void (*run)(const Conv& conv, const int8_t* x, int8_t* y)>
struct HostCall {
  Conv conv;
  const int8_t* x;
  int8_t* y;
  static void run_kept(const void* kept) {
    const HostCall& c = *static_cast<const HostCall*>(kept);
    run(c.conv, c.x, c.y);
  }
};

// Keeps such a call, whose weights take `bytes` in the order that `order(room)` brings them into.
// False where there are none or no memory.
template <class Conv, void (*run)(const Conv&, const int8_t*, int8_t*), class Order>
bool keep_ordered(Prepared* prepared, int64_t bytes, const Order& order, const int8_t* x,
                  int8_t* y) {
  using Kept = HostCall<Conv, run>;
  if (bytes == 0) return false;
  void* const room = HostArena::take(static_cast<size_t>(bytes));
  auto* const kept = HostArena::make<Kept>();
  if (room == nullptr || kept == nullptr) return false;
  *kept = {order(room), x, y};
  *prepared = {Kept::run_kept, kept};
  return true;
}

}  // namespace deuteron
