// SPDX-License-Identifier: Apache-2.0
// Runs models in float32 on the host, many in one process: for tests that compare with another
// runtime. Each line of the standard input is a job: the model, a folder, and shapes as
// --input-shape has them. The inputs lie in the folder as in0.npy, in1.npy, ..; the outputs come as
// out0.npy, .., in the user's axes. Prints a line for each job: `ok`, or `refused` with the first
// diagnostic and how many there are.
//   float_runner < JOBS
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "base/data/npy.h"
#include "base/tensor/elements.h"
#include "compile/calibrate/float_executor.h"
#include "compile/calibrate/samples.h"
#include "frontends/read_graph.h"
#include "ir/verify.h"

using namespace deuteron;

static std::vector<float> numbers_of_file(const Array& a) {
  std::vector<float> result;
  for (i64 k = 0; k < a.elements(); ++k)
    result.push_back(static_cast<float>(element_as_double(a, k)));
  return result;
}

static std::string first_error(const Diagnostics& diagnostics) {
  size_t count = 0;
  std::string text;
  for (const Diagnostic& d : diagnostics.list())
    if (d.severity == Severity::error && ++count == 1)
      text = fmt::format("[{}] {}", d.rule, d.what);
  return fmt::format("refused {} ({})", text, count);
}

static std::string run(const std::string& model, const std::string& folder,
                       const std::vector<std::string>& shapes) {
  Diagnostics diagnostics;
  const std::optional<Graph> g =
      read_graph(model, diagnostics, parse_input_shapes(shapes, diagnostics));
  if (!g) return first_error(diagnostics);
  if (const auto fault = find_fault(*g)) return "fault " + *fault;
  std::vector<std::vector<float>> inputs;
  const size_t own = g->states.size();  // ports behind the user's
  for (size_t k = 0; k + own < g->inputs.size(); ++k) {
    const auto array = read_npy(fmt::format("{}/in{}.npy", folder, k), diagnostics);
    if (!array || array->elements() != g->type(g->inputs[k].value).elements())
      return "fault input " + std::to_string(k);
    inputs.push_back(
        to_storage(g->inputs[k], g->type(g->inputs[k].value).shape, numbers_of_file(*array)));
  }
  for (const State& state : g->states)
    inputs.push_back(numbers_of(state.initial.bytes.data(), state.type));
  const std::vector<std::vector<float>> outputs = FloatExecutor(*g).run(inputs, {});
  for (size_t k = 0; k + own < outputs.size(); ++k) {
    const Shape& shape = g->type(g->outputs[k].value).shape;
    const std::vector<float> user = to_user(g->outputs[k], shape, outputs[k]);
    const std::vector<uint8_t> bytes = npy_bytes({'f', 4}, logical_shape(g->outputs[k], shape),
                                                 std::as_bytes(std::span<const float>(user)));
    std::ofstream(fmt::format("{}/out{}.npy", folder, k), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  return "ok";
}

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string model, folder;
    words >> model >> folder;
    std::vector<std::string> shapes;
    for (std::string shape; words >> shape;) shapes.push_back(shape);
    std::cout << run(model, folder, shapes) << std::endl;
  }
  return 0;
}
