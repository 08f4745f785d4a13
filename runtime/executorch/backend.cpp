// SPDX-License-Identifier: Apache-2.0
#include "runtime/executorch/backend.h"

#include <new>

#include "runtime/executorch/part.h"

namespace deuteron {
namespace {

struct LoadedPart {
  Program program;
  PartSpecs specs;

  int32_t inputs() const { return program.input_count(); }
  int32_t outputs() const { return program.output_count(); }
  static constexpr bool is_outside(int32_t) { return false; }
  const Tensor& port(int32_t i) const {
    return i < inputs() ? program.input(i) : program.output(i - inputs());
  }
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
    delegate->specs = read_specs(specs);
    const char* const target = delegate->specs.target;
    const File file{processed->data(), processed->size()};
    if (!is_aligned(file.data, target)) return et::Error::InvalidArgument;
    Needs needs;
    if (const et::Error error = told(measure(file, kernels_, &needs), target);
        error != et::Error::Ok)
      return error;
    const Memory tables{taken(context, needs.tables_bytes, kPartAlignment, "tables"),
                        needs.tables_bytes};
    if (!tables.data) return et::Error::MemoryAllocationFailed;
    Status s;
    if (scratch_.data && scratch_.bytes >= needs.planned_bytes) {
      s = delegate->program.load(file, kernels_, tables, scratch_);
      if (s.ok() && keeps_nothing(file, needs, delegate->program))
        return static_cast<et::DelegateHandle*>(delegate);
    }
    const Memory planned{taken(context, needs.planned_bytes, kPartAlignment, "planned memory"),
                         needs.planned_bytes};
    if (!planned.data) return et::Error::MemoryAllocationFailed;
    s = delegate->program.load(file, kernels_, tables, planned);
    if (const et::Error error = told(s, target); error != et::Error::Ok) return error;
    return static_cast<et::DelegateHandle*>(delegate);
  }

  et::Error execute(et::BackendExecutionContext& context, et::DelegateHandle* handle,
                    et::Span<et::EValue*> args) const override {
    const auto& part = *static_cast<const LoadedPart*>(handle);
    return run_part(part, part.specs, args,
                    [&] { return told(run(context, part.program), part.specs.target); });
  }

  void destroy(et::DelegateHandle* handle) const override {
    if (handle) static_cast<LoadedPart*>(handle)->program.unload();
  }

 private:
  // With a tracer an event for each call, whose number is the delegate's debug id.
  static Status run([[maybe_unused]] et::BackendExecutionContext& context, const Program& program) {
#ifdef ET_EVENT_TRACER_ENABLED
    if (!context.event_tracer()) return program.run();
    PartEvents events{context};
    Status status;
    for (int32_t k = 0; status.ok() && k < program.instruction_count(); ++k) {
      events.begin(k);
      status = program.run_one(k);
      events.end(program.step(k).made());
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
