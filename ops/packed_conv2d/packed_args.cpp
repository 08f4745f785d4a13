// SPDX-License-Identifier: Apache-2.0
#include "ops/packed_conv2d/packed_args.h"

namespace deuteron {

const KernelArg& arg_of(const CallArgs& args, PackedArg which) { return args[static_cast<size_t>(which)]; }

PackedConv2dArgs packed_args_of(const CallArgs& args) {
  using enum PackedArg;
  const Shape &from = arg_of(args, x).face.sizes, &to = arg_of(args, out).face.sizes;
  const auto i32_of = [](i64 v) { return static_cast<i32>(v); };  // prepare() of the call bounds all of them
  const auto pair = [&](PackedArg arg, int k) { return i32_of(arg_of(args, arg).integers[k]); };
  PackedConv2dArgs a{};
  a.n = i32_of(from[0]), a.in_c = i32_of(from[1]), a.in_h = i32_of(from[2]), a.in_w = i32_of(from[3]);
  a.out_c = i32_of(to[1]), a.out_h = i32_of(to[2]), a.out_w = i32_of(to[3]);
  a.kernel_h = pair(window, 0), a.kernel_w = pair(window, 1), a.stride_h = pair(stride, 0), a.stride_w = pair(stride, 1);
  a.pad_h = pair(padding, 0), a.pad_w = pair(padding, 1), a.dilation_h = pair(dilation, 0), a.dilation_w = pair(dilation, 1);
  set_dense_result(a);
  return a;
}

Packing packing_of(std::string_view overload) {
#define DEUTERON_PACKING(name, set) \
  if (overload == #name) return Packing::name;
  DEUTERON_PACKINGS(DEUTERON_PACKING)
#undef DEUTERON_PACKING
  DEUTERON_CHECK(false, std::string(overload));
  return {};
}

}  // namespace deuteron
