// SPDX-License-Identifier: Apache-2.0
// deuteron flash: firmware that was built goes into the chip behind a debug probe, and runs.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/read_file.h"
#include "boards/flash_image.h"
#include "cli/options.h"
#include "cli/output_paths.h"
#include "cli/run_on_board.h"

namespace deuteron {
namespace {

struct FlashOptions {
  std::string image, on, json;
};

// A project of `deuteron firmware` builds this.
std::string file_of(const std::string& image) {
  std::error_code ec;
  if (!std::filesystem::is_directory(image, ec)) return image;
  return (std::filesystem::path(image) / "build" / "firmware.elf").string();
}

int flash(const FlashOptions& o) {
  Diagnostics diagnostics;
  const std::string file = file_of(o.image);
  const NamedPath read[] = {{"the image", file}}, written[] = {{"--json", o.json}};
  if (!check_outputs(read, written, diagnostics)) return finish("", diagnostics, {}, "");
  if (!o.on.starts_with("gdb:")) return refuse_usage("--on is gdb:HOST:PORT: a probe writes flash");
  const auto fail = [&] { return finish(o.json, diagnostics, {}, ""); };
  const std::optional<std::vector<std::byte>> elf = read_file(file, diagnostics);
  if (!elf) return fail();
  std::string problem, core;
  const std::optional<std::vector<ImagePiece>> image =
      read_image({reinterpret_cast<const uint8_t*>(elf->data()), elf->size()}, problem);
  if (!image) {
    diagnostics.error(file, problem, "flash.image",
                      "give the file that the linker has made, or the folder of a project that is "
                      "built: `cmake --build fw/build`");
    return fail();
  }
  if (const std::optional<Diagnostic> failed = flash_image(o.on, *image, core)) {
    diagnostics.add(*failed);
    return fail();
  }
  Json pieces = Json::array();
  std::string text;
  for (const ImagePiece& p : *image) {
    pieces.push_back({{"address", p.address}, {"bytes", p.bytes.size()}});
    text += fmt::format("wrote {} bytes at {:#010x}\n", p.bytes.size(), p.address);
  }
  return finish(o.json, diagnostics,
                {{"file", file}, {"on", o.on}, {"core", core}, {"pieces", std::move(pieces)}},
                text + fmt::format("{} on {} runs it\n", core, o.on));
}

}  // namespace

void add_flash(CommandLine& line) {
  FlashOptions* o = nullptr;
  Verb verb = add_verb<FlashOptions>(
      line, "flash", "flash firmware through a debug probe, and start it",
      "deuteron flash fw/ --on gdb:localhost:3333\n  deuteron flash build/board.elf --on "
      "gdb:localhost:2331",
      flash, o);
  verb.option("image", o->image,
              "an ELF file, or the folder of a firmware project that has been built")
      .value("IMAGE")
      .required();
  verb.option("--on", o->on, "gdb:HOST:PORT, the debug probe's GDB server")
      .value("WHERE")
      .check(check_on)
      .required();
  add_json(verb, o->json);
}

}  // namespace deuteron
