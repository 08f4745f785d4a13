// SPDX-License-Identifier: Apache-2.0
// What the vendor's converter prints. The bytes are its text; up to the first zero they are an
// option for it. The model that the kernels are mapped to is the one that the text shows.
#include <algorithm>

#include "base/check.h"
#include "npu/neutron/vendor/converter_options.h"
#include "npu/neutron/vendor/kernel_map.h"

using namespace deuteron;
using namespace deuteron::neutron;

static void check_map(const ConsoleDump& dump, const ModelFace& face,
                      const std::vector<std::string>& microcode) {
  const KernelMap map = map_kernels(dump, face, microcode);
  const auto operators = static_cast<i32>(face.operators.size());
  for (const MappedKernel& kernel : map.kernels)
    for (const i32 op : kernel.ops) DEUTERON_CHECK(op >= 0 && op < operators);
  for (const std::vector<i32>* list : {&map.without_kernel, &map.unknown})
    for (const i32 op : *list) DEUTERON_CHECK(op >= 0 && op < operators);
  if (!microcode.empty()) DEUTERON_CHECK(map.kernels.size() == microcode.size());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const size_t zero = text.find('\0'); zero != text.npos) {
    Diagnostics refused;
    const auto option = read_converter_option(text.substr(0, zero), refused);
    DEUTERON_CHECK(option.has_value() != refused.has_errors());
    if (option) {
      DEUTERON_CHECK(arguments_of(std::vector{*option}).size() <= 2);
      std::vector<ConverterOption> options = default_converter_options();
      set_option(options, *option);
      DEUTERON_CHECK(std::count(options.begin(), options.end(), *option) == 1);
    }
    text.remove_prefix(zero + 1);
  }
  const ConsoleDump dump = read_console_dump(text);
  ModelFace face;
  face.inputs.push_back({"x", "int8", {1}, {}, {}});
  face.outputs.push_back({"y", "int8", {1}, {}, {}});
  for (const DumpNode& node : dump.imported) {
    ModelOperator op{node.type, node.inputs, node.outputs, {}};
    for (const std::string& in : node.inputs) {
      const auto known = dump.constant.find(in);
      op.is_constant.push_back(known != dump.constant.end() && known->second);
    }
    face.operators.push_back(std::move(op));
  }
  std::vector<std::string> microcode;
  check_map(dump, face, microcode);
  for (const DumpCall& call : dump.calls) microcode.push_back(call.kernel);
  check_map(dump, face, microcode);
  microcode.emplace_back("Softmax");
  check_map(dump, face, microcode);
  if (!face.operators.empty()) face.operators.pop_back();
  check_map(dump, face, {});
  return 0;
}
