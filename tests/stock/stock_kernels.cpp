// SPDX-License-Identifier: Apache-2.0
// Registers our backend, and our kernels under their own names, in the stock ExecuTorch runtime, so
// that its loader and executor run our files with them.
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "runtime/executorch/backend.h"
#include "runtime/kernel.h"

namespace et = executorch::runtime;
using ETensor = executorch::aten::Tensor;

namespace {

// The program file: tensors whose data lie in it are constants.
const uint8_t* file_begin = nullptr;
const uint8_t* file_end = nullptr;
deuteron::Isa file_isa = deuteron::kBuildIsa;  // the string value of docs/runtime.md

// Everything that one call's arguments need, in our form. Pointers stay valid while `values` and
// the lists do not grow.
struct Arguments {
  std::vector<deuteron::Value> values;
  std::vector<deuteron::Tensor> tensors;
  std::vector<std::vector<deuteron::Value>> elements;
  std::vector<std::vector<int64_t>> integers;  // of lists
  std::vector<std::vector<const deuteron::Value*>> lists;
  std::vector<const deuteron::Value*> args;
};

deuteron::Tensor tensor_of(const ETensor& t) {
  deuteron::Tensor r{};
  r.data = const_cast<void*>(t.const_data_ptr());
  r.sizes = t.sizes().data();
  r.dim_order = t.dim_order().data();
  r.numel = static_cast<int32_t>(t.numel());
  r.rank = static_cast<uint8_t>(t.dim());
  r.type = static_cast<deuteron::ScalarType>(t.scalar_type());
  r.constant = r.data >= file_begin && r.data < file_end;
  return r;
}

void begin_list(Arguments& a, size_t count) {
  a.elements.emplace_back(count);
  a.lists.emplace_back();
}

// Null: none.
void add_item(Arguments& a, size_t i, const ETensor* t) {
  deuteron::Value& item = a.elements.back()[i];
  if (t) {
    a.tensors.push_back(tensor_of(*t));
    item.kind = deuteron::Kind::tensor;
    item.tensor = &a.tensors.back();
  }
  a.lists.back().push_back(&item);
}

void add_tensors(Arguments& a, deuteron::Value& v, size_t count) {
  v.kind = deuteron::Kind::tensor_list;
  v.list.items = a.lists.back().data();
  v.list.data = nullptr;
  v.list.count = static_cast<int32_t>(count);
}

// `letter`: runtime/kernel.h, Kernel::schema.
bool convert(Arguments& a, char letter, et::EValue& e, deuteron::Value& v) {
  if (e.isNone()) return true;
  if (e.isTensor()) {
    a.tensors.push_back(tensor_of(e.toTensor()));
    v.kind = deuteron::Kind::tensor;
    v.tensor = &a.tensors.back();
  } else if (e.isBool()) {
    v.kind = deuteron::Kind::boolean;
    v.boolean = e.toBool();
  } else if (e.isInt()) {
    v.kind = deuteron::Kind::integer;
    v.integer = e.toInt();
  } else if (e.isDouble()) {
    v.kind = deuteron::Kind::real;
    v.real = e.toDouble();
  } else if (e.isIntList()) {
    const auto list = e.toIntList();
    a.integers.emplace_back(list.begin(), list.end());
    v.kind = deuteron::Kind::int_list;
    v.list = {nullptr, a.integers.back().data(), static_cast<int32_t>(list.size())};
  } else if (e.isTensorList()) {
    const auto list = e.toTensorList();
    begin_list(a, list.size());
    for (size_t i = 0; i < list.size(); ++i) add_item(a, i, &list[i]);
    add_tensors(a, v, list.size());
  } else if (e.isListOptionalTensor()) {
    const auto list = e.toListOptionalTensor();
    begin_list(a, list.size());
    for (size_t i = 0; i < list.size(); ++i) add_item(a, i, list[i] ? &*list[i] : nullptr);
    add_tensors(a, v, list.size());
  } else {
    std::fprintf(stderr, "argument of schema letter %c has a kind that the adapter does not know\n",
                 letter);
    return false;
  }
  return true;
}

// Checks and runs one call. A refusal is an error of the call, as in any kernel.
void run(const deuteron::Kernel& kernel, et::KernelRuntimeContext& context,
         et::Span<et::EValue*> stack) {
  const size_t count = std::strlen(kernel.schema);
  if (stack.size() != count + 1) {
    std::fprintf(stderr, "%s: %zu arguments, expected %zu\n", kernel.name, stack.size(), count + 1);
    context.fail(et::Error::InvalidProgram);
    return;
  }
  Arguments a;
  a.values.resize(count);
  a.tensors.reserve(256);
  a.elements.reserve(count);
  a.lists.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    if (!convert(a, kernel.schema[i], *stack[i], a.values[i])) {
      context.fail(et::Error::InvalidType);
      return;
    }
    a.args.push_back(&a.values[i]);
  }
  alignas(16) static uint8_t memory[1 << 16];
  deuteron::Arena arena{memory, sizeof memory, 0};
  deuteron::Call call{a.args.data(), static_cast<int32_t>(count), &arena, file_isa};
  deuteron::Prepared prepared;
  const deuteron::Status status = kernel.prepare(call, &prepared);
  if (!status.ok()) {
    std::fprintf(stderr, "%s: argument %d: %s\n", kernel.name, status.argument,
                 status.detail ? status.detail : deuteron::name_of(status.code));
    context.fail(et::Error::InvalidArgument);
    return;
  }
  prepared.run(prepared.args);
}

// The registry takes plain functions: one for each place in our table.
template <int kIndex>
void call_kernel(et::KernelRuntimeContext& context, et::Span<et::EValue*> stack) {
  run(*deuteron::kAllKernels.kernels[kIndex], context, stack);
}

constexpr int kMaxKernels = 512;

template <int... kIndices>
void register_all(bool own_dialect, std::integer_sequence<int, kIndices...>) {
  if (deuteron::kAllKernels.count > kMaxKernels) {
    std::fprintf(stderr, "%d kernels, room for %d\n", static_cast<int>(deuteron::kAllKernels.count),
                 kMaxKernels);
    std::exit(2);
  }
  // of a library that was loaded before
  const bool others = et::registry_has_op_function("aten::add.out");
  static constexpr et::OpFunction kFunctions[] = {call_kernel<kIndices>...};
  for (int i = 0; i < deuteron::kAllKernels.count; ++i) {
    if (!own_dialect && std::strncmp(deuteron::kAllKernels.kernels[i]->name, "deuteron::", 10) == 0)
      continue;
    if (others && et::registry_has_op_function(deuteron::kAllKernels.kernels[i]->name)) continue;
    const et::Kernel kernel(deuteron::kAllKernels.kernels[i]->name, kFunctions[i]);
    if (et::register_kernel(kernel) != et::Error::Ok)
      std::fprintf(stderr, "cannot register %s\n", deuteron::kAllKernels.kernels[i]->name);
  }
}

}  // namespace

// `file` must outlive all calls. `own_dialect`: also those of deuteron::.
void register_our_kernels(const void* file, size_t bytes, bool own_dialect) {
  file_begin = static_cast<const uint8_t*>(file);
  file_end = file_begin + bytes;
  for (const deuteron::Isa isa : {deuteron::Isa::scalar, deuteron::Isa::dsp, deuteron::Isa::mve}) {
    const std::string marker = std::string("deuteron:isa=") + deuteron::name_of(isa);
    if (std::search(file_begin, file_end, marker.begin(), marker.end()) != file_end) file_isa = isa;
  }
  alignas(16) static uint8_t scratch[1 << 16];
  const char* const shared = std::getenv("STOCK_SCRATCH");  // bytes, for all parts
  const size_t shared_bytes =
      shared ? std::min<size_t>(std::strtoul(shared, nullptr, 10), sizeof scratch) : 0;
  if (deuteron::register_executorch_backend(deuteron::kAllKernels, {scratch, shared_bytes}) !=
      et::Error::Ok)
    std::exit(2);
  register_all(own_dialect, std::make_integer_sequence<int, kMaxKernels>());
}
