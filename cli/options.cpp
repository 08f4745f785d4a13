// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

namespace deuteron {

Option add_files(Verb& verb, const std::string& name, std::vector<std::string>& files,
                 const std::string& help) {
  return verb.option(name, files, help).value("F").one_each();
}

void add_input_shape(Verb& verb, std::vector<std::string>& texts) {
  verb.option("--input-shape", texts,
              "the shape of an input, where the .pt2 or .onnx model leaves a size open; may be "
              "repeated")
      .value("NAME=1,3,96,96")
      .one_each();
}

void add_part(Verb& verb, ModelPart& part) {
  verb.option("--signature", part.signature,
              "which signature, or subgraph, of a .tflite model to take")
      .value("NAME");
  verb.option(
          "--inputs-at", part.inputs_at,
          "start the model at this value or operator: its results become inputs; may be repeated")
      .value("NAME")
      .one_each();
  verb.option("--outputs-at", part.outputs_at,
              "end the model at this value or operator: its results become the outputs; may be "
              "repeated")
      .value("NAME")
      .one_each();
}

void add_state(Verb& verb, std::vector<std::string>& texts) {
  verb.option("--state", texts,
              "keep this output, and pass it as this input in the next call; it starts as zeros; "
              "may be repeated")
      .value("INPUT=OUTPUT")
      .one_each();
}

void add_json(Verb& verb, std::string& path) {
  verb.option("--json", path, "write the result as JSON to this file (`-`: standard output)")
      .value("FILE");
}

void add_method(Verb& verb, std::string& method) {
  verb.option("--method", method, "which method, if the program has several; default: forward")
      .value("NAME");
}
void add_timeout(Verb& verb, double& seconds) {
  constexpr double kMost = 1e6;  // eleven days
  verb.option("--timeout", seconds,
              "stop the runs after S seconds; default: on boards a limit that follows from the "
              "estimated work, on the host none")
      .value("S")
      .positive()
      .at_most(kMost);
}

void add_image_options(Verb& verb, ImageMap& map) {
  verb.option("--image-scale", map.scale,
              "images: scale of value = (pixel * scale - mean) / std; default 1/255")
      .value("X");
  verb.option("--image-mean", map.mean,
              "images: mean, one value or one for each channel, as in 0.485,0.456,0.406; default 0")
      .value("X,..")
      .one_each();
  verb.option("--image-std", map.std, "images: std, one value or one for each channel; default 1")
      .value("X,..")
      .one_each()
      .not_zero();
}

}  // namespace deuteron
