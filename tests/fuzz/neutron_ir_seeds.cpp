// SPDX-License-Identifier: Apache-2.0
// Writes seeds for neutron_ir_fuzz: what the compiler gives the converter of small random networks,
// which are made of the examples of every operator, and what that makes of it; and a model by hand,
// with forms that the compiler does not write.
//   neutron_ir_seeds FOLDER
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "base/tflite/writer.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "npu/neutron/converter/converter.h"
#include "npu/neutron/machine/test_machine.h"
#include "targets/target.h"
#include "tests/fuzz/random_network.h"

using namespace deuteron;
using namespace deuteron::neutron;
using B = tflite::BuiltinOperator;
using O = tflite::BuiltinOptions;

constexpr uint32_t kNetworks = 600;

static std::vector<u8> model_by_hand() {
  tflite::Writer w;
  auto& b = w.builder();
  const i32 x = w.tensor({1, 4, 5, 8}, 0.05f, 3), other = w.tensor({1, 1, 5, 8}, 0.05f, 3);
  const i32 pad =
      w.op(B::PAD, {x, w.constant({0, 0, 1, 1, 1, 1, 0, 0}, {4, 2})},
           w.tensor({1, 6, 7, 8}, 0.05f, 3), O::PadOptions, tflite::CreatePadOptions(b));
  const i32 weight = w.constant({8, 3, 3, 8}, std::vector<int8_t>(576, 3), {0.01f}),
            bias = w.constant(std::vector<i32>(8, 9));
  const i32 conv =
      w.op(B::CONV_2D, {pad, weight, bias}, w.tensor({1, 4, 5, 8}, 0.05f, 3), O::Conv2DOptions,
           tflite::CreateConv2DOptions(b, tflite::Padding::VALID, 1, 1));
  const i32 relu = w.op(B::RELU6, {conv}, w.tensor({1, 4, 5, 8}, 0.05f, 3));
  const i32 max = w.op(B::MAX_POOL_2D, {x}, w.tensor({1, 4, 5, 8}, 0.05f, 3), O::Pool2DOptions,
                       tflite::CreatePool2DOptions(b, tflite::Padding::SAME, 1, 1, 3, 2));
  const i32 cat = w.op(B::CONCATENATION, {relu, max, x}, w.tensor({1, 4, 5, 24}, 0.05f, 3),
                       O::ConcatenationOptions, tflite::CreateConcatenationOptions(b, 3));
  const i32 slice =
      w.op(B::SLICE, {cat, w.constant({0, 1, 0, 4}), w.constant({1, 2, 5, 16})},
           w.tensor({1, 2, 5, 16}, 0.05f, 3), O::SliceOptions, tflite::CreateSliceOptions(b));
  const i32 turn =
      w.op(B::TRANSPOSE, {slice, w.constant({0, 3, 1, 2})}, w.tensor({1, 16, 2, 5}, 0.05f, 3),
           O::TransposeOptions, tflite::CreateTransposeOptions(b));
  const i32 mean = w.op(B::MEAN, {turn, w.constant({2, 3})}, w.tensor({1, 16}, 0.04f, 1),
                        O::ReducerOptions, tflite::CreateReducerOptions(b, false));
  const i32 dense = w.op(
      B::FULLY_CONNECTED, {mean, w.constant({3, 16}, std::vector<int8_t>(48, 5), {0.01f})},
      w.tensor({1, 3}, 0.1f, 1), O::FullyConnectedOptions, tflite::CreateFullyConnectedOptions(b));
  const i32 soft = w.op(B::SOFTMAX, {dense}, w.tensor({1, 3}, 1.0f / 256, -128), O::SoftmaxOptions,
                        tflite::CreateSoftmaxOptions(b, 1.0f));
  const i32 sum = w.op(B::ADD, {x, other}, w.tensor({1, 4, 5, 8}, 0.05f, 3), O::AddOptions,
                       tflite::CreateAddOptions(b));
  const i32 shape = w.op(B::RESHAPE, {sum}, w.tensor({20, 8}, 0.05f, 3), O::ReshapeOptions,
                         tflite::CreateReshapeOptions(b));
  const i32 tanh = w.op(B::TANH, {shape}, w.tensor({20, 8}, 1.0f / 128, 0));
  return w.finish({x, other}, {soft, tanh, max});
}

// The passes leave the files there.
static void compile_random(uint32_t seed, const Target& target,
                           const std::filesystem::path& folder) {
  std::optional<Graph> graph = test::random_network(seed);
  if (!graph) return;
  CompileOptions options;
  options.threads = 1;
  options.intermediates = folder.string();
  options.npu.fetch_constants = seed % 2 != 0;
  Diagnostics refused;
  const Samples samples = test::samples_of(*graph);
  (void)compile(std::move(*graph), target, samples, options, refused);
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::filesystem::path folder = arguments[1];
  const auto save = [&](const char* name, const std::vector<u8>& bytes) {
    std::ofstream(folder / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  };
  const std::vector<u8> model = model_by_hand();
  Diagnostics d;
  save("model.tflite", model);
  const std::optional<Converted> converted = convert(model, {n3_64()}, d);
  DEUTERON_CHECK(converted.has_value());
  save("converted.tflite", converted->model);

  const std::optional<Target> target = find_target("imxrt700", d);
  DEUTERON_CHECK(target.has_value());
  const std::filesystem::path one = folder.parent_path() / "neutron_ir_seed";
  for (uint32_t seed = 0; seed < kNetworks; ++seed) {
    std::filesystem::create_directories(one);
    compile_random(seed, *target, one);
    for (const auto& entry : std::filesystem::directory_iterator(one))
      if (entry.path().extension() == ".tflite")
        std::filesystem::rename(
            entry.path(), folder / (std::to_string(seed) + "_" + entry.path().filename().string()));
    std::filesystem::remove_all(one);
  }
  return 0;
}
