// SPDX-License-Identifier: Apache-2.0
// See converter.h: the steps of the conversion, then the two files inside each other, microcode and
// TFLite.
#include "npu/neutron/converter/converter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/tflite/open.h"
#include "npu/neutron/converter/constants.h"
#include "npu/neutron/converter/fuse.h"
#include "npu/neutron/converter/lowering.h"
#include "npu/neutron/converter/place.h"
#include "npu/neutron/converter/read_tflite.h"

namespace deuteron::neutron {
namespace {

struct Sizes {
  i64 scratch = 0, sram = 0, profile = 0, debug = 0;
  std::vector<i64> inputs, outputs;  // bytes
};

std::vector<u8> write_microcode(const ConstantPlan& plan, const Sizes& sizes,
                                const ConvertOptions& options) {
  std::vector<i32> words(kHeaderWords, 0);
  const auto offset = [&] { return static_cast<i32>(words.size() * 4); };
  const auto append = [&](const auto& structure) {
    static_assert(sizeof structure % 4 == 0);
    words.resize(words.size() + sizeof structure / 4);
    std::memcpy(words.data() + words.size() - sizeof structure / 4, &structure, sizeof structure);
  };
  words[kMachineOffsetWord] = offset();
  append(options.machine);
  words[kIoOffsetWord] = offset();
  for (const auto* list : {&sizes.inputs, &sizes.outputs})
    for (const i64 bytes : *list) words.push_back(static_cast<i32>(bytes));
  words[kCallsOffsetWord] = offset();
  for (const EncodedCall& c : plan.calls) {
    append(CallHead{static_cast<i32>(c.kind),
                    static_cast<i32>(c.words.size() + sizeof(CallHead) / 4)});
    words.insert(words.end(), c.words.begin(), c.words.end());
  }
  words[kMagicWord] = static_cast<i32>(kMagic);
  words[kTagWord] = static_cast<i32>(kFormatTag);
  words[kPayloadVersionWord] = options.profile ? 1 : 0;
  words[kCallsWord] = static_cast<i32>(plan.calls.size());
  words[kMicrocodeBytesWord] = offset();
  words[kWeightsBytesWord] = static_cast<i32>(plan.weights.size());
  words[kKernelsBytesWord] = 0;
  words[kScratchBytesWord] = static_cast<i32>(sizes.scratch);
  const auto inputs = static_cast<i32>(sizes.inputs.size()),
             outputs = static_cast<i32>(sizes.outputs.size());
  if (options.profile) {
    words[kProfileBytesWordV1] = static_cast<i32>(sizes.profile),
    words[kDebugBytesWordV1] = static_cast<i32>(sizes.debug);
    words[kSramBytesWordV1] = static_cast<i32>(sizes.sram), words[kInputsWordV1] = inputs,
    words[kOutputsWordV1] = outputs;
  } else {
    words[kSramBytesWordV0] = static_cast<i32>(sizes.sram), words[kInputsWordV0] = inputs,
    words[kOutputsWordV0] = outputs;
  }
  std::vector<u8> bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

// The TFLite model around the sections.
class GraphWriter {
 public:
  GraphWriter() { buffers_.push_back(tflite::CreateBuffer(b_)); }

  i32 tensor(const std::string& name, const Shape& shape, tflite::TensorType type,
             const Quant* quant, const std::vector<u8>* data) {
    uint32_t buffer = 0;
    if (data) {
      buffer = static_cast<uint32_t>(buffers_.size());
      b_.ForceVectorAlignment(data->size(), 1, kSectionAlignment);
      buffers_.push_back(tflite::CreateBuffer(b_, b_.CreateVector(*data)));
    }
    flatbuffers::Offset<tflite::QuantizationParameters> q;
    if (quant) {
      const std::vector<int64_t> zeros(quant->zero_point.begin(), quant->zero_point.end());
      q = tflite::CreateQuantizationParametersDirect(b_, nullptr, nullptr, &quant->scale, &zeros);
    }
    const std::vector<i32> extents(shape.begin(), shape.end());
    tensors_.push_back(tflite::CreateTensorDirect(b_, &extents, type, buffer, name.c_str(), q));
    return static_cast<i32>(tensors_.size()) - 1;
  }

  std::vector<u8> finish(const std::vector<i32>& inputs, const std::vector<i32>& outputs,
                         const std::vector<i32>& operands, const std::vector<i32>& results) {
    const auto op = tflite::CreateOperatorDirect(b_, 0, &operands, &results);
    const std::vector<flatbuffers::Offset<tflite::Operator>> ops{op};
    const auto graph = tflite::CreateSubGraphDirect(b_, &tensors_, &inputs, &outputs, &ops, "main");
    const std::vector<flatbuffers::Offset<tflite::SubGraph>> graphs{graph};
    const std::vector<flatbuffers::Offset<tflite::OperatorCode>> codes{
        tflite::CreateOperatorCodeDirect(b_, static_cast<int8_t>(tflite::BuiltinOperator::CUSTOM),
                                         kNeutronGraph, 1, tflite::BuiltinOperator::CUSTOM)};
    tflite::FinishModelBuffer(b_, tflite::CreateModelDirect(b_, 3, &codes, &graphs, "", &buffers_));
    return {b_.GetBufferPointer(), b_.GetBufferPointer() + b_.GetSize()};
  }

 private:
  flatbuffers::FlatBufferBuilder b_;
  std::vector<flatbuffers::Offset<tflite::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<tflite::Tensor>> tensors_;
};

std::vector<u8> write_graph(const Model& model, const std::vector<bool>& used, const Sizes& sizes,
                            const std::vector<u8>& microcode, const std::vector<u8>& weights,
                            bool profile) {
  using T = tflite::TensorType;
  GraphWriter w;
  std::vector<i32> inputs, outputs, operands, results;
  const auto port = [&](TensorId t) {
    return w.tensor(model.tensors[t].name, model.type(t).shape, T::INT8, &model.type(t).quant,
                    nullptr);
  };
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    inputs.push_back(port(model.inputs[i]));
    if (used[i]) operands.push_back(inputs.back());
  }
  const auto section = [&](const char* name, const std::vector<u8>& bytes) {
    operands.push_back(w.tensor(name, {static_cast<i64>(bytes.size())}, T::UINT8, nullptr, &bytes));
  };
  section("microcode", microcode);
  section("weights", weights);
  section("kernels", {});
  for (const TensorId t : model.outputs) outputs.push_back(port(t));
  results = outputs;
  const auto block = [&](const char* name, i64 bytes) {
    results.push_back(w.tensor(name, {bytes}, T::UINT8, nullptr, nullptr));
  };
  block("scratch", sizes.scratch);
  if (profile) {
    block("profile", sizes.profile);
    block("debug", sizes.debug);
  }
  return w.finish(inputs, outputs, operands, results);
}

}  // namespace

std::optional<Converted> convert(std::span<const u8> neutron_ir, const ConvertOptions& options,
                                 Diagnostics& diagnostics) {
  auto model = read_tflite(neutron_ir, diagnostics);
  if (!model) return std::nullopt;

  fuse(*model, options.fuse);
  // What is not used any more has no index among the NeutronGraph's inputs.
  const TensorUses uses(*model);
  std::vector<bool> used;
  const std::vector<TensorId> all_inputs = model->inputs;
  model->inputs.clear();
  for (const TensorId t : all_inputs) {
    used.push_back(!uses.readers[t].empty() || uses.output_uses[t] > 0);
    if (used.back()) model->inputs.push_back(t);
  }
  const Placement placement = place_tensors(*model, options.fuse);
  const auto list = lower_operations(*model, placement, options.machine, diagnostics);
  if (!list) return std::nullopt;
  const ConstantPlan plan = plan_constants(*list, options.fetch_constants_to_sram);

  Sizes sizes;
  sizes.scratch = placement.scratch_bytes;
  sizes.sram = plan.sram_bytes;
  if (options.profile) {
    sizes.profile = kProfileRecordBytes * (static_cast<i64>(plan.calls.size()) + 1);
    sizes.debug = debug_bytes_of(static_cast<i32>(plan.calls.size()));
  }
  for (const TensorId t : model->inputs) sizes.inputs.push_back(model->type(t).bytes());
  for (const TensorId t : model->outputs) sizes.outputs.push_back(model->type(t).bytes());
  const auto microcode = write_microcode(plan, sizes, options);

  Converted r;
  for (const EncodedCall& c : plan.calls)
    r.kernels.push_back(
        {c.kind, c.ops, cost_of(options.machine, c.kind, c.words.data()), c.apart_cycles});
  for (size_t i = 0; i < model->operations.size(); ++i)
    if (placement.free[i])
      for (const i32 op : model->operations[i].origins)
        model->vanished.push_back(
            {op, std::string(model->operations[i].def->placing.without_kernel)});
  std::stable_sort(model->vanished.begin(), model->vanished.end(),
                   [](const Vanished& a, const Vanished& b) { return a.op < b.op; });
  const auto same_op = [](const Vanished& a, const Vanished& b) { return a.op == b.op; };
  model->vanished.erase(std::unique(model->vanished.begin(), model->vanished.end(), same_op),
                        model->vanished.end());
  r.vanished = model->vanished;
  r.op_names = model->op_names;
  r.microcode_bytes = static_cast<i64>(microcode.size()),
  r.weights_bytes = static_cast<i64>(plan.weights.size());
  r.scratch_bytes = sizes.scratch, r.sram_bytes = sizes.sram;
  model->inputs = all_inputs;
  r.model = write_graph(*model, used, sizes, microcode, plan.weights, options.profile);
  return r;
}

}  // namespace deuteron::neutron
