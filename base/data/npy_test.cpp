// SPDX-License-Identifier: Apache-2.0
#include "base/data/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "base/files/read_file.h"
#include "tests/paths.h"

namespace deuteron {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::byte> file_of(int major, std::string header, std::string_view data) {
  std::string f = "\x93NUMPY";
  f += static_cast<char>(major);
  f += '\0';
  for (int k = 0; k < (major == 1 ? 2 : 4); ++k) f += static_cast<char>(header.size() >> 8 * k);
  f += header;
  f += data;
  const auto* p = reinterpret_cast<const std::byte*>(f.data());
  return {p, p + f.size()};
}
std::string dict(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}
template <class T>
std::string raw(std::initializer_list<T> values) {
  std::string s(values.size() * sizeof(T), '\0');
  std::memcpy(s.data(), std::data(values), s.size());
  return s;
}
std::string error_of(const std::vector<std::byte>& file) {
  Diagnostics d;
  EXPECT_FALSE(parse_npy(file, "x.npy", d));
  EXPECT_EQ(d.list().size(), 1u);
  return d.list().empty() ? "" : format_diagnostic(d.list()[0]);
}
std::vector<double> values_of(const std::vector<std::byte>& file, Shape* shape = nullptr) {
  Diagnostics d;
  const std::optional<Array> a = parse_npy(file, "x.npy", d);
  EXPECT_TRUE(a) << (d.list().empty() ? "" : format_diagnostic(d.list()[0]));
  std::vector<double> v;
  if (!a) return v;
  for (i64 i = 0; i < a->elements(); ++i) v.push_back(element_as_double(*a, i));
  if (shape) *shape = a->shape;
  return v;
}

TEST(Npy, ReadsEveryElementType) {
  EXPECT_THAT(values_of(file_of(1, dict("<f4", "False", "(2,)"), raw({1.5f, -2.0f}))),
              ElementsAre(1.5, -2));
  EXPECT_THAT(values_of(file_of(1, dict("<f8", "False", "(2,)"), raw({1e300, -0.1}))),
              ElementsAre(1e300, -0.1));
  EXPECT_THAT(values_of(file_of(1, dict("<f2", "False", "(5,)"),
                                raw<uint16_t>({0x3c00, 0xc000, 0x0001, 0x7bff, 0x3555}))),
              ElementsAre(1, -2, std::ldexp(1, -24), 65504, 0.333251953125));
  EXPECT_THAT(values_of(file_of(1, dict("|i1", "False", "(2,)"), raw<int8_t>({-128, 127}))),
              ElementsAre(-128, 127));
  EXPECT_THAT(values_of(file_of(1, dict("|u1", "False", "(2,)"), raw<uint8_t>({0, 255}))),
              ElementsAre(0, 255));
  EXPECT_THAT(values_of(file_of(1, dict("<i2", "False", "(1,)"), raw<int16_t>({-32768}))),
              ElementsAre(-32768));
  EXPECT_THAT(values_of(file_of(1, dict("<u2", "False", "(1,)"), raw<uint16_t>({65535}))),
              ElementsAre(65535));
  EXPECT_THAT(values_of(file_of(1, dict("<i4", "False", "(1,)"), raw<int32_t>({-7}))),
              ElementsAre(-7));
  EXPECT_THAT(values_of(file_of(1, dict("<u4", "False", "(1,)"), raw<uint32_t>({4294967295u}))),
              ElementsAre(4294967295.0));
  EXPECT_THAT(values_of(file_of(1, dict("<i8", "False", "(1,)"), raw<int64_t>({-(1ll << 40)}))),
              ElementsAre(-std::ldexp(1, 40)));
  EXPECT_THAT(values_of(file_of(1, dict("<u8", "False", "(1,)"), raw<uint64_t>({1ull << 63}))),
              ElementsAre(std::ldexp(1, 63)));
  EXPECT_THAT(values_of(file_of(1, dict("|b1", "False", "(2,)"), raw<uint8_t>({1, 0}))),
              ElementsAre(1, 0));
}

TEST(Npy, ReadsTheOtherByteOrderVersionsAndSpellings) {
  EXPECT_THAT(values_of(file_of(1, dict(">f4", "False", "(1,)"), std::string("\x3f\xc0\0\0", 4))),
              ElementsAre(1.5));
  EXPECT_THAT(values_of(file_of(2, dict(">i2", "False", "(2,)"), std::string("\0\x01\xff\xff", 4))),
              ElementsAre(1, -1));
  EXPECT_THAT(values_of(file_of(3, "{\"shape\":(2L,1L),\"descr\":\"<f4\",\"fortran_order\":False}",
                                raw({3.0f, 4.0f}))),
              ElementsAre(3, 4));
  Shape shape;
  EXPECT_THAT(values_of(file_of(1, dict("<f4", "False", "()"), raw({9.0f})), &shape),
              ElementsAre(9));
  EXPECT_TRUE(shape.empty());
  EXPECT_TRUE(values_of(file_of(1, dict("<f4", "False", "(0, 3)"), ""), &shape).empty());
  EXPECT_THAT(shape, ElementsAre(0, 3));
}

TEST(Npy, FortranOrderBecomesRowMajor) {
  // [2,3,4] of 0..23 in row-major order, written with axis 0 fastest.
  std::string data;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) data += raw<int16_t>({static_cast<int16_t>((i * 3 + j) * 4 + k)});
  Shape shape;
  std::vector<double> expected(24);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(values_of(file_of(1, dict("<i2", "True", "(2, 3, 4)"), data), &shape), expected);
  EXPECT_THAT(shape, ElementsAre(2, 3, 4));
}

TEST(Npy, RefusesWhatItCannotRead) {
  EXPECT_THAT(error_of(file_of(1, dict("<f4", "False", "(3,)"), raw({1.0f, 2.0f}))),
              HasSubstr("8 bytes, limit 12 bytes"));
  EXPECT_THAT(error_of(file_of(1, dict("<f4", "False", "(1,)"), raw({1.0f, 2.0f}))),
              HasSubstr("8 bytes, limit 4 bytes"));
  EXPECT_THAT(
      error_of(file_of(1, dict("<f4", "False", "(4294967296, 4294967296, 4294967296)"), "")),
      HasSubstr("limit more than 2^63 bytes"));
  EXPECT_THAT(error_of(file_of(1, dict("<f4", "False", "(99999999999999999999,)"), "")),
              HasSubstr("malformed `shape`"));
  EXPECT_THAT(error_of(file_of(1, dict("<f4", "False", "(-1,)"), "")),
              HasSubstr("malformed `shape`"));
  EXPECT_THAT(error_of(file_of(1, dict("<f4", "Maybe", "(1,)"), "")),
              HasSubstr("malformed `fortran_order`"));
  EXPECT_THAT(error_of(file_of(1, dict("|O", "False", "(1,)"), "")),
              HasSubstr("elements of type `|O`"));
  EXPECT_THAT(error_of(file_of(1, dict("<c8", "False", "(1,)"), std::string(8, '\0'))),
              HasSubstr("elements of type `<c8`"));
  EXPECT_THAT(error_of(file_of(1, dict("<U4", "False", "(1,)"), "")),
              HasSubstr("elements of type `<U4`"));
  EXPECT_THAT(error_of(file_of(
                  1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "")),
              HasSubstr("records with fields"));
  EXPECT_THAT(error_of(file_of(1, "{'descr': '<f4', 'fortran_order': False, }", "")),
              HasSubstr("lacks `shape`"));
  EXPECT_THAT(error_of(file_of(1, "{'descr': '<f4', 'descr': '<f4', }", "")),
              HasSubstr("repeated key `descr`"));
  EXPECT_THAT(error_of(file_of(1, "{'what': 3}", "")), HasSubstr("unknown key `what`"));
  EXPECT_THAT(error_of(file_of(1, dict("<f4", "False", "(0,)") + "x", "")),
              HasSubstr("goes on after its end"));
  EXPECT_THAT(error_of(file_of(4, dict("<f4", "False", "(0,)"), "")), HasSubstr("version 4.0"));
  EXPECT_THAT(error_of({}), HasSubstr("is not a `.npy` file"));
}

TEST(Npy, EveryCutAndEveryChangedByteOfTheHeaderIsReadOrRefused) {
  const std::vector<std::byte> whole =
      file_of(1, dict("<f4", "True", "(2, 3)"), std::string(24, '\1'));
  for (size_t n = 0; n < whole.size(); ++n)
    error_of({whole.begin(), whole.begin() + static_cast<i64>(n)});
  for (size_t at = 0; at < whole.size() - 24; ++at)
    for (const int value : {0, 1, 9, 39, 40, 41, 44, 48, 57, 123, 125, 255}) {
      std::vector<std::byte> changed = whole;
      changed[at] = static_cast<std::byte>(value);
      Diagnostics d;
      const bool read = parse_npy(changed, "x", d).has_value();
      EXPECT_NE(read, d.has_errors()) << at << " " << value;
    }
}

TEST(Npy, WritesWhatItReads) {
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{3, 1, 5}, Shape{0, 4}}) {
    std::vector<float> data(static_cast<size_t>(numel(shape)));
    std::iota(data.begin(), data.end(), -1.25f);
    const std::vector<uint8_t> file = npy_bytes({'f', 4}, shape, std::as_bytes(std::span(data)));
    EXPECT_EQ((file.size() - data.size() * 4) % 64, 0u);
    Diagnostics d;
    const std::optional<Array> a = parse_npy(std::as_bytes(std::span(file)), "x", d);
    ASSERT_TRUE(a);
    EXPECT_EQ(a->shape, shape);
    ASSERT_EQ(a->bytes.size(), data.size() * 4);
    EXPECT_TRUE(std::ranges::equal(a->bytes, std::as_bytes(std::span(data))));
  }
  const std::vector<uint8_t> file = npy_bytes({'i', 1}, {1}, std::as_bytes(std::span("\x80", 1)));
  EXPECT_THAT(std::string(file.begin(), file.end()),
              HasSubstr("{'descr': '|i1', 'fortran_order': False, 'shape': (1,), }"));
}

TEST(Npy, ReadsAFileOfNumPys) {
  const std::string folder = shared_path("fixtures/models/digits_cnn/");
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "left out: reading NumPy's own file, because " << folder << " is not there";
  Diagnostics d;
  const std::optional<Array> a = read_npy(folder + "test_inputs.npy", d);
  const std::optional<std::vector<std::byte>> bin = read_file(folder + "test_inputs.bin", d);
  const std::optional<Array> labels = read_npy(folder + "test_labels.npy", d);
  ASSERT_TRUE(a && bin && labels);
  EXPECT_THAT(a->shape, ElementsAre(719, 1, 8, 8));
  EXPECT_EQ(a->bytes, *bin);
  EXPECT_EQ(labels->elements(), 719);
}

}  // namespace
}  // namespace deuteron
