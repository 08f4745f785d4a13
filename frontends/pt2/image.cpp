#include "frontends/pt2/image.h"

namespace deuteron::pt2 {

ValueId to_image(Call& c, ValueId x) {
  const i64 rank = c.rank(x);
  if (c.ok() && rank != 3 && rank != 4)
    c.refuse({"works on images, [n,c,h,w] or [c,h,w]", "rank " + std::to_string(rank), "3..4", "pt2.image.rank"});
  if (!c.ok()) return -1;
  if (rank == 3) {
    Shape batched = c.shape(x);
    batched.insert(batched.begin(), 1);
    x = c.reshape(x, std::move(batched), "batch");
  }
  return c.permute(x, kToChannelsLast, "in");
}

ValueId from_image(Call& c, ValueId y, i64 rank, std::string_view suffix) {
  if (rank != 3) return c.permute(y, kToChannelsFirst, suffix);
  y = c.permute(y, kToChannelsFirst, "out");
  if (!c.ok()) return -1;
  const Shape batched = c.shape(y);
  return c.reshape(y, {batched.begin() + 1, batched.end()}, suffix);
}

}  // namespace deuteron::pt2
