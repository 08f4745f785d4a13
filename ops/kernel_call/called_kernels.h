// SPDX-License-Identifier: Apache-2.0
// Which kernels the calls of a program come to on a core, and why others do not serve them: asked
// of the checks that the core's loader runs (kernels/common/record_call.h). No operator is known
// here.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/tensor/type.h"
#include "ops/kernel_call/kernel_call.h"
#include "runtime/deuteron.h"

namespace deuteron {

// Feature bits of a core, as a CallRecorder has them.
uint32_t features_of(Isa isa, bool has_float_unit);
// Of the usual core with these instructions: those with vectors or the DSP extension have a
// floating-point unit.
inline uint32_t usual_features(Isa isa) { return features_of(isa, isa != Isa::scalar); }

struct CalledKernels {
  std::vector<std::string> names;  // in the order in which they run: "packed_conv2d_s8_mve_rows";
                                   // empty: one without a name, or none
  std::vector<std::string>
      why_not;  // of kernels that the core has for such calls, and that do not serve this one
};

// Of one call. Operands that are constants have data, and the checks read it.
CalledKernels called_kernels(const KernelCall& call, TypeView in, TypeView out,
                             std::span<void* const> in_data, Isa isa, uint32_t features);

// Has the checks of a loaded program's call tell `recorder` what it comes to. False: nothing was
// kept, as of a call without elements.
struct CallRecorder;
bool ask_step(const Program::Step& step, const Kernel& kernel, Isa isa,
              const CallRecorder& recorder);

// By instruction of the program; a call of a backend has none. Nothing: this runtime does not load
// the file.
std::optional<std::vector<CalledKernels>> called_kernels(File program, Isa isa, uint32_t features);

// "packed_conv2d_s8_mve_rows", or "conv2d_s8: a channel is scaled by 1 or more".
std::string text_of(const CalledKernels& called);

}  // namespace deuteron
