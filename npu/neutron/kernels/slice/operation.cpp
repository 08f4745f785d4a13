// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "npu/neutron/converter/fuse.h"
#include "npu/neutron/converter/operator_reader.h"
#include "npu/neutron/converter/sharing.h"
#include "npu/neutron/kernels/copy/lower.h"

namespace deuteron::neutron {
namespace {

struct StridedSlice {
  Axes begin, stride;  // the extents are the result's; strides are positive
};

Fault read(OperatorReader& op, const tflite::Operator&) {
  DEUTERON_TRY(op.same_quant_int8());
  std::vector<i64> begin, size;
  DEUTERON_TRY(op.ints(1, &begin));
  DEUTERON_TRY(op.ints(2, &size));
  const Shape& x = op.shape(0);
  if (begin.size() != x.size() || size.size() != x.size())
    return op.wrong("entries of begin and size", fmt::format("{}, {}", begin.size(), size.size()),
                    fmt::format("{}", x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    if (begin[i] < 0 || begin[i] >= x[i])
      return op.wrong("begin", fmt::format("{}", begin[i]), fmt::format("below {}", x[i]));
    if (size[i] == -1) size[i] = x[i] - begin[i];
    if (size[i] < 1 || size[i] > x[i] - begin[i])
      return op.wrong("size", fmt::format("{}", size[i]), fmt::format("1..{}", x[i] - begin[i]));
  }
  DEUTERON_TRY(op.shape_of_y(size));
  return op.push(slice_operation, StridedSlice{begin, Axes(x.size(), 1)}, {op.in(0)});
}

Fault read_strided(OperatorReader& op, const tflite::Operator& o) {
  const auto* p = o.builtin_options_as_StridedSliceOptions();
  if (!p) return op.wrong("no options");
  DEUTERON_TRY(op.same_quant_int8());
  if (p->ellipsis_mask() || p->new_axis_mask() || p->offset())
    return op.wrong("ellipsis, new axes and offsets are not supported");
  std::vector<i64> begin, end, stride;
  DEUTERON_TRY(op.ints(1, &begin));
  DEUTERON_TRY(op.ints(2, &end));
  DEUTERON_TRY(op.ints(3, &stride));
  const Shape& x = op.shape(0);
  const size_t given = begin.size();
  if (given > x.size() || end.size() != given || stride.size() != given)
    return op.wrong("entries of begin, end and strides",
                    fmt::format("{}, {}, {}", begin.size(), end.size(), stride.size()),
                    fmt::format("{}", x.size()));
  begin.resize(x.size(), 0);
  end = [&] {
    auto e = end;
    for (size_t i = given; i < x.size(); ++i) e.push_back(x[i]);
    return e;
  }();
  stride.resize(x.size(), 1);
  Shape whole, expected;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto bit = [&](i32 mask) { return i < 31 && (mask >> i & 1) != 0; };
    if (stride[i] < 1) return op.wrong("stride", fmt::format("{}", stride[i]), "at least 1");
    const auto place = [&](i64 v) { return std::clamp<i64>(v < 0 ? v + x[i] : v, 0, x[i]); };
    begin[i] = bit(p->begin_mask()) ? 0 : place(begin[i]);
    end[i] = bit(p->end_mask()) ? x[i] : place(end[i]);
    const bool shrink = bit(p->shrink_axis_mask());
    if (shrink) end[i] = begin[i] + 1;
    if (end[i] <= begin[i] || end[i] > x[i])
      return op.wrong("begin and end", fmt::format("{}, {}", begin[i], end[i]),
                      fmt::format("not empty, within {}", x[i]));
    whole.push_back((end[i] - begin[i] + stride[i] - 1) / stride[i]);
    if (!shrink) expected.push_back(whole.back());
  }
  DEUTERON_TRY(op.shape_of_y(expected));
  const StridedSlice slice{begin, stride};
  if (whole == expected) return op.push(slice_operation, slice, {op.in(0)});
  const TensorId middle =
      op.push_before(slice_operation, slice, {op.in(0)}, " before its axes are dropped",
                     {DType::s8, whole, op.y().quant});
  return op.push(view_operation, {}, {middle});
}

std::vector<bool> share(Sharing& sharing, size_t operation) {
  const Operation& s = sharing.operation(operation);
  const auto& a = s.as<StridedSlice>();
  return {sharing.as_slice(s, a.begin, a.stride)};
}

Fault lower(Lowering& l, const Operation& s) {
  const auto& a = s.as<StridedSlice>();
  const Shape own = l.strides(s.inputs[0]);
  Shape stepped;
  i64 start = 0;
  for (size_t i = 0; i < own.size(); ++i)
    stepped.push_back(own[i] * a.stride[i]), start += own[i] * a.begin[i];
  lower_copy(l, Kind::kSlice, s.inputs[0], start, s.output, 0,
             {l.shape(s.output), {stepped, l.strides(s.output)}});
  return std::nullopt;
}

constexpr TfliteRow kRows[] = {
    {tflite::BuiltinOperator::SLICE, "slice", 3, 3, false, read},
    {tflite::BuiltinOperator::STRIDED_SLICE, "strided_slice", 4, 4, false, read_strided},
};

}  // namespace

const OperationDef slice_operation = {
    .tflite = kRows,
    .fusing = {.is_identity = same_shape,
               .ending = plain_ending,
               .only_moves = false,
               .as_function = no_function,
               .fold = nullptr,
               .fuse = nullptr},
    .placing = {.reads_gaps = reads_all_gaps,
                .writes_gaps = writes_any_gaps,
                .overwrites = 0,
                .share = share,
                .without_kernel = kSameBytes},
    .lower = lower,
};

}  // namespace deuteron::neutron
