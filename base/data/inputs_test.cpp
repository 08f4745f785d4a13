// SPDX-License-Identifier: Apache-2.0
#include "base/data/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>

#include "base/data/npy.h"

namespace deuteron {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// 3 x 2 RGB, 2 x 1 grey of 16 bits, 1 x 2 BMP; made with zlib and the format descriptions.
constexpr unsigned char kRgb3x2Png[] = {
    137, 80,  78,  71,  13,  10,  26,  10,  0,   0,   0,   13,  73,  72,  68,  82,  0,
    0,   0,   3,   0,   0,   0,   2,   8,   2,   0,   0,   0,   18,  22,  241, 77,  0,
    0,   0,   28,  73,  68,  65,  84,  120, 218, 99,  224, 18,  145, 211, 48,  178, 113,
    11,  136, 98,  72,  201, 171, 104, 234, 153, 182, 96,  213, 127, 0,   46,  169, 6,
    250, 205, 201, 148, 253, 0,   0,   0,   0,   73,  69,  78,  68,  174, 66,  96,  130};
constexpr unsigned char kGrey2x1Png16[] = {
    137, 80,  78, 71,  13, 10,  26,  10, 0,   0,   0,   13,  73,  72,  68, 82, 0, 0,
    0,   2,   0,  0,   0,  1,   16,  0,  0,   0,   0,   129, 217, 252, 21, 0,  0, 0,
    13,  73,  68, 65,  84, 120, 218, 99, 248, 255, 159, 145, 17,  0,   7,  1,  2, 1,
    57,  216, 6,  240, 0,  0,   0,   0,  73,  69,  78,  68,  174, 66,  96, 130};
constexpr unsigned char kBmp1x2[] = {66, 77, 62, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0,  0, 40, 0,
                                     0,  0,  1,  0, 0, 0, 2, 0, 0, 0, 1,  0, 24, 0, 0,  0,
                                     0,  0,  8,  0, 0, 0, 0, 0, 0, 0, 0,  0, 0,  0, 0,  0,
                                     0,  0,  0,  0, 0, 0, 3, 2, 1, 0, 6,  5, 4,  0};

class Inputs : public testing::Test {
 protected:
  Inputs() : folder_(testing::TempDir() + "deuteron_inputs_" + std::to_string(::getpid()) + "/") {
    std::filesystem::create_directories(folder_);
  }
  ~Inputs() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + name; }
  std::string put(const std::string& name, std::span<const std::byte> bytes) {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }
  template <size_t N>
  std::string put(const std::string& name, const unsigned char (&bytes)[N]) {
    return put(name, std::as_bytes(std::span(bytes)));
  }
  std::string put_text(const std::string& name, std::string_view text) {
    return put(name, std::as_bytes(std::span(text)));
  }
  static std::vector<float> counted(const Shape& shape, float first) {
    std::vector<float> v(static_cast<size_t>(numel(shape)));
    std::iota(v.begin(), v.end(), first);
    return v;
  }
  template <class T>
  std::string put_npy(const std::string& name, const Shape& shape, const std::vector<T>& data,
                      ElementType type) {
    const std::vector<uint8_t> file = npy_bytes(type, shape, std::as_bytes(std::span(data)));
    return put(name, std::as_bytes(std::span(file)));
  }
  std::string put_floats(const std::string& name, const Shape& shape, float first = 0) {
    return put_npy(name, shape, counted(shape, first), {'f', 4});
  }
  std::string put_npz(const std::string& name,
                      const std::vector<std::pair<std::string, std::vector<uint8_t>>>& arrays,
                      bool deflate) {
    int error = 0;
    zip_t* z = zip_open(path(name).c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error);
    for (const auto& [entry, bytes] : arrays) {
      const zip_int64_t at =
          zip_file_add(z, entry.c_str(), zip_source_buffer(z, bytes.data(), bytes.size(), 0), 0);
      zip_set_file_compression(z, static_cast<zip_uint64_t>(at),
                               deflate ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    }
    EXPECT_EQ(zip_close(z), 0);
    return path(name);
  }

  std::optional<std::vector<InputSeries>> read(std::vector<std::string> paths,
                                               std::vector<InputSpec> specs, ImageMap map = {}) {
    messages_.clear();
    Diagnostics d;
    auto all = read_inputs(paths, specs, {"--input", map}, d);
    for (const Diagnostic& x : d.list()) messages_ += format_diagnostic(x) + "\n";
    EXPECT_EQ(all.has_value(), !d.has_errors()) << messages_;
    return all;
  }
  std::string error(std::vector<std::string> paths, std::vector<InputSpec> specs) {
    EXPECT_FALSE(read(std::move(paths), std::move(specs)));
    return messages_;
  }
  static std::vector<float> floats(const InputSeries& s) {
    std::vector<float> v(s.bytes.size() / 4);
    std::memcpy(v.data(), s.bytes.data(), s.bytes.size());
    return v;
  }

  std::string folder_, messages_;
};

TEST(SamplesIn, FollowsTheFourRules) {
  const auto check = [](Shape file, Shape input, i64 count, bool series) {
    const std::optional<SampleCount> n = samples_in(file, input);
    ASSERT_TRUE(n) << to_text(file);
    EXPECT_EQ(n->count, count);
    EXPECT_EQ(n->series, series);
  };
  check({1, 1, 8, 8}, {1, 1, 8, 8}, 1, false);
  check({719, 1, 8, 8}, {1, 1, 8, 8}, 719, true);
  check({5, 1, 1, 8, 8}, {1, 1, 8, 8}, 5, true);
  check({1, 1, 1, 8, 8}, {1, 1, 8, 8}, 1, true);
  check({1, 8, 8}, {1, 1, 8, 8}, 1, false);
  check({3, 8, 8}, {1, 3, 8, 8}, 1, false);
  check({3, 2, 7}, {2, 7}, 3, true);
  check({2, 7}, {2, 7}, 1, false);
  check({4}, {}, 4, true);
  check({}, {}, 1, false);
  check({6}, {1}, 6, true);
  check({2, 1}, {1}, 2, true);
  EXPECT_FALSE(samples_in(Shape{4, 7}, Shape{2, 7}));
  EXPECT_FALSE(samples_in(Shape{8, 8}, Shape{1, 1, 8, 8}));
  EXPECT_FALSE(samples_in(Shape{8, 8}, Shape{2, 8, 8}));
  EXPECT_FALSE(samples_in(Shape{1, 8, 8, 1}, Shape{1, 1, 8, 8}));
  EXPECT_FALSE(samples_in(Shape{}, Shape{1}));
}

TEST_F(Inputs, NpyIsOneSampleOrASeries) {
  const InputSpec x{"x", DType::f32, {1, 3, 5}};
  auto one = read({put_floats("one.npy", {1, 3, 5}, 2)}, {x});
  ASSERT_TRUE(one);
  EXPECT_EQ((*one)[0].count, 1);
  EXPECT_FALSE((*one)[0].series);
  EXPECT_EQ(floats((*one)[0]), counted({1, 3, 5}, 2));
  for (const Shape& shape : {Shape{4, 3, 5}, Shape{4, 1, 3, 5}}) {
    auto four = read({put_floats("four.npy", shape)}, {x});
    ASSERT_TRUE(four);
    EXPECT_EQ((*four)[0].count, 4);
    EXPECT_TRUE((*four)[0].series);
    EXPECT_EQ(to_samples({}).size(), 1u) << "of nothing";
    const auto samples = to_samples(*four);
    ASSERT_EQ(samples.size(), 4u);
    EXPECT_EQ(samples[2][0], counted({3, 5}, 30));
  }
  EXPECT_THAT(
      error({put_floats("bad.npy", {4, 5, 3})}, {x}),
      AllOf(HasSubstr("bad.npy"),
            HasSubstr("[4,5,3], limit [1,3,5] (one sample), [n,1,3,5] or [n,3,5] (a series)")));
  EXPECT_THAT(error({put_floats("none.npy", {0, 3, 5})}, {x}), HasSubstr("no samples"));
}

TEST_F(Inputs, FoldersAreSeriesInTheOrderOfNames) {
  const InputSpec x{"x", DType::f32, {2, 3}};
  put_floats("f/b.npy", {2, 3}, 10);
  put_floats("f/a.npy", {2, 3}, 20);
  put_floats("f/c10.npy", {2, 2, 3}, 30);
  put_text("f/.hidden", "x");
  std::filesystem::create_directories(path("f/inner"));
  auto all = read({path("f")}, {x});
  ASSERT_TRUE(all);
  EXPECT_EQ(messages_, "");
  EXPECT_EQ((*all)[0].count, 4);
  const std::vector<float> v = floats((*all)[0]);
  EXPECT_THAT((std::vector<float>{v[0], v[6], v[12], v[18]}), ElementsAre(20, 10, 30, 36));
  put_text("f/readme.txt", "x");
  ASSERT_TRUE(read({path("f") + "/"}, {x}));
  EXPECT_THAT(messages_,
              AllOf(HasSubstr("warning"), HasSubstr("1 of the folder's files is not input data"),
                    HasSubstr("readme.txt")));
  put_text("f/z.bin", "012345678901234567890123");
  EXPECT_THAT(error({path("f")}, {x}), HasSubstr("mixes kinds of files: `a.npy` and `z.bin`"));
  EXPECT_THAT(error({path("f/inner")}, {x}), HasSubstr("the folder has no input data"));
  put_floats("g/a.npy", {2, 3});
  all = read({path("g")}, {x});
  ASSERT_TRUE(all);
  EXPECT_TRUE((*all)[0].series) << "a folder is a series also with one file";
}

TEST_F(Inputs, RawFilesAreWholeSamples) {
  const InputSpec x{"x", DType::f32, {1, 3}};
  const std::vector<float> v = {1, 2, 3, 4, 5, 6};
  const auto one = read({put("a.bin", std::as_bytes(std::span(v).first(3)))}, {x});
  ASSERT_TRUE(one);
  EXPECT_EQ((*one)[0].count, 1);
  EXPECT_FALSE((*one)[0].series);
  const auto two = read({put("b.bin", std::as_bytes(std::span(v)))}, {x});
  ASSERT_TRUE(two);
  EXPECT_EQ((*two)[0].count, 2);
  EXPECT_TRUE((*two)[0].series);
  EXPECT_THAT(error({put("c.bin", std::as_bytes(std::span(v)).first(13))}, {x}),
              HasSubstr("13 bytes, limit a multiple of 12 bytes (f32[1,3])"));
  const auto s8 =
      read({put("d.bin", std::as_bytes(std::span(v)).first(9))}, {{"q", DType::s8, {3}}});
  ASSERT_TRUE(s8);
  EXPECT_EQ((*s8)[0].count, 3);
}

TEST_F(Inputs, NumbersAreConvertedWhereTheyFit) {
  const InputSpec x{"x", DType::f32, {2}}, q{"q", DType::s8, {2}};
  EXPECT_THAT(floats((*read({put_npy<double>("a.npy", {2}, {0.1, -3}, {'f', 8})}, {x}))[0]),
              ElementsAre(0.1f, -3));
  EXPECT_THAT(floats((*read({put_npy<uint8_t>("b.npy", {2}, {0, 255}, {'u', 1})}, {x}))[0]),
              ElementsAre(0, 255));
  EXPECT_THAT(
      floats((*read({put_npy<uint16_t>("h.npy", {2}, {0x3c00, 0xc000}, {'f', 2})}, {x}))[0]),
      ElementsAre(1, -2));
  EXPECT_THAT(
      floats((*read({put_npy<i64>("i.npy", {2}, {16777216, -(i64{1} << 62)}, {'i', 8})}, {x}))[0]),
      ElementsAre(16777216, -4611686018427387904.0f));
  EXPECT_THAT(error({put_npy<i64>("c.npy", {2}, {0, 16777217}, {'i', 8})}, {x}),
              HasSubstr("sample 0, index 1 is 16777217, which float32 cannot hold exactly"));
  EXPECT_THAT(error({put_npy<uint64_t>("u.npy", {2}, {0, ~uint64_t{0}}, {'u', 8})}, {x}),
              HasSubstr("cannot hold exactly"));
  EXPECT_THAT(error({put_npy<double>("d.npy", {2, 2}, {0, 1, 2, 1e39}, {'f', 8})}, {x}),
              HasSubstr("sample 1, index 1 is 1e+39, which is beyond float32"));

  const auto s8 = read({put_npy<int32_t>("e.npy", {2}, {-128, 127}, {'i', 4})}, {q});
  ASSERT_TRUE(s8);
  EXPECT_THAT((*s8)[0].bytes, ElementsAre(std::byte{0x80}, std::byte{0x7f}));
  EXPECT_THAT(
      error({put_npy<uint8_t>("f.npy", {3, 2}, {0, 0, 0, 0, 0, 200}, {'u', 1})}, {q}),
      HasSubstr(
          "sample 2, index 1 is outside what the input takes (int8): 200, limit -128 to 127"));
  EXPECT_THAT(error({put_floats("g.npy", {2})}, {q}),
              AllOf(HasSubstr("holds float32 where the input takes int8"), HasSubstr("--io float"),
                    HasSubstr("round(x / scale)")));
  const auto b8 = read({put_npy<uint8_t>("t.npy", {2}, {0, 1}, {'b', 1})}, {{"b", DType::b8, {2}}});
  ASSERT_TRUE(b8);
  EXPECT_THAT((*b8)[0].bytes, ElementsAre(std::byte{0}, std::byte{1}));
  EXPECT_THAT(error({put_npy<uint8_t>("t2.npy", {2}, {0, 2}, {'b', 1})}, {{"b", DType::b8, {2}}}),
              HasSubstr("2, limit 0 to 1"));
  EXPECT_THAT(error({put_floats("k.npy", {2})}, {{"h", DType::f16, {2}}}),
              HasSubstr("holds float32 where the input takes f16"));
}

// real = 0.5 * (step - 3)
TEST_F(Inputs, StepsAndNumbersAreTakenForEachOther) {
  const Type steps{DType::s8, {2}, per_tensor(0.5f, 3)};
  const InputSpec number{"x", DType::f32, {2}, false, steps},
      step{"q", DType::s8, {2}, false, steps};
  const std::string int8 = put_npy<int8_t>("q.npy", {2, 2}, {-128, 3, 4, 127}, {'i', 1});
  const std::string float32 =
      put_npy<float>("x.npy", {2, 2}, {-65.5f, 0.1f, 0.74f, 1000}, {'f', 4});
  EXPECT_THAT(floats((*read({int8}, {number}))[0]), ElementsAre(-65.5f, 0, 0.5f, 62));
  EXPECT_THAT(floats((*read({float32}, {number}))[0]), ElementsAre(-65.5f, 0.1f, 0.74f, 1000));
  const auto rounded = read({float32}, {step});
  ASSERT_TRUE(rounded);
  EXPECT_EQ((*rounded)[0].count, 2);
  EXPECT_THAT((*rounded)[0].bytes,
              ElementsAre(std::byte{0x80}, std::byte{3}, std::byte{4}, std::byte{127}));
  EXPECT_EQ((*read({int8}, {step}))[0].bytes[1], std::byte{3});
  // Other whole numbers are numbers where numbers are taken, and steps where steps are.
  const std::string int32 = put_npy<int32_t>("w.npy", {2}, {-7, 5}, {'i', 4});
  EXPECT_THAT(floats((*read({int32}, {number}))[0]), ElementsAre(-7, 5));
  EXPECT_EQ((*read({int32}, {step}))[0].bytes[1], std::byte{5});
  EXPECT_THAT(error({put_npy<float>("n.npy", {2}, {0, NAN}, {'f', 4})}, {step}),
              HasSubstr("sample 0, index 1 is nan"));
  // Raw data says nothing of its type: one sample of either is known by its size.
  const std::array<int8_t, 6> raw{-128, 4, 3, 3, 127, 0};
  const std::array<float, 4> raw_floats{0.1f, -65.5f, 1, 2};
  const auto bin = [&](const auto& values, size_t bytes) {
    return put("raw.bin", std::as_bytes(std::span(values)).first(bytes));
  };
  EXPECT_THAT(floats((*read({bin(raw, 2)}, {number}))[0]), ElementsAre(-65.5f, 0.5f));
  EXPECT_THAT(floats((*read({bin(raw_floats, 16)}, {number}))[0]), ElementsAre(0.1f, -65.5f, 1, 2));
  EXPECT_THAT((*read({bin(raw_floats, 8)}, {step}))[0].bytes,
              ElementsAre(std::byte{3}, std::byte{0x80}));
  EXPECT_EQ((*read({bin(raw, 6)}, {step}))[0].count, 3);
  EXPECT_THAT(error({bin(raw_floats, 16)}, {step}),
              HasSubstr("may be 2 samples of float32, or 8 of int8"));
}

TEST_F(Inputs, NumbersThatAreNotFiniteAreNamed) {
  const InputSpec x{"x", DType::f32, {2, 2}};
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              inf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(
      error({put_npy<float>("n.npy", {2, 2, 2}, {0, 1, 2, 3, 4, 5, nan, 7}, {'f', 4})}, {x}),
      AllOf(HasSubstr("n.npy: error: sample 1, index 2 is nan"), HasSubstr("input.not_finite")));
  const std::vector<float> v = {0, -inf, 0, 0};
  put("f/a.bin", std::as_bytes(std::span(v)));
  EXPECT_THAT(error({path("f")}, {x}), HasSubstr("f/a.bin: error: sample 0, index 1 is -inf"));
}

TEST_F(Inputs, NpzStandsForAllInputs) {
  const InputSpec a{"a", DType::f32, {2, 3}}, b{"b", DType::s32, {1}};
  const std::vector<float> v = counted({5, 2, 3}, 0);
  const std::vector<int32_t> w = {1, 2, 3, 4, 5};
  const auto in0 = npy_bytes({'f', 4}, {5, 2, 3}, std::as_bytes(std::span(v)));
  const auto in1 = npy_bytes({'i', 4}, {5, 1}, std::as_bytes(std::span(w)));
  const auto in1_short = npy_bytes({'i', 4}, {4, 1}, std::as_bytes(std::span(w).first(4)));
  for (const bool deflate : {false, true}) {
    const auto all =
        read({put_npz("x.npz", {{"input1.npy", in1}, {"input0.npy", in0}, {"labels.npy", in1}},
                      deflate)},
             {a, b});
    ASSERT_TRUE(all);
    EXPECT_EQ((*all)[1].count, 5);
    EXPECT_EQ(floats((*all)[0]), v);
    EXPECT_EQ(std::memcmp((*all)[1].bytes.data(), w.data(), 20), 0);
  }
  const InputSpec misleading{"input1", DType::f32, {2, 3}};
  for (const auto& [specs, names] :
       {std::pair{std::vector{a, b}, std::vector<std::string>{"a", "b"}},
        {{a, b}, {"input0", "b"}},
        {{misleading, b}, {"input0", "input1"}},
        {{misleading}, {"input1"}}}) {
    std::vector<std::pair<std::string, std::vector<uint8_t>>> arrays{{names[0] + ".npy", in0}};
    if (specs.size() == 2) arrays.emplace_back(names[1] + ".npy", in1);
    const auto by_name = read({put_npz("n.npz", arrays, false)}, specs);
    ASSERT_TRUE(by_name) << names[0];
    EXPECT_EQ(floats((*by_name)[0]), v);
  }
  EXPECT_EQ(floats((*read({put_npz("one.npz", {{"anything.npy", in0}}, false)}, {a}))[0]), v);
  EXPECT_THAT(error({put_npz("two.npz", {{"anything.npy", in0}, {"y.npy", in0}}, false)}, {a}),
              HasSubstr("it has: anything, y"));
  EXPECT_THAT(error({put_npz("m.npz", {{"input0.npy", in0}, {"y.npy", in0}}, false)}, {a, b}),
              AllOf(HasSubstr("m.npz:input1"), HasSubstr("it has: input0, y")));
  EXPECT_THAT(
      error({put_npz("s.npz", {{"input0.npy", in0}, {"input1.npy", in1_short}}, false)}, {a, b}),
      HasSubstr("input 1 has another number of samples than input 0: 4, limit 5"));
  EXPECT_THAT(error({put_npz("t.npz", {{"input0.npy", in0}, {"input1.npy", in1}}, false)}, {a}),
              HasSubstr("has `input1`: 2 inputs, limit 1 inputs"));
  EXPECT_THAT(error({path("x.npz"), path("x.npz")}, {a, b}), HasSubstr("stands for all inputs"));
  EXPECT_THAT(error({put_text("bad.npz", "not a zip")}, {a}), HasSubstr("not a readable `.npz`"));
  EXPECT_THAT(error({put_npz("g.npz", {{"input0.npy", {1, 2, 3}}}, true)}, {a}),
              HasSubstr("g.npz:input0: error: is not a `.npy` file"));
  std::filesystem::create_directories(path("z"));
  std::filesystem::copy(path("x.npz"), path("z/0.npz"));
  std::filesystem::copy(path("x.npz"), path("z/1.npz"));
  const auto folder = read({path("z")}, {a, b});
  ASSERT_TRUE(folder);
  EXPECT_EQ((*folder)[0].count, 10);
  EXPECT_EQ((*folder)[1].count, 10);
}

TEST_F(Inputs, EveryCutOfAnNpzIsReadOrRefused) {
  const std::vector<float> v = counted({2, 3}, 0);
  const std::string file = put_npz(
      "x.npz", {{"input0.npy", npy_bytes({'f', 4}, {2, 3}, std::as_bytes(std::span(v)))}}, true);
  std::ifstream stream(file, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(stream)),
                          std::istreambuf_iterator<char>());
  for (size_t n = 1; n < whole.size(); ++n) {
    error({put_text("cut.npz", whole.substr(0, n))}, {{"x", DType::f32, {2, 3}}});
    std::string changed = whole;
    changed[n] = static_cast<char>(changed[n] ^ 0x55);
    read({put_text("changed.npz", changed)}, {{"x", DType::f32, {2, 3}}});
  }
}

TEST_F(Inputs, ImagesMustFitAndAreScaled) {
  const std::string rgb = put("a.png", kRgb3x2Png);
  const auto all = read({rgb}, {{"x", DType::f32, {1, 3, 2, 3}}});
  ASSERT_TRUE(all);
  EXPECT_FALSE((*all)[0].series);
  std::vector<float> expected;
  for (const int p :
       {10, 40, 70, 100, 130, 160, 20, 50, 80, 110, 140, 170, 30, 60, 90, 120, 150, 255})
    expected.push_back(static_cast<float>(p) * (1.0f / 255.0f));
  EXPECT_EQ(floats((*all)[0]), expected);
  const auto last = read({rgb}, {{"x", DType::f32, {1, 2, 3, 3}}}, {1.0f, {10, 20, 30}, {2}});
  ASSERT_TRUE(last) << "the last axis is the colour where the one after the batch cannot be";
  EXPECT_THAT(floats((*last)[0]),
              ElementsAre(0, 0, 0, 15, 15, 15, 30, 30, 30, 45, 45, 45, 60, 60, 60, 75, 75, 112.5));
  EXPECT_THAT(error({rgb}, {{"x", DType::f32, {1, 3, 3, 2}}}),
              HasSubstr("another height and width than the input: 2 x 3, limit 3 x 2"));
  EXPECT_THAT(error({rgb}, {{"x", DType::f32, {1, 1, 2, 3}}}),
              HasSubstr("another number of channels than the input: 3, limit 1"));
  EXPECT_THAT(error({rgb}, {{"x", DType::f32, {1, 16}}}), HasSubstr("another height and width"));
  EXPECT_THAT(error({rgb}, {{"x", DType::f32, {18}}}),
              HasSubstr("cannot be an input of this shape"));
  EXPECT_THAT(error({rgb}, {{"x", DType::s8, {1, 3, 2, 3}}}),
              AllOf(HasSubstr("input `x` takes int8"), HasSubstr("--io float")));
  EXPECT_THAT(error({rgb}, {{"x", DType::bf16, {1, 3, 2, 3}}}), HasSubstr("input `x` takes bf16"));
  EXPECT_THAT(error({put_text("b.png", "no image")}, {{"x", DType::f32, {1, 3, 2, 3}}}),
              HasSubstr("not a readable PNG"));
  EXPECT_THAT(floats((*read({put("g.png", kGrey2x1Png16)}, {{"x", DType::f32, {1, 2}}}))[0]),
              ElementsAre(testing::FloatEq(1.0f), testing::FloatEq(1.0f / 255.0f)));
  const auto bmp = read({put("c.BMP", kBmp1x2)}, {{"x", DType::f32, {3, 2, 1}}}, {1.0f, {}, {}});
  ASSERT_TRUE(bmp);
  EXPECT_THAT(floats((*bmp)[0]), ElementsAre(4, 1, 5, 2, 6, 3))
      << "a BMP begins at the bottom and has blue first";
}

TEST_F(Inputs, PathsThatCannotBe) {
  const InputSpec x{"x", DType::f32, {2}}, y{"y", DType::f32, {2}};
  EXPECT_THAT(error({path("none.npy")}, {x}), HasSubstr("there is no such file"));
  EXPECT_THAT(error({path("none.png")}, {x}), HasSubstr("there is no such file"));
  EXPECT_THAT(error({path("none.npz")}, {x}), HasSubstr("there is no such file"));
  EXPECT_THAT(error({path("none")}, {x}), HasSubstr("there is no such file"));
  EXPECT_THAT(error({""}, {x}), HasSubstr("there is no such file"));
  EXPECT_THAT(error({put_text("empty.npy", "")}, {x}), HasSubstr("is empty"));
  EXPECT_THAT(error({put_text("empty.bin", "")}, {x}), HasSubstr("is empty"));
  EXPECT_THAT(error({put_text("a.csv", "1,2")}, {x}),
              HasSubstr("the file name does not say what the data is"));
  EXPECT_THAT(error({"/dev/null"}, {x}), HasSubstr("is not a regular file"));
  ASSERT_EQ(::mkfifo(path("pipe.npy").c_str(), 0600), 0);
  EXPECT_THAT(error({path("pipe.npy")}, {x}), HasSubstr("is not a regular file"));
  EXPECT_THAT(error({}, {x, y}),
              AllOf(HasSubstr("0, limit 2"), HasSubstr("`x` f32[2], `y` f32[2]")));
  EXPECT_THAT(error({path("a")}, {}), HasSubstr("1, limit 0"));
  EXPECT_THAT(error({put_floats("a.npy", {3, 2}), put_floats("b.npy", {2, 2})}, {x, y}),
              HasSubstr("input 1 has another number of samples than input 0: 2, limit 3"));
  const std::string strange = put_floats("\xff\xfe a b.npy", {2});
  EXPECT_TRUE(read({strange}, {x})) << "a name need not be UTF-8";
  EXPECT_TRUE(read({}, {}));
}

TEST_F(Inputs, ContentSaysWhatANameWithoutExtensionDoesNot) {
  const InputSpec x{"x", DType::f32, {2}};
  const auto data = read({put_floats("data", {3, 2})}, {x});
  ASSERT_TRUE(data);
  EXPECT_EQ((*data)[0].count, 3);
  EXPECT_THAT(error({put_text("text", "no array")}, {x}),
              HasSubstr("the file name does not say what the data is"));
}

// Arrays in memory have the rules of files.
TEST(ConvertInputs, TakesArraysAsFilesAre) {
  const InputSpec x{"x", DType::f32, {1, 2}}, y{"y", DType::s8, {2}};
  const Array series{{'f', 4}, {3, 2}, std::vector<std::byte>(24)},
      steps{{'i', 1}, {3, 2}, std::vector<std::byte>(6)};
  Diagnostics diagnostics;
  const auto both =
      convert_inputs(std::array{series, steps}, std::array{x, y}, {"run", {}}, diagnostics);
  ASSERT_TRUE(both);
  EXPECT_EQ((*both)[0].count, 3);
  EXPECT_TRUE((*both)[1].series);
  const auto refused = [&](std::vector<Array> arrays) {
    Diagnostics d;
    EXPECT_FALSE(convert_inputs(arrays, std::array{x, y}, {"run", {}}, d));
    return d.list().empty() ? "" : d.list()[0].rule;
  };
  EXPECT_EQ(refused({series}), "input.count");
  EXPECT_EQ(refused({series, series}), "input.dtype");
  EXPECT_EQ(refused({steps, {{'i', 1}, {2, 2}, std::vector<std::byte>(4)}}), "input.samples");
  EXPECT_EQ(refused({steps, {{'i', 1}, {3, 1}, std::vector<std::byte>(3)}}), "input.shape");
}

}  // namespace
}  // namespace deuteron
