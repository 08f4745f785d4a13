// SPDX-License-Identifier: Apache-2.0
// What the loaded and the compiled form of a part have in common: the words of its specifications,
// its memory from the method's allocator, and a run with ExecuTorch's tensors.
#pragma once
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/platform/log.h>

#include <cstring>

#include "runtime/deuteron.h"
#include "runtime/executorch/copy.h"

namespace deuteron {

namespace et = executorch::runtime;

inline constexpr size_t kPartAlignment = 16;  // of a part and its memories
inline constexpr size_t kInputAlignment = 8;  // of what is read in place: no kernel asks for more

struct PartSpecs {
  bool is_sample;   // one of a batch, whose size the caller says
  char target[64];  // that it was compiled for
};

inline PartSpecs read_specs(et::ArrayRef<et::CompileSpec> specs) {
  PartSpecs part{false, "an unknown target"};
  for (const et::CompileSpec& spec : specs) {
    if (std::strcmp(spec.key, "batch") == 0) part.is_sample = true;
    if (std::strcmp(spec.key, "target") != 0) continue;
    const size_t bytes =
        spec.value.nbytes < sizeof part.target ? spec.value.nbytes : sizeof part.target - 1;
    std::memcpy(part.target, spec.value.buffer, bytes);
    part.target[bytes] = 0;
  }
  return part;
}

// Null, and a line in the log, where the method allocator has not so many bytes left.
inline void* taken(et::BackendInitContext& context, size_t bytes, size_t alignment,
                   const char* what) {
  et::MemoryAllocator* const allocator = context.get_runtime_allocator();
  void* const memory = allocator ? allocator->allocate(bytes > 0 ? bytes : 1, alignment) : nullptr;
  if (!memory)
    ET_LOG(Error, "DeuteronBackend: the method allocator lacks %u bytes for %s",
           static_cast<unsigned>(bytes), what);
  return memory;
}

inline bool is_aligned(const void* part, [[maybe_unused]] const char* target) {
  if (reinterpret_cast<uintptr_t>(part) % kPartAlignment == 0) return true;
  ET_LOG(Error,
         "DeuteronBackend: the part for %s does not lie at a multiple of 16: keep delegates in "
         "segments (extract_delegate_segments), and the file at a multiple of 16",
         target);
  return false;
}

// `is_outside`: it is read where it lies.
inline bool is_alike(const Tensor& ours, const executorch::aten::Tensor& theirs, int argument,
                     int32_t samples, bool is_outside) {
  bool alike = static_cast<int>(theirs.scalar_type()) == static_cast<int>(ours.type) &&
               theirs.dim() == ours.rank &&
               (samples == 1 || (ours.rank > 0 && theirs.dim_order()[0] == 0));
  for (int d = 0; alike && d < ours.rank; ++d)
    alike = theirs.size(d) == ours.sizes[d] * (d == 0 ? samples : 1);
  if (is_outside)
    alike = alike && reinterpret_cast<uintptr_t>(theirs.const_data_ptr()) % kInputAlignment == 0 &&
            same_order(ours, ours.dim_order, theirs.dim_order().data());
  if (!alike)
    ET_LOG(Error,
           "DeuteronBackend: argument %d has type %d, rank %d and %d elements; the part was "
           "compiled for type %d, rank %d and %d%s",
           argument, static_cast<int>(theirs.scalar_type()), static_cast<int>(theirs.dim()),
           static_cast<int>(theirs.numel()), static_cast<int>(ours.type), ours.rank,
           static_cast<int>(ours.numel),
           is_outside ? ", at a multiple of 8, the axes in their order" : "");
  return alike;
}

inline et::Error resize(const executorch::aten::Tensor& theirs, const Tensor& ours,
                        int32_t samples) {
  executorch::aten::SizesType sizes[kMaxRank];
  for (int d = 0; d < ours.rank; ++d) sizes[d] = ours.sizes[d] * (d == 0 ? samples : 1);
  return et::resize_tensor(theirs, {sizes, ours.rank});
}

#ifdef ET_EVENT_TRACER_ENABLED
// An event for each instruction, whose number is the delegate's debug id; at kIntermediateOutputs
// with what it has made, for who compares it with the model's own values.
class PartEvents {
 public:
  explicit PartEvents(et::BackendExecutionContext& context) : context_(context) {}

  void begin(int32_t k) {
    instruction_ = static_cast<et::DelegateDebugIntId>(k);
    entry_ = context_.event_tracer()->start_profiling_delegate(nullptr, instruction_);
  }
  // `made`: null where it is not a tensor.
  void end(const Tensor* made) {
    et::EventTracer* const tracer = context_.event_tracer();
    tracer->end_profiling_delegate(entry_, nullptr, 0);
    if (made &&
        tracer->event_tracer_debug_level() == et::EventTracerDebugLogLevel::kIntermediateOutputs)
      log(*made);
  }

 private:
  // A trace has no strides, so the axes go there in their own order.
  void log(const Tensor& made) {
    executorch::aten::SizesType sizes[kMaxRank];
    executorch::aten::DimOrderType order[kMaxRank];
    executorch::aten::StridesType strides[kMaxRank];
    executorch::aten::StridesType next = 1;
    for (int d = made.rank - 1; d >= 0; --d) {
      sizes[d] = made.sizes[d], order[d] = static_cast<executorch::aten::DimOrderType>(d);
      strides[d] = next, next *= sizes[d];
    }
    void* const copy = context_.allocate(static_cast<size_t>(made.numel) * element_bytes(made.type),
                                         kPartAlignment);
    if (!copy) {
      ET_LOG(Error, "DeuteronBackend: the temporary allocator has no room to log instruction %d",
             static_cast<int>(instruction_));
      return;
    }
    executorch::aten::TensorImpl seen(static_cast<executorch::aten::ScalarType>(made.type),
                                      made.rank, sizes, copy, order, strides);
    const executorch::aten::Tensor tensor(&seen);
    copy_out(made, tensor, 0);
    (void)context_.event_tracer()->log_intermediate_output_delegate(nullptr, instruction_, tensor);
  }

  et::BackendExecutionContext& context_;
  et::EventTracerEntry entry_;
  et::DelegateDebugIntId instruction_ = -1;
};
#endif

// Part: inputs(), outputs(), and port(i), a Tensor of ours, inputs first; is_outside(i): an input
// that `run` reads where it lies. `run`: once, the status
// of ExecuTorch.
template <class Part, class Run>
et::Error run_part(const Part& part, const PartSpecs& specs, et::Span<et::EValue*> args, Run run) {
  const int32_t inputs = part.inputs(), all = inputs + part.outputs();
  if (args.size() != static_cast<size_t>(all)) {
    ET_LOG(Error, "DeuteronBackend: %d arguments, the part for %s has %d",
           static_cast<int>(args.size()), specs.target, static_cast<int>(all));
    return et::Error::InvalidProgram;
  }
  for (int32_t i = 0; i < all; ++i)
    if (!args[i]->isTensor()) return et::Error::InvalidArgument;
  const bool is_sample = specs.is_sample && inputs > 0 && args[0]->toTensor().dim() > 0;
  const auto samples = is_sample ? static_cast<int32_t>(args[0]->toTensor().size(0)) : 1;
  for (int32_t i = 0; i < all; ++i) {
    const Tensor& ours = part.port(i);
    if (is_sample && i >= inputs && resize(args[i]->toTensor(), ours, samples) != et::Error::Ok)
      return et::Error::InvalidArgument;
    if (!is_alike(ours, args[i]->toTensor(), i, samples, part.is_outside(i)))
      return et::Error::InvalidArgument;
  }
  for (int32_t sample = 0; sample < samples; ++sample) {
    for (int32_t i = 0; i < inputs; ++i)
      if (!part.is_outside(i)) copy_in(part.port(i), args[i]->toTensor(), sample);
    if (const et::Error error = run(); error != et::Error::Ok) return error;
    for (int32_t i = inputs; i < all; ++i) copy_out(part.port(i), args[i]->toTensor(), sample);
  }
  return et::Error::Ok;
}

}  // namespace deuteron
