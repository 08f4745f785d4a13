// SPDX-License-Identifier: Apache-2.0
// What a pass asks of an operator before it asks which one it is. Each operator answers in its
// OpDef.
#pragma once
#include <optional>

#include "ops/attributes.h"

namespace deuteron {

// What kind of operator it is.
enum class Family : u8 {
  layer,    // sums of products: operand 1 is the weight, output channels first; operand 2, if there
            // is one, the bias
  product,  // sums of products of two computed operands
  elementwise,  // y[i] = f(x[i])
  binary,       // y[i] = f(a[i], b[i]), with broadcasting
  by_channel,   // y[..,c] = f(x[..,c], parameters[c])
  pool,         // windows over the rows and columns of an image, without weights
  slices,       // whole slices along some axes
  movement,     // the operand's elements at other places: some of them, several times, or with more
                // between them
  recurrent,    // a layer with a state
  border,       // quantize, dequantize
  lowered,      // a kernel call or a delegate: no operator any more
};

// Where the numbers of the result come from.
enum class Values : u8 {
  computed,
  same,          // operand 0's, in their order
  moved,         // each is one of the operands'
  padded,        // or a constant
  interpolated,  // or lies between two of them
  chosen,        // each is one of several of operand 0's
};

// Where the result lies in the memory of a lowered graph.
enum class Storage : u8 {
  own,             // a kernel writes it
  in_operand,      // inside operand 0, where OpDef::view says so
  around_operands  // the operands lie inside it
};

struct OpFacts {
  Family family;
  Values values;
  Storage storage;
  Bounds useful;  // a number of operand 0 outside of these gives the result that the nearer bound
                  // gives
  i64 slow_functions;  // calls of the C library for each element of the result, such as tanh
};
constexpr OpFacts facts(Family family, Values values = Values::computed,
                        Storage storage = Storage::own) {
  return {
      .family = family, .values = values, .storage = storage, .useful = {}, .slow_functions = 0};
}

// The windows through which a result sees the rows and columns of an image.
struct AxisWindow {
  i64 kernel = 1, stride = 1, dilation = 1, pad = 0;  // pad: before the first element
};
struct ImageWindow {
  AxisWindow rows, columns;
  const AxisWindow& along(i64 axis) const { return axis == 1 ? rows : columns; }
};

// The axis along which the parts of an image lie one behind the other: that of its rows, or of the
// columns of a single row. Bands are such parts, and are called rows whichever axis it is.
inline i64 band_axis(const Shape& image) {
  i64 axis = 1;
  while (axis + 1 < static_cast<i64>(image.size()) && image[axis] == 1) ++axis;
  return axis;
}

// Some rows of the result, along its band_axis, and what they need of operand 0. The padding is
// what their own windows see of it.
struct RowBand {
  i64 rows_in = 0, rows_out = 0;
  i64 pad_before = 0, pad_after = 0;
};

// How an operator acts on the axes of its operands. Null: what is asked does not apply to it.
template <class T>
struct AxisRules {
  // Does along axis perm[k] what the operator does along axis k.
  std::optional<T> (*reordered)(const T&, const Axes& perm);
  std::optional<ImageWindow> (*window)(const T&, TypeView in);
  // Whether bands of rows, computed one after the other, give the bits of the whole; and the
  // operator that computes one. For columns, has_bands of families.h asks beside it for windows of
  // one row.
  bool (*has_bands)(const T&, TypeView in, TypeView out);
  std::optional<T> (*band)(const T&, TypeView in, TypeView out, const RowBand&);
};
template <class T>
inline constexpr AxisRules<T> kNoAxisRules{
    .reordered = nullptr, .window = nullptr, .has_bands = nullptr, .band = nullptr};

// The axis of one that has a single one, elsewhere.
template <class T>
std::optional<T> on_its_axis(const T& a, const Axes& perm) {
  T moved = a;
  moved.axis = perm[static_cast<size_t>(a.axis)];
  return moved;
}
template <class T>
inline constexpr AxisRules<T> kOneAxis{
    .reordered = on_its_axis<T>, .window = nullptr, .has_bands = nullptr, .band = nullptr};

}  // namespace deuteron
