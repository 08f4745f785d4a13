// SPDX-License-Identifier: Apache-2.0
#include "explain/report/accuracy.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/tensor/elements.h"
#include "base/watch.h"
#include "compile/calibrate/float_executor.h"
#include "compile/calibrate/stream.h"
#include "compile/compilation.h"

namespace deuteron {

namespace {

// One loaded program with the memory it needs.
struct LoadedProgram {
  std::vector<std::max_align_t> tables, planned;
  Program program;

  ~LoadedProgram() { program.unload(); }
  explicit LoadedProgram(std::span<const uint8_t> pte) {
    const File file{pte.data(), pte.size()};
    Needs needs;
    Status status = measure(file, kAllKernels, &needs);
    DEUTERON_CHECK(status.ok(), std::string(status.detail ? status.detail : name_of(status.code)) +
                                    " " + (status.op ? status.op : ""));
    tables.resize(needs.tables_bytes / sizeof(std::max_align_t) + 1);
    planned.resize(needs.planned_bytes / sizeof(std::max_align_t) + 1);
    status =
        program.load(file, kAllKernels, {tables.data(), tables.size() * sizeof(std::max_align_t)},
                     {planned.data(), planned.size() * sizeof(std::max_align_t)});
    DEUTERON_CHECK(status.ok(), std::string(status.detail ? status.detail : name_of(status.code)) +
                                    " " + (status.op ? status.op : ""));
  }
};

void set_input(Program& program, i32 index, const Type& type, std::span<const float> stored) {
  const std::vector<std::byte> elements = elements_of(stored, type);
  const Status status = program.set_input(index, elements.data(), elements.size());
  DEUTERON_CHECK(status.ok(), status.detail ? status.detail : "");
}

// Of a program that computes steps: what it does for the frames of a window, of which the last step
// has seen all.
void run_window(const Compilation& c, Program& program, const std::vector<float>& sample) {
  const Port& port = c.graph.inputs[0];
  const Type& type = c.graph.type(port.value);
  Type whole = type;
  whole.shape[c.stream.axis] = c.stream.window;
  const std::vector<float> stored = to_storage(port, whole.shape, sample);
  const i64 before = numel(std::span(whole.shape).first(static_cast<size_t>(c.stream.axis)));
  const i64 row = whole.elements() / before / c.stream.window, frames = c.stream.frames,
            window = c.stream.window;
  for (i64 first = window % frames - (window % frames == 0 ? 0 : frames); first < window;
       first += frames) {
    std::vector<float> step;
    for (i64 b = 0; b < before; ++b)
      for (i64 k = first * row; k < (first + frames) * row; ++k)
        step.push_back(k < 0 ? 0 : stored[b * window * row + k]);
    set_input(program, 0, type, step);
    if (first + frames < window) DEUTERON_CHECK(program.run().ok());
  }
}

// What the program takes for a sample: of an input that is bytes, those that are nearest.
std::vector<float> given_to(const Compilation& c, size_t input, const std::vector<float>& sample) {
  const ImageMap* map = byte_input(c.byte_inputs, input);
  if (!map) return sample;
  const Port& port = c.reference.inputs[input];
  const Shape shape = logical_shape(port, c.reference.type(port.value).shape);
  Diagnostics none;
  const std::optional<ByteNumbers> by = byte_numbers(shape, *map, port.name, none);
  DEUTERON_CHECK(by, port.name);
  return nearest_bytes(sample, shape, *by);
}

using OutputErrors = std::vector<OutputError>;  // by output, in the storage of the float model

OutputErrors compare_sample(const Compilation& c, const FloatExecutor& reference, Program& program,
                            const std::vector<std::vector<float>>& sample) {
  std::vector<std::vector<float>> stored;
  for (size_t i = 0; i < sample.size(); ++i) {
    const Port& port = c.reference.inputs[i];
    stored.push_back(to_storage(port, c.reference.type(port.value).shape, sample[i]));
    if (i >= c.graph.user_inputs().size()) continue;  // a state: the program has its own
    const Port& program_port = c.graph.inputs[i];
    const Type& type = c.graph.type(program_port.value);
    const std::vector<float> given = given_to(c, i, sample[i]);
    if (c.stream.frames > 0) run_window(c, program, given);
    else set_input(program, static_cast<i32>(i), type, to_storage(program_port, type.shape, given));
  }
  const std::vector<std::vector<float>> expected = reference.run(stored, {});
  const Status ran = program.run();
  DEUTERON_CHECK(ran.ok(), ran.detail ? ran.detail : "");
  OutputErrors errors;
  for (size_t o = 0; o < c.graph.user_outputs().size(); ++o) {
    const Port &ref_port = c.reference.outputs[o], &port = c.graph.outputs[o];
    const Shape& shape = c.reference.type(ref_port.value).shape;
    const std::vector<float> found =
        to_user(port, c.graph.type(port.value).shape,
                numbers_of(program.output(static_cast<i32>(o)).data, c.graph.type(port.value)));
    errors.emplace_back(shape, ref_port.order).see(expected[o], to_storage(ref_port, shape, found));
  }
  return errors;
}

}  // namespace

bool Accuracy::is_exact() const {
  return std::isinf(sqnr_db) && sqnr_db > 0 &&
         std::ranges::all_of(outputs, [](const OutputAccuracy& o) {
           return !o.is_integer || o.whole.equal == o.whole.count;
         });
}
bool Accuracy::has_numbers() const {
  return outputs.empty() ||
         std::ranges::any_of(outputs, [](const OutputAccuracy& o) { return !o.is_integer; });
}

Accuracy measure_accuracy(const Compilation& c, const Samples& given, int threads) {
  const std::vector<uint8_t>& pte = program_to_run(c);
  DEUTERON_CHECK(!pte.empty(), c.graph.name);
  const Samples samples = with_states(c.reference, given);
  const size_t grain =
      c.graph.states.empty() || c.stream.frames > 0
          ? 1
          : std::max<size_t>(samples.size(), 1);  // steps of one sequence are run by one program
  const FloatExecutor reference(c.reference);
  std::vector<OutputErrors> errors(
      samples.size());  // added up in order, so that the figure does not depend on the threads
  const tbb::global_control limit(
      tbb::global_control::max_allowed_parallelism,
      threads > 0 ? static_cast<size_t>(threads) : std::thread::hardware_concurrency());
  Watch* const watch = watch_of_thread();
  tbb::parallel_for(tbb::blocked_range<size_t>(0, samples.size(), grain),
                    [&](const tbb::blocked_range<size_t>& range) {
                      const WatchScope scope(watch);
                      LoadedProgram loaded(pte);
                      for (size_t s = range.begin(); s < range.end(); ++s) {
                        stop_if_asked(watch);
                        errors[s] = compare_sample(c, reference, loaded.program, samples[s]);
                      }
                    });
  Accuracy a;
  PartError all;
  for (size_t o = 0; o < c.graph.user_outputs().size(); ++o) {
    OutputError output;
    for (const OutputErrors& sample : errors) output.add(sample[o]);
    a.outputs.push_back(output_accuracy(c, o, output));
    if (!a.outputs.back().is_integer) all.add(output.whole());
  }
  a.max_abs_error = all.largest;
  a.samples = static_cast<i64>(samples.size());
  a.of_own_conversion = !c.npu.own_conversions.empty();
  a.sqnr_db = all.db();
  return a;
}

}  // namespace deuteron
