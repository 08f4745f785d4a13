#include "tools/options.h"

namespace deuteron {

CLI::Option* add_files(CLI::App* verb, const std::string& name, std::vector<std::string>& files, const std::string& help) {
  return verb->add_option(name, files, help)->option_text("F")->allow_extra_args(false);
}

void add_json(CLI::App* verb, std::string& path) {
  verb->add_option("--json", path, "write the result as JSON to this file (`-`: standard output)")->option_text("FILE");
}

void add_image_options(CLI::App* verb, ImageMap& map) {
  verb->add_option("--image-scale", map.scale, "images: value = (pixel * scale - mean) / std; default 1/255")->option_text("X");
  verb->add_option("--image-mean", map.mean, "images: one value or one for each channel, as 0.485,0.456,0.406; default 0")
      ->option_text("X,..")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_option("--image-std", map.std, "images: one value or one for each channel; default 1")
      ->option_text("X,..")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check([](const std::string& text) { return text == "0" || text == "0.0" ? std::string("must not be 0") : std::string(); });
}

}  // namespace deuteron
