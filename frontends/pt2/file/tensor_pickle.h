// SPDX-License-Identifier: Apache-2.0
// The list of tensors that torch.save writes before torch 2.10: a Python pickle. It is read as
// data: a machine that knows the few instructions and names that torch.save uses for a dict of
// tensors. Nothing is looked up or executed, everything else is refused.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "frontends/pt2/file/program.h"

namespace deuteron::pt2 {

// Tensors by name; their blobs are the entries `folder` + key. Time and memory are proportional to
// the pickle's size.
std::optional<ByName<WeightEntry>> tensors_of_pickle(std::span<const std::byte> pickle,
                                                     const std::string& folder,
                                                     const std::string& where,
                                                     Diagnostics& diagnostics);

}  // namespace deuteron::pt2
