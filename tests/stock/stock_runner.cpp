// SPDX-License-Identifier: Apache-2.0
// Loads a `.pte` in the stock ExecuTorch runtime at its strictest verification level and runs it on
// raw inputs. STOCK_SCRATCH=BYTES in the environment: our parts share so many.
//   stock_runner [--stock-dialects] PROGRAM.pte OUT_PREFIX [INPUT.bin ...]     writes
//   OUT_PREFIX0.bin, .. in storage order
// Inputs of N times the bytes of their tensors are the steps of a sequence, which one loaded
// program runs; outputs then have N steps too.
// --stock-dialects: without the kernels of our own dialect, as stock firmware is.
// --library=FILE: a backend of somebody else, which registers itself. --method-bytes=N: memory of
// the method, instead of as much as it wants; then it says how many were taken.
// --method=NAME,..: these instead of forward, in this memory one after the other, and the inputs of
// each in turn. OUT_PREFIX has the outputs of the last.
// --etdump=FILE: the trace, where it is built with ExecuTorch's event tracer. Two runs are alike: a
// board counts instructions, and the host's clock how often it is read. --values: with all that
// calls and delegates have made.
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#ifdef __linux__
#include <dlfcn.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#ifdef STOCK_COUNTER
#include "boards/cycles/marks.h"
#endif
#ifdef ET_EVENT_TRACER_ENABLED
#include <executorch/devtools/etdump/etdump_flatcc.h>

extern "C" et_timestamp_t et_pal_current_ticks(void) {
#ifdef STOCK_COUNTER
  return et_timestamp_t{*reinterpret_cast<volatile const uint32_t*>(STOCK_COUNTER)} *
         STOCK_INSTRUCTIONS_PER_TICK;
#else
  static et_timestamp_t ticks = 0;
  return ticks += 100;
#endif
}
#endif

namespace et = executorch::runtime;
void register_our_kernels(const void* file, size_t bytes, bool own_dialect);
void register_neutron();

namespace {

#ifdef STOCK_COUNTER
// For bench/cycles.py: between two marks QEMU counts blocks.
template <int kCode>
void mark() {
  asm volatile(".inst.n %c0" ::"i"(kCode) : "memory");
}
#endif

std::vector<char> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class T>
T need(et::Result<T> result, const char* step) {
  if (!result.ok()) {
    std::fprintf(stderr, "%s fails: error 0x%x\n", step, static_cast<unsigned>(result.error()));
    std::exit(1);
  }
  return std::move(result.get());
}

void need(et::Error error, const char* step) {
  if (error == et::Error::Ok) return;
  std::fprintf(stderr, "%s fails: error 0x%x\n", step, static_cast<unsigned>(error));
  std::exit(1);
}

// One step of the sequence: outputs are appended to their files.
void run_step(et::Method& method, const et::MethodMeta& meta,
              std::vector<std::vector<char>>& inputs, size_t step, const std::string& prefix) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const et::TensorInfo info = need(meta.input_tensor_meta(i), "input_tensor_meta");
    std::vector<executorch::aten::SizesType> sizes(info.sizes().begin(), info.sizes().end());
    std::vector<executorch::aten::DimOrderType> order(info.dim_order().begin(),
                                                      info.dim_order().end());
    std::vector<executorch::aten::StridesType> strides(sizes.size());
    need(et::dim_order_to_stride(sizes.data(), order.data(), sizes.size(), strides.data()),
         "dim_order_to_stride");
    executorch::aten::TensorImpl impl(info.scalar_type(), static_cast<ssize_t>(sizes.size()),
                                      sizes.data(), inputs[i].data() + step * info.nbytes(),
                                      order.data(), strides.data());
    need(method.set_input(et::EValue(executorch::aten::Tensor(&impl)), i), "set_input");
  }
#ifdef STOCK_COUNTER  // a board's free-running counter, and the instructions of a tick
  volatile const uint32_t& counter = *reinterpret_cast<volatile const uint32_t*>(STOCK_COUNTER);
  const uint32_t before = counter;
  mark<DEUTERON_MARK_BEGIN>();
  need(method.execute(), "execute");
  mark<DEUTERON_MARK_END>();
  std::printf("instructions %llu\n",
              static_cast<unsigned long long>(counter - before) * STOCK_INSTRUCTIONS_PER_TICK);
#else
  need(method.execute(), "execute");
#endif
  for (size_t i = 0; i < method.outputs_size(); ++i) {
    const executorch::aten::Tensor& t = method.get_output(i).toTensor();
    std::ofstream(prefix + std::to_string(i) + ".bin",
                  step == 0 ? std::ios::binary : std::ios::binary | std::ios::app)
        .write(static_cast<const char*>(t.const_data_ptr()),
               static_cast<std::streamsize>(t.nbytes()));
  }
}

struct Options {
  bool own_dialect = true, values = false;
  size_t method_bytes = 0;
  std::string etdump;
  std::vector<std::string> methods;
};

// The options, and how many words they are.
int read_options(int argc, char** argv, Options& o) {
  int words = 0;
  for (; words + 1 < argc && std::string_view(argv[words + 1]).substr(0, 2) == "--"; ++words) {
    const std::string option = argv[words + 1];
    if (option == "--stock-dialects") o.own_dialect = false;
    if (option == "--values") o.values = true;
    if (option.rfind("--etdump=", 0) == 0) o.etdump = option.substr(9);
    if (option.rfind("--method-bytes=", 0) == 0)
      o.method_bytes = static_cast<size_t>(std::atol(option.c_str() + 15));
    if (option.rfind("--method=", 0) == 0)
      for (size_t at = 9, end; at < option.size(); at = end + 1) {
        end = std::min(option.find(',', at), option.size());
        o.methods.push_back(option.substr(at, end - at));
      }
#ifdef __linux__
    if (option.rfind("--library=", 0) == 0 &&
        !dlopen(option.c_str() + 10, RTLD_NOW | RTLD_GLOBAL)) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::exit(2);
    }
#endif
  }
  if (o.methods.empty()) o.methods.push_back("forward");
  return words;
}

// Planned buffers in which each of the methods can be, one after the other.
std::vector<std::vector<uint8_t>> planned_memory(et::Program& program, const Options& o) {
  std::vector<std::vector<uint8_t>> planned;
  for (const std::string& name : o.methods) {
    const et::MethodMeta meta = need(program.method_meta(name.c_str()), "method_meta");
    if (planned.size() < meta.num_memory_planned_buffers())
      planned.resize(meta.num_memory_planned_buffers());
    for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
      const auto bytes = static_cast<size_t>(
          need(meta.memory_planned_buffer_size(i), "memory_planned_buffer_size"));
      if (planned[i].size() < bytes) planned[i].resize(bytes, 0xA5);
    }
  }
  return planned;
}

// Runs the method on the first of `paths`, as many as it has inputs; returns how many that are.
size_t run_method(et::Method& method, const et::MethodMeta& meta, char** paths, size_t count,
                  bool is_last, const std::string& prefix) {
  if (count < method.inputs_size() || (is_last && count != method.inputs_size())) {
    std::fprintf(stderr, "the program has %zu inputs, %zu given\n", method.inputs_size(), count);
    std::exit(2);
  }
  std::vector<std::vector<char>> inputs;
  for (size_t i = 0; i < method.inputs_size(); ++i) inputs.push_back(read_file(paths[i]));
  size_t steps = 1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t bytes = need(meta.input_tensor_meta(i), "input_tensor_meta").nbytes();
    const size_t found = bytes > 0 ? inputs[i].size() / bytes : 1;
    if (found == 0 || inputs[i].size() != found * bytes || (i > 0 && found != steps)) {
      std::fprintf(stderr, "input %zu has %zu bytes, the file %zu\n", i, bytes, inputs[i].size());
      std::exit(2);
    }
    steps = found;
  }
  for (size_t step = 0; step < steps; ++step) run_step(method, meta, inputs, step, prefix);
  return inputs.size();
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  const int words = read_options(argc, argv, o);
  argc -= words, argv += words;
  if (argc < 3) return 2;
  et::runtime_init();
  const std::vector<char> file = read_file(argv[1]);
  std::vector<char> room(
      file.size() +
      16);  // the NPU's payload lies at a multiple of 16, which malloc on a board does not give
  void* program_bytes = room.data();
  size_t left = room.size();
  std::memcpy(std::align(16, file.size(), program_bytes, left), file.data(), file.size());
  register_our_kernels(program_bytes, file.size(), o.own_dialect);
  register_neutron();
  executorch::extension::BufferDataLoader loader(program_bytes, file.size());
  et::Program program = need(
      et::Program::load(&loader, et::Program::Verification::InternalConsistency), "Program::load");

  std::vector<std::vector<uint8_t>> planned = planned_memory(program, o);
  std::vector<et::Span<uint8_t>> spans;
  for (std::vector<uint8_t>& one : planned) spans.emplace_back(one.data(), one.size());
  executorch::extension::MallocMemoryAllocator unbounded, temp_memory;
  std::vector<uint8_t> bytes(o.method_bytes);
  et::MemoryAllocator bounded(static_cast<uint32_t>(o.method_bytes), bytes.data());
  et::MemoryAllocator& method_memory = o.method_bytes > 0 ? bounded : unbounded;
#ifdef ET_EVENT_TRACER_ENABLED
  executorch::etdump::ETDumpGen recorder;
  std::vector<uint8_t> values(o.values ? 1 << 24 : 0);
  if (o.values) {
    need(recorder.set_debug_buffer({values.data(), values.size()}), "set_debug_buffer");
    recorder.set_event_tracer_debug_level(et::EventTracerDebugLogLevel::kIntermediateOutputs);
  }
  et::EventTracer* tracer = &recorder;
#else
  et::EventTracer* tracer = nullptr;
#endif
  std::vector<et::Method> methods;
  std::vector<et::HierarchicalAllocator> allocators;
  std::vector<et::MemoryManager> managers;
  allocators.reserve(o.methods.size()), managers.reserve(o.methods.size());
  for (const std::string& name : o.methods) {
    allocators.emplace_back(et::Span<et::Span<uint8_t>>(spans.data(), spans.size()));
    managers.emplace_back(&method_memory, &allocators.back(), &temp_memory);
    methods.push_back(
        need(program.load_method(name.c_str(), &managers.back(), tracer), "load_method"));
  }
  if (o.method_bytes > 0) {
    size_t bytes_planned = 0;
    for (const std::vector<uint8_t>& one : planned) bytes_planned += one.size();
    std::printf("method memory %lu, planned %lu\n", static_cast<unsigned long>(bounded.used_size()),
                static_cast<unsigned long>(bytes_planned));
  }
  char** paths = argv + 3;
  for (size_t m = 0; m < methods.size(); ++m)
    paths += run_method(methods[m], need(program.method_meta(o.methods[m].c_str()), "method_meta"),
                        paths, static_cast<size_t>(argv + argc - paths), m + 1 == methods.size(),
                        argv[2]);
#ifdef ET_EVENT_TRACER_ENABLED
  const executorch::etdump::ETDumpResult trace = recorder.get_etdump_data();
  if (!o.etdump.empty())
    std::ofstream(o.etdump, std::ios::binary)
        .write(static_cast<const char*>(trace.buf), static_cast<std::streamsize>(trace.size));
  if (o.values)
    std::ofstream(o.etdump + ".values", std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size()));
#endif
  return 0;
}
