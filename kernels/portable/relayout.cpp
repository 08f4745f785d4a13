// SPDX-License-Identifier: Apache-2.0
// Copies that keep the logical elements: clone, to another memory order or dtype, view.
#include "kernels/common/prepare.h"
#include "kernels/copy/kernel.h"
#include "kernels/portable/kernels.h"
#include "kernels/portable/strided.h"

namespace deuteron {
namespace {
using namespace portable;

// The dimension order that the call asks for, if any, must be the out's.
const char* why_not_order(const Call& call, int argument, const Tensor& out) {
  if (call.args[argument]->kind == Kind::none) return nullptr;
  if (call.list(argument).count != out.rank) return "must have one entry for each dimension";
  for (int i = 0; i < out.rank; ++i)
    if (call.list_integer(argument, i) != out.dim_order[i])
      return "is not the out's dimension order";
  return nullptr;
}

Status keep_same_elements(Call& call, Prepared* prepared, const Tensor& in, const Tensor& out) {
  int32_t strides[kMaxRank];
  strides_of(in, strides);
  return keep_strided_copy(call, prepared, in, 0, strides, out, same_layout(in, out));
}

// (x, non_blocking, dim_order?, out)
Status prepare_clone_dim_order(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(3);
  if (!same_type(x, y)) return bad_argument(3, "must have the input's dtype");
  if (!same_sizes(x, y)) return bad_argument(3, "must have the input's sizes");
  if (const char* why = why_not_order(call, 2, y)) return bad_argument(2, why);
  return keep_same_elements(call, prepared, x, y);
}

struct Conversion {
  const void* in;
  void* out;
  const int32_t* sizes;  // rank of them, then the strides of in, then of out
  uint8_t rank;
  ScalarType from, to;
};
void run_conversion(const Conversion& c) {
  const int32_t* const strides[] = {c.sizes + c.rank, c.sizes + 2 * c.rank};
  walk<2>(c.rank, c.sizes, strides, [&](const int32_t* at) {
    if (is_real(c.from)) write_real(c.out, at[1], c.to, read_real(c.in, at[0], c.from));
    else write_integer(c.out, at[1], c.to, read_integer(c.in, at[0], c.from));
  });
}

Status keep_converted(Call& call, Prepared* prepared, int out) {
  const Tensor &x = call.tensor(0), &y = call.tensor(out);
  if (!same_sizes(x, y)) return bad_argument(out, "must have the input's sizes");
  if (same_type(x, y)) return keep_same_elements(call, prepared, x, y);
  if (!is_known(x.type) || !is_known(y.type)) return bad_argument(0, "float16 is not supported");
  int32_t* numbers = call.arena->make<int32_t>(size_t{3} * x.rank);
  if (!numbers) return out_of_memory();
  for (int i = 0; i < x.rank; ++i) numbers[i] = x.sizes[i];
  strides_of(x, numbers + x.rank);
  strides_of(y, numbers + 2 * x.rank);
  return keep<Conversion, run_conversion>(call, prepared,
                                          {x.data, y.data, numbers, x.rank, x.type, y.type});
}
// (x, non_blocking, dim_order?, out): the out's dtype may be another.
Status prepare_to_dim_order_copy(Call& call, Prepared* prepared) {
  if (const char* why = why_not_order(call, 2, call.tensor(3))) return bad_argument(2, why);
  return keep_converted(call, prepared, 3);
}
// (x, non_blocking, memory format?, out)
Status prepare_to_copy(Call& call, Prepared* prepared) { return keep_converted(call, prepared, 3); }

// (x, memory_format?, out)
Status prepare_clone(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(2);
  if (!same_type(x, y)) return bad_argument(2, "must have the input's dtype");
  if (!same_sizes(x, y)) return bad_argument(2, "must have the input's sizes");
  return keep_same_elements(call, prepared, x, y);
}

// (out, x, non_blocking): how a program writes its state.
Status prepare_copy(Call& call, Prepared* prepared) {
  const Tensor &y = call.tensor(0), &x = call.tensor(1);
  if (!same_type(x, y)) return bad_argument(1, "must have the dtype of what it is copied to");
  if (!same_sizes(x, y)) return bad_argument(1, "must have the sizes of what it is copied to");
  if (!same_layout(x, y)) return keep_same_elements(call, prepared, x, y);
  return deuteron::keep<copy_bytes>(
      call, prepared, y.numel * static_cast<int32_t>(element_bytes(y.type)),
      static_cast<const int8_t*>(x.data), static_cast<int8_t*>(y.data));
}

// (x, out)
Status prepare_alias(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1);
  if (!same_type(x, y)) return bad_argument(1, "must have the input's dtype");
  if (!same_sizes(x, y)) return bad_argument(1, "must have the input's sizes");
  return keep_same_elements(call, prepared, x, y);
}

Status prepare_reshape(Call& call, Prepared* prepared, const Tensor& x, int out) {
  const Tensor& y = call.tensor(out);
  if (!same_type(x, y)) return bad_argument(out, "must have the input's dtype");
  if (x.numel != y.numel) return bad_argument(out, "must have as many elements as the input");
  if (!is_dense(x)) return bad_argument(0, "must be stored in the order of its dimensions");
  if (!is_dense(y)) return bad_argument(out, "must be stored in the order of its dimensions");
  return keep_strided_copy(call, prepared, x, 0, nullptr, y, true);
}

// (x, size, out)
Status prepare_view_copy(Call& call, Prepared* prepared) {
  return prepare_reshape(call, prepared, call.tensor(0), 2);
}
// (x, dim or dims, out): the out's sizes say it all, wherever ones are added or removed.
Status prepare_squeeze(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(2);
  int i = 0, k = 0;  // sizes other than 1 must agree in order
  for (;; ++i, ++k) {
    while (i < x.rank && x.sizes[i] == 1) ++i;
    while (k < y.rank && y.sizes[k] == 1) ++k;
    if (i == x.rank || k == y.rank) break;
    if (x.sizes[i] != y.sizes[k])
      return bad_argument(2, "must have the input's sizes but for ones");
  }
  if (i != x.rank || k != y.rank)
    return bad_argument(2, "must have the input's sizes but for ones");
  if (!same_type(x, y)) return bad_argument(2, "must have the input's dtype");
  int32_t x_strides[kMaxRank], strides[kMaxRank] = {};
  strides_of(x, x_strides);
  for (i = 0, k = 0; k < y.rank; ++k) {
    if (y.sizes[k] == 1) continue;
    while (x.sizes[i] == 1) ++i;
    strides[k] = x_strides[i++];
  }
  return keep_strided_copy(call, prepared, x, 0, strides, y, is_dense(x) && is_dense(y));
}

}  // namespace

extern const Kernel kDimOrderCloneDimOrder = {"dim_order_ops::_clone_dim_order.out", "TBlO",
                                              prepare_clone_dim_order};
extern const Kernel kDimOrderToDimOrderCopy = {"dim_order_ops::_to_dim_order_copy.out", "TBlO",
                                               prepare_to_dim_order_copy};
extern const Kernel kAtenClone = {"aten::clone.out", "TiO", prepare_clone};
extern const Kernel kAtenCopyInPlace = {"aten::copy_", "OTB", prepare_copy};
extern const Kernel kAtenToCopy = {"aten::_to_copy.out", "TBiO", prepare_to_copy};
extern const Kernel kAtenAliasCopy = {"aten::alias_copy.out", "TO", prepare_alias};
extern const Kernel kAtenDetachCopy = {"aten::detach_copy.out", "TO", prepare_alias};
extern const Kernel kAtenLiftFreshCopy = {"aten::lift_fresh_copy.out", "TO", prepare_alias};
extern const Kernel kAtenViewCopy = {"aten::view_copy.out", "TLO", prepare_view_copy};
extern const Kernel kAtenUnsqueezeCopy = {"aten::unsqueeze_copy.out", "TIO", prepare_squeeze};
extern const Kernel kAtenSqueezeCopyDim = {"aten::squeeze_copy.dim_out", "TIO", prepare_squeeze};
extern const Kernel kAtenSqueezeCopy = {"aten::squeeze_copy.dims_out", "TLO", prepare_squeeze};

}  // namespace deuteron
