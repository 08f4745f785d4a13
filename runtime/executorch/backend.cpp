// SPDX-License-Identifier: Apache-2.0
#include "runtime/executorch/backend.h"

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/platform/log.h>

#include <cstring>
#include <new>

#include "runtime/deuteron.h"
#include "runtime/executorch/copy.h"

namespace deuteron {
namespace {

namespace et = executorch::runtime;

constexpr size_t kAlignment = 16;  // of a program and its memories
constexpr int kMaxTargetName = 64;

struct LoadedPart {
  Program program;
  bool is_sample;  // one of a batch, whose size the caller says
  char target[kMaxTargetName];
};

et::Error error_of(Code code) {
  switch (code) {
    case Code::ok:
      return et::Error::Ok;
    case Code::wrong_isa:
      return et::Error::DelegateInvalidCompatibility;
    case Code::missing_kernel:
    case Code::missing_backend:
      return et::Error::OperatorMissing;
    case Code::unsupported:
      return et::Error::NotSupported;
    case Code::out_of_memory:
      return et::Error::MemoryAllocationFailed;
    case Code::bad_input:
      return et::Error::InvalidArgument;
    case Code::delegate_failed:
      return et::Error::Internal;
    default:
      return et::Error::InvalidProgram;
  }
}

const char* advice_on(Code code) {
  switch (code) {
    case Code::wrong_isa:
      return "compile it for this core, or run the firmware that it was made for";
    case Code::missing_kernel:
    case Code::missing_backend:
      return "link it: the table given to register_executorch_backend lacks it";
    case Code::out_of_memory:
      return "give the method allocator more";
    default:
      return "compile the model again";
  }
}

#ifdef DEUTERON_MESSAGES_IN_ELF
extern "C" const char messages_begin[], messages_end[];  // runtime/ports/messages.ld

bool is_in_elf(const char* text) { return text >= messages_begin && text < messages_end; }
#else
bool is_in_elf(const char*) { return false; }
#endif

et::Error told(const Status& s, [[maybe_unused]] const char* target) {
  if (s.ok()) return et::Error::Ok;
  [[maybe_unused]] const char* text = s.detail ? s.detail : s.step ? s.step : "";
  [[maybe_unused]] unsigned number = 0;  // which %.0x leaves out
  if (is_in_elf(text)) {
    number = static_cast<unsigned>(reinterpret_cast<uintptr_t>(text));
    text = "message 0x";
  }
  ET_LOG(Error,
         "DeuteronBackend: the part for %s does not run: %s %s: %s%.0x (call %d, argument %d, %u "
         "bytes needed); this firmware is %s; %s",
         target, name_of(s.code), s.op ? s.op : "", text, number, static_cast<int>(s.instruction),
         s.argument, static_cast<unsigned>(s.bytes_needed), name_of(kBuildIsa), advice_on(s.code));
  return error_of(s.code);
}

void read_specs(et::ArrayRef<et::CompileSpec> specs, LoadedPart* part) {
  std::strcpy(part->target, "an unknown target");
  for (const et::CompileSpec& spec : specs) {
    if (std::strcmp(spec.key, "batch") == 0) part->is_sample = true;
    if (std::strcmp(spec.key, "target") != 0) continue;
    const size_t bytes =
        spec.value.nbytes < kMaxTargetName ? spec.value.nbytes : kMaxTargetName - 1;
    std::memcpy(part->target, spec.value.buffer, bytes);
    part->target[bytes] = 0;
  }
}

// Null, and a line in the log, where the method allocator has not so many bytes left.
void* taken(et::BackendInitContext& context, size_t bytes, size_t alignment, const char* what) {
  et::MemoryAllocator* const allocator = context.get_runtime_allocator();
  void* const memory = allocator ? allocator->allocate(bytes > 0 ? bytes : 1, alignment) : nullptr;
  if (!memory)
    ET_LOG(Error, "DeuteronBackend: the method allocator lacks %u bytes for %s",
           static_cast<unsigned>(bytes), what);
  return memory;
}

bool is_alike(const Tensor& ours, const executorch::aten::Tensor& theirs, int argument,
              int32_t samples) {
  bool alike = static_cast<int>(theirs.scalar_type()) == static_cast<int>(ours.type) &&
               theirs.dim() == ours.rank &&
               (samples == 1 || (ours.rank > 0 && theirs.dim_order()[0] == 0));
  for (int d = 0; alike && d < ours.rank; ++d)
    alike = theirs.size(d) == ours.sizes[d] * (d == 0 ? samples : 1);
  if (!alike)
    ET_LOG(Error,
           "DeuteronBackend: argument %d has type %d, rank %d and %d elements; the part was "
           "compiled for type %d, rank %d and %d",
           argument, static_cast<int>(theirs.scalar_type()), static_cast<int>(theirs.dim()),
           static_cast<int>(theirs.numel()), static_cast<int>(ours.type), ours.rank,
           static_cast<int>(ours.numel));
  return alike;
}

et::Error resize(const executorch::aten::Tensor& theirs, const Tensor& ours, int32_t samples) {
  executorch::aten::SizesType sizes[kMaxRank];
  for (int d = 0; d < ours.rank; ++d) sizes[d] = ours.sizes[d] * (d == 0 ? samples : 1);
  return et::resize_tensor(theirs, {sizes, ours.rank});
}

#ifdef ET_EVENT_TRACER_ENABLED
// What the call has made, for who compares it with the model's own values. A trace has no strides,
// so the axes go there in their own order.
void log_result(et::BackendExecutionContext& context, const Program& program, int32_t k) {
  et::EventTracer* const tracer = context.event_tracer();
  if (tracer->event_tracer_debug_level() != et::EventTracerDebugLogLevel::kIntermediateOutputs)
    return;
  const Program::Step step = program.step(k);
  if (step.count == 0 || step.args[step.count - 1]->kind != Kind::tensor) return;
  const Tensor& made = *step.args[step.count - 1]->tensor;
  executorch::aten::SizesType sizes[kMaxRank];
  executorch::aten::DimOrderType order[kMaxRank];
  executorch::aten::StridesType strides[kMaxRank];
  for (int d = 0; d < made.rank; ++d)
    sizes[d] = made.sizes[d], order[d] = static_cast<executorch::aten::DimOrderType>(d);
  void* const copy =
      context.allocate(static_cast<size_t>(made.numel) * element_bytes(made.type), kAlignment);
  if (!copy || et::dim_order_to_stride(sizes, order, made.rank, strides) != et::Error::Ok) {
    ET_LOG(Error, "DeuteronBackend: the temporary allocator has no room to log call %d",
           static_cast<int>(k));
    return;
  }
  executorch::aten::TensorImpl seen(static_cast<executorch::aten::ScalarType>(made.type), made.rank,
                                    sizes, copy, order, strides);
  const executorch::aten::Tensor tensor(&seen);
  copy_out(made, tensor, 0);
  (void)tracer->log_intermediate_output_delegate(nullptr, static_cast<et::DelegateDebugIntId>(k),
                                                 tensor);
}
#endif

// From one call to the next, in planned memory: then another part may have it in between. A
// delegate of ours might keep something for its library; constants are copied where there are
// several memories.
bool keeps_nothing(File file, const Needs& needs, const Program& program) {
  bool nothing = program.state_count() == 0;
#ifndef DEUTERON_ONE_MEMORY
  MemoryNeeds memories;
  nothing = nothing && measure_memories(file, needs, &memories).ok() && memories.count <= 1;
#else
  (void)file, (void)needs;
#endif
  for (int32_t k = 0; nothing && k < program.instruction_count(); ++k)
    nothing = program.delegate(k) == nullptr;
  return nothing;
}

class PartsBackend final : public et::BackendInterface {
 public:
  PartsBackend(const KernelTable& kernels, Memory scratch) : kernels_(kernels), scratch_(scratch) {}

  bool is_available() const override { return true; }

  // All checks are here: a part that has come through can fail later only where a delegate of ours
  // does.
  et::Result<et::DelegateHandle*> init(et::BackendInitContext& context,
                                       et::FreeableBuffer* processed,
                                       et::ArrayRef<et::CompileSpec> specs) const override {
    auto* const delegate = static_cast<LoadedPart*>(
        taken(context, sizeof(LoadedPart), alignof(LoadedPart), "a handle"));
    if (!delegate) return et::Error::MemoryAllocationFailed;
    new (delegate) LoadedPart();
    read_specs(specs, delegate);
    const File file{processed->data(), processed->size()};
    if (reinterpret_cast<uintptr_t>(file.data) % kAlignment != 0) {
      ET_LOG(Error,
             "DeuteronBackend: the part for %s does not lie at a multiple of 16: keep delegates in "
             "segments (extract_delegate_segments), "
             "and the file at a multiple of 16",
             delegate->target);
      return et::Error::InvalidArgument;
    }
    Needs needs;
    if (const et::Error error = told(measure(file, kernels_, &needs), delegate->target);
        error != et::Error::Ok)
      return error;
    const Memory tables{taken(context, needs.tables_bytes, kAlignment, "tables"),
                        needs.tables_bytes};
    if (!tables.data) return et::Error::MemoryAllocationFailed;
    Status s;
    if (scratch_.data && scratch_.bytes >= needs.planned_bytes) {
      s = delegate->program.load(file, kernels_, tables, scratch_);
      if (s.ok() && keeps_nothing(file, needs, delegate->program))
        return static_cast<et::DelegateHandle*>(delegate);
    }
    const Memory planned{taken(context, needs.planned_bytes, kAlignment, "planned memory"),
                         needs.planned_bytes};
    if (!planned.data) return et::Error::MemoryAllocationFailed;
    s = delegate->program.load(file, kernels_, tables, planned);
    if (const et::Error error = told(s, delegate->target); error != et::Error::Ok) return error;
    return static_cast<et::DelegateHandle*>(delegate);
  }

  et::Error execute(et::BackendExecutionContext& context, et::DelegateHandle* handle,
                    et::Span<et::EValue*> args) const override {
    const auto& delegate = *static_cast<const LoadedPart*>(handle);
    auto& program = const_cast<Program&>(delegate.program);
    const int32_t inputs = program.input_count(), all = inputs + program.output_count();
    if (args.size() != static_cast<size_t>(all)) {
      ET_LOG(Error, "DeuteronBackend: %d arguments, the part for %s has %d",
             static_cast<int>(args.size()), delegate.target, static_cast<int>(all));
      return et::Error::InvalidProgram;
    }
    for (int32_t i = 0; i < all; ++i)
      if (!args[i]->isTensor()) return et::Error::InvalidArgument;
    const bool is_sample = delegate.is_sample && inputs > 0 && args[0]->toTensor().dim() > 0;
    const auto samples = is_sample ? static_cast<int32_t>(args[0]->toTensor().size(0)) : 1;
    for (int32_t i = 0; i < all; ++i) {
      const Tensor& ours = i < inputs ? program.input(i) : program.output(i - inputs);
      if (is_sample && i >= inputs && resize(args[i]->toTensor(), ours, samples) != et::Error::Ok)
        return et::Error::InvalidArgument;
      if (!is_alike(ours, args[i]->toTensor(), i, samples)) return et::Error::InvalidArgument;
    }
    for (int32_t sample = 0; sample < samples; ++sample) {
      for (int32_t i = 0; i < inputs; ++i) copy_in(program.input(i), args[i]->toTensor(), sample);
      if (const et::Error error = told(run(context, program), delegate.target);
          error != et::Error::Ok)
        return error;
      for (int32_t i = inputs; i < all; ++i)
        copy_out(program.output(i - inputs), args[i]->toTensor(), sample);
    }
    return et::Error::Ok;
  }

  void destroy(et::DelegateHandle* handle) const override {
    if (handle) static_cast<LoadedPart*>(handle)->program.unload();
  }

 private:
  // With a tracer an event for each call, whose number is the delegate's debug id.
  static Status run([[maybe_unused]] et::BackendExecutionContext& context, const Program& program) {
#ifdef ET_EVENT_TRACER_ENABLED
    et::EventTracer* const tracer = context.event_tracer();
    if (!tracer) return program.run();
    Status status;
    for (int32_t k = 0; status.ok() && k < program.instruction_count(); ++k) {
      const et::EventTracerEntry entry =
          tracer->start_profiling_delegate(nullptr, static_cast<et::DelegateDebugIntId>(k));
      status = program.run_one(k);
      tracer->end_profiling_delegate(entry, nullptr, 0);
      log_result(context, program, k);
    }
    return status;
#else
    return program.run();
#endif
  }

  KernelTable kernels_;
  Memory scratch_;
};

}  // namespace

executorch::runtime::Error register_executorch_backend(const KernelTable& kernels, Memory scratch) {
  alignas(PartsBackend) static uint8_t memory[sizeof(
      PartsBackend)];  // never destroyed, so nothing is registered for the end of the program
  if (const et::Error error = told(start_backends(kernels), "this firmware");
      error != et::Error::Ok)
    return error;
  return et::register_backend({"DeuteronBackend", new (memory) PartsBackend(kernels, scratch)});
}

}  // namespace deuteron
