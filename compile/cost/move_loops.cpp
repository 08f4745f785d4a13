// SPDX-License-Identifier: Apache-2.0
// Calls that only move elements.
#include <array>
#include <numeric>

#include "compile/cost/loops.h"

namespace deuteron {
namespace {

// A dimension of y: its neighbours lie so far apart in x and in y.
struct Turned {
  i64 extent = 1, from = 0, to = 0;
};
using TurnedAxes = std::array<Turned, 4>;

const KernelArg* find_arg(const KernelArg* first, const KernelArg* last, KernelArg::Kind kind) {
  const auto* at =
      std::find_if(first, last, [&](const KernelArg& arg) { return arg.kind == kind; });
  return at == last ? nullptr : at;
}

// As kernels/permute/bind.cpp has them: neighbours that are one run in both are one dimension.
std::optional<TurnedAxes> axes_of(const Node& node) {
  const auto& args = call_of(node.op)->args;
  const KernelArg *first = args.data(), *last = first + args.size();
  const KernelArg *x = find_arg(first, last, KernelArg::Kind::input),
                  *perm = find_arg(first, last, KernelArg::Kind::integers),
                  *y = find_arg(first, last, KernelArg::Kind::output);
  if (!x || !perm || !y || x->face.sizes.size() > 4 ||
      perm->integers.size() != x->face.sizes.size())
    return std::nullopt;
  const size_t rank = x->face.sizes.size();
  std::array<i64, 4> stride{};
  i64 product = 1;
  for (size_t i = rank; i-- > 0;) {
    const auto axis = static_cast<size_t>(x->face.order[i]);
    stride[axis] = product, product *= x->face.sizes[axis];
  }
  TurnedAxes axes;
  size_t at = 4;
  for (size_t i = rank; i-- > 0;) {
    const auto axis = static_cast<size_t>(y->face.order[i]);
    const i64 extent = y->face.sizes[axis],
              from = stride[static_cast<size_t>(perm->integers[axis])];
    if (extent == 1) continue;
    if (at < 4 && from == axes[at].extent * axes[at].from) {
      axes[at].extent *= extent;
      continue;
    }
    if (at == 0) return std::nullopt;
    axes[--at] = {extent, from, 0};
  }
  i64 to = 1;
  for (size_t k = 4; k-- > 0;) axes[k].to = to, to *= axes[k].extent;
  return axes;
}

// copy_rows_of() of kernels/copy/row.h, `times` of them. mac, operand: copies of 16 bytes, of 4 and
// fewer; line: passes over the rows; window: rows of more bytes, which are copied one by one, and
// tap: their words.
void add_row_copies(CpuWork& w, i64 times, i64 rows, i64 bytes, Isa isa) {
  constexpr i64 kFew = 64;
  const i64 vectors = isa == Isa::mve ? parts(bytes, kVector) : 0;
  w.results += times;
  if (bytes > kFew) {
    w.windows += times * rows;
    w.taps += times * rows * (vectors > 0 ? vectors : parts(bytes, 4));
    return;
  }
  if (vectors > 0) {
    w.macs += times * rows * vectors, w.lines += times * vectors;
    return;
  }
  const i64 rest = bytes % 16, tail = rest % 4;
  w.macs += times * rows * (bytes / 16);
  w.operands += times * rows * (rest / 4 + (tail > 0 ? 1 : 0));
  w.lines += times * (bytes / 16 + rest / 4 + (tail > 0 ? 1 : 0));
}

// Blocks of 4 x 4 are turned (mac), in strips (window); else lines of single elements are moved:
// mac: fours of them; tap: those behind; line: lines; window: their columns.
LoopWork core_permute_work(TurnedAxes axes) {
  CpuWork w;
  const Turned rows = axes[2], columns = axes[3];
  if (columns.from == 1) {
    add_row_copies(w, axes[0].extent * axes[1].extent, rows.extent, columns.extent, Isa::scalar);
    return {columns.extent > 64 ? "runs" : "rows", w};
  }
  size_t along = 2, longest = 3;
  while (along > 0 && axes[along].from != 1) --along;
  for (size_t k = 3; k-- > 0;)
    if (axes[k].extent > axes[longest].extent) longest = k;
  const Turned piece = axes[along];
  i64 elements = 1;
  for (const Turned& axis : axes) elements *= axis.extent;
  if (piece.from == 1 && piece.extent >= 4 && columns.extent >= 4) {
    const i64 planes = elements / (piece.extent * columns.extent);
    w.macs = planes * parts(columns.extent, 4) * parts(piece.extent, 4);
    w.windows = planes * parts(columns.extent, 4) * parts(piece.extent, 32);
    w.results = planes * parts(piece.extent, 32);
    return {"turned", w};
  }
  const Turned line = axes[longest];
  axes[longest] = axes[0];
  w.lines = elements / line.extent;
  w.macs = w.lines * (line.extent / 4);
  w.taps = w.lines * (line.extent % 4);
  w.windows = axes[1].extent * axes[2].extent;
  return {"elements", w};
}

constexpr i64 kFar = 65535 / 7, kNear = 255 / 15;

i64 lanes_of(const Turned& axis) {
  const i64 far = std::max(axis.from, axis.to);
  return far <= kNear ? 16 : far <= kFar ? 8 : 65535 / far + 1;
}

// mac: vectors; tap: those that are gathered or scattered; window: runs of them; line: passes.
LoopWork mve_permute_work(TurnedAxes axes) {
  constexpr i64 kCopied = 33;
  CpuWork w;
  i64 elements = 1;
  for (const Turned& axis : axes) elements *= axis.extent;
  if (axes[3].from == 1 && axes[3].extent >= kCopied) {
    w.windows = elements / axes[3].extent;
    w.macs = w.windows * parts(axes[3].extent, kVector);
    w.lines = axes[0].extent * axes[1].extent;
    return {"copied", w};
  }
  i64 least = elements + 1;
  size_t best = 3;
  for (size_t k = 4; k-- > 0;) {
    if (axes[k].extent == 1) continue;
    const i64 lines = parts(axes[k].extent, lanes_of(axes[k])) * (elements / axes[k].extent);
    if (lines < least) least = lines, best = k;
  }
  const Turned along = axes[best];
  const i64 lanes = lanes_of(along), whole = along.extent / lanes;
  const bool is_turned = along.from != 1 || along.to != 1;
  for (const bool is_rest : {false, true}) {
    axes[best].extent = is_rest ? 1 : whole;
    if (is_rest ? along.extent % lanes == 0 : whole == 0) continue;
    i64 vectors = 1, longest = 1;
    for (const Turned& axis : axes)
      vectors *= axis.extent, longest = std::max(longest, axis.extent);
    w.macs += vectors;
    w.taps += is_turned ? vectors : 0;
    w.windows += vectors / longest;
    w.lines += 1;
  }
  return {"lanes", w};
}

struct Padded {
  std::array<i64, 4> in{1, 1, 1, 1}, before{}, after{};
  i64 whole(size_t k) const { return before[k] + in[k] + after[k]; }
};

// As kernels/pad/bind.cpp has it: in the order of storage, inner dimensions without padding joined.
std::optional<Padded> padded_of(const Node& node) {
  const auto& args = call_of(node.op)->args;
  const KernelArg *first = args.data(), *last = first + args.size();
  const KernelArg *x = find_arg(first, last, KernelArg::Kind::input),
                  *before = find_arg(first, last, KernelArg::Kind::integers);
  const KernelArg* after = before ? find_arg(before + 1, last, KernelArg::Kind::integers) : nullptr;
  if (!x || !after || before->integers.size() != 4 || after->integers.size() != 4)
    return std::nullopt;
  const Shape& sizes = x->face.sizes;
  const size_t absent = 4 - sizes.size();
  std::array<size_t, 4> entry{absent, absent + 1, absent + 2, absent + 3};
  const bool is_last = sizes.size() == 4 && (sizes[1] == 1 || (sizes[2] == 1 && sizes[3] == 1) ||
                                             x->face.order == Axes{0, 2, 3, 1});
  if (is_last) entry = {0, 3, 1, 2};
  Padded p;
  for (size_t i = 0; i < sizes.size(); i++) {
    const auto axis = static_cast<size_t>(x->face.order[i]);
    p.in[absent + i] = sizes[axis];
    p.before[absent + i] = before->integers[entry[axis]];
    p.after[absent + i] = after->integers[entry[axis]];
  }
  for (int joined = 0; joined < 3 && p.before[3] == 0 && p.after[3] == 0; joined++) {
    const i64 run = p.in[3];
    p.in[3] = p.in[2] * run, p.before[3] = p.before[2] * run, p.after[3] = p.after[2] * run;
    for (size_t k = 2; k > 0; k--)
      p.in[k] = p.in[k - 1], p.before[k] = p.before[k - 1], p.after[k] = p.after[k - 1];
    p.in[0] = 1, p.before[0] = p.after[0] = 0;
  }
  return p;
}

// Runs of the constant. line: how many there are; tap: their words, or vectors.
void add_fills(CpuWork& w, const Padded& p, i64 unit) {
  const i64 row = p.whole(3), plane = p.whole(2) * row, image = p.whole(1) * plane;
  i64 waiting = p.before[0] * image;
  const auto fill = [&] { w.lines += waiting > 0, w.taps += parts(waiting, unit), waiting = 0; };
  for (i64 i = 0; i < p.in[0]; i++) {
    waiting += p.before[1] * plane;
    for (i64 j = 0; j < p.in[1]; j++) {
      waiting += p.before[2] * row;
      for (i64 k = 0; k < p.in[2]; k++) waiting += p.before[3], fill(), waiting = p.after[3];
      waiting += p.after[2] * row;
    }
    waiting += p.after[1] * plane;
  }
  waiting += p.after[0] * image, fill();
}

// copy_elements() of kernels/copy/: rows of a single element are moved one by one. constant: those.
void add_copies(CpuWork& w, i64 times, i64 rows, i64 bytes, i64 element, Isa isa) {
  if (bytes != element || rows == 1) return add_row_copies(w, times, rows, bytes, isa);
  w.results += times, w.lines += times, w.constants += times * rows;
}

// How a part lies in the whole, by extents in the order of storage: one row where it is all of it.
i64 rows_of_part(const Shape& part, const Shape& whole) {
  i64 rows = 1;
  size_t axis = 0;
  for (; axis < part.size() && part[axis] == whole[axis]; axis++) rows *= part[axis];
  return axis == part.size() ? 1 : rows;
}

Shape as_stored(const Face& face) {
  Shape stored;
  for (const auto axis : face.order) stored.push_back(face.sizes[static_cast<size_t>(axis)]);
  return stored;
}

}  // namespace

std::optional<LoopWork> permute_work(const Node& node, Isa isa) {
  const std::optional<TurnedAxes> axes = axes_of(node);
  if (!axes) return std::nullopt;
  return isa == Isa::mve ? mve_permute_work(*axes) : core_permute_work(*axes);
}

// Of a concatenation the copies of each part, of a slice that of its rows.
std::optional<LoopWork> copies_work(const Graph& g, const Node& node, Isa isa) {
  const auto& args = call_of(node.op)->args;
  const KernelArg *first = args.data(), *last = first + args.size();
  const Type& y = g.type(node.outputs[0]);
  const bool is_slice = node.inputs.size() == 1;
  const KernelArg *x = find_arg(first, last, KernelArg::Kind::input),
                  *part = find_arg(first, last, KernelArg::Kind::output);
  CpuWork w;
  const auto add = [&](const Type& type, const Shape& shape, const Shape& whole) {
    if (shape.size() != whole.size() || type.elements() == 0) return false;
    const i64 rows = rows_of_part(shape, whole);
    add_copies(w, 1, rows, type.bytes() / rows, type.bytes() / type.elements(), isa);
    return true;
  };
  const auto step = std::find_if(args.rbegin(), args.rend(), [](const KernelArg& arg) {
    return arg.kind == KernelArg::Kind::integer;
  });
  if (is_slice && x && part) {
    Shape whole = as_stored(x->face), shape = as_stored(part->face);
    size_t axis = 0;
    while (axis + 1 < shape.size() && shape[axis] == whole[axis]) ++axis;
    if (step != args.rend() && step->integer > 1) {  // each place along the axis is a row
      if (axis + 1 == shape.size()) shape.push_back(1), whole.push_back(1);
      whole[axis + 1] *= step->integer, whole[axis] = shape[axis];
    }
    if (!add(y, shape, whole)) return std::nullopt;
  } else {
    for (const ValueId v : is_slice ? node.outputs : node.inputs) {
      const Type& whole = is_slice ? g.type(node.inputs[0]) : y;
      if (!add(g.type(v), g.type(v).shape, whole.shape)) return std::nullopt;
    }
  }
  return LoopWork{"copies", w};
}

// Slices of the first operand along one axis, by positions that are data: result: slices; else as
// copies of their rows.
std::optional<LoopWork> picked_work(const Graph& g, const Node& node, Isa isa) {
  const auto& args = call_of(node.op)->args;
  const KernelArg *first = args.data(), *last = first + args.size();
  const KernelArg *x = find_arg(first, last, KernelArg::Kind::input),
                  *axis = find_arg(first, last, KernelArg::Kind::integer);
  const bool is_table = call_of(node.op)->name == "aten::embedding";
  if (!x || !axis || x->face.sizes.empty() || g.type(node.outputs[0]).elements() == 0)
    return std::nullopt;
  const auto dim = is_table ? i64{0} : axis->integer;
  i64 outer = 1, inner = 1;
  bool is_inside = false;
  for (const auto k : x->face.order) {
    if (k == dim) is_inside = true;
    else (is_inside ? inner : outer) *= x->face.sizes[static_cast<size_t>(k)];
  }
  const i64 element = g.type(node.outputs[0]).bytes() / g.type(node.outputs[0]).elements(),
            slices = g.type(node.outputs[0]).elements() / (outer * inner);
  CpuWork w;
  if (!is_inside) return std::nullopt;
  add_copies(w, slices, outer, inner * element, element, isa);
  return LoopWork{"slices", w};
}

// Rows of few bytes: the constant everywhere (constant: its words), then their copies. Else runs
// (line, window) of the constant and of x; tap, mac: their words, or vectors.
std::optional<LoopWork> pad_work(const Node& node, Isa isa) {
  const std::optional<Padded> p = padded_of(node);
  if (!p) return std::nullopt;
  const i64 rows = p->in[0] * p->in[1] * p->in[2],
            all = p->whole(0) * p->whole(1) * p->whole(2) * p->whole(3);
  CpuWork w;
  if (isa != Isa::mve && p->in[3] <= 64) {
    add_row_copies(w, p->in[0] * p->in[1], p->in[2], p->in[3], isa);
    w.constants = parts(all, 4);
    return LoopWork{"rows", w};
  }
  const i64 unit = isa == Isa::mve ? kVector : 4;
  w.windows = rows;
  w.macs = rows * parts(p->in[3], unit);
  add_fills(w, *p, unit);
  return LoopWork{"runs", w};
}

}  // namespace deuteron
