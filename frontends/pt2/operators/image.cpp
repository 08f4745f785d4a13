// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/operators/image.h"

#include <fmt/format.h>

namespace deuteron::pt2 {

void require_image(Call& c, ValueId x, i64 axes) {
  const i64 rank = c.rank(x);
  if (c.ok() && rank != axes + 1 && rank != axes + 2)
    c.refuse(
        {axes == 2 ? "works on images, [n,c,h,w] or [c,h,w]" : "works on signals, [n,c,l] or [c,l]",
         "rank " + std::to_string(rank), fmt::format("{}..{}", axes + 1, axes + 2),
         "pt2.image.rank"});
}

ValueId to_image(Call& c, ValueId x, i64 axes) {
  const i64 rank = c.rank(x);
  require_image(c, x, axes);
  if (!c.ok()) return -1;
  if (rank == axes + 1) {
    Shape batched = c.shape(x);
    batched.insert(batched.begin(), 1);
    x = c.reshape(x, std::move(batched), "batch");
  }
  if (axes == 2) return c.permute(x, kToChannelsLast, "in");
  x = c.permute(x, {0, 2, 1}, "in");
  if (!c.ok()) return -1;
  const Shape s = c.shape(x);
  return c.reshape(x, {s[0], s[1], 1, s[2]}, "image");
}

ValueId from_image(Call& c, ValueId y, i64 rank, std::string_view suffix, i64 axes) {
  if (!c.ok()) return -1;
  const bool batched = rank == axes + 2;
  if (axes == 2) {
    y = c.permute(y, kToChannelsFirst, batched ? suffix : "out");
  } else {
    const Shape s = c.shape(y);
    y = c.permute(c.reshape(y, {s[0], s[1], s[3]}, "signal"), {0, 2, 1}, batched ? suffix : "out");
  }
  if (batched || !c.ok()) return y;
  const Shape with_batch = c.shape(y);
  return c.reshape(y, {with_batch.begin() + 1, with_batch.end()}, suffix);
}

HW window(Call& c, std::string_view argument, i64 lowest, i64 axes, i64 across) {
  const HW pair = c.pair(argument, lowest);
  return axes == 2 ? pair : HW{pair.h, across};
}

}  // namespace deuteron::pt2
