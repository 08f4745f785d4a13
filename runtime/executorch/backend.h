// SPDX-License-Identifier: Apache-2.0
// `DeuteronBackend` for the stock ExecuTorch runtime: parts of a program that deuteron.executorch
// has compiled run as programs of ours. C++17, no heap, no exceptions, no RTTI, nothing runs before
// main. Its memory is the method's own: all comes from the method allocator, but for `scratch`.
//
//   if (deuteron::register_executorch_backend() != executorch::runtime::Error::Ok) ...   // once,
//   before the first load_method
#pragma once
#include <executorch/runtime/core/error.h>

#include "runtime/deuteron.h"

namespace deuteron {

// The stock runtime then finds the backend by its name. `kernels`: those that the firmware links
// (`deuteron firmware --as executorch` writes it); a part that calls another one does not load, and
// the log names it. Not Ok where a library behind a delegate of ours does not start.
// `scratch`, at a multiple of 16: planned memory of all parts of all methods that fit in there and
// keep nothing between two calls. One part runs at a time then.
[[nodiscard]] executorch::runtime::Error register_executorch_backend(
    const KernelTable& kernels = kAllKernels, Memory scratch = {});

}  // namespace deuteron
