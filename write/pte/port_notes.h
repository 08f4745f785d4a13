// SPDX-License-Identifier: Apache-2.0
// What the numbers of a program's inputs and outputs stand for, as notes in its file: string values
// that no call refers to.
//   deuteron:u8=INPUT;SCALE;MEAN,..;STD,..            (byte * SCALE - MEAN) / STD; lists of one
//   number, or one for each channel; empty: 0 and 1
//   deuteron:steps=SCALE:ZERO_POINT,..>SCALE:ZERO_POINT,..      of the inputs, then of the outputs:
//   (step - ZERO_POINT) * SCALE where a
//                                                     port is int8 or int16, nothing between the
//                                                     commas where it is not
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/data/image.h"
#include "ir/graph.h"

namespace deuteron {

// By index of the program's inputs.
using ByteInputs = std::vector<std::optional<ImageMap>>;
// What the bytes of input i stand for; null where it does not come as bytes.
inline const ImageMap* byte_input(const ByteInputs& inputs, size_t i) {
  return i < inputs.size() && inputs[i] ? &*inputs[i] : nullptr;
}

struct PortNotes {
  ByteInputs byte_inputs;
  std::vector<Quant> input_steps, output_steps;  // by index; empty: nothing is said
};

// Of the graph of the program.
std::vector<std::string> notes_of(const Graph& graph, const ByteInputs& inputs);
// Enters what the note says; a string that is no such note, or a damaged one, says nothing.
void read_note(std::string_view note, PortNotes& notes);

}  // namespace deuteron
