// Runs the program on the host's kernels and the reference graph in float, and compares.
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <cmath>
#include <limits>
#include <thread>

#include "calibrate/float_executor.h"
#include "passes/compile.h"

namespace deuteron {

namespace {

// One loaded program with the memory it needs.
struct LoadedProgram {
  std::vector<std::max_align_t> tables, planned;
  Program program;

  explicit LoadedProgram(std::span<const uint8_t> pte) {
    const File file{pte.data(), pte.size()};
    Needs needs;
    Status status = measure(file, kAllKernels, &needs);
    DEUTERON_CHECK(status.ok(), std::string(status.detail ? status.detail : name_of(status.code)) + " " + (status.op ? status.op : ""));
    tables.resize(needs.tables_bytes / sizeof(std::max_align_t) + 1);
    planned.resize(needs.planned_bytes / sizeof(std::max_align_t) + 1);
    status = program.load(file, kAllKernels, {tables.data(), tables.size() * sizeof(std::max_align_t)},
                          {planned.data(), planned.size() * sizeof(std::max_align_t)});
    DEUTERON_CHECK(status.ok(), std::string(status.detail ? status.detail : name_of(status.code)) + " " + (status.op ? status.op : ""));
  }
};

// Float32 numbers as elements of a dtype that a port may have, and back.
template <class F>
void with_element(DType dtype, F f) {
  if (dtype == DType::f32) return f(float{});
  if (dtype == DType::s64) return f(int64_t{});
  if (dtype == DType::s32) return f(int32_t{});
  DEUTERON_CHECK(dtype == DType::b8, std::string(name_of(dtype)));
  f(uint8_t{});
}
std::vector<std::byte> bytes_of_floats(std::span<const float> values, DType dtype) {
  std::vector<std::byte> bytes(values.size() * static_cast<size_t>(bytes_of(dtype)));
  with_element(dtype, [&]<class T>(T item) {
    for (size_t k = 0; k < values.size(); ++k)
      item = static_cast<T>(values[k]), std::memcpy(bytes.data() + k * sizeof item, &item, sizeof item);
  });
  return bytes;
}
void read_as_floats(const void* data, DType dtype, std::vector<float>& values) {
  with_element(dtype, [&]<class T>(T item) {
    for (size_t k = 0; k < values.size(); ++k)
      std::memcpy(&item, static_cast<const char*>(data) + k * sizeof item, sizeof item), values[k] = static_cast<float>(item);
  });
}

void set_input(Program& program, i32 index, const Type& type, std::span<const float> stored) {
  Status status;
  if (type.dtype == DType::s8) {
    std::vector<int8_t> q(stored.size());
    for (size_t k = 0; k < q.size(); ++k)
      q[k] = static_cast<int8_t>(quantize_value(stored[k], type.quant.scale[0], type.quant.zero_point[0], type.quant.low, type.quant.high));
    status = program.set_input(index, q.data(), q.size());
  } else {
    const std::vector<std::byte> bytes = bytes_of_floats(stored, type.dtype);
    status = program.set_input(index, bytes.data(), bytes.size());
  }
  DEUTERON_CHECK(status.ok(), status.detail ? status.detail : "");
}

std::vector<float> get_output(const Program& program, i32 index, const Type& type) {
  const Tensor& t = program.output(index);
  std::vector<float> real(t.numel);
  if (type.dtype == DType::s8)
    for (i32 k = 0; k < t.numel; ++k)
      real[k] = static_cast<float>(static_cast<const int8_t*>(t.data)[k] - type.quant.zero_point[0]) * type.quant.scale[0];
  else read_as_floats(t.data, type.dtype, real);
  return real;
}

struct Sums {
  double signal = 0, noise = 0, largest = 0;
};

Sums compare_sample(const Compilation& c, const FloatExecutor& reference, Program& program, const std::vector<std::vector<float>>& sample) {
  std::vector<std::vector<float>> stored;
  for (size_t i = 0; i < sample.size(); ++i) {
    const Port& port = c.reference.inputs[i];
    stored.push_back(to_storage(port, c.reference.type(port.value).shape, sample[i]));
    const Port& program_port = c.graph.inputs[i];
    const Type& type = c.graph.type(program_port.value);
    set_input(program, static_cast<i32>(i), type, to_storage(program_port, type.shape, sample[i]));
  }
  const std::vector<std::vector<float>> expected = reference.run(stored, {});
  program.run();
  Sums sums;
  for (size_t o = 0; o < expected.size(); ++o) {
    const Port &ref_port = c.reference.outputs[o], &port = c.graph.outputs[o];
    const std::vector<float> a = to_user(ref_port, c.reference.type(ref_port.value).shape, expected[o]);
    const std::vector<float> b =
        to_user(port, c.graph.type(port.value).shape, get_output(program, static_cast<i32>(o), c.graph.type(port.value)));
    for (size_t k = 0; k < a.size(); ++k) {
      const double error = static_cast<double>(a[k]) - b[k];
      sums.signal += static_cast<double>(a[k]) * a[k];
      sums.noise += error * error;
      sums.largest = std::max(sums.largest, std::fabs(error));
    }
  }
  return sums;
}

}  // namespace

Accuracy measure_accuracy(const Compilation& c, const Samples& samples, int threads) {
  const FloatExecutor reference(c.reference);
  std::vector<Sums> sums(samples.size());  // added up in order, so that the figure does not depend on the threads
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  threads > 0 ? static_cast<size_t>(threads) : std::thread::hardware_concurrency());
  tbb::parallel_for(tbb::blocked_range<size_t>(0, samples.size()), [&](const tbb::blocked_range<size_t>& range) {
    LoadedProgram loaded(c.pte);
    for (size_t s = range.begin(); s < range.end(); ++s) sums[s] = compare_sample(c, reference, loaded.program, samples[s]);
  });
  Accuracy a;
  double signal = 0, noise = 0;
  for (const Sums& s : sums) {
    signal += s.signal;
    noise += s.noise;
    a.max_abs_error = std::max(a.max_abs_error, s.largest);
  }
  a.samples = static_cast<i64>(samples.size());
  a.sqnr_db = noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
  return a;
}

}  // namespace deuteron
