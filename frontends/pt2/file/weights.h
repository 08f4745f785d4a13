// SPDX-License-Identifier: Apache-2.0
// One parameter, buffer or constant of the model as a Constant.
#pragma once
#include "base/tensor/constant.h"
#include "frontends/pt2/file/archive.h"
#include "frontends/pt2/file/program.h"

namespace deuteron::pt2 {

struct Weight {
  Constant data;
  Type type;   // dtype and shape in storage order
  Axes order;  // order[k]: the user's axis at storage position k
};

// Points into the archive when the tensor is dense in some order of its axes and aligned; otherwise
// gathers it in the user's order. Refuses what lies outside its blob, blobs whose checksum is
// wrong, and floats that are not finite. `name` is the user's: "stem.conv.weight".
std::optional<Weight> read_weight(const Archive& archive, const WeightEntry& entry,
                                  const std::string& name, Diagnostics& diagnostics);

// The same numbers as float32, rounded; none where an integer is not exact or a result is not
// finite. bool is 0 or 1.
std::optional<Constant> as_float(const Constant& data, DType dtype);

}  // namespace deuteron::pt2
