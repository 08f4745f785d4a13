// SPDX-License-Identifier: Apache-2.0
// A `.pt2` archive (torch.export.save, torch 2.6 to 2.15) becomes a Graph. Format: docs/formats.md.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/data/input_shapes.h"
#include "base/data/model_part.h"
#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

// Reads float and quantized (quantized_decomposed) graphs. All operators that are not known or not
// importable are reported in one run, each with its source id and stack. The result verifies. What
// holds after import:
//  - image operators (convolution, pooling, batch norm of rank 4) work on [n,h,w,c]; a Permute
//  stands before and after each of them, and
//    on each weight ([oc,ic,kh,kw] becomes [oc,kh,kw,ic]); nothing is cancelled yet
//  - parameters are constants that point into the memory-mapped archive wherever their strides
//  allow
//  - a graph input keeps the user's storage: strides that are channels-last give the value the
//  shape [n,h,w,c] and the port order 0,2,3,1,
//    followed by a Permute back to the user's axes; outputs likewise in the user's axes with order
//    0,1,2,..
//  - quantize and dequantize are nodes; their parameters are in the types
//  - identities (dropout in eval, clone, detach, contiguous, alias) have no node and are recorded
//  in Graph::folded
//  - parameters that nothing reads are dropped
// `shapes` are for inputs whose sizes the file leaves open: pt2/fixed_sizes.h.
std::optional<Graph> import_pt2(const std::string& path, Diagnostics& diagnostics,
                                const InputShapes& shapes = {}, const ModelPart& part = {});

// The same for an archive in memory that `owner` keeps alive: the graph's constants point into it.
std::optional<Graph> import_pt2(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                const std::string& name, Diagnostics& diagnostics,
                                const InputShapes& shapes = {});

namespace pt2 {
struct Archive;  // frontends/pt2/file/archive.h
struct Program;  // frontends/pt2/file/program.h
// The same for a program that has been read, with the archive that its weights lie in.
std::optional<Graph> import_program(const std::shared_ptr<const Archive>& archive, Program program,
                                    Diagnostics& diagnostics, const InputShapes& shapes = {});
}  // namespace pt2

}  // namespace deuteron
