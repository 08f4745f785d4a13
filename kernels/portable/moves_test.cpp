// SPDX-License-Identifier: Apache-2.0
// Operators that only move elements, on shapes whose extents all differ and on every memory order.
#include <algorithm>
#include <functional>

#include "kernels/portable/one_call.h"

namespace deuteron {
namespace moves_test {
using namespace test;

// out[index] must be in[from(index)].
void expect_moved(const std::vector<int8_t>& in, const Sizes& in_sizes,
                  const std::vector<int8_t>& out, const Sizes& out_sizes,
                  const std::function<Sizes(const Sizes&)>& from) {
  for (int32_t i = 0; i < count_of(out_sizes); ++i)
    ASSERT_EQ(out[static_cast<size_t>(i)],
              in[static_cast<size_t>(flat(from(index_of(i, out_sizes)), in_sizes))])
        << "element " << i;
}

TEST(PortableMoves, CloneBetweenAllMemoryOrders) {
  const Sizes sizes = {2, 3, 5, 4};
  const auto data = random_bytes(120, 1);
  Order from = dense(4);
  do {
    Order to = {0, 2, 3, 1};
    for (int round = 0; round < 2; ++round, to = {3, 1, 0, 2}) {
      OneCall p;
      const int32_t x = p.in(ScalarType::s8, sizes, from), y = p.out(ScalarType::s8, sizes, to);
      p.call("dim_order_ops::_clone_dim_order",
             {x, p.boolean(false), p.ints({to[0], to[1], to[2], to[3]}), y});
      p.set(0, data);
      p.run();
      ASSERT_EQ(p.get<int8_t>(), data);
    }
  } while (std::next_permutation(from.begin(), from.end()));
}

TEST(PortableMoves, CopyToAnotherDtype) {
  OneCall p;
  const Sizes sizes = {2, 3};
  const int32_t x = p.in(ScalarType::f32, sizes, {1, 0}), y = p.out(ScalarType::s32, sizes);
  p.call("dim_order_ops::_to_dim_order_copy", {x, p.boolean(false), p.none(), y});
  p.set<float>(0, {1.75f, -1.75f, 0, 300, -1e6f, 1e9f});
  p.run();
  EXPECT_EQ(p.get<int32_t>(), (std::vector<int32_t>{1, -1, 0, 300, -1000000, 1000000000}));

  OneCall q;
  const int32_t a = q.in(ScalarType::s64, sizes), b = q.out(ScalarType::f32, sizes, {1, 0});
  q.call("dim_order_ops::_to_dim_order_copy", {a, q.boolean(false), q.ints({1, 0}), b});
  q.set<int64_t>(0, {1, -2, 3, -4, 5, 1 << 20});
  q.run();
  EXPECT_EQ(q.get<float>(), (std::vector<float>{1, -2, 3, -4, 5, 1 << 20}));
}

// Every dimension repeated or not, in any order of either memory.
TEST(PortableMoves, RepeatsOfAnyDimensions) {
  const Sizes sizes = {2, 3, 5};
  const auto data = random_bytes(30, 7);
  Order order = dense(3);
  do {
    for (int32_t k = 0; k < 3 * 3 * 3; ++k) {
      const int32_t times[] = {1 + k % 3, 1 + k / 3 % 3, 1 + k / 9};
      const Sizes out = {2 * times[0], 3 * times[1], 5 * times[2]};
      OneCall p;
      const int32_t x = p.in(ScalarType::s8, sizes, order),
                    y = p.out(ScalarType::s8, out, {order[2], order[0], order[1]});
      p.call("aten::repeat", {x, p.ints({times[0], times[1], times[2]}), y});
      p.set(0, data);
      p.run();
      expect_moved(data, sizes, p.get<int8_t>(), out, [](const Sizes& o) {
        return Sizes{o[0] % 2, o[1] % 3, o[2] % 5};
      });
    }
  } while (std::next_permutation(order.begin(), order.end()));
  OneCall nothing;
  const int32_t x = nothing.in(ScalarType::s8, sizes), y = nothing.out(ScalarType::s8, {2, 0, 5});
  nothing.call("aten::repeat", {x, nothing.ints({1, 0, 1}), y});
  nothing.set(0, data);
  nothing.run();
  EXPECT_TRUE(nothing.get<int8_t>().empty());
}

TEST(PortableMoves, Permute) {
  const Sizes sizes = {2, 3, 5, 4};
  const auto data = random_bytes(120, 2);
  Order perm = dense(4);
  do {
    const Sizes out = {sizes[perm[0]], sizes[perm[1]], sizes[perm[2]], sizes[perm[3]]};
    OneCall p;
    const int32_t x = p.in(ScalarType::s8, sizes, {0, 2, 3, 1}), y = p.out(ScalarType::s8, out);
    p.call("aten::permute_copy", {x, p.ints({perm[0], perm[1] - 4, perm[2], perm[3]}), y});
    p.set(0, data);
    p.run();
    expect_moved(data, sizes, p.get<int8_t>(), out, [&](const Sizes& o) {
      Sizes i(4);
      for (size_t d = 0; d < 4; ++d) i[perm[d]] = o[d];
      return i;
    });
  } while (std::next_permutation(perm.begin(), perm.end()));
}

TEST(PortableMoves, Slice) {
  const Sizes sizes = {2, 7, 5};
  const auto data = random_bytes(70, 3);
  for (const auto& [start, end, step, first, count] :
       std::vector<std::array<int64_t, 5>>{{0, 7, 1, 0, 7},
                                           {1, 6, 2, 1, 3},
                                           {-3, INT64_MAX, 1, 4, 3},
                                           {2, -1, 3, 2, 2},
                                           {INT64_MIN, 4, 2, 0, 2},
                                           {5, 5, 1, 0, 0}}) {
    const Sizes out = {2, static_cast<int32_t>(count), 5};
    OneCall p;
    const int32_t x = p.in(ScalarType::s8, sizes, {2, 0, 1}), y = p.out(ScalarType::s8, out);
    p.call("aten::slice_copy", "Tensor_out",
           {x, p.integer(-2), p.integer(start), p.integer(end), p.integer(step), y, y});
    p.set(0, data);
    p.run();
    const int32_t begin = static_cast<int32_t>(first), by = static_cast<int32_t>(step);
    expect_moved(data, sizes, p.get<int8_t>(), out, [&](const Sizes& o) {
      return Sizes{o[0], begin + o[1] * by, o[2]};
    });
  }
}

TEST(PortableMoves, SelectExpandRepeatFlip) {
  const Sizes sizes = {2, 1, 5};
  const auto data = random_bytes(10, 4);
  OneCall select;
  int32_t x = select.in(ScalarType::s8, sizes, {2, 1, 0}), y = select.out(ScalarType::s8, {2, 1});
  select.call("aten::select_copy", "int_out", {x, select.integer(2), select.integer(-2), y, y});
  select.set(0, data);
  select.run();
  expect_moved(data, sizes, select.get<int8_t>(), {2, 1}, [](const Sizes& o) {
    return Sizes{o[0], o[1], 3};
  });

  OneCall expand;
  x = expand.in(ScalarType::s8, sizes), y = expand.out(ScalarType::s8, {3, 2, 4, 5}, {0, 2, 3, 1});
  expand.call("aten::expand_copy", {x, expand.ints({3, -1, 4, 5}), expand.boolean(false), y});
  expand.set(0, data);
  expand.run();
  expect_moved(data, sizes, expand.get<int8_t>(), {3, 2, 4, 5}, [](const Sizes& o) {
    return Sizes{o[1], 0, o[3]};
  });

  OneCall repeat;
  x = repeat.in(ScalarType::s8, sizes, {0, 2, 1}), y = repeat.out(ScalarType::s8, {2, 4, 3, 5});
  repeat.call("aten::repeat", {x, repeat.ints({2, 2, 3, 1}), y});
  repeat.set(0, data);
  repeat.run();
  expect_moved(data, sizes, repeat.get<int8_t>(), {2, 4, 3, 5}, [](const Sizes& o) {
    return Sizes{o[1] % 2, 0, o[3]};
  });

  OneCall flip;
  x = flip.in(ScalarType::s8, sizes, {1, 2, 0}), y = flip.out(ScalarType::s8, sizes);
  flip.call("aten::flip", {x, flip.ints({0, -1}), y});
  flip.set(0, data);
  flip.run();
  expect_moved(data, sizes, flip.get<int8_t>(), sizes, [](const Sizes& o) {
    return Sizes{1 - o[0], o[1], 4 - o[2]};
  });
}

TEST(PortableMoves, CatAndSplitAreInverse) {
  const Order nhwc = {0, 2, 3, 1};
  const Sizes a = {2, 3, 4, 5}, b = {2, 1, 4, 5}, whole = {2, 4, 4, 5};
  const auto da = random_bytes(120, 5), db = random_bytes(40, 6);
  OneCall cat;
  const int32_t x = cat.in(ScalarType::s8, a, nhwc), z = cat.in(ScalarType::s8, b),
                empty = cat.planned(ScalarType::s8, {0}, 0),
                y = cat.out(ScalarType::s8, whole, nhwc);
  cat.call("aten::cat", {cat.tensor_list({x, empty, z}), cat.integer(-3), y});
  cat.set(0, da);
  cat.set(1, db);
  cat.run();
  const auto joined = cat.get<int8_t>();
  for (int32_t i = 0; i < count_of(whole); ++i) {
    Sizes at = index_of(i, whole);
    const bool second = at[1] >= 3;
    if (second) at[1] -= 3;
    ASSERT_EQ(joined[static_cast<size_t>(i)],
              second ? db[static_cast<size_t>(flat(at, b))] : da[static_cast<size_t>(flat(at, a))]);
  }
  OneCall split;
  const int32_t w = split.in(ScalarType::s8, whole, nhwc), p = split.out(ScalarType::s8, a),
                q = split.out(ScalarType::s8, b, nhwc);
  split.call("aten::split_with_sizes_copy", "out",
             {w, split.ints({3, 1}), split.integer(1), split.tensor_list({p, q}),
              split.tensor_list({p, q})});
  split.set(0, joined);
  split.run();
  EXPECT_EQ(split.get<int8_t>(0), da);
  EXPECT_EQ(split.get<int8_t>(1), db);
}

TEST(PortableMoves, IndexSelectClampsWrongIndexes) {
  OneCall p;
  const int32_t x = p.in(ScalarType::s8, {2, 5, 3}, {2, 0, 1}), k = p.in(ScalarType::s64, {4}),
                y = p.out(ScalarType::s8, {2, 4, 3});
  p.call("aten::index_select", {x, p.integer(1), k, y});
  const auto data = random_bytes(30, 7);
  p.set(0, data);
  p.set<int64_t>(1, {4, 0, 1000, -7});
  p.run();
  static const int32_t kFrom[] = {4, 0, 4, 0};
  expect_moved(data, {2, 5, 3}, p.get<int8_t>(), {2, 4, 3}, [](const Sizes& o) {
    return Sizes{o[0], kFrom[o[1]], o[2]};
  });
}

// Every dimension, in every order of either memory.
TEST(PortableMoves, IndexSelectOfAnyDimension) {
  const Sizes sizes = {2, 3, 5, 4};
  const auto data = random_bytes(120, 9);
  for (int32_t dim = 0; dim < 4; ++dim) {
    Sizes out = sizes;
    out[static_cast<size_t>(dim)] = 7;
    std::vector<int64_t> picks;
    for (int64_t k = 0; k < 7; ++k) picks.push_back(k * 5 % sizes[static_cast<size_t>(dim)]);
    Order from = dense(4);
    do {
      for (const Order& to : {Order{0, 1, 2, 3}, Order{0, 2, 3, 1}, Order{3, 1, 0, 2}}) {
        OneCall p;
        const int32_t x = p.in(ScalarType::s8, sizes, from), k = p.in(ScalarType::s64, {7}),
                      y = p.out(ScalarType::s8, out, to);
        p.call("aten::index_select", {x, p.integer(dim), k, y});
        p.set(0, data);
        p.set(1, picks);
        p.run();
        expect_moved(data, sizes, p.get<int8_t>(), out, [&](Sizes o) {
          o[static_cast<size_t>(dim)] =
              static_cast<int32_t>(picks[static_cast<size_t>(o[static_cast<size_t>(dim)])]);
          return o;
        });
      }
    } while (std::next_permutation(from.begin(), from.end()));
  }
}

// Rows that are placed twice: the later one stays, or both are added.
TEST(PortableMoves, IndexPutOfRows) {
  for (const bool adds : {false, true}) {
    for (const Order& order : {Order{0, 1, 2}, Order{2, 0, 1}}) {
      OneCall p;
      const int32_t x = p.in(ScalarType::s8, {2, 5, 3}, order), k = p.in(ScalarType::s64, {4}),
                    v = p.in(ScalarType::s8, {2, 4, 3}),
                    y = p.out(ScalarType::s8, {2, 5, 3}, order);
      p.call("aten::index_put", {x, p.optional_tensor_list({-1, k}), v, p.boolean(adds), y});
      std::vector<int8_t> data(30), values(24);
      for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int8_t>(i);
      for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int8_t>(40 + i);
      const std::vector<int64_t> places = {3, 0, 3, -4};
      p.set(0, data);
      p.set(1, places);
      p.set(2, values);
      p.run();
      std::vector<int8_t> expected = data;
      for (int32_t n = 0; n < 2; ++n)
        for (int32_t r = 0; r < 4; ++r)
          for (int32_t c = 0; c < 3; ++c) {
            const int64_t row = places[static_cast<size_t>(r)] < 0
                                    ? places[static_cast<size_t>(r)] + 5
                                    : places[static_cast<size_t>(r)];
            int8_t& to =
                expected[static_cast<size_t>(flat({n, static_cast<int32_t>(row), c}, {2, 5, 3}))];
            const int8_t value = values[static_cast<size_t>(flat({n, r, c}, {2, 4, 3}))];
            to = static_cast<int8_t>(adds ? to + value : value);
          }
      ASSERT_EQ(p.get<int8_t>(), expected) << adds;
    }
  }
}

TEST(PortableMoves, ViewsAndOnes) {
  const auto data = random_bytes(30, 8);
  OneCall view;
  int32_t x = view.in(ScalarType::s8, {2, 3, 5}),
          y = view.out(ScalarType::s8, {6, 1, 5}, {1, 0, 2});
  view.call("aten::view_copy", {x, view.ints({6, 1, 5}), y});
  view.set(0, data);
  view.run();
  EXPECT_EQ(view.get<int8_t>(), data);

  OneCall squeeze;
  x = squeeze.in(ScalarType::s8, {2, 1, 3, 5}, {3, 1, 0, 2}),
  y = squeeze.out(ScalarType::s8, {2, 3, 5});
  squeeze.call("aten::squeeze_copy", "dims_out", {x, squeeze.ints({1}), y, y});
  squeeze.set(0, data);
  squeeze.run();
  EXPECT_EQ(squeeze.get<int8_t>(), data);

  OneCall unsqueeze;
  x = unsqueeze.in(ScalarType::s8, {2, 3, 5}, {2, 0, 1}),
  y = unsqueeze.out(ScalarType::s8, {2, 3, 5, 1});
  unsqueeze.call("aten::unsqueeze_copy", {x, unsqueeze.integer(-1), y});
  unsqueeze.set(0, data);
  unsqueeze.run();
  EXPECT_EQ(unsqueeze.get<int8_t>(), data);
}

TEST(PortableMoves, Refusals) {
  const auto refused = [](const std::function<void(OneCall&)>& build) {
    OneCall p;
    build(p);
    return p.refused();
  };
  const auto type = ScalarType::s8;
  EXPECT_EQ(refused([&](OneCall& p) {
              const int32_t x = p.in(type, {2, 3}), y = p.out(type, {3, 3});
              p.call("aten::permute_copy", {x, p.ints({1, 0}), y});
            }),
            2);
  EXPECT_EQ(refused([&](OneCall& p) {
              const int32_t x = p.in(type, {3, 3}), y = p.out(type, {3, 3});
              p.call("aten::permute_copy", {x, p.ints({1, 1}), y});
            }),
            1);
  EXPECT_EQ(refused([&](OneCall& p) {
              const int32_t x = p.in(type, {2, 3}), y = p.out(type, {2, 3}, {1, 0});
              p.call("aten::view_copy", {x, p.ints({2, 3}), y});
            }),
            2);
  EXPECT_EQ(refused([&](OneCall& p) {
              const int32_t x = p.in(type, {2, 3}), y = p.out(type, {2, 4});
              p.call("aten::cat", {p.tensor_list({x}), p.integer(1), y});
            }),
            2);
  EXPECT_EQ(refused([&](OneCall& p) {
              const int32_t x = p.in(type, {2, 3}), y = p.out(type, {2, 3});
              p.call("aten::cat", {p.tensor_list({x, x}), p.integer(1), y});
            }),
            2);
  EXPECT_EQ(refused([&](OneCall& p) {
              const int32_t x = p.in(type, {2, 3}), y = p.out(type, {2, 3});
              p.call("aten::cat", {p.tensor_list({x}), p.integer(2), y});
            }),
            1);
  EXPECT_EQ(refused([&](OneCall& p) {
              const int32_t x = p.in(type, {5}), y = p.out(type, {1});
              p.call("aten::select_copy", "int_out", {x, p.integer(0), p.integer(5), y, y});
            }),
            2);
  EXPECT_EQ(refused([&](OneCall& p) {
              const int32_t x = p.in(type, {5}), y = p.out(type, {5});
              p.call("aten::slice_copy", "Tensor_out",
                     {x, p.integer(0), p.integer(0), p.integer(5), p.integer(0), y, y});
            }),
            4);
  EXPECT_EQ(refused([&](OneCall& p) {
              const int32_t x = p.in(type, {5}), y = p.out(type, {5});
              p.call("dim_order_ops::_clone_dim_order", {x, p.boolean(false), p.ints({1}), y});
            }),
            2);
}

}  // namespace moves_test
}  // namespace deuteron
