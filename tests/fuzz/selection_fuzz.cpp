// SPDX-License-Identifier: Apache-2.0
// Selections of kernels, written by `deuteron firmware` or by people, and symbols in an image,
// which stand for one; and selections of the NPU's kernels, which are C files.
#include <string>

#include "base/check.h"
#include "npu/neutron/converter/kernel_selection.h"
#include "write/firmware/kernel_list.h"

using namespace deuteron;

static void read_list(std::string_view text) {
  Diagnostics diagnostics;
  const std::optional<KernelList> list = read_kernel_list(text, "fuzz.sel", diagnostics);
  DEUTERON_CHECK(list.has_value() != diagnostics.has_errors());
  if (!list) return;
  const std::string written = write_kernel_list(*list);
  DEUTERON_CHECK(is_kernel_list(written));
  const std::optional<KernelList> again = read_kernel_list(written, "written.sel", diagnostics);
  DEUTERON_CHECK(again.has_value() && *again == *list, written);
  KernelList merged = *list;
  DEUTERON_CHECK(merge_kernel_list(merged, *again, "written.sel", diagnostics) && merged == *list);
}

static void read_file_of_npu(std::string_view text) {
  using namespace deuteron::neutron;
  Diagnostics diagnostics;
  const std::optional<KernelSelection> selection =
      read_kernel_selection(text, "fuzz.c", diagnostics);
  DEUTERON_CHECK(selection.has_value() != diagnostics.has_errors());
  if (!selection) return;
  const std::string written = write_kernel_selection(*selection);
  const auto again = read_kernel_selection(written, "written.c", diagnostics);
  DEUTERON_CHECK(again == selection, written);
  const std::string files[] = {"fuzz.c", "usual.c"};
  Diagnostics of_merge;
  const auto merged =
      merge_kernel_selections(std::vector{*selection, KernelSelection{}}, files, of_merge);
  DEUTERON_CHECK(merged.has_value() == (selection->version == kFormatTag) &&
                 (!merged || merged == selection));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_list(text);
  read_file_of_npu(text);
  return 0;
}
