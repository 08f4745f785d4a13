// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/converter/fuse.h"
#include "npu/neutron/converter/lowering.h"
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/kernels/resize/call.h"

namespace deuteron::neutron {
namespace {

struct Resize {
  bool bilinear = false, align_corners = false, half_pixel_centers = false;
};

template <bool kBilinear, class Options>
Fault read(OperatorReader& op, const tflite::Operator& o) {
  const auto* p = o.builtin_options_as<Options>();
  if (!p) return op.wrong("no options");
  DEUTERON_TRY(op.same_quant_int8());
  std::vector<i64> size;
  DEUTERON_TRY(op.ints(1, &size));
  const Shape& x = op.shape(0);
  if (x.size() != 4 || size.size() != 2)
    return op.wrong("ranks", fmt::format("{}, {}", x.size(), size.size()), "4, 2");
  DEUTERON_TRY(op.shape_of_y({x[0], size[0], size[1], x[3]}));
  if (p->align_corners() && p->half_pixel_centers())
    return op.wrong("align_corners and half_pixel_centers exclude each other");
  return op.push(resize_operation, Resize{kBilinear, p->align_corners(), p->half_pixel_centers()},
                 {op.in(0)});
}

Fault lower(Lowering& l, const Operation& s) {
  const auto& a = s.as<Resize>();
  const Shape &x = l.shape(s.inputs[0]), &y = l.shape(s.output);
  for (const i64 e : {x[1], x[2], y[1], y[2]})
    if (e > kMostResized) return l.wrong("height or width", e, kMostResized, "resize");
  ResizeCall c{};
  c.n = l.word(x[0]), c.h = l.word(x[1]), c.w = l.word(x[2]), c.c = l.word(x[3]),
  c.out_h = l.word(y[1]), c.out_w = l.word(y[2]);
  c.align_corners = a.align_corners, c.half_pixel_centers = a.half_pixel_centers;
  l.locate(c.x, s.inputs[0]);
  l.locate(c.y, s.output);
  l.push(a.bilinear ? Kind::kResizeBilinear : Kind::kResizeNearest, c);
  return std::nullopt;
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::RESIZE_NEAREST_NEIGHBOR, "resize_nearest_neighbor", 2, 2, false,
     read<false, tflite::ResizeNearestNeighborOptions>},
    {tflite::BuiltinOperator::RESIZE_BILINEAR, "resize_bilinear", 2, 2, false,
     read<true, tflite::ResizeBilinearOptions>},
};

}  // namespace

const OperationDef resize_operation = {
    .tflite = kRows,
    .fusing = {.is_identity = same_shape,
               .ending = plain_ending,
               .only_moves = false,
               .as_function = no_function,
               .fold = nullptr,
               .fuse = nullptr},
    .placing = kDense,
    .lower = lower,
};

}  // namespace deuteron::neutron
