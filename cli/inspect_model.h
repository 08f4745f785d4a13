// SPDX-License-Identifier: Apache-2.0
// deuteron inspect on a model: its inputs, operators and weights, as text or as a page.
#pragma once
#include "base/diagnostic.h"
#include "cli/inspect_trace.h"

namespace deuteron {

int inspect_pt2(const InspectOptions& options, Diagnostics& diagnostics);
int inspect_tflite(const InspectOptions& options, Diagnostics& diagnostics);
int inspect_onnx(const InspectOptions& options, Diagnostics& diagnostics);

}  // namespace deuteron
