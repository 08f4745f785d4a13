// SPDX-License-Identifier: Apache-2.0
// Every second change of libFuzzer is one of a field.
#include <cstring>

#include "tests/fuzz/change_field.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  if (seed % 2 != 0) {
    std::vector<uint8_t> bytes(data, data + size);
    if (deuteron::test::change_field(bytes, DEUTERON_SCHEMA, seed / 2)) {
      std::memcpy(data, bytes.data(), size);
      return size;
    }
  }
  return LLVMFuzzerMutate(data, size, most);
}
