// SPDX-License-Identifier: Apache-2.0
// Runs or only checks a kernel call on the host, with the very kernels that the device has.
#pragma once
#include <span>
#include <string>

#include "ops/kernel_call/kernel_call.h"
#include "ops/op.h"
#include "runtime/isa.h"

namespace deuteron {

// "aten::scatter.src_out"; and the runtime's kernel of that name, null if it has none.
std::string name_of_kernel(const KernelCall&);
const Kernel* kernel_of(const KernelCall&);

// What the runtime would refuse at load: no such kernel, a wrong argument. Nothing: it would run.
std::optional<std::string> fault_of_call(const KernelCall&, TypeView in, TypeView out);

// Has the call's checks tell `recorder` which kernels it comes to; nothing, where they refuse it.
// Operands that are constants have data.
struct CallRecorder;
void ask_call(const KernelCall&, TypeView in, TypeView out, std::span<void* const> in_data, Isa isa,
              const CallRecorder& recorder);

// Runs the call on memory as the device has it. CHECKs that the runtime takes it. `constant`: by
// input, whether it lies in the file; empty: none does.
void run_call(const KernelCall&, TypeView in, TypeView out, std::span<void* const> in_data,
              std::span<void* const> out_data, const std::vector<bool>& constant);

// Computes the results. The host keeps every value as float32 numbers, integers and booleans too:
// they are converted on the way in and out, steps with a scale to the real values that they stand
// for.
void execute(const KernelCall&, std::span<const HostTensor> in, std::span<const HostTensor> out);

}  // namespace deuteron
