// SPDX-License-Identifier: Apache-2.0
#include "ir/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "ir/random_graph.h"
#include "ir/text_constant.h"
#include "ir/verify.h"
#include "tests/paths.h"

namespace deuteron {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string faults(std::string_view text) {
  Diagnostics diagnostics;
  const bool parsed = parse(text, "f.txt", diagnostics).has_value();
  EXPECT_NE(parsed, diagnostics.has_errors());
  std::string all;
  for (const Diagnostic& d : diagnostics.list()) all += format_diagnostic(d) + "\n";
  return all;
}

Graph parsed(std::string_view text) {
  Diagnostics diagnostics;
  std::optional<Graph> g = parse(text, "f.txt", diagnostics);
  for (const Diagnostic& d : diagnostics.list())
    ADD_FAILURE() << format_diagnostic(d) << "\nin\n" << text;
  return g ? std::move(*g) : Graph{};
}

// Equal but for the numbers of the values and the names that print had to make up.
void expect_same(const Graph& a, const Graph& b, bool constants) {
  std::vector<ValueId> to_b(a.values.size(), -1);
  const auto match = [&](ValueId v, ValueId w) {
    if (to_b[v] < 0) {
      to_b[v] = w;
      ASSERT_EQ(a.type(v), b.type(w)) << a.values[v].name;
      ASSERT_EQ(a.is_constant(v), b.is_constant(w));
      ASSERT_TRUE(!constants || a.values[v].constant == b.values[w].constant) << a.values[v].name;
    }
    ASSERT_EQ(to_b[v], w);
  };
  const auto match_ports = [&](const std::vector<Port>& p, const std::vector<Port>& q) {
    ASSERT_EQ(p.size(), q.size());
    for (size_t k = 0; k < p.size(); ++k) {
      match(p[k].value, q[k].value);
      EXPECT_EQ(p[k].name, q[k].name);
      EXPECT_EQ(p[k].order, q[k].order);
    }
  };
  match_ports(a.inputs, b.inputs);
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (size_t n = 0; n < a.nodes.size(); ++n) {
    EXPECT_TRUE(a.nodes[n].op == b.nodes[n].op) << describe(a, a.nodes[n]);
    EXPECT_EQ(a.nodes[n].origin, b.nodes[n].origin);
    ASSERT_EQ(a.nodes[n].inputs.size(), b.nodes[n].inputs.size());
    ASSERT_EQ(a.nodes[n].outputs.size(), b.nodes[n].outputs.size());
    for (size_t k = 0; k < a.nodes[n].inputs.size(); ++k)
      match(a.nodes[n].inputs[k], b.nodes[n].inputs[k]);
    for (size_t k = 0; k < a.nodes[n].outputs.size(); ++k)
      match(a.nodes[n].outputs[k], b.nodes[n].outputs[k]);
  }
  match_ports(a.outputs, b.outputs);
  EXPECT_EQ(a.name, b.name);
  ASSERT_EQ(a.sources.size(), b.sources.size());
  for (size_t k = 0; k < a.sources.size(); ++k) {
    EXPECT_EQ(a.sources[k].name, b.sources[k].name);
    EXPECT_EQ(a.sources[k].target, b.sources[k].target);
    EXPECT_EQ(a.sources[k].module, b.sources[k].module);
    EXPECT_EQ(a.sources[k].stack, b.sources[k].stack);
  }
  ASSERT_EQ(a.folded.size(), b.folded.size());
  for (size_t k = 0; k < a.folded.size(); ++k) {
    EXPECT_EQ(a.folded[k].origin, b.folded[k].origin);
    EXPECT_EQ(a.folded[k].reason, b.folded[k].reason);
  }
}

constexpr std::string_view kNet =
    "graph \"net.pt2\"\n"
    "source 0 \"conv2d\" \"aten.conv2d.default\" module=\"c0\"\n"
    "source 1 \"drop\" \"aten.dropout.default\" stack=\"net.py\\nline 3\"\n"
    "folded 1 \"identity\"\n"
    "input x : f32[1,8,8,3] order=0,2,3,1\n"
    "w = const f32[4,3,3,3] random(171153)\n"
    "b = const f32[4] 0.5,-0.25,0,1\n"
    "y = conv2d(x, w, b) stride=2,2 pad_before=1,1 bounds=0,inf : f32[1,4,4,4] from 0\n"
    "output y name=\"out\" order=0,2,3,1\n";

TEST(Text, PrintsWhatItParses) {
  const Graph g = parsed(kNet);
  EXPECT_EQ(print(g),
            std::string(kNet).replace(kNet.find("171153"), 6, std::to_string(seed_of("w"))));
  ASSERT_EQ(g.nodes.size(), 1u);
  const auto& conv = std::get<Conv2d>(g.nodes[0].op);
  EXPECT_EQ(conv.stride, (HW{2, 2}));
  EXPECT_EQ(conv.bounds, (Bounds{0, std::numeric_limits<float>::infinity()}));
  EXPECT_THAT(g.values[2].constant->as<float>(), ElementsAre(0.5f, -0.25f, 0.0f, 1.0f));
  EXPECT_EQ(g.sources[1].stack, "net.py\nline 3");
  EXPECT_EQ(g.inputs[0].order, (Axes{0, 2, 3, 1}));
  EXPECT_EQ(g.outputs[0].name, "out");
}

// Places are no extents: there may be any number of them, and their product means nothing.
TEST(Text, ReadsTheManyPlacesOfAGather) {
  std::string places = "39";
  for (int k = 38; k >= 0; --k) places += "," + std::to_string(k);
  const Graph g = parsed("input x : f32[3,40]\ny = gather(x) axis=1 index=" + places +
                         " : f32[3,40]\noutput y\n");
  ASSERT_EQ(g.nodes.size(), 1u);
  EXPECT_EQ(std::get<Gather>(g.nodes[0].op).index.size(), 40u);
  expect_same(g, parsed(print(g)), true);
}

TEST(Text, InfersAndNumbersWhatAHandWrittenGraphLeavesOut) {
  const Graph g = parsed(
      "# A comment\n"
      "input x : f32[1,9,7,2]   # another\n"
      "y = conv2d(x, random f32[4,3,3,2], const f32[4] 1,2,3,4) stride=2 pad_before=1\n"
      "q = quantize(y) quant=q(scale=0.5 zero=3)\n"
      "output q\n"
      "--- expect\n"
      "anything\n");
  EXPECT_EQ(g.values[g.nodes[0].outputs[0]].type, (Type{DType::f32, {1, 4, 3, 4}, {}}));
  EXPECT_EQ(g.values[g.nodes[1].outputs[0]].type,
            (Type{DType::s8, {1, 4, 3, 4}, per_tensor(0.5f, 3)}));
  EXPECT_EQ(std::get<Conv2d>(g.nodes[0].op).stride, (HW{2, 2}));
  EXPECT_THAT(g.nodes[1].origin, ElementsAre(1));
  EXPECT_EQ(g.sources[1].name, "q");
  EXPECT_EQ(g.sources[1].target, "text.quantize");
  EXPECT_EQ(g.values[1].name, "y.1");
}

TEST(Text, WritesKernelCalls) {
  const std::string text =
      "source 0 \"a\" \"aten.add\"\n"
      "input a : s8[2,3,7,4] q(scale=0.5 zero=-3)\n"
      "input \"the b\" : s8[2,3,7,4] q(axis=3 scale=0.5;0.25;1e-05;2 zero=0;0;0;0 "
      "range=-127..127)\n"
      "y, y.1 = call cortex_m::quantized_add.out(a, \"the b\") args(in0[2,4,3,7|0,2,3,1], "
      "-9223372036854775808, 1.0, inf, -inf, 1e+20, "
      "true, "
      "false, none, [], [1,-2], in1[168], out1[40], out0[2,3,7,4]) in_place=0:1,1:0 "
      "own_scratch=8:40 macs=17 : s8[2,3,7,4] q(scale=0.5 "
      "zero=-3), u8[40] "
      "from 0\n"
      "z = call \"odd.name\" \"\"(y) args(in0[2,3,7,4], out0[]) : f32[] from 0\n"
      "output y\noutput z\n";
  const Graph g = parsed(text);
  EXPECT_EQ(print(g), text);
  const auto& call = std::get<KernelCall>(g.nodes[0].op);
  EXPECT_EQ(call.name, "cortex_m::quantized_add");
  EXPECT_EQ(call.overload, "out");
  EXPECT_EQ(call.args[0].face, channels_last_face({2, 3, 7, 4}));
  EXPECT_EQ(call.args[1].integer, INT64_MIN);
  EXPECT_EQ(call.args[2].kind, KernelArg::Kind::real);
  EXPECT_EQ(call.args[4].real, -INFINITY);
  EXPECT_EQ(call.args[5].real, 1e20);
  EXPECT_EQ(call.args[8].kind, KernelArg::Kind::none);
  EXPECT_THAT(call.args[10].integers, ElementsAre(1, -2));
  EXPECT_THAT(call.own_scratch, ElementsAre(OwnScratch{8, 40}));
  EXPECT_EQ(call.macs, 17);
  EXPECT_EQ(std::get<KernelCall>(g.nodes[1].op).name, "odd.name");
}

TEST(Text, KeepsEveryBitOfAConstant) {
  Graph g;
  g.sources.push_back({"s", "t", "", ""});
  const auto add = [&](DType dtype, auto data) {
    const auto count = static_cast<i64>(data.size());
    g.add_value("c", {dtype, {count}, {}}, constant_of(std::move(data)));
  };
  float payload;
  const uint32_t bits = 0x7fc12345;
  std::memcpy(&payload, &bits, 4);
  const float inf = std::numeric_limits<float>::infinity();
  add(DType::f32, std::vector<float>{0.1f, -0.0f, 1e-45f, 3.4028235e38f, inf, -inf,
                                     std::numeric_limits<float>::quiet_NaN()});
  add(DType::f32, std::vector<float>{payload, 1});
  add(DType::f32, std::vector<float>(7, payload));
  add(DType::f32, std::vector<float>(100, 0.1f));
  add(DType::f64, std::vector<double>{0.1, 5e-324, -1.7976931348623157e308});
  add(DType::s8, std::vector<int8_t>{-128, 127, 0});
  add(DType::u8, std::vector<uint8_t>{255, 0});
  add(DType::b8, std::vector<uint8_t>{0, 1, 1});
  add(DType::b8, std::vector<uint8_t>{0, 2});
  add(DType::s16, std::vector<int16_t>{-32768, 32767});
  add(DType::s32, std::vector<i32>{INT32_MIN, INT32_MAX});
  add(DType::s64, std::vector<i64>{INT64_MIN, INT64_MAX});
  add(DType::f16, std::vector<uint16_t>{0x3c00, 0x7e01});
  add(DType::bf16, std::vector<uint16_t>{0x3f80, 0x3f80, 0x3f80});
  add(DType::f32, std::vector<float>{});
  std::vector<float> many(65);
  for (size_t k = 0; k < many.size(); ++k) many[k] = static_cast<float>(k) / 3;
  add(DType::f32, many);
  for (ValueId v = 0; v < static_cast<ValueId>(g.values.size()); ++v)
    g.outputs.push_back({v, "o", {0}});
  ASSERT_EQ(find_fault(g), std::nullopt);
  const std::string text = print(g, {.all_constants = true});
  EXPECT_THAT(text, HasSubstr("c = const f32[7] 0.1,-0,1e-45,3.4028235e+38,inf,-inf,nan\n"));
  EXPECT_THAT(text, HasSubstr("c.4 = const f32[100] fill(0.1)\n"));
  expect_same(g, parsed(text), true);
  EXPECT_THAT(print(g), HasSubstr("c.16 = const f32[65] random("));
}

TEST(Text, ReadsBack) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Graph g = RandomGraph(seed).grow(20);
    if (seed % 2) g.folded.push_back({{0, 3}, "a \"reason\"\n"});
    const std::string text = print(g);
    const Graph again = parsed(text);
    ASSERT_EQ(print(again), text) << "seed " << seed;
    expect_same(g, again, false);
    const std::string exact = print(g, {.all_constants = true});
    const Graph twin = parsed(exact);
    ASSERT_EQ(print(twin, {.all_constants = true}), exact) << "seed " << seed;
    expect_same(g, twin, true);
    if (HasFailure()) FAIL() << "seed " << seed << "\n" << text;
  }
}

TEST(Text, SaysWhatIsExpectedWhere) {
  const struct {
    const char *line, *fault;
  } cases[] = {
      {"y = conv3d(x)", "f.txt:2:5: error: expected an operator, const or call, found `conv3d`"},
      {"y = clamp(z)",
       "f.txt:2:11: error: expected the name of an input, a constant or an earlier result, found "
       "`z`"},
      {"y = clamp(x", "f.txt:2:12: error: expected `)`, found end of line"},
      {"y = clamp(x) bound=0,1", "f.txt:2:14: error: expected one of bounds, found `bound`"},
      {"y = mul(x, x) fn=tanh", "f.txt:2:15: error: mul has no attributes, found `fn`"},
      {"y = unary(x) fn=tan", "f.txt:2:17: error: expected the name of a function, found `tan`"},
      {"y = unary(x) fn=tanh fn=tanh", "f.txt:2:22: error: `fn` is given twice"},
      {"y = clamp(x) bounds=0;1", "f.txt:2:22: error: expected `,`, found `;`"},
      {"y = clamp(x) bounds=1e99,0",
       "f.txt:2:21: error: expected a number that float32 can hold, inf or -inf, found `1e99`"},
      {"y = softmax(x) axis=last", "f.txt:2:21: error: expected an integer, found `last`"},
      {"y = softmax(x) axis=99999999999",
       "expected an integer from -2147483647 to 2147483647, found 99999999999"},
      {"y = softmax(x) axis=99999999999999999999999", "found 99999999999999999999999"},
      {"y = avg_pool2d(x) ceil_mode=1", "f.txt:2:29: error: expected true or false, found `1`"},
      {"y = reshape(x) shape=65536,65536,65536,65536,65536",
       "expected numbers whose product is at most 2147483647"},
      {"x = const f32[1] 0", "f.txt:2:1: error: `x` is defined already"},
      {"w = const f32[3] 1,2",
       "f.txt:2:21: error: expected `,` and 3 values, of which 2 are given, found end of line"},
      {"w = const f32[2] 1,2,3", "f.txt:2:21: error: expected end of line, found `,`"},
      {"w = const s8[2] 1,128", "expected an integer from -128 to 127, found 128"},
      {"w = const f33[2] 1,2", "f.txt:2:11: error: expected a dtype (f32,"},
      {"w = const f16[2] 1,2", "expected random or base64, found `1`"},
      {"w = const f32[100000,100000] fill(0)",
       "expected at most 2147483647 elements, found 10000000000"},
      {"w = const f32[2147483647,512,2147483647,2147483647] 1",
       "more than 2^40 elements in [2147483647,512,2147483647,2147483647]"},
      {"w = const f32[100000,1000] fill(0)",
       "expected at most 67108864 bytes of constants, found 400000000"},
      {"w = const f32[-1] random", "expected an integer from 0 to 2147483647, found -1"},
      {"w = const f32[2] base64 \"AAAA\"", "f.txt:2:25: error: expected 8 bytes, found 3"},
      {"w = const f32[2] base64 \"AA*A\"", "f.txt:2:25: error: this is not base64"},
      {"w, v = const f32[] 1", "f.txt:2:1: error: expected one name for a constant, found 2"},
      {"w = const s8[2] q(scale=0 zero=0) 1,2",
       "f.txt:2:11: error: scale 0 is not finite and positive"},
      {"w = const s8[2] q(axis=0 scale=1 zero=0) 1,2", "1 scales for extent 2"},
      {"y = clamp(x) : f32[2,3], f32[2]",
       "f.txt:2:1: error: expected as many names as types, found 1 and 2"},
      {"y = clamp(x) : f32[2,3] from 0", "f.txt:2:30: error: expected source ids below 0, found 0"},
      {"y = permute(x) perm=0,0",
       "f.txt:2:5: error: perm is not a permutation of the axes: 0,0, limit 2,3"},
      {"y = clamp(x) : f32[2,4]",
       "f.txt: error: clamp `y` (source op 0): result 0 is f32[2,4], inferred f32[2,3]"},
      {"y = call k(x) args()", "f.txt:2:5: error: expected call NAME.OVERLOAD"},
      {"y = call k.out(x) args(in0[2,3], out0[2], what) : f32[2]",
       "expected an argument (in0[..], out0[..], a number, [..], true, false or none), found "
       "`what`"},
      {"y = call k.out(x) args(in7[2,3], out0[2]) : f32[2]",
       "f.txt: error: k `y` (source op 0): input 7 of 1"},
      {"output z", "f.txt:2:8: error: expected the name of a value, found `z`"},
      {"output x order=0,2", "f.txt:2:10: error: expected an order of the axes 0 to 1, found 0,2"},
      {"source 1 \"a\" \"b\"", "f.txt:2:8: error: expected source 0, found 1"},
      {"source 0 \"a", "f.txt:2:10: error: the string has no closing quote on its line"},
      {"source 0 \"a\\q\" \"b\"",
       "f.txt:2:13: error: expected one of n, t, \", \\ or xHH after a backslash, found `q`"},
      {"input y", "f.txt:2:8: error: expected `:`, found end of line"},
      {"call = clamp(x)", "f.txt:2:1: error: expected a name, found `call`"},
      {"7 = clamp(x)", "f.txt:2:1: error: expected a name, found `7`"},
      {"y clamp(x)", "f.txt:2:3: error: expected `=`, found `clamp`"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(faults(std::string("input x : f32[2,3]\n") + c.line + "\n"), HasSubstr(c.fault))
        << c.line;
}

TEST(Text, ReportsEachWrongLineOnce) {
  const std::string all = faults(
      "input x : f33[2]\n"
      "a = clamp(x)\n"        // reads a faulty line: not reported
      "b = unary(a) fn=no\n"  // likewise, and the second fault of the line is not looked for
      "c = clamp(nobody)\n"
      "output c\n"
      "output d\n");
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 3) << all;
  std::string many;
  for (int k = 0; k < 1000; ++k) many += "?\n";
  const std::string first = faults(many);
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 20);
}

// Whatever the bytes: a graph that verifies and prints, or a diagnostic.
void expect_sound(const std::string& text) {
  Diagnostics diagnostics;
  const std::optional<Graph> g = parse(text, "f.txt", diagnostics);
  ASSERT_NE(g.has_value(), diagnostics.has_errors()) << text;
  if (!g) return;
  ASSERT_EQ(find_fault(*g), std::nullopt) << text;
  const std::string printed = print(*g);
  const std::optional<Graph> again = parse(printed, "f.txt", diagnostics);
  ASSERT_TRUE(again) << text << "\n" << printed;
  ASSERT_EQ(print(*again), printed) << text;
}

TEST(Text, SurvivesDamage) {
  std::mt19937_64 random(7);
  const auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
  int accepted = 0;
  for (uint64_t round = 0; round < 4000; ++round) {
    std::string text =
        round % 3 == 0 ? std::string(kNet)
                       : print(RandomGraph(round % 50).grow(6), {.all_constants = round % 2 == 0});
    for (size_t edits = 1 + pick(3); edits > 0; --edits) {
      const size_t at = pick(text.size());
      switch (pick(4)) {
        case 0:
          text.erase(at, 1 + pick(4));
          break;
        case 1:
          text[at] = "0123456789-,;:.=()[]\"\\#\n qxfe"[pick(29)];
          break;
        case 2:
          text.insert(at, text.substr(pick(text.size()), 1 + pick(12)));
          break;
        default:
          text[at] = static_cast<char>(pick(256));
          break;
      }
      if (text.empty()) text = "\n";
    }
    expect_sound(text);
    if (HasFatalFailure()) return;
    Diagnostics ignored;
    accepted += parse(text, "f.txt", ignored).has_value();
  }
  EXPECT_GT(accepted, 200);
  for (size_t cut = 0; cut <= kNet.size(); ++cut) expect_sound(std::string(kNet.substr(0, cut)));
}

TEST(Text, ReadsTheSeedsOfTheFuzzer) {
  for (const char* name : {"float", "lowered"}) {
    std::ostringstream text;
    text << std::ifstream(source_path("tests/fuzz/corpus/text/") + name).rdbuf();
    EXPECT_GT(parsed(text.str()).nodes.size(), 3u) << name;
    expect_sound(text.str());
  }
}

TEST(TextConstant, EncodesBase64) {
  const auto encoded = [](std::string_view s) { return base64(std::as_bytes(std::span(s))); };
  EXPECT_EQ(encoded(""), "");  // RFC 4648, section 10
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_EQ(from_base64("Zm8=")->size(), 2u);
  EXPECT_FALSE(from_base64("Zg=A"));
  EXPECT_FALSE(from_base64("Z==="));
  EXPECT_FALSE(
      from_base64("Zg=="
                  "Zg=="));
  EXPECT_FALSE(from_base64("Zm9"));
}

TEST(TextConstant, StandInsAreTheSameEverywhereAndInRange) {
  // The published first three words of SplitMix64 from 1234567: 6457827717110365317,
  // 3203168211198807973, 9817491932198370423.
  EXPECT_THAT(random_constant({DType::u8, {3}, {}}, 1234567).as<uint8_t>(),
              ElementsAre(133, 165, 119));
  EXPECT_THAT(random_constant({DType::s32, {3}, {}}, 1234567).as<i32>(),
              ElementsAre(-640, 441, 83));
  EXPECT_THAT(random_constant({DType::f32, {3}, {}}, 1234567).as<float>(),
              ElementsAre(-0.29984092712402344f, -0.6527118682861328f, 0.06441450119018555f));
  const Constant reals = random_constant({DType::f32, {5, 999}, {}}, 2),
                 halves = random_constant({DType::f16, {999}, {}}, 2);
  for (const float v : reals.as<float>()) ASSERT_TRUE(v >= -1 && v < 1);
  for (const uint16_t v : halves.as<uint16_t>()) ASSERT_LT(v & 0x7fff, 0x3c00);  // below 1, no NaN
}

}  // namespace
}  // namespace deuteron
