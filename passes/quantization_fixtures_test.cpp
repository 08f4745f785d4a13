// What post-training quantization reaches on trained models, simulated in float: the bars are the better of PT2E's own figure (model.json)
// and what ExecuTorch's flow reaches on the first four inputs, less half a decibel. Needs the fixtures beside the checkout.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "calibrate/float_executor.h"
#include "frontends/pt2/import.h"
#include "ir/verify.h"
#include "passes/compilation.h"
#include "passes/options.h"
#include "passes/pass.h"
#include "quantize/quantization_search.h"
#include "targets/target.h"
#include "tests/paths.h"

namespace deuteron {
namespace {

namespace fs = std::filesystem;

std::vector<float> read_floats(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<float> data(fs::file_size(path) / sizeof(float));
  file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size() * sizeof(float)));
  return data;
}

struct Model {
  const char* name;
  double all, first_four;  // dB; 0: no figure
};
constexpr Model kModels[] = {{"resnet8", 18.23, 18.9},        {"dscnn_kws", 22.98, 41.9}, {"mobilenet_v1_025_vww", 33.83, 25.1},
                             {"autoencoder_ad", 43.24, 29.0}, {"cifarnet", 30.81, 47.8},  {"digits_cnn", 30.83, 29.1}};

TEST(QuantizationFixtures, ReachesWhatThePeersReach) {
  const fs::path models = fs::path(shared_path("fixtures/models"));
  if (!fs::exists(models)) GTEST_SKIP() << "no fixtures beside the checkout: the accuracy of quantized models is not measured";
  for (const Model& m : kModels) {
    Diagnostics diagnostics;
    auto graph = import_pt2((models / m.name / "float.pt2").string(), diagnostics);
    ASSERT_TRUE(graph) << m.name;
    Samples samples;
    std::vector<std::vector<float>> expected;
    for (int k = 0; k < 32; ++k) {
      const std::string file = fmt::format("{:03}.bin", k);
      if (!fs::exists(models / m.name / "inputs" / file)) break;
      samples.push_back({read_floats(models / m.name / "inputs" / file)});
      expected.push_back(read_floats(models / m.name / "expected" / file));
    }
    Compilation compilation;
    const Target target;
    const CompileOptions options;
    i64 rewrites = 1 << 30;
    PassContext context{*graph, target, samples, options, compilation, diagnostics, &rewrites};
    fold_constants(context), fuse(context), infer_layout(context), fuse(context);
    const auto choice = calibrate_and_quantize(*graph, samples, {}, 0, diagnostics);
    ASSERT_TRUE(choice) << m.name;
    EXPECT_FALSE(find_fault(*graph)) << m.name;
    for (const Diagnostic& d : diagnostics.list()) ADD_FAILURE() << format_diagnostic(d);

    const FloatExecutor executor(*graph);
    std::vector<float> reference, found;
    const Port &in = graph->inputs[0], &out = graph->outputs[0];
    double first_four = 0;
    for (size_t s = 0; s < samples.size(); ++s) {
      const auto y = executor.run(std::vector<std::vector<float>>{to_storage(in, graph->type(in.value).shape, samples[s][0])}, {});
      const std::vector<float> user = to_user(out, graph->type(out.value).shape, y[0]);
      reference.insert(reference.end(), expected[s].begin(), expected[s].end());
      found.insert(found.end(), user.begin(), user.end());
      if (s == 3) first_four = sqnr_db(reference, found);
    }
    const double all = sqnr_db(reference, found);
    fmt::print("{:21} {:5.2f} dB on {} inputs, {:5.2f} dB on the first four; {}\n", m.name, all, samples.size(), first_four,
               choice->policy);
    EXPECT_GE(all, m.all - 0.5) << m.name;
    EXPECT_GE(first_four, m.first_four - 0.5) << m.name;
  }
}

}  // namespace
}  // namespace deuteron
