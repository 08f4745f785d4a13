// SPDX-License-Identifier: Apache-2.0
// What post-training quantization reaches on trained models, on samples that it has not seen: each
// third of a model's samples is held out once while the others calibrate. The bar is what PT2E
// reaches on the same thirds. Needs the fixtures beside the checkout.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "compile/calibrate/float_executor.h"
#include "compile/compilation.h"
#include "compile/options.h"
#include "compile/pass.h"
#include "compile/quantize/quantization_search.h"
#include "frontends/pt2/import.h"
#include "ir/verify.h"
#include "targets/target.h"
#include "tests/paths.h"

namespace deuteron {
namespace {

namespace fs = std::filesystem;

std::vector<float> read_floats(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<float> data(fs::file_size(path) / sizeof(float));
  file.read(reinterpret_cast<char*>(data.data()),
            static_cast<std::streamsize>(data.size() * sizeof(float)));
  return data;
}

struct Model {
  const char* name;
  double pt2e;  // dB, mean of the thirds: bench/held_out.py --folds 3
};
constexpr Model kModels[] = {
    {"resnet8", 17.11},        {"dscnn_kws", 22.43}, {"mobilenet_v1_025_vww", 26.33},
    {"autoencoder_ad", 30.51}, {"cifarnet", 26.61},  {"digits_cnn", 28.78},
    {"hello_sine", 28.13}};

struct Data {
  std::vector<std::vector<float>> inputs, expected;
};
Data read_data(const fs::path& model) {
  Data data;
  for (int k = 0;; ++k) {
    const std::string file = fmt::format("{:03}.bin", k);
    if (!fs::exists(model / "inputs" / file)) return data;
    data.inputs.push_back(read_floats(model / "inputs" / file));
    data.expected.push_back(read_floats(model / "expected" / file));
  }
}

// Of the samples that have this number modulo 3, while the others calibrate.
double held_out_db(const fs::path& model, const Data& data, size_t third) {
  Diagnostics diagnostics;
  auto graph = import_pt2((model / "float.pt2").string(), diagnostics);
  EXPECT_TRUE(graph);
  EXPECT_GE(data.inputs.size(), 6U) << model;
  if (!graph || data.inputs.size() < 6) return 0;
  Samples samples;
  for (size_t s = 0; s < data.inputs.size(); ++s)
    if (s % 3 != third) samples.push_back({data.inputs[s]});
  Compilation compilation;
  const Target target;
  const CompileOptions options;
  i64 rewrites = 1 << 30;
  PassContext context{*graph, target, samples, options, compilation, diagnostics, &rewrites};
  fold_constants(context), fuse(context), infer_layout(context), fuse(context);
  EXPECT_TRUE(calibrate_and_quantize(*graph, samples, {}, 0, diagnostics));
  EXPECT_FALSE(find_fault(*graph));
  for (const Diagnostic& d : diagnostics.list()) ADD_FAILURE() << format_diagnostic(d);
  const FloatExecutor executor(*graph);
  std::vector<float> reference, found;
  const Port &in = graph->inputs[0], &out = graph->outputs[0];
  for (size_t s = third; s < data.inputs.size(); s += 3) {
    const auto y = executor.run(std::vector<std::vector<float>>{to_storage(
                                    in, graph->type(in.value).shape, data.inputs[s])},
                                {});
    const std::vector<float> user = to_user(out, graph->type(out.value).shape, y[0]);
    reference.insert(reference.end(), data.expected[s].begin(), data.expected[s].end());
    found.insert(found.end(), user.begin(), user.end());
  }
  return sqnr_db(reference, found);
}

TEST(QuantizationFixtures, ReachesMoreThanPt2eOnDataThatItHasNotSeen) {
  const fs::path models = fs::path(shared_path("fixtures/models"));
  if (!fs::exists(models))
    GTEST_SKIP()
        << "no fixtures beside the checkout: the accuracy of quantized models is not measured";
  for (const Model& m : kModels) {
    const Data data = read_data(models / m.name);
    double mean = 0;
    for (size_t third = 0; third < 3; ++third)
      mean += held_out_db(models / m.name, data, third) / 3;
    fmt::print("{:21} {:5.2f} dB held out, PT2E {:5.2f}\n", m.name, mean, m.pt2e);
    EXPECT_GE(mean, m.pt2e) << m.name;
  }
}

}  // namespace
}  // namespace deuteron
