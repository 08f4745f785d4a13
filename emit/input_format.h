// SPDX-License-Identifier: Apache-2.0
// What the bytes of a program's input stand for, as a note in its file: a string value that no call refers to.
//   deuteron:u8=INPUT;SCALE;MEAN,..;STD,..      (byte * SCALE - MEAN) / STD; lists of one number, or one for each channel; empty: 0 and 1
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/image.h"

namespace deuteron {

// By index of the program's inputs.
using ByteInputs = std::vector<std::optional<ImageMap>>;
// What the bytes of input i stand for; null where it does not come as bytes.
inline const ImageMap* byte_input(const ByteInputs& inputs, size_t i) { return i < inputs.size() && inputs[i] ? &*inputs[i] : nullptr; }

std::vector<std::string> notes_of(const ByteInputs& inputs);
// Enters what the note says; a string that is no such note, or a damaged one, says nothing.
void read_note(std::string_view note, ByteInputs& inputs);

}  // namespace deuteron
