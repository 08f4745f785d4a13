// SPDX-License-Identifier: Apache-2.0
// Takes the sections out of a TFLite model with one NeutronGraph, ours or the vendor's, and checks
// them.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "npu/neutron/converter/payload.h"

namespace deuteron::neutron {

struct Extracted {
  Sections sections;
  MicrocodeFacts facts;
  u8 version = 0;
  // By NeutronGraph input and output: index among the model's inputs and outputs. How many of them
  // there are.
  std::vector<u8> input_map, output_map;
  i64 model_inputs = 0;
};

// `where` begins every message: "Neutron converter's result". `model` must be aligned to 8 bytes.
std::optional<Extracted> extract(std::span<const u8> model, const std::string& where,
                                 Diagnostics& diagnostics);

}  // namespace deuteron::neutron
