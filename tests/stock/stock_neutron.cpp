// SPDX-License-Identifier: Apache-2.0
// The delegate `NeutronBackend` for the stock ExecuTorch runtime: our own backend
// (npu/neutron/delegate/) behind the stock interface, so that a payload runs there as it does here,
// over the same driver interface. Registered by register_neutron().
#include <executorch/runtime/backend/interface.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "npu/neutron/delegate/delegate.h"

namespace et = executorch::runtime;

namespace {

struct Handle {
  const uint8_t* payload;
  uint32_t payload_bytes;
  std::vector<std::pair<std::string, std::vector<uint8_t>>> options;
};

// What one call's arguments look like to the backend.
struct Arguments {
  const Handle* handle;
  std::vector<deuteron::Tensor> tensors;
};

deuteron::Tensor tensor_of(const deuteron::DelegateCall& call, int32_t i) {
  return static_cast<const Arguments*>(call.origin)->tensors[static_cast<size_t>(i)];
}

const uint8_t* option_of(const deuteron::DelegateCall& call, const char* key, uint32_t* bytes) {
  for (const auto& [name, value] : static_cast<const Arguments*>(call.origin)->handle->options) {
    if (name != key) continue;
    *bytes = static_cast<uint32_t>(value.size());
    return value.data();
  }
  return nullptr;
}

et::Error told(const deuteron::Status& s, et::Error error) {
  if (s.ok()) return et::Error::Ok;
  std::fprintf(stderr, "NeutronBackend: %s: argument %d, step %s, error 0x%x: %s\n",
               deuteron::name_of(s.code), s.argument, s.step ? s.step : "-",
               static_cast<unsigned>(s.error), s.detail ? s.detail : "");
  return error;
}

class OurNeutron final : public et::BackendInterface {
 public:
  bool is_available() const override { return true; }

  et::Result<et::DelegateHandle*> init(et::BackendInitContext&, et::FreeableBuffer* processed,
                                       et::ArrayRef<et::CompileSpec> specs) const override {
    auto* handle = new Handle{static_cast<const uint8_t*>(processed->data()),
                              static_cast<uint32_t>(processed->size()),
                              {}};
    for (const et::CompileSpec& spec : specs) {
      const auto* value = static_cast<const uint8_t*>(spec.value.buffer);
      handle->options.push_back({spec.key, {value, value + spec.value.nbytes}});
    }
    deuteron::NeutronPayload payload;
    const et::Error error =
        told(deuteron::read_payload(handle->payload, handle->payload_bytes, &payload),
             et::Error::InvalidProgram);
    if (error == et::Error::Ok) return handle;
    delete handle;
    return error;
  }

  // Tensors are known only now, and may lie elsewhere the next time: the model is prepared for
  // every run.
  et::Error execute(et::BackendExecutionContext& context, et::DelegateHandle* opaque,
                    et::Span<et::EValue*> args) const override {
    Arguments arguments{static_cast<const Handle*>(opaque), {}};
    for (et::EValue* arg : args) {
      if (!arg->isTensor()) return et::Error::InvalidArgument;
      const executorch::aten::Tensor& t = arg->toTensor();
      arguments.tensors.push_back({const_cast<void*>(t.const_data_ptr()), t.sizes().data(),
                                   t.dim_order().data(), static_cast<int32_t>(t.numel()),
                                   static_cast<uint8_t>(t.dim()),
                                   static_cast<deuteron::ScalarType>(t.scalar_type()), false});
    }
    const deuteron::Backend& backend = deuteron::kNeutronBackend;
    deuteron::DelegateCall call;
    call.id = backend.id;
    call.payload = arguments.handle->payload;
    call.payload_bytes = arguments.handle->payload_bytes;
    call.count = static_cast<int32_t>(args.size());
    call.context = backend.context;
    call.tensor_of = tensor_of;
    call.option_of = option_of;
    call.origin = &arguments;
    uint32_t workspace_bytes = 0;
    if (const deuteron::Status s = backend.check(call, &workspace_bytes); !s.ok())
      return told(s, et::Error::InvalidArgument);
    alignas(16) uint8_t memory[1 << 14];
    deuteron::Arena arena{memory, sizeof memory, 0};
    call.arena = &arena;
    call.workspace = context.allocate(workspace_bytes ? workspace_bytes : 16, 16);
    void* state = nullptr;
    deuteron::Status s = backend.prepare(call, &state);
    if (s.ok()) s = backend.open(state);
    if (!s.ok()) return told(s, et::Error::InvalidProgram);
    s = backend.run(state);
    backend.close(state);
    return told(s, et::Error::Internal);
  }

  void destroy(et::DelegateHandle* handle) const override { delete static_cast<Handle*>(handle); }
};

OurNeutron backend;

}  // namespace

void register_neutron() {
  if (neutronInit() != kNeutronOk) std::fprintf(stderr, "the driver cannot be initialized\n");
  if (et::register_backend({deuteron::kNeutronBackendId, &backend}) != et::Error::Ok)
    std::fprintf(stderr, "cannot register the backend\n");
}
