// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_call/host_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <deque>

#include "base/tensor/elements.h"
#include "runtime/kernel.h"
#include "runtime/schema.h"

namespace deuteron {

std::string name_of_kernel(const KernelCall& call) {
  return call.overload.empty() ? call.name : call.name + "." + call.overload;
}

const Kernel* kernel_of(const KernelCall& call) {
  const auto kernels = std::span(kAllKernels.kernels, static_cast<size_t>(kAllKernels.count));
  const auto kernel = std::ranges::find(kernels, name_of_kernel(call), &Kernel::name);
  return kernel == kernels.end() ? nullptr : *kernel;
}

namespace {

std::optional<ScalarType> scalar_type(DType d) {
  switch (d) {
    case DType::f32:
      return ScalarType::f32;
    case DType::s8:
      return ScalarType::s8;
    case DType::s16:
      return ScalarType::s16;
    case DType::s32:
      return ScalarType::s32;
    case DType::s64:
      return ScalarType::s64;
    case DType::u8:
      return ScalarType::u8;
    case DType::b8:
      return ScalarType::b8;
    case DType::f16:
      return ScalarType::f16;
    case DType::f64:
      return ScalarType::f64;
    case DType::bf16:
      break;
  }
  return std::nullopt;
}

// One call as the loader would make it.
class HostCall {
 public:
  // Null data: the call can be prepared but not run.
  void add_arguments(const KernelCall& call, TypeView in, TypeView out,
                     std::span<void* const> in_data, std::span<void* const> out_data,
                     const std::vector<bool>& constant) {
    const auto at = [](std::span<void* const> data, i64 k) {
      return data.empty() ? nullptr : data[k];
    };
    for (const KernelArg& arg : call.args) {
      using K = KernelArg::Kind;
      if (arg.kind == K::input)
        add_tensor(in[arg.integer], arg.face, at(in_data, arg.integer),
                   !constant.empty() && constant[arg.integer]);
      else if (arg.kind == K::output)
        add_tensor(out[arg.integer], arg.face, at(out_data, arg.integer), false);
      else if (arg.kind == K::inputs) {
        std::vector<const Value*> items;
        for (const i64 k : arg.integers)
          items.push_back(k < 0 ? &make(Kind::none)
                                : tensor_value(in[k], plain_face(in[k].shape), at(in_data, k),
                                               !constant.empty() && constant[k]));
        add_tensors(std::move(items));
      } else if (arg.kind == K::integers) {
        const std::vector<i64>& kept = integers_.emplace_back(arg.integers);
        add(make(Kind::int_list)).list = {nullptr, kept.data(), static_cast<int32_t>(kept.size())};
      } else if (arg.kind == K::integer) add(make(Kind::integer)).integer = arg.integer;
      else if (arg.kind == K::boolean) add(make(Kind::boolean)).boolean = arg.integer != 0;
      else if (arg.kind == K::real) add(make(Kind::real)).real = arg.real;
      else add(make(Kind::none));
    }
  }

  std::optional<std::string> prepare(const KernelCall& call, Isa isa = kBuildIsa,
                                     const CallRecorder* recorder = nullptr) {
    if (!fault_.empty()) return fault_;
    const Kernel* kernel = kernel_of(call);
    if (!kernel) return fmt::format("the runtime has no kernel {}", name_of_kernel(call));
    if (std::optional<std::string> fault = fault_of_kinds(call, *kernel)) return fault;
    size_t items = arguments_.size() + values_.size();
    for (const std::vector<i64>& list : integers_) items += list.size();
    tables_.resize((256 + 256 * items) / sizeof(std::max_align_t) + 1);
    Arena arena{reinterpret_cast<uint8_t*>(tables_.data()),
                tables_.size() * sizeof(std::max_align_t), 0};
    Call c{arguments_.data(), static_cast<int32_t>(arguments_.size()), &arena, isa};
    c.recorder = recorder;
    const Status status = kernel->prepare(c, &prepared_);
    if (status.ok()) return std::nullopt;
    return fmt::format("argument {} {}", status.argument,
                       status.detail ? status.detail : "is refused");
  }
  void run() const { prepared_.run(prepared_.args); }

 private:
  // What the loader proves before a kernel looks at its arguments.
  std::optional<std::string> fault_of_kinds(const KernelCall& call, const Kernel& kernel) const {
    const std::string_view schema = kernel.schema;
    if (schema.size() != arguments_.size())
      return fmt::format("{} takes {} arguments", kernel.name, schema.size());
    for (size_t i = 0; i < schema.size(); ++i) {
      const bool written = call.args[i].kind == KernelArg::Kind::output;
      if (!takes(schema[i], arguments_[i]->kind) || written != is_out(schema[i]))
        return fmt::format("argument {} {}", i, expected(schema[i]));
    }
    return std::nullopt;
  }

  struct Held {
    std::vector<int32_t> sizes;
    std::vector<uint8_t> order;
    Tensor tensor{};
  };
  Value& make(Kind kind) {
    Value& v = values_.emplace_back();
    v.kind = kind;
    return v;
  }
  Value& add(Value& v) {
    arguments_.push_back(&v);
    return v;
  }
  const Value* tensor_value(const Type& type, const Face& face, void* data, bool constant) {
    Held& h = tensors_.emplace_back();
    for (const i64 e : face.sizes) h.sizes.push_back(static_cast<int32_t>(e));
    for (const i64 e : face.order) h.order.push_back(static_cast<uint8_t>(e));
    const std::optional<ScalarType> scalar = scalar_type(type.dtype);
    if (!scalar || type.elements() > INT32_MAX || face.sizes.size() > kMaxRank)
      fault_ = fmt::format("no tensor of type {}", to_text(type));
    h.tensor = {data,
                h.sizes.data(),
                h.order.data(),
                static_cast<int32_t>(type.elements()),
                static_cast<uint8_t>(h.sizes.size()),
                scalar.value_or(ScalarType::f32),
                constant};
    Value& v = make(Kind::tensor);
    v.tensor = &h.tensor;
    return &v;
  }
  void add_tensor(const Type& type, const Face& face, void* data, bool constant) {
    arguments_.push_back(tensor_value(type, face, data, constant));
  }
  void add_tensors(std::vector<const Value*> items) {
    const std::vector<const Value*>& kept = lists_.emplace_back(std::move(items));
    add(make(Kind::tensor_list)).list = {kept.data(), nullptr, static_cast<int32_t>(kept.size())};
  }

  std::deque<Held> tensors_;
  std::deque<Value> values_;
  std::deque<std::vector<const Value*>> lists_;
  std::deque<std::vector<i64>> integers_;
  std::vector<const Value*> arguments_;
  std::vector<std::max_align_t> tables_;
  Prepared prepared_;
  std::string fault_;
};

}  // namespace

std::optional<std::string> fault_of_call(const KernelCall& call, TypeView in, TypeView out) {
  HostCall host;
  host.add_arguments(call, in, out, {}, {}, {});
  return host.prepare(call);
}

void ask_call(const KernelCall& call, TypeView in, TypeView out, std::span<void* const> in_data,
              Isa isa, const CallRecorder& recorder) {
  std::deque<std::vector<std::max_align_t>>
      rooms;  // of what has no data: the checks look for places in it
  const auto room_of = [&](const Type& type) -> void* {
    return rooms.emplace_back(static_cast<size_t>(type.bytes()) / sizeof(std::max_align_t) + 1)
        .data();
  };
  std::vector<void*> from, to;
  std::vector<bool> constant;
  for (size_t i = 0; i < in.size(); ++i) {
    constant.push_back(in_data[i] != nullptr);
    from.push_back(in_data[i] ? in_data[i] : room_of(in[i]));
  }
  for (size_t i = 0; i < out.size(); ++i) to.push_back(room_of(out[i]));
  HostCall host;
  host.add_arguments(call, in, out, from, to, constant);
  host.prepare(call, isa, &recorder);
}

void run_call(const KernelCall& call, TypeView in, TypeView out, std::span<void* const> in_data,
              std::span<void* const> out_data, const std::vector<bool>& constant) {
  HostCall host;
  host.add_arguments(call, in, out, in_data, out_data, constant);
  const std::optional<std::string> fault = host.prepare(call);
  DEUTERON_CHECK(!fault, fmt::format("{}: {}", call.name, *fault));
  host.run();
}

void execute(const KernelCall& call, std::span<const HostTensor> in,
             std::span<const HostTensor> out) {
  std::deque<std::vector<std::byte>> converted;  // of the values that are not float32
  std::vector<const Type*> in_types, out_types;
  std::vector<void*> in_data, out_data;
  for (const HostTensor& t : in) {
    in_types.push_back(t.type);
    if (t.type->dtype != DType::f32)
      converted.push_back(elements_of({t.data, static_cast<size_t>(t.type->elements())}, *t.type));
    in_data.push_back(t.type->dtype == DType::f32 ? static_cast<void*>(t.data)
                                                  : converted.back().data());
  }
  for (const HostTensor& t : out) {
    out_types.push_back(t.type);
    if (t.type->dtype != DType::f32) converted.emplace_back(static_cast<size_t>(t.type->bytes()));
    out_data.push_back(t.type->dtype == DType::f32 ? static_cast<void*>(t.data)
                                                   : converted.back().data());
  }
  run_call(call, TypeView(in_types), TypeView(out_types), in_data, out_data, {});
  for (size_t k = 0; k < out.size(); ++k)
    if (out[k].type->dtype != DType::f32)
      std::ranges::copy(numbers_of(out_data[k], *out[k].type), out[k].data);
}

}  // namespace deuteron
