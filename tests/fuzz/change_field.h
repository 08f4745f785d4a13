// SPDX-License-Identifier: Apache-2.0
// Changes one field of a flatbuffer as its schema has it: a number, a length, or a reference that
// then names another table of the same type. What comes of it is mostly still a flatbuffer, so that
// the reader is reached, and not its verifier alone.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace deuteron::test {

// `schema`: program, tflite or etdump. False, and nothing changed: the bytes are no flatbuffer of
// that schema. The same `random` changes the same bytes in the same way.
bool change_field(std::vector<uint8_t>& bytes, const std::string& schema, uint32_t random);

}  // namespace deuteron::test
