// Selections of kernels, written by `deuteron firmware` or by people; and symbols in an image, which stand for one.
#include <string>

#include "base/check.h"
#include "firmware/kernel_list.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace deuteron;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  const std::optional<KernelList> list = read_kernel_list(text, "fuzz.sel", diagnostics);
  DEUTERON_CHECK(list.has_value() != diagnostics.has_errors());
  if (!list) return 0;
  const std::string written = write_kernel_list(*list);
  DEUTERON_CHECK(is_kernel_list(written));
  const std::optional<KernelList> again = read_kernel_list(written, "written.sel", diagnostics);
  DEUTERON_CHECK(again.has_value() && *again == *list, written);
  KernelList merged = *list;
  DEUTERON_CHECK(merge_kernel_list(merged, *again, "written.sel", diagnostics) && merged == *list);
  return 0;
}
