// SPDX-License-Identifier: Apache-2.0
// The table of contents of the compiler: every pass, in the order in which it runs, and what holds
// from there on.
#include "compile/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/files/write_file.h"
#include "base/printable.h"
#include "base/watch.h"
#include "compile/options.h"
#include "ir/text.h"
#include "ir/unusable_scales.h"
#include "ir/verify.h"

namespace deuteron {

static constexpr Pass kPipeline[] = {
    // It is known which operators keep an exact form, though the NPU has one of its own that costs
    // accuracy.
    {"choose-forms", choose_forms},
    // Permutes and reshapes of constants are done; neighbours that undo each other are gone.
    {"fold-constants", fold_constants},
    // A recurrent layer that stands written out, step by step, is one operator.
    {"find-recurrent", find_recurrent_layers},
    // No batch norm stands behind a convolution or linear layer; clamps and zero pads are
    // attributes of what they follow or precede.
    {"fuse", fuse},
    // Images are channels-last throughout; a permute is left only where the user's own order of
    // axes asks for one.
    {"infer-layout", infer_layout},
    // What moved next to each other is fused; a scale for each channel is a depthwise convolution.
    // Without a kernel of sums, and in float,
    // reductions are pooling and layers.
    {"fuse-again", fuse_again},
    // Functions of one element that the NPU can compute in a few steps are those steps.
    {"npu-forms", npu_forms},
    // Between fully connected layers units stand in the order of how rarely they are zero.
    {"order-units", order_units},
    // Every operator with an int8 form stands between dequantize and quantize. Quantized models
    // come so and are left as they are.
    {"quantize", quantize_post_training},
    // Operators between dequantize and quantize are int8 operators; quantize and dequantize are
    // left at the edges and around float
    // operators.
    {"fold-quantization", fold_quantization},
    // With --stream the graph is a step: operators compute the new rows, and states have the old
    // ones that they read.
    {"stream", stream},
    // Between int8 operators no channel is computed that is constant, that nobody reads or that
    // another one equals, where readers can do
    // without it.
    {"slim", slim},
    // Where strides allow, neighbouring positions of a row are channels of a convolution that the
    // NPU takes: its dot products are filled.
    {"fold-rows", fold_rows},
    // What the NPU takes is a delegate; the rest is the CPU's.
    {"partition", partition},
    // With the NPU alone the CPU is left with the edges.
    {"require-npu", require_npu},
    // Every int8 operator of the CPU has exactly one kernel.
    {"choose-kernels", choose_kernels},
    // What no int8 kernel takes stands in float between dequantize and quantize.
    {"leftovers", leftovers},
    // With int8 I/O the edges are int8; with float I/O views between them are float.
    {"int8-ports", int8_ports},
    // A delegate is a call with its payload.
    {"lower-delegates", lower_delegates},
    // Of several branches the order leaves less alive than that of the model, where there is such
    // an order.
    {"order-calls", order_calls},
    // The plan fits the memory, if computing in bands of rows can make it.
    {"split-rows", split_rows},
    // Every node is a kernel call or a view.
    {"lower", lower},
    // With --io u8 the program takes bytes, and one call makes int8 of them.
    {"take-bytes", take_bytes},
    // With packed weights, calls that our runtime has a kernel for read them as that kernel wants
    // them.
    {"pack-weights", pack_weights},
    // A packed convolution has the addition in it that alone reads its result, where that makes the
    // program no larger.
    {"fuse-additions", fuse_additions},
    // A call that may work in a state's place does.
    {"place-states", place_states},
    // In a program for our runtime alone calls have the scratch that its kernels use, as far as
    // that does not raise the peak by more than it is worth.
    {"fit-scratch", fit_scratch},
};

std::span<const Pass> pipeline() { return kPipeline; }

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& pass : kPipeline) names.emplace_back(pass.name);
  return names;
}

static bool keep_intermediate(PassContext& context, size_t index, const char* name) {
  if (context.options.intermediates.empty()) return true;
  const std::string& folder = context.options.intermediates;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return context.diagnostics.error(folder, "the folder cannot be made: " + error.message(),
                                     "output.folder"),
           false;
  const std::string text = print(context.graph);
  const std::string path = fmt::format("{}/{:02}-{}.txt", folder, index, name);
  return write_file(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
                    context.diagnostics);
}

static size_t index_of(std::string_view name) {
  const auto at = std::find_if(std::begin(kPipeline), std::end(kPipeline),
                               [&](const Pass& pass) { return name == pass.name; });
  DEUTERON_CHECK(at != std::end(kPipeline), std::string(name));
  return static_cast<size_t>(at - std::begin(kPipeline));
}

bool run_passes(PassContext& context, std::string_view from, std::string_view to) {
  const size_t first = from.empty() ? 0 : index_of(from),
               last = to.empty() ? std::size(kPipeline) - 1 : index_of(to);
  if (first == 0 && !keep_intermediate(context, 0, "import")) return false;
  // a trial runs a part of the list, beside the whole
  const bool is_whole = from.empty() && to.empty();
  const std::vector<std::string>& skip = context.options.skip_passes;
  for (size_t i = first; i <= last; ++i) {
    const Pass& pass = kPipeline[i];
    if (is_whole)
      note_progress(pass.name, static_cast<int64_t>(i), static_cast<int64_t>(std::size(kPipeline)));
    stop_if_asked(watch_of_thread());
    if (std::find(skip.begin(), skip.end(), pass.name) == skip.end()) {
      pass.run(context);
      refuse_unusable_scales(context.graph, context.diagnostics);
      if (context.diagnostics.has_errors()) return false;
      const std::optional<std::string> fault = find_fault(context.graph);
      DEUTERON_CHECK(!fault, fmt::format("after {}: {}", pass.name, *fault));
    }
    if (!keep_intermediate(context, i + 1, pass.name)) return false;
    if (context.options.stop_after == pass.name) return false;
  }
  return true;
}

}  // namespace deuteron
