// deuteron firmware --as c: programs as C that share their kernels.
#include "tools/firmware_as.h"

#include <nlohmann/json.hpp>

#include "boards/board.h"

namespace deuteron {

int firmware_as(const FirmwareAs& o) {
  Diagnostics diagnostics;
  const auto fail = [&] { return finish(o.json, diagnostics, {}, ""); };
  const Board* board = find_board(all_boards(), o.board);
  if (board == nullptr) {
    diagnostics.error("--board " + o.board, "is no board: which core is it for?", "board.unknown", list_of(all_boards(), ""));
    return fail();
  }
  const std::optional<Target> target = find_target(std::string(board->target), diagnostics, "--board");
  if (!target) return fail();
  COptions options = o.c;
  COutput output = c_output_for(options, *target);
  for (const std::string& path : o.models) {
    const std::optional<ProgramFile> file = ProgramFile::open(path, diagnostics, o.verify_key);
    if (file) add_c_program(options, *file, *target, path, output, diagnostics);
  }
  if (diagnostics.has_errors()) return fail();
  if (!write_c_folder(options, output, o.output, diagnostics)) return fail();
  return finish(o.json, diagnostics, c_report(output), c_summary(output, o.output));
}

}  // namespace deuteron
