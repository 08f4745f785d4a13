// Windows over images and signals: average and maximum pooling, and pooling over everything.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "frontends/onnx_operators/compose.h"
#include "frontends/onnx_operators/import_table.h"
#include "frontends/onnx_operators/layers.h"
#include "frontends/onnx_operators/window.h"

namespace deuteron::onnx {
namespace {

// torch's pools pad both sides alike, and may cut the last window. Uneven padding: the windows begin some strides earlier than wanted, or
// go on beyond, and what is not wanted is sliced away.
struct Even {
  std::vector<i64> pad, first, out;  // padding; of the pool's windows the first that counts, and how many do
  bool ceil = false;
  bool found = false;
};

std::optional<i64> even_padding(i64 extent, const Window& w, size_t k, bool ceil, i64 wanted, i64* first) {
  const i64 most = w.kernel[k] / 2;  // torch's bound
  for (i64 early = 0; w.before[k] + early * w.stride[k] <= most; ++early) {
    Window even = w;
    even.before[k] = even.after[k] = w.before[k] + early * w.stride[k];
    if (extent_after(extent, even, k, ceil) < early + wanted) continue;
    *first = early;
    return even.before[k];
  }
  return std::nullopt;
}

Even make_even(const Window& w, const Shape& x, bool ceil_mode) {
  const size_t axes = w.kernel.size();
  for (const bool ceil : {ceil_mode, true}) {
    Even e{{}, std::vector<i64>(axes, 0), {}, ceil, true};
    for (size_t k = 0; k < axes && e.found; ++k) {
      e.out.push_back(extent_after(x[k + 2], w, k, ceil_mode));
      const auto pad = even_padding(x[k + 2], w, k, ceil, e.out[k], &e.first[k]);
      e.found = pad.has_value();
      e.pad.push_back(pad.value_or(0));
    }
    if (e.found) return e;
  }
  return {};
}

std::string pool_target(std::string_view kind, size_t axes) { return fmt::format("aten.{}_pool{}d.default", kind, axes); }

// `args`: what the kind of pool has besides.
Operand pooled(Call& c, const Operand& x, std::string_view kind, const Window& w, const Even& e, Args args, std::string_view suffix) {
  const Shape in = c.shape(x);
  Window even = w;
  even.before = even.after = e.pad;
  std::vector<size_t> cut;
  for (size_t k = 0; k < e.out.size(); ++k)
    if (extent_after(in[k + 2], even, k, e.ceil) != e.out[k]) cut.push_back(k);
  args.insert(args.end(), {{"self", x}, {"kernel_size", w.kernel}, {"stride", w.stride}, {"padding", e.pad}, {"ceil_mode", e.ceil}});
  Operand y = c.torch(pool_target(kind, w.kernel.size()), std::move(args), cut.empty() ? suffix : "windows");
  for (const size_t k : cut)
    y = sliced(c, y, static_cast<i64>(k) + 2, e.first[k], e.first[k] + e.out[k], 1, k == cut.back() ? suffix : "rows");
  return y;
}

void refuse_padding(Call& c, const Window& w) {
  c.refuse({"pads by more than half of its window in a way that is not supported", to_text(w.before) + " and " + to_text(w.after),
            to_text(w.kernel), "onnx.window.padding"},
           "give the padding to a Pad in front of it");
}

}  // namespace

Operand pooled_average(Call& c, const Operand& x, std::string_view suffix) {
  const bool ceil = c.integer("ceil_mode", 0) != 0, counted = c.integer("count_include_pad", 0) != 0;
  Window w = read_window(c, c.shape(x), {}, ceil);
  const bool dilated = std::any_of(w.dilation.begin(), w.dilation.end(), [](i64 v) { return v != 1; });
  c.require(!c.ok() || !dilated, "has dilations, which average pools do not take", to_text(w.dilation), "1", "onnx.window.dilations");
  if (!c.ok()) return {};
  Operand in = x;
  if (counted && !w.is_even()) {  // zeros that count are elements like any other
    in = padded(c, x, w.before, w.after, 0, "padded");
    w.before.assign(w.before.size(), 0);
    w.after = w.before;
  }
  const Even e = make_even(w, c.shape(in), ceil);
  if (!c.ok() || !e.found) return refuse_padding(c, w), Operand{};
  return pooled(c, in, "avg", w, e, {{"count_include_pad", counted}}, suffix);
}

static void import_average_pool(Call& c) { c.result(pooled_average(c, c.operand(0), "")); }

static void import_max_pool(Call& c) {
  const Operand x = c.operand(0);
  const bool ceil = c.integer("ceil_mode", 0) != 0;
  const Window w = read_window(c, c.shape(x), {}, ceil);
  c.require(!c.wants(1), "gives the positions of the largest elements, which is not supported", "2 results", "1", "onnx.pool.indices");
  if (!c.ok()) return;
  const Even e = make_even(w, c.shape(x), ceil);
  if (!e.found) return refuse_padding(c, w);
  c.result(pooled(c, x, "max", w, e, {{"dilation", w.dilation}}, ""));
}

// Over all axes behind the channels, which stay with extent 1.
Operand pooled_globally(Call& c, const Operand& x, std::string_view target, std::string_view suffix) {
  const i64 rank = c.rank(x);
  c.require(!c.ok() || rank >= 3, "pools over no axes", std::to_string(rank), "3", "onnx.window.rank");
  std::vector<i64> axes;
  for (i64 k = 2; k < rank; ++k) axes.push_back(k);
  return c.torch(target, {{"self", x}, {"dim", axes}, {"keepdim", true}}, suffix);
}
static void import_global_average_pool(Call& c) { c.result(pooled_globally(c, c.operand(0), "aten.mean.dim", "")); }
static void import_global_max_pool(Call& c) { c.result(pooled_globally(c, c.operand(0), "aten.amax.default", "")); }

static constexpr ImportRow kPoolingRows[] = {
    {"AveragePool", import_average_pool},
    {"GlobalAveragePool", import_global_average_pool},
    {"GlobalMaxPool", import_global_max_pool, {}, true},
    {"MaxPool", import_max_pool, {}, true},
};
ImportRows pooling_rows() { return kPoolingRows; }

}  // namespace deuteron::onnx
