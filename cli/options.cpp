// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

namespace deuteron {

Option add_files(Verb& verb, const std::string& name, std::vector<std::string>& files,
                 const std::string& help) {
  return verb.option(name, files, help).value("F").one_each();
}

void add_input_shape(Verb& verb, std::vector<std::string>& texts) {
  verb.option(
          "--input-shape", texts,
          "of a .pt2 or .onnx model that leaves sizes open: the shape of an input; may be repeated")
      .value("NAME=1,3,96,96")
      .one_each();
}

void add_part(Verb& verb, ModelPart& part) {
  verb.option("--signature", part.signature,
              "of a .tflite model with several: the one to take; also the name of a subgraph")
      .value("NAME");
  verb.option("--inputs-at", part.inputs_at,
              "take the model from here on: a value, or an operator, whose results become inputs; "
              "may be repeated")
      .value("NAME")
      .one_each();
  verb.option("--outputs-at", part.outputs_at,
              "take the model up to here: a value, or an operator, whose results become the "
              "outputs; may be repeated")
      .value("NAME")
      .one_each();
}

void add_state(Verb& verb, std::vector<std::string>& texts) {
  verb.option("--state", texts,
              "an input and an output of the model that are one value from call to call, zeros at "
              "first; may be repeated")
      .value("INPUT=OUTPUT")
      .one_each();
}

void add_json(Verb& verb, std::string& path) {
  verb.option("--json", path, "write the result as JSON to this file (`-`: standard output)")
      .value("FILE");
}

void add_method(Verb& verb, std::string& method) {
  verb.option("--method", method, "of a program with several methods: which one; default: forward")
      .value("NAME");
}
void add_timeout(Verb& verb, double& seconds) {
  constexpr double kMost = 1e6;  // eleven days
  verb.option("--timeout", seconds,
              "end the runs of the program after so many seconds; default: boards by the estimated "
              "work, here never")
      .value("S")
      .positive()
      .at_most(kMost);
}

void add_image_options(Verb& verb, ImageMap& map) {
  verb.option("--image-scale", map.scale,
              "images: value = (pixel * scale - mean) / std; default 1/255")
      .value("X");
  verb.option("--image-mean", map.mean,
              "images: one value or one for each channel, as 0.485,0.456,0.406; default 0")
      .value("X,..")
      .one_each();
  verb.option("--image-std", map.std, "images: one value or one for each channel; default 1")
      .value("X,..")
      .one_each()
      .not_zero();
}

}  // namespace deuteron
