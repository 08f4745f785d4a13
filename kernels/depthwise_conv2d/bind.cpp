// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_depthwise_conv2d: its arguments checked once, at load. operators.yaml of
// ExecuTorch 1.5 has the schema.
#include <utility>

#include "kernels/common/kernels.h"
#include "kernels/dense/conv_call.h"
#include "kernels/depthwise_conv2d/three_by_three.h"
#include "kernels/depthwise_conv2d/turned.h"
#include "kernels/image/nhwc.h"
#include "kernels/image/windows.h"
#include "runtime/instruction_set.h"
#if defined(DEUTERON_HOST_KERNELS)
#include "kernels/common/arena_host.h"
#include "kernels/depthwise_conv2d/kernel_host.h"
#endif

namespace deuteron {

DEUTERON_FIELDS(DepthwiseConv2dArgs, n, in_h, in_w, in_c, out_h, out_w, out_c, depth_multiplier,
                kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
                x_offset, y_zero, y_min, y_max, multiplier, shift)

namespace {

using Args = DepthwiseConv2dArgs;
constexpr Argument kRow[] = {DEUTERON_CONV_IMAGE,
                             list(Is::reach, DEUTERON_FIELD(dilation_h)),
                             number(Is::length, DEUTERON_FIELD(depth_multiplier)),
                             DEUTERON_CONV_NUMBERS,
                             scratch(),
                             output(Is::s8_image)};
constexpr int kXOffset = 7, kOut = last_of(kRow), kScratch = kOut - 1;

#if defined(DEUTERON_HOST_KERNELS)
// With weights in the order of the host's kernels, where there are such kernels and memory. False:
// not kept.
bool keep_on_host(Call& call, Prepared* prepared, const ConvCall<DepthwiseConv2dArgs>& c) {
  const Tensor* const bias = call.optional_tensor(kBias);
  const bool is_constant = call.tensor(kWeight).constant && (bias == nullptr || bias->constant);
  if (call.recorder != nullptr || !is_constant || host_row_forms().count == 0) return false;
  const HostRowForm& form = host_row_forms().kernel[0];
  const auto order = [&](void* room) {
    return order_depthwise_conv2d(c.args, form, c.weight, c.bias, room);
  };
  return keep_ordered<HostDepthwiseConv2d, run_depthwise_conv2d>(
      prepared, depthwise_conv2d_host_bytes(c.args, form), order, c.x, c.y);
}
#endif

#if !defined(DEUTERON_MICROCONTROLLER) || defined(DEUTERON_FORMS)
// A C program, and a firmware that knows its models, name the form of a kernel, which a core's
// kernels else choose when they run. False: there is none for the call.
bool keep_form(Call& call, Prepared* prepared, const ConvCall<DepthwiseConv2dArgs>& c,
               Status& kept) {
  const bool has_channels = c.args.in_c > 1;
  if (serves<Feature::mve, why_not_depthwise_conv2d_mve>(call, c.args)) {
    if (has_patches(c.args))
      kept = keep_in_scratch_for<Feature::mve, depthwise_conv2d_s8_mve_3x3>(call, prepared, c);
    else if (has_channels)
      kept = keep_in_scratch_for<Feature::mve, depthwise_conv2d_s8_mve_channels>(call, prepared, c);
    return has_channels || has_patches(c.args);
  }
  if (serves<Feature::dsp, why_not_depthwise_conv2d_dsp>(call, c.args)) {
    const bool turned = turned_fit(c.args, kDspTurned);
    if (turned)
      kept = keep_plain_for<Feature::dsp, depthwise_conv2d_s8_dsp_turned>(call, prepared, c);
    else if (has_planes(c.args))
      kept = keep_plain_for<Feature::dsp, depthwise_conv2d_s8_dsp_3x3>(call, prepared, c);
    else if (c.args.out_c >= 4)
      kept = keep_plain_for<Feature::dsp, depthwise_conv2d_s8_dsp_channels>(call, prepared, c);
    return turned || c.args.out_c >= 4;
  }
  if (!is_for<Feature::scalar>(call)) return false;
  const bool turned = turned_fit(c.args, kScalarTurned);
  if (turned)
    kept = keep_plain_for<Feature::scalar, depthwise_conv2d_s8_scalar_turned>(call, prepared, c);
  else if (has_planes(c.args))
    kept = keep_plain_for<Feature::scalar, depthwise_conv2d_s8_scalar_3x3>(call, prepared, c);
  return turned || has_planes(c.args);
}
#endif

// An image of one column as one of one row: the same bytes, and kernels run along rows.
void lay_along_a_row(DepthwiseConv2dArgs& a) {
  if (a.in_w != 1 || a.out_w != 1 || a.kernel_w != 1 || a.pad_w != 0) return;
  std::swap(a.in_h, a.in_w), std::swap(a.out_h, a.out_w), std::swap(a.kernel_h, a.kernel_w);
  std::swap(a.stride_h, a.stride_w), std::swap(a.pad_h, a.pad_w);
  std::swap(a.dilation_h, a.dilation_w);
}

Status choose(Call& call, Prepared* prepared, const ConvCall<DepthwiseConv2dArgs>& c) {
#if !defined(DEUTERON_MICROCONTROLLER) || defined(DEUTERON_FORMS)
  if (Status kept; keep_form(call, prepared, c, kept)) return kept;
#endif
  if (serves<Feature::mve, why_not_depthwise_conv2d_mve>(call, c.args))
    return keep_in_scratch_for<Feature::mve, depthwise_conv2d_s8_mve>(call, prepared, c);
  if (serves<Feature::dsp, why_not_depthwise_conv2d_dsp>(call, c.args))
    return keep_plain_for<Feature::dsp, depthwise_conv2d_s8_dsp>(call, prepared, c);
  if (is_for<Feature::scalar>(call))
    return keep_plain_for<Feature::scalar, depthwise_conv2d_s8_scalar>(call, prepared, c);
#if defined(DEUTERON_HOST_KERNELS)
  if (keep_on_host(call, prepared, c)) return Status{};
#endif
  return keep_plain<depthwise_conv2d_s8>(call, prepared, c);
}

Status prepare(Call& call, Prepared* prepared) {
  const int32_t *filters = call.tensor(kWeight).sizes, *y = call.tensor(kOut).sizes;
  DepthwiseConv2dArgs a{};
  Status s = read_row(call, kRow, &a);
  if (!s.ok() || !read_images(call, kOut, &a.n, &s)) return s;
  a.out_c = y[1], a.kernel_h = filters[1], a.kernel_w = filters[2];
  if (filters[0] != 1) return bad_argument(kWeight, "must have a first extent of 1");
  if (filters[3] != a.out_c)
    return bad_argument(kWeight, "must have one filter for each output channel");
  if (int64_t{a.in_c} * a.depth_multiplier != a.out_c)
    return bad_argument(kOut, "must have the input's channels times the multiplier");
  lay_along_a_row(a);
  if (!windows_fit(a, kOut, kStride, a.in_c, 1, &s)) return s;
  return keep_conv<DepthwiseConv2dArgs, choose>(call, prepared, kXOffset, kScratch, kOut, a);
}

}  // namespace

const Kernel kQuantizedDepthwiseConv2d =
    kernel_by<kRow>("cortex_m::quantized_depthwise_conv2d.out", prepare);
const Kernel kQuantizedDepthwiseConv2dNhwc =
    kernel_by<kRow>("cortex_m::quantized_depthwise_conv2d_nhwc.out", prepare_nhwc<prepare>);

}  // namespace deuteron
