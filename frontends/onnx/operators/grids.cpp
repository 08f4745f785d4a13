// SPDX-License-Identifier: Apache-2.0
// Images that are sampled at the points of a grid, and grids that are affine maps of an image's
// points.
#include <fmt/format.h>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"

namespace deuteron::onnx {

// Opset 16 says bilinear and bicubic, newer ones linear and cubic.
static i64 number_of_mode(Call& c, std::string_view attribute, std::string_view otherwise,
                          const std::vector<std::string_view>& names) {
  const std::string given = c.text(attribute, otherwise);
  for (size_t k = 0; k < names.size(); ++k)
    if (given == names[k] || (given.starts_with("bi") && given.substr(2) == names[k]))
      return static_cast<i64>(k);
  c.refuse({fmt::format("attribute `{}` has an unknown value", attribute), given,
            fmt::format("{}", fmt::join(names, ", ")), "onnx.grid.mode"});
  return 0;
}

static void import_grid_sample(Call& c) {
  const Operand x = c.operand(0), grid = c.operand(1);
  const i64 mode = number_of_mode(c, "mode", "linear", {"linear", "nearest", "cubic"});
  const i64 padding = number_of_mode(c, "padding_mode", "zeros", {"zeros", "border", "reflection"});
  c.require(!c.ok() || c.rank(x) == 4, "samples other tensors than images",
            std::to_string(c.rank(x)), "4", "onnx.grid.rank");
  c.result(c.torch("aten.grid_sampler.default",
                   {{"input", x},
                    {"grid", grid},
                    {"interpolation_mode", mode},
                    {"padding_mode", padding},
                    {"align_corners", c.integer("align_corners", 0) != 0}}));
}

static void import_affine_grid(Call& c) {
  const Operand theta = c.operand(0);
  const std::vector<i64> size = c.integers_of(1, "size");
  c.require(!c.ok() || size.size() == 4, "maps other tensors than images",
            std::to_string(size.size()), "4", "onnx.grid.rank");
  c.result(c.torch(
      "aten.affine_grid_generator.default",
      {{"theta", theta}, {"size", size}, {"align_corners", c.integer("align_corners", 0) != 0}}));
}

static constexpr ImportRow kGridsRows[] = {
    {"AffineGrid", import_affine_grid},
    {"GridSample", import_grid_sample},
};
ImportRows grids_rows() { return kGridsRows; }

}  // namespace deuteron::onnx
