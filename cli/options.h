// SPDX-License-Identifier: Apache-2.0
// Options that several verbs have, so that they are called and explained the same everywhere.
#pragma once
#include <string>
#include <vector>

#include "base/data/image.h"
#include "base/data/model_part.h"
#include "cli/command_line.h"
#include "cli/verb.h"

namespace deuteron {

// `name` may be given several times and takes one file each time.
Option add_files(Verb& verb, const std::string& name, std::vector<std::string>& files,
                 const std::string& help);
void add_input_shape(Verb& verb, std::vector<std::string>& texts);
void add_part(Verb& verb, ModelPart& part);
void add_state(Verb& verb, std::vector<std::string>& texts);
void add_json(Verb& verb, std::string& path);
void add_method(Verb& verb, std::string& method);
void add_timeout(Verb& verb, double& seconds);
void add_image_options(Verb& verb, ImageMap& map);

}  // namespace deuteron
