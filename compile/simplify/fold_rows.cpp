// SPDX-License-Identifier: Apache-2.0
// Convolutions of few channels for the NPU. Its dot products are `vector_length` channels wide: a
// raw signal of one channel uses an eighth of them, and its weights take eight times their bytes.
// Where the stride allows, f neighbouring positions of a row become channels:
//   conv2d(x [n,h,w,c], weight [oc,kh,kw,c], stride s)   becomes   conv2d(x [n,h,w/f,c*f], weight
//   [oc,kh,kw/f,c*f], stride s/f)
// The storage of x is the same, so is every sum: taps that are added have weights of zero. A
// spectrum (torch.stft) and the patches of a vision transformer are such layers.
#include <algorithm>

#include "compile/options.h"
#include "compile/pass.h"
#include "compile/place/npu_support.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {
namespace {

i64 round_up(i64 n, i64 to) { return (n + to - 1) / to * to; }

// Along the folded axis, in positions of x. A single row may read its source in front of the slice
// that it was given: new taps are zeros.
struct Row {
  ValueId source = -1;  // [rows, length, channels] in storage
  i64 rows = 1, length = 0, channels = 0;
  i64 begin = 0;  // of the first window: negative in the padding
  i64 kernel = 0, stride = 0, windows = 0, other_taps = 1;
  bool is_column = false;  // x is [n,h,1,c]: its rows are positions
};

struct Fold {
  i64 f = 1, taps_before = 0,
      // positions that become one; zeros in front of the kernel; kernel in folded positions
      kernel = 0;
  i64 pad_before = 0, pad_after = 0;  // folded positions
  i64 start = 0, kept = 0;            // folded positions of the source that are read
};

// The source of a row that is one slice of it, with where it begins: every axis before the sliced
// one has one element.
std::optional<std::pair<ValueId, i64>> source_of_slice(const Graph& g, const Uses& uses,
                                                       ValueId v) {
  i64 begin = 0;
  bool found = false;
  for (;;) {
    const NodeId above = uses.producer[v];
    if (const Slice* s = op_as<Slice>(g, above)) {
      const Shape& from = g.type(g.nodes[above].inputs[0]).shape;
      if (s->step != 1 || numel(std::span(from).first(static_cast<size_t>(s->axis))) != 1) break;
      begin += s->start * numel(std::span(from).subspan(static_cast<size_t>(s->axis) + 1));
      found = true;
    } else if (above < 0 || !is_same_storage(g.nodes[above].op)) {
      break;
    }
    v = g.nodes[above].inputs[0];
  }
  return found ? std::optional(std::pair(v, begin)) : std::nullopt;
}

Row row_of(const Graph& g, const Uses& uses, const Node& node, const Conv2d& op) {
  const Shape &x = g.type(node.inputs[0]).shape, &w = g.type(node.inputs[1]).shape,
              &y = g.type(node.outputs[0]).shape;
  Row r;
  r.source = node.inputs[0];
  r.channels = x[3];
  r.is_column = x[2] == 1 && w[2] == 1 && op.pad_before.w == 0 && op.pad_after.w == 0;
  r.rows = r.is_column ? x[0] : x[0] * x[1];
  r.length = r.is_column ? x[1] : x[2];
  r.kernel = r.is_column ? w[1] : w[2];
  r.stride = r.is_column ? op.stride.h : op.stride.w;
  r.windows = r.is_column ? y[1] : y[2];
  r.other_taps = r.is_column ? 1 : w[1];
  const HW &before = op.pad_before, &after = op.pad_after;
  r.begin = -(r.is_column ? before.h : before.w);
  if (r.rows != 1 || r.begin != 0 || (r.is_column ? after.h : after.w) != 0) return r;
  const auto sliced = source_of_slice(g, uses, r.source);
  if (!sliced || sliced->second % r.channels != 0 ||
      g.type(sliced->first).elements() % r.channels != 0)
    return r;
  r.source = sliced->first;
  r.begin = sliced->second / r.channels;
  r.length = g.type(r.source).elements() / r.channels;
  return r;
}

// Nothing where the row would have to be moved in memory.
std::optional<Fold> fold_by(const Row& r, i64 f) {
  if (r.stride % f != 0 || (r.rows != 1 && r.length % f != 0)) return std::nullopt;
  const i64 first = (r.begin >= 0 ? r.begin / f : -((f - 1 - r.begin) / f)) * f;
  Fold fold{.f = f, .taps_before = r.begin - first};
  fold.kernel = round_up(fold.taps_before + r.kernel, f) / f;
  fold.pad_before = std::max<i64>(0, -first / f);
  fold.start = std::max<i64>(0, first / f);
  const i64 whole = r.length / f, end = first / f + (r.windows - 1) * (r.stride / f) + fold.kernel;
  fold.pad_after = std::max<i64>(0, end - whole);
  // What is cut off must not be read, and what is kept must not make room for one window more.
  if (r.length % f != 0 && r.begin + (r.windows - 1) * r.stride + r.kernel > whole * f)
    return std::nullopt;
  const bool has_room = whole - end >= r.stride / f;
  if (has_room && r.rows != 1) return std::nullopt;
  fold.kept = (has_room ? end : whole) - fold.start;
  return fold;
}

// Elements of a padded filter: what the NPU reads, and multiplies for each window.
i64 lanes(const Row& r, i64 kernel, i64 channels, i64 vector_length) {
  return r.other_taps * kernel * round_up(channels, vector_length);
}

std::optional<Fold> best_fold(const Row& r, i64 vector_length) {
  std::optional<Fold> best;
  i64 least = lanes(r, r.kernel, r.channels, vector_length) /
              2;  // less than half, or it is not worth the change
  for (i64 f = 2; f <= r.stride; ++f) {
    const std::optional<Fold> fold = fold_by(r, f);
    if (!fold || lanes(r, fold->kernel, r.channels * f, vector_length) >= least) continue;
    least = lanes(r, fold->kernel, r.channels * f, vector_length);
    best = fold;
  }
  return best;
}

Constant folded_weight(const Constant& weight, const Shape& shape, const Row& r, const Fold& fold) {
  const std::span<const int8_t> old = weight.as<int8_t>();
  const i64 filters = shape[0] * r.other_taps, row = r.kernel * r.channels,
            wide = fold.kernel * fold.f * r.channels;
  std::vector<int8_t> data(static_cast<size_t>(filters * wide));
  for (i64 k = 0; k < filters; ++k)
    std::copy_n(old.begin() + k * row, row,
                data.begin() + k * wide + fold.taps_before * r.channels);
  return constant_of(std::move(data));
}

// conv2d(x, w)   becomes   reshape(conv2d(reshape(x), w with zeros))
// Refused with groups or dilation along the row, with a weight that is computed, and where it saves
// less than half.
std::optional<Patch> fold_rows_of_conv(const Conv2d& op, const Graph& g, const Uses& uses,
                                       NodeId root, const RuleContext& context) {
  const i64 vector_length = context.target->npu->limits.vector_length;
  if (op.groups != 1) return std::nullopt;
  const Node& node = g.nodes[root];
  const Type &x = g.type(node.inputs[0]), &w = g.type(node.inputs[1]), &y = g.type(node.outputs[0]);
  if (x.dtype != DType::s8 || w.dtype != DType::s8 || !g.is_constant(node.inputs[1]))
    return std::nullopt;
  const Row row = row_of(g, uses, node, op);
  if ((row.is_column ? op.dilation.h : op.dilation.w) != 1 || g.type(row.source).quant != x.quant)
    return std::nullopt;
  if (!npu_takes(g, node, *context.target, context.options->npu)) return std::nullopt;
  const std::optional<Fold> fold = best_fold(row, vector_length);
  if (!fold) return std::nullopt;

  const i64 channels = row.channels * fold->f;
  PatchBuilder b(g, root, "");
  ValueId in = row.source;
  if (row.rows == 1 && fold->kept * channels != row.length * row.channels) {
    in = b.add(Reshape{{row.length * row.channels}}, {in}, x.quant);
    in = b.add(Slice{.axis = 0, .start = fold->start * channels, .count = fold->kept * channels},
               {in}, x.quant);
  }
  const Shape from = row.is_column ? Shape{x.shape[0], 1, fold->kept, channels}
                                   : Shape{x.shape[0], x.shape[1], fold->kept, channels};
  in = b.add(Reshape{from}, {in}, x.quant);
  const Shape filter = {w.shape[0], row.other_taps, fold->kernel, channels};
  const ValueId weight =
      b.constant(Type{DType::s8, filter, w.quant},
                 folded_weight(*g.values[node.inputs[1]].constant, w.shape, row, *fold),
                 g.values[node.inputs[1]].name);
  Conv2d folded = op;
  if (row.is_column)
    folded.pad_before.h = folded.pad_after.h = 0, folded.stride.h = folded.dilation.h = 1;
  folded.stride.w = row.stride / fold->f;
  folded.pad_before.w = fold->pad_before;
  folded.pad_after.w = fold->pad_after;
  folded.dilation.w = 1;
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = in;
  inputs[1] = weight;
  const ValueId z = b.add(folded, std::move(inputs), y.quant, g.values[node.outputs[0]].name);
  return b.replace_root(Reshape{y.shape}, {z});
}

}  // namespace

void fold_rows(PassContext& pass) {
  if (!pass.target.npu) return;
  static constexpr Rule kRules[] = {kRule<fold_rows_of_conv>};
  rewrite(pass.graph, kRules, pass.rules());
}

}  // namespace deuteron
