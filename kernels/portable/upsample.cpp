// SPDX-License-Identifier: Apache-2.0
// Enlarging images: nearest neighbour and bilinear, float or int8 (nearest only), any memory order.
#include <cmath>
#include <initializer_list>

#include "kernels/portable/kernels.h"
#include "kernels/portable/window.h"

namespace deuteron {
namespace {
using namespace portable;

struct Upsample {
  const uint8_t* x;
  uint8_t* y;
  Image xi, yi;
  float scale_h, scale_w;  // input steps for each output step
  uint8_t element_bytes;
  bool align_corners;
};

int32_t below(int32_t v, int32_t size) { return v < size ? v : size - 1; }

void run_nearest(const Upsample& u) {
  for (int32_t n = 0; n < u.yi.n; ++n)
    for (int32_t c = 0; c < u.yi.c; ++c)
      for (int32_t oh = 0; oh < u.yi.h; ++oh)
        for (int32_t ow = 0; ow < u.yi.w; ++ow) {
          const int32_t h = below(static_cast<int32_t>(static_cast<float>(oh) * u.scale_h), u.xi.h);
          const int32_t w = below(static_cast<int32_t>(static_cast<float>(ow) * u.scale_w), u.xi.w);
          __builtin_memcpy(u.y + static_cast<ptrdiff_t>(u.yi.at(n, c, oh, ow)) * u.element_bytes,
                           u.x + static_cast<ptrdiff_t>(u.xi.at(n, c, h, w)) * u.element_bytes,
                           u.element_bytes);
        }
}

// The two neighbours of an output position and the weight of the second.
struct Neighbours {
  int32_t first, second;
  float weight;
};
Neighbours neighbours_of(int32_t out, float scale, bool align_corners, int32_t size) {
  float at = align_corners ? scale * static_cast<float>(out)
                           : scale * (static_cast<float>(out) + 0.5f) - 0.5f;
  if (at < 0) at = 0;
  const int32_t first = below(static_cast<int32_t>(at), size);
  float weight = at - static_cast<float>(first);
  if (weight > 1) weight = 1;
  return {first, below(first + 1, size), weight};
}

void run_bilinear(const Upsample& u) {
  const float* x = reinterpret_cast<const float*>(u.x);
  float* y = reinterpret_cast<float*>(u.y);
  for (int32_t n = 0; n < u.yi.n; ++n)
    for (int32_t c = 0; c < u.yi.c; ++c)
      for (int32_t oh = 0; oh < u.yi.h; ++oh) {
        const Neighbours h = neighbours_of(oh, u.scale_h, u.align_corners, u.xi.h);
        for (int32_t ow = 0; ow < u.yi.w; ++ow) {
          const Neighbours w = neighbours_of(ow, u.scale_w, u.align_corners, u.xi.w);
          const float top = (1 - w.weight) * x[u.xi.at(n, c, h.first, w.first)] +
                            w.weight * x[u.xi.at(n, c, h.first, w.second)];
          const float bottom = (1 - w.weight) * x[u.xi.at(n, c, h.second, w.first)] +
                               w.weight * x[u.xi.at(n, c, h.second, w.second)];
          y[u.yi.at(n, c, oh, ow)] = (1 - h.weight) * top + h.weight * bottom;
        }
      }
}

// One given factor for each dimension wins over the ratio of the sizes, as in torch.
const char* read_scales(const Call& call, int argument, Upsample* u) {
  u->scale_h = static_cast<float>(u->xi.h) / static_cast<float>(u->yi.h);
  u->scale_w = static_cast<float>(u->xi.w) / static_cast<float>(u->yi.w);
  if (call.args[argument]->kind == Kind::none) return nullptr;
  const List& list = call.list(argument);
  if (list.count != 2) return "must have two numbers";
  double factor[2];
  __builtin_memcpy(factor, list.data, sizeof factor);
  for (const double f : factor)
    if (!(f >= 1e-3) || !(f <= 1e3)) return "is out of range";
  u->scale_h = static_cast<float>(1.0 / factor[0]);
  u->scale_w = static_cast<float>(1.0 / factor[1]);
  return nullptr;
}

Status fill_upsample(const Call& call, int scales, int out, Upsample* u) {
  const Tensor &x = call.tensor(0), &y = call.tensor(out);
  if (x.rank != 4 || y.rank != 4) return bad_argument(out, "must have rank 4");
  if (x.type != y.type) return bad_argument(out, "must have the input's dtype");
  if (x.sizes[0] != y.sizes[0] || x.sizes[1] != y.sizes[1])
    return bad_argument(out, "has another batch or number of channels than the input");
  if (x.numel == 0 || y.numel == 0) return bad_argument(out, "has no elements");
  for (const int i : {2, 3})
    if (x.sizes[i] > kMostWindow || y.sizes[i] > kMostWindow)
      return bad_argument(out, "is larger than 32768 along a spatial dimension");
  *u = {bytes_of(x),
        bytes_of(y),
        image_of(x),
        image_of(y),
        1,
        1,
        static_cast<uint8_t>(element_bytes(x.type)),
        false};
  if (const char* why = read_scales(call, scales, u)) return bad_argument(scales, why);
  return Status{};
}

// (x, size?, factors?, out)
Status prepare_nearest(Call& call, Prepared* prepared) {
  Upsample u;
  const Status s = fill_upsample(call, 2, 3, &u);
  return s.ok() ? keep<Upsample, run_nearest>(call, prepared, u) : s;
}

// (x, size?, align_corners, factors?, out)
Status prepare_bilinear(Call& call, Prepared* prepared) {
  Upsample u;
  const Status s = fill_upsample(call, 3, 4, &u);
  if (!s.ok()) return s;
  if (call.tensor(0).type != ScalarType::f32) return bad_argument(0, "must be float");
  u.align_corners = call.boolean(2);
  if (u.align_corners) {
    u.scale_h = u.yi.h > 1 ? static_cast<float>(u.xi.h - 1) / static_cast<float>(u.yi.h - 1) : 0;
    u.scale_w = u.yi.w > 1 ? static_cast<float>(u.xi.w - 1) / static_cast<float>(u.yi.w - 1) : 0;
  }
  return keep<Upsample, run_bilinear>(call, prepared, u);
}

}  // namespace

extern const Kernel kAtenUpsampleNearest2d = {"aten::upsample_nearest2d.vec_out", "TldO",
                                              prepare_nearest};
extern const Kernel kAtenUpsampleBilinear2d = {"aten::upsample_bilinear2d.vec_out", "TlBdO",
                                               prepare_bilinear};

}  // namespace deuteron
