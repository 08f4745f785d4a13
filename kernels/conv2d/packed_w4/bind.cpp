// SPDX-License-Identifier: Apache-2.0
// deuteron::packed_conv2d_w4: its arguments checked once, at load. The overload says the packing
// (kernels/conv2d/packed_w4/tiles.h). A host runs each by the portable kernel, a core only that of
// its instruction set.
#include "kernels/common/kernels.h"
#include "kernels/conv2d/packed/read_call.h"
#include "kernels/conv2d/packed_w4/kernel.h"
#include "kernels/dense/packed_call.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_HOST_KERNELS)
#include "kernels/common/arena_host.h"
#include "kernels/conv2d/packed/kernel_host.h"
#include "kernels/conv2d/packed_w4/parts.h"
#include "kernels/conv2d/packed_w4/unpack.h"
#endif

namespace deuteron {

#if !defined(DEUTERON_MICROCONTROLLER)
template <>
inline constexpr std::string_view kKernelName<packed_conv2d_w4_s8<Packing::mve_4x16>> =
    "packed_conv2d_w4_s8<Packing::mve_4x16>";
template <>
inline constexpr std::string_view kKernelName<packed_conv2d_w4_s8<Packing::dsp_4x4>> =
    "packed_conv2d_w4_s8<Packing::dsp_4x4>";
#endif

namespace {

constexpr int kScratch = last_of(kPackedRow) - 1, kOut = last_of(kPackedRow);

struct W4Call {
  const PackedConv2dArgs& args;
  const int8_t *x, *packed;
  void* scratch;
  int32_t scratch_bytes;
  int8_t* y;
};

template <Packing p>
PackedBytes bytes_of(const PackedConv2dArgs& a) {
  return {w4_bytes(p, a.out_c, a.length(), false), w4_bytes(p, a.out_c, a.length(), true)};
}

#if defined(DEUTERON_HOST_KERNELS)
// Unpacked, and in the order of the host's kernels, where there are such kernels and memory. False:
// not kept.
template <Packing p>
bool keep_on_host(Call& call, Prepared* prepared, const W4Call& c) {
  if (call.recorder != nullptr || !call.tensor(kPackedWeights).constant ||
      host_dot_forms().count == 0)
    return false;
  const HostDotForm& form = host_dot_forms().kernel[0];
  const int64_t ordered = packed_conv2d_host_bytes(c.args, form);
  if (ordered == 0) return false;
  const int32_t tiles = packed_tiles(c.args.out_c);
  const auto order = [&](void* room) {
    auto* const unpacked = static_cast<int8_t*>(room) + ordered;
    const W4Tile t = w4_tile(p, c.args.length(), c.args.has_shifts);
    unpack_tiles<p>(
        t, c.args.has_shifts, c.packed, tiles, unpacked,
        [&](const int8_t* tile, int8_t* to) { unpack_weights<p>(t, c.args.length(), tile, to); });
    return order_packed_conv2d<p>(c.args, form, unpacked, room);
  };
  const int64_t bytes = ordered + tiles * packed_conv2d_w4_unpacked_bytes(c.args, p);
  return keep_ordered<HostPackedConv2d, run_packed_conv2d>(prepared, bytes, order, c.x, c.y);
}
#endif

template <Packing p>
Status keep_w4(Call& call, Prepared* prepared, const W4Call& c) {
  if constexpr (p == Packing::mve_4x16)
    if (is_for<Feature::mve>(call))
      return keep_for<Feature::mve, packed_conv2d_w4_s8_mve>(call, prepared, c.args, c.x, c.packed,
                                                             c.scratch, c.scratch_bytes, c.y);
  if constexpr (p == Packing::dsp_4x4)
    if (is_for<Feature::dsp>(call))
      return keep_for<Feature::dsp, packed_conv2d_w4_s8_dsp>(call, prepared, c.args, c.x, c.packed,
                                                             c.scratch, c.scratch_bytes, c.y);
#if defined(DEUTERON_HOST_KERNELS)
  if (keep_on_host<p>(call, prepared, c)) return Status{};
#endif
  if constexpr (kIsMicrocontroller) return wrong_packing(kPackedWeights, p);
  else
    return keep<packed_conv2d_w4_s8<p>>(call, prepared, c.args, c.x, c.packed, c.scratch,
                                        c.scratch_bytes, c.y);
}

template <Packing p>
Status prepare(Call& call, Prepared* prepared) {
  PackedConv2dArgs a{};
  Status s = read_row(call, kPackedRow, &a);
  if (!s.ok() || !packed_call_fits<p, bytes_of<p>>(call, kOut, a, &s)) return s;
  if (call.tensor(kOut).numel == 0) return keep_nothing(prepared);
  const Tensor& scratch = call.tensor(kScratch);
  if (scratch.numel < packed_conv2d_w4_least_scratch_bytes(a, p))
    return bad_argument(kScratch, "must hold a tile and the windows");
  return keep_w4<p>(call, prepared,
                    {a, static_cast<const int8_t*>(call.tensor(kPackedX).data),
                     static_cast<const int8_t*>(call.tensor(kPackedWeights).data), scratch.data,
                     scratch.numel, static_cast<int8_t*>(call.tensor(kOut).data)});
}

}  // namespace

const Kernel kPackedConv2dW4Mve4x16 =
    kernel_by<kPackedRow>("deuteron::packed_conv2d_w4.mve_4x16", prepare<Packing::mve_4x16>);
const Kernel kPackedConv2dW4Dsp4x4 =
    kernel_by<kPackedRow>("deuteron::packed_conv2d_w4.dsp_4x4", prepare<Packing::dsp_4x4>);

}  // namespace deuteron
