// SPDX-License-Identifier: Apache-2.0
// NumPy's archives: the bytes as they are, or, where the first one is 0, the rest as the one array
// of a sound archive.
#include "base/check.h"
#include "base/data/npz.h"
#include "frontends/pt2/test_archive.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace deuteron;
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (data[0] == 0) bytes = pt2::stored_zip({{"input0.npy", bytes.substr(1)}});
  const test::MemoryFile file(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  Diagnostics diagnostics;
  const std::optional<Npz> npz = Npz::open(file.path(), diagnostics);
  DEUTERON_CHECK(npz.has_value() != diagnostics.has_errors());
  if (!npz) return 0;
  constexpr i64 kSmall = 4096,
                kHuge = i64{1} << 26;  // huge ones must be refused before they are unpacked
  const auto elements_of = [](const Shape& shape) {  // of a header that nobody has checked
    i64 elements = 1;
    for (const i64 extent : shape)
      if (__builtin_mul_overflow(elements, extent, &elements)) return kHuge;
    return elements;
  };
  std::vector<std::string> names(npz->names().begin(), npz->names().end());
  names.emplace_back("none");
  for (const std::string& name : names) {
    Diagnostics refused;
    bool accepted = false;
    const std::optional<Array> array = npz->read(
        name,
        [&](const Shape& s) {
          return accepted = elements_of(s) <= kSmall || elements_of(s) >= kHuge;
        },
        refused);
    DEUTERON_CHECK(!array || (accepted && elements_of(array->shape) <= kSmall));
    DEUTERON_CHECK(array || !accepted || refused.has_errors());
  }
  return 0;
}
