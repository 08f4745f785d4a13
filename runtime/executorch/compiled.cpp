// SPDX-License-Identifier: Apache-2.0
#include "runtime/executorch/compiled.h"

#include <new>

#include "runtime/executorch/part.h"
#include "runtime/fnv1a.h"

namespace deuteron {
namespace {

struct Handle {
  const CompiledPart& part;
  const uint8_t* at;  // the part's bytes
  uint8_t* arena;
  PartSpecs specs;
  const uint8_t** in;  // inputs, where the caller has them

  int32_t inputs() const { return part.inputs; }
  int32_t outputs() const { return part.outputs; }
  bool is_outside(int32_t i) const { return part.ports[i].offset == kOutside; }
  Tensor port(int32_t i) const { return placed(part.ports[i]); }
  Tensor placed(const CompiledPort& p) const {
    Tensor t = p.shape;
    if (p.offset != kOutside) t.data = (t.constant ? const_cast<uint8_t*>(at) : arena) + p.offset;
    return t;
  }
};

#ifdef ET_EVENT_TRACER_ENABLED
struct Listener {
  const Handle& handle;
  PartEvents events;
  int32_t instruction;  // that has begun; -1: none
};
#endif

class CompiledBackend final : public et::BackendInterface {
 public:
  CompiledBackend(const CompiledPart* parts, int32_t count, Memory scratch)
      : parts_(parts), count_(count), scratch_(scratch) {}

  bool is_available() const override { return true; }

  et::Result<et::DelegateHandle*> init(et::BackendInitContext& context,
                                       et::FreeableBuffer* processed,
                                       et::ArrayRef<et::CompileSpec> specs) const override {
    const PartSpecs of_part = read_specs(specs);
    const auto* const bytes = static_cast<const uint8_t*>(processed->data());
    if (!is_aligned(bytes, of_part.target)) return et::Error::InvalidArgument;
    const CompiledPart* const part = find(bytes, processed->size());
    if (!part) {
      ET_LOG(Error,
             "DeuteronBackend: the part for %s, of %u bytes, is none of the %d that this firmware "
             "was written for; write the backend again, of this program",
             of_part.target, static_cast<unsigned>(processed->size()), static_cast<int>(count_));
      return et::Error::DelegateInvalidCompatibility;
    }
    auto* arena = static_cast<uint8_t*>(scratch_.data);
    if (!arena || scratch_.bytes < part->arena_bytes || part->reset_state)
      arena = static_cast<uint8_t*>(
          taken(context, part->arena_bytes, kPartAlignment, "planned memory"));
    void* const memory =
        arena
            ? taken(context, sizeof(Handle) + sizeof(uint8_t*) * static_cast<size_t>(part->inputs),
                    alignof(Handle), "a handle")
            : nullptr;
    if (!memory) return et::Error::MemoryAllocationFailed;
    const auto* const handle = new (memory)
        Handle{*part, bytes, arena, of_part,
               reinterpret_cast<const uint8_t**>(static_cast<uint8_t*>(memory) + sizeof(Handle))};
    *part->at = bytes;
    if (part->reset_state) part->reset_state(arena);
    return static_cast<et::DelegateHandle*>(const_cast<Handle*>(handle));
  }

  et::Error execute([[maybe_unused]] et::BackendExecutionContext& context,
                    et::DelegateHandle* delegate, et::Span<et::EValue*> args) const override {
    const auto& handle = *static_cast<const Handle*>(delegate);
    *handle.part.at = handle.at;
    void* events = nullptr;
#ifdef ET_EVENT_TRACER_ENABLED
    Listener listener{handle, PartEvents(context), -1};
    if (context.event_tracer()) events = &listener;
#endif
    return run_part(handle, handle.specs, args, [&] {
      for (int32_t i = 0; i < handle.inputs(); ++i)
        handle.in[i] = static_cast<const uint8_t*>(args[i]->toTensor().const_data_ptr());
      return handle.part.run(handle.arena, handle.in, events) == 0 ? et::Error::Ok
                                                                   : et::Error::Internal;
    });
  }

 private:
  const CompiledPart* find(const uint8_t* bytes, size_t size) const {
    uint64_t contents = 0;
    for (int32_t i = 0; i < count_; ++i) {
      if (parts_[i].bytes != size) continue;
      if (contents == 0) contents = fnv1a(bytes, size);
      if (parts_[i].contents == contents) return &parts_[i];
    }
    return nullptr;
  }

  const CompiledPart* parts_;
  int32_t count_;
  Memory scratch_;
};

}  // namespace

#ifdef ET_EVENT_TRACER_ENABLED
// Called by the parts.
extern "C" void deuteron_part_event(void* listener, int32_t instruction) {
  auto& to = *static_cast<Listener*>(listener);
  if (to.instruction >= 0) {
    const CompiledPort& port = to.handle.part.made[to.instruction];
    const Tensor made = to.handle.placed(port);
    to.events.end(made.numel >= 0 ? &made : nullptr);
  }
  to.instruction = instruction;
  if (instruction >= 0) to.events.begin(instruction);
}
#endif

executorch::runtime::Error register_compiled_parts(const CompiledPart* parts, int32_t count,
                                                   Memory scratch) {
  // never destroyed, so nothing is registered for the end of the program
  alignas(CompiledBackend) static uint8_t memory[sizeof(CompiledBackend)];
  return et::register_backend(
      {"DeuteronBackend", new (memory) CompiledBackend(parts, count, scratch)});
}

}  // namespace deuteron
