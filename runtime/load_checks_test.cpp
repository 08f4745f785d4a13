// SPDX-License-Identifier: Apache-2.0
// What the loader refuses. The first suite has the checks that the stock loader lacks (numbers as
// in the notes on the program format, section 3.6), the second the other faults that a file can
// have. Each is one change to a file that loads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "runtime/plan.h"
#include "runtime/test_kernels.h"
#include "runtime/test_program.h"

namespace deuteron {
namespace {
using namespace test;

// Two inputs of 8 floats, a constant, y = reverse(a + b + c).
struct Good : TestProgram {
  int32_t a, b, c, sum, total, y, numbers;
  Good() {
    a = planned(ScalarType::f32, {2, 4}, 0);
    b = planned(ScalarType::f32, {2, 4}, 32);
    c = constant<float>(ScalarType::f32, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
    sum = planned(ScalarType::f32, {2, 4}, 64);
    total = planned(ScalarType::f32, {2, 4}, 96);
    y = planned(ScalarType::f32, {2, 4}, 128);
    numbers = ints({3, 4});
    inputs = {a, b};
    outputs = {y};
    call("test::add", {a, b, sum});
    call("test::add", {sum, c, total});
    call("test::reverse", {total, y});
  }
  // A call that takes a list, so that values of every kind are in use.
  void add_any(int32_t integer_argument, int32_t list_argument) {
    const int32_t n = integer(2), yes = boolean(true), text = string("x"), none_value = none(),
                  tensors = tensor_list({a, c});
    call("test::any", {a, c, integer_argument < 0 ? n : integer_argument, n, n, n, yes,
                       list_argument, none_value, tensors, text, y});
  }
  Node& allocation(int32_t tensor) { return value(tensor).child(6); }
  NodePtr new_delegate(const char* id, int8_t location, uint32_t index) {
    auto processed = new_table();
    processed->set(0, location).set(1, index);
    auto spec = new_table();
    spec->set(0, new_text("key")).set(1, new_scalars<uint8_t>({1, 2}));
    auto d = new_table();
    d->set(0, new_text(id)).set(1, processed).set(2, new_tables({spec}));
    return d;
  }
  void add_inline_payload() {
    auto payload = new_table();
    payload->set(0, new_scalars<uint8_t>({9, 9}));
    program->set(3, new_tables({payload}));
  }
};

struct Case {
  const char* name;
  Code code;
  const char* detail;                 // a part of it
  std::function<void(Good&)> change;  // before finish()
  std::function<void(Good&)> tamper;  // after finish()
};

void expect_refused(const Case& c) {
  Good p;
  if (c.change) c.change(p);
  p.finish();
  if (c.tamper) c.tamper(p);
  const Block file(p.bytes());
  Needs needs;
  const Status measured = measure(file.file(), kTestKernels, &needs);
  const Block tables(1 << 16), planned(1 << 16);
  Program program;
  const Status s = program.load(file.file(), kTestKernels, tables.memory(), planned.memory());
  EXPECT_EQ(s.code, c.code) << c.name << ": " << name_of(s.code) << ", "
                            << (s.detail ? s.detail : "loaded");
  ASSERT_NE(s.detail, nullptr) << c.name;
  EXPECT_NE(std::string(s.detail).find(c.detail), std::string::npos)
      << c.name << " says: " << s.detail;
  EXPECT_EQ(program.instruction_count(), 0) << c.name;
  EXPECT_EQ(program.input_count(), 0) << c.name;
  EXPECT_EQ(measured.code, c.code == Code::overlap ? Code::ok : c.code)
      << c.name << ": measure() sees all but overlaps";
}

TEST(LoadChecks, TheUnchangedFileLoads) {
  Good p;
  p.add_any(-1, p.numbers);
  p.add_inline_payload();
  p.delegates->items.push_back(p.new_delegate("Unused", 0, 0));
  p.delegates->items.push_back(p.new_delegate("InASegment", 1, 0));
  Loaded l(p.bytes(), kTestKernels);
  EXPECT_TRUE(l.status.ok()) << l.status.detail << " instruction " << l.status.instruction
                             << " argument " << l.status.argument;
}

TEST(LoadChecks, WhatTheStockLoaderLetsPass) {
  const Case cases[] = {
      {"1 op_index out of range, a good call behind it", Code::corrupt,
       "operator that does not exist", nullptr,
       [](Good& p) { p.call_body(1).set<uint32_t>(0, 7); }},
      {"2 input index", Code::corrupt, "value that does not exist",
       [](Good& p) { p.inputs[1] = 1000; }, nullptr},
      {"2 output index", Code::corrupt, "value that does not exist",
       [](Good& p) { p.outputs[0] = -1; }, nullptr},
      {"3 delegate without payload", Code::corrupt, "no payload",
       [](Good& p) { p.delegates->items.push_back(p.new_delegate("X", 0, 0)); },
       [](Good& p) { p.delegates->items[0]->remove(1); }},
      {"4 inline payload table absent", Code::corrupt, "inline payload does not exist",
       [](Good& p) { p.delegates->items.push_back(p.new_delegate("X", 0, 0)); }, nullptr},
      {"4 inline payload without data", Code::corrupt, "no data",
       [](Good& p) {
         p.add_inline_payload();
         p.delegates->items.push_back(p.new_delegate("X", 0, 0));
       },
       [](Good& p) { p.program->child(3).items[0]->remove(0); }},
      {"5 compile option without key", Code::corrupt, "no key or value",
       [](Good& p) {
         p.add_inline_payload();
         p.delegates->items.push_back(p.new_delegate("X", 0, 0));
       },
       [](Good& p) { p.delegates->items[0]->child(2).items[0]->remove(0); }},
      {"5 compile option without value", Code::corrupt, "no key or value",
       [](Good& p) {
         p.add_inline_payload();
         p.delegates->items.push_back(p.new_delegate("X", 0, 0));
       },
       [](Good& p) { p.delegates->items[0]->child(2).items[0]->remove(1); }},
      {"6, 7 data in a .ptd", Code::unsupported, "another file (.ptd)", nullptr,
       [](Good& p) {
         auto e = new_table();
         e->set<int8_t>(2, 1);
         p.value(p.b).set(9, e);
       }},
      {"8 a constant as out", Code::bad_argument, "constant in the file would be overwritten",
       [](Good& p) {
         p.call("test::add", {p.a, p.b, p.c});
       },
       nullptr},
      {"9 planned offset not aligned", Code::corrupt, "planned tensor is not aligned", nullptr,
       [](Good& p) {
         p.allocation(p.sum).set<uint32_t>(1, 66);
         p.method->child(8).put<int64_t>(1, 176);
       }},
      {"9 constant not aligned", Code::corrupt, "constant is not aligned",
       [](Good& p) {
         p.segment.resize(40);
         p.constant_offsets[1] = 2;
       },
       nullptr},
      {"10 planned tensors overlap", Code::overlap, "overwritten",
       [](Good& p) {
         p.call("test::add", {p.b, p.c, p.y});
       },
       [](Good& p) { p.allocation(p.sum).set<uint32_t>(1, 32); }},
      {"11 element count overflows", Code::corrupt, "2^31 elements", nullptr,
       [](Good& p) {
         p.value(p.sum).set(2, new_scalars<int32_t>({65536, 65536}));
       }},
      {"11 byte count overflows", Code::corrupt, "2^31 bytes", nullptr,
       [](Good& p) {
         p.value(p.sum).set(2, new_scalars<int32_t>({1 << 15, 1 << 15}));
       }},
      {"12 tensor without data that is no input", Code::corrupt, "neither memory nor data", nullptr,
       [](Good& p) { p.value(p.sum).remove(6); }},
      {"13 an int where a tensor belongs", Code::bad_argument, "must be a tensor",
       [](Good& p) {
         p.call("test::add", {p.a, p.integer(1), p.sum});
       },
       nullptr},
      {"13 a list of ints that holds a tensor", Code::corrupt, "wrong type", nullptr,
       [](Good& p) { p.value(p.numbers).child(0).put<int64_t>(0, p.a); }},
      {"13 a tensor where an int belongs", Code::bad_argument, "must be an int",
       [](Good& p) { p.add_any(p.a, p.numbers); }, nullptr},
      {"13 an int where a list belongs", Code::bad_argument, "must be a list of ints",
       [](Good& p) { p.add_any(-1, p.integer(4)); }, nullptr},
      {"14 list before its elements", Code::corrupt, "does not come before it", nullptr,
       [](Good& p) {
         p.value(p.numbers).child(0).put<int64_t>(1, p.numbers + 1);
         p.integer(4);
       }},
      {"14 list that holds itself", Code::corrupt, "does not come before it", nullptr,
       [](Good& p) { p.value(p.numbers).child(0).put<int64_t>(1, p.numbers); }},
      {"15 jump", Code::unsupported, "JumpFalseCall",
       [](Good& p) {
         auto j = new_table();
         j->set<int32_t>(0, p.boolean(false)).set<int32_t>(1, 1000);
         p.instruction(4, j);
       },
       nullptr},
      {"16 constants, but no place for segments", Code::corrupt, "no base", nullptr,
       [](Good& p) { p.has_base = false; }},
      {"17 no execution plan", Code::corrupt, "no method", nullptr,
       [](Good& p) { p.program->remove(1); }},
      {"18 delegate index", Code::corrupt, "delegate that does not exist",
       [](Good& p) {
         auto d = new_table();
         d->set<int32_t>(0, 3).set(1, new_scalars<int32_t>({p.a, p.y}));
         p.instruction(2, d);
       },
       nullptr},
      {"20 overload absent", Code::missing_kernel, "no kernel of this name", nullptr,
       [](Good& p) { p.operators->items[0]->remove(1); }},
      {"21 negative planned size", Code::corrupt, "negative size", nullptr,
       [](Good& p) { p.method->child(8).put<int64_t>(1, -1); }},
      {"22 argument index", Code::corrupt, "argument refers to a value that does not exist",
       nullptr, [](Good& p) { p.call_body(0).child(1).put<int32_t>(1, 99); }},
      {"22 negative argument index", Code::corrupt,
       "argument refers to a value that does not exist", nullptr,
       [](Good& p) { p.call_body(0).child(1).put<int32_t>(0, -1); }},
      {"22 return value index", Code::corrupt, "return value", nullptr,
       [](Good& p) { p.call_body(0).child(1).put<int32_t>(3, 99); }},
      {"22 int list element index", Code::corrupt, "does not come before it", nullptr,
       [](Good& p) { p.value(p.numbers).child(0).put<int64_t>(0, 1ll << 40); }},
      {"22 memory index", Code::corrupt, "planned buffer that does not exist", nullptr,
       [](Good& p) { p.allocation(p.sum).set<uint32_t>(0, 2); }},
      {"22 memory index 0", Code::corrupt, "planned buffer that does not exist", nullptr,
       [](Good& p) { p.allocation(p.sum).remove(0); }},
      {"22 segment index", Code::corrupt, "segment that does not exist", nullptr,
       [](Good& p) { p.program->child(5).set<uint32_t>(0, 1); }},
      {"22 payload segment index", Code::corrupt, "segment that does not exist",
       [](Good& p) { p.delegates->items.push_back(p.new_delegate("X", 1, 9)); }, nullptr},
      {"22 dimension order", Code::corrupt, "not a permutation", nullptr,
       [](Good& p) {
         p.value(p.a).set(3, new_scalars<uint8_t>({1, 1}));
       }},
      {"22 two methods of one name", Code::corrupt, "two methods", nullptr,
       [](Good& p) { p.program->child(1).items.push_back(p.method); }},
      {"23 constant index without constants", Code::corrupt, "old inline table", nullptr,
       [](Good& p) { p.program->child(5).set(1, new_scalars<uint64_t>({0})); }},
  };
  for (const Case& c : cases) expect_refused(c);
  // 19: the caller's memory is checked at every allocation: Program.SaysHowMuchMemoryItNeeds.
  // 24: there are no jumps, so running k calls takes k steps: 15.
}

TEST(LoadChecks, OtherFaults) {
  const Case cases[] = {
      {"no inputs", Code::corrupt, "lacks its values", nullptr,
       [](Good& p) { p.method->remove(3); }},
      {"no values", Code::corrupt, "lacks its values", nullptr,
       [](Good& p) { p.method->remove(2); }},
      {"no delegates list", Code::corrupt, "lacks its values", nullptr,
       [](Good& p) { p.method->remove(7); }},
      {"no chain", Code::corrupt, "lacks its values", nullptr,
       [](Good& p) { p.method->set(5, new_tables()); }},
      {"two chains", Code::unsupported, "more than one chain", nullptr,
       [](Good& p) { p.method->set(5, new_tables({p.chain, p.chain})); }},
      {"no instructions", Code::corrupt, "no list of instructions", nullptr,
       [](Good& p) { p.chain->remove(2); }},
      {"no buffer sizes", Code::corrupt, "buffer sizes is missing", nullptr,
       [](Good& p) { p.method->remove(8); }},
      {"huge planned buffer", Code::unsupported, "larger than 2 GiB", nullptr,
       [](Good& p) { p.method->child(8).put<int64_t>(1, 1ll << 31); }},
      {"planned on an accelerator", Code::unsupported, "another device", nullptr,
       [](Good& p) {
         auto d = new_table();
         d->set<int8_t>(1, 1);
         p.method->set(9, new_tables({d}));
       }},
      {"no method `forward`", Code::unsupported, "no method of this name", nullptr,
       [](Good& p) { p.method->set(0, new_text("backward")); }},
      {"method without name", Code::corrupt, "has no name", nullptr,
       [](Good& p) { p.method->remove(0); }},
      {"value without type", Code::corrupt, "no known type", nullptr,
       [](Good& p) { p.values->items[0]->remove(0); }},
      {"value of unknown type", Code::corrupt, "no known type", nullptr,
       [](Good& p) { p.values->items[0]->set<uint8_t>(0, 12); }},
      {"empty value", Code::corrupt, "value is empty", nullptr,
       [](Good& p) { p.values->items[0]->remove(1); }},
      {"string without text", Code::corrupt, "no text",
       [](Good& p) { p.string("x"); }, [](Good& p) { p.values->items.back()->child(1).remove(0); }},
      {"tensor list with an int", Code::corrupt, "wrong type",
       [](Good& p) { const int32_t i = p.integer(1); p.tensor_list({p.a, i}); }, nullptr},
      {"no sizes", Code::corrupt, "do not match", nullptr, [](Good& p) { p.value(p.a).remove(2); }},
      {"no dimension order", Code::corrupt, "do not match", nullptr,
       [](Good& p) { p.value(p.a).remove(3); }},
      {"short dimension order", Code::corrupt, "do not match", nullptr,
       [](Good& p) { p.value(p.a).set(3, new_scalars<uint8_t>({0})); }},
      {"dimension beyond rank", Code::corrupt, "not a permutation", nullptr,
       [](Good& p) { p.value(p.a).set(3, new_scalars<uint8_t>({0, 2})); }},
      {"rank 17", Code::unsupported, "more than 16", nullptr,
       [](Good& p) {
         p.value(p.a).set(2, new_scalars<int32_t>(std::vector<int32_t>(17, 1)));
         p.value(p.a).set(3, new_scalars<uint8_t>(
             {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}));
       }},
      {"negative size", Code::corrupt, "negative size", nullptr,
       [](Good& p) { p.value(p.a).set(2, new_scalars<int32_t>({2, -4})); }},
      {"empty, but too large without the empty dimension", Code::corrupt, "2^31 elements", nullptr,
       [](Good& p) {
         p.value(p.a).set(2, new_scalars<int32_t>({1 << 20, 0, 1 << 20}));
         p.value(p.a).set(3, new_scalars<uint8_t>({0, 1, 2}));
       }},
      {"unknown element type", Code::unsupported, "element type", nullptr,
       [](Good& p) { p.value(p.a).set<int8_t>(0, 15); }},
      {"negative element type", Code::unsupported, "element type", nullptr,
       [](Good& p) { p.value(p.a).set<int8_t>(0, -1); }},
      {"storage offset", Code::unsupported, "storage offset", nullptr,
       [](Good& p) { p.value(p.a).set<int32_t>(1, 4); }},
      {"sparse", Code::unsupported, "strided", nullptr,
       [](Good& p) { p.value(p.a).set<int8_t>(7, 1); }},
      {"unbounded shape", Code::unsupported, "upper bound", nullptr,
       [](Good& p) { p.value(p.a).set<int8_t>(8, 2); }},
      {"state that begins with nothing", Code::corrupt, "contents that do not exist", nullptr,
       [](Good& p) { p.value(p.sum).set<uint32_t>(5, 1); }},
      {"tensor on an accelerator", Code::unsupported, "another device", nullptr,
       [](Good& p) { auto e = new_table(); e->set<int8_t>(3, 1); p.value(p.a).set(9, e); }},
      {"planned beyond the buffer", Code::corrupt, "outside its planned buffer", nullptr,
       [](Good& p) { p.allocation(p.sum).set<uint32_t>(1, 132); }},
      {"offset above 4 GiB", Code::corrupt, "outside its planned buffer", nullptr,
       [](Good& p) { p.allocation(p.sum).set<uint32_t>(2, 1); }},
      {"constant index", Code::corrupt, "index that does not exist", nullptr,
       [](Good& p) { p.value(p.c).set<uint32_t>(5, 2); }},
      {"constant beyond its segment", Code::corrupt, "past the end of its segment",
       [](Good& p) { p.constant_offsets[1] = 4; }, nullptr},
      {"constant far beyond", Code::corrupt, "past the end of its segment",
       [](Good& p) { p.constant_offsets[1] = UINT64_MAX - 3; }, nullptr},
      {"segment beyond the file", Code::corrupt, "outside the file", nullptr,
       [](Good& p) { p.segments->items[0]->set<uint64_t>(1, 48); }},
      {"segment offset wraps", Code::corrupt, "outside the file", nullptr,
       [](Good& p) { p.segments->items[0]->set<uint64_t>(0, UINT64_MAX - 7); }},
      {"no header, but constants", Code::corrupt, "no place for segments", nullptr,
       [](Good& p) { p.has_header = false; }},
      {"segments inside the program", Code::corrupt, "overlap the program", nullptr,
       [](Good& p) { p.base_shift = -64; }},
      {"segments beyond the file", Code::corrupt, "beyond the file", nullptr,
       [](Good& p) { p.base_shift = 16; }},
      {"input is a number", Code::unsupported, "not a tensor",
       [](Good& p) { p.inputs.push_back(p.integer(3)); }, nullptr},
      {"output is a number", Code::unsupported, "not a tensor",
       [](Good& p) { p.outputs.push_back(p.integer(3)); }, nullptr},
      {"input is a constant", Code::corrupt, "input is a constant",
       [](Good& p) { p.inputs.push_back(p.c); }, nullptr},
      {"input twice", Code::corrupt, "listed twice",
       [](Good& p) { p.inputs = {p.a, p.b, p.a}; }, nullptr},
      {"operator without name", Code::corrupt, "no name", nullptr,
       [](Good& p) { p.operators->items[1]->remove(0); }},
      {"unknown kernel", Code::missing_kernel, "no kernel",
       [](Good& p) { p.call("test::subtract", {p.a, p.b, p.sum}); }, nullptr},
      {"other overload", Code::missing_kernel, "no kernel",
       [](Good& p) { p.call("test::add", "out2", {p.a, p.b, p.sum, p.sum}); }, nullptr},
      {"half a name", Code::missing_kernel, "no kernel",
       [](Good& p) { p.call("test::ad", "out", {p.a, p.b, p.sum, p.sum}); }, nullptr},
      {"too few arguments", Code::bad_argument, "number of arguments",
       [](Good& p) { p.call("test::add", {p.a, p.sum}); }, nullptr},
      {"too many arguments", Code::bad_argument, "number of arguments",
       [](Good& p) { p.call("test::add", {p.a, p.b, p.a, p.sum}); }, nullptr},
      {"no arguments at all", Code::bad_argument, "number of arguments",
       [](Good& p) { p.call("test::add", "out", {}); }, nullptr},
      {"argument list absent", Code::corrupt, "no list of arguments", nullptr,
       [](Good& p) { p.call_body(0).remove(1); }},
      {"return value is another tensor", Code::corrupt, "not its out argument", nullptr,
       [](Good& p) { p.call_body(0).child(1).put<int32_t>(3, p.y); }},
      {"return list of other tensors", Code::corrupt, "not its out argument",
       [](Good& p) { p.call("test::two", "", {p.a, p.sum, p.y, p.tensor_list({p.y, p.sum})}); },
       nullptr},
      {"the kernel's own refusal", Code::bad_argument, "another size", nullptr,
       [](Good& p) { p.value(p.y).set(2, new_scalars<int32_t>({2, 3})); }},
      {"move", Code::unsupported, "MoveCall",
       [](Good& p) { auto j = new_table(); p.instruction(3, j); }, nullptr},
      {"free", Code::unsupported, "FreeCall",
       [](Good& p) { auto j = new_table(); p.instruction(5, j); }, nullptr},
      {"unknown instruction", Code::corrupt, "no known type",
       [](Good& p) { auto j = new_table(); p.instruction(6, j); }, nullptr},
      {"instruction without body", Code::corrupt, "no known type",
       [](Good& p) { p.instruction(1, nullptr); }, nullptr},
      {"payload outside the file", Code::corrupt, "payload lies outside",
       [](Good& p) {
         auto s = new_table();
         s->set<uint64_t>(0, 32).set<uint64_t>(1, 1);
         p.segments->items.push_back(s);
         p.delegates->items.push_back(p.new_delegate("X", 1, 1));
       }, nullptr},
  };
  for (const Case& c : cases) expect_refused(c);
}

// A refusal says where: the instruction, the argument and the operator.
TEST(LoadChecks, SaysWhere) {
  Good p;
  p.call("test::add", {p.a, p.integer(1), p.sum});
  Loaded l(p.bytes(), kTestKernels);
  EXPECT_EQ(l.status.instruction, 3);
  EXPECT_EQ(l.status.argument, 1);
  EXPECT_STREQ(l.status.op, "test::add");

  Good q;
  q.add_inline_payload();
  q.delegates->items.push_back(q.new_delegate("NeutronBackend", 0, 0));
  auto d = new_table();
  d->set<int32_t>(0, 0).set(1, new_scalars<int32_t>({q.a, q.y}));
  q.instruction(2, d);
  Loaded m(q.bytes(), kTestKernels);
  EXPECT_EQ(m.status.code, Code::missing_backend);
  EXPECT_STREQ(m.status.op, "NeutronBackend");
  EXPECT_EQ(m.status.instruction, 3);
}

TEST(LoadChecks, FilesThatAreNoPrograms) {
  Needs needs;
  EXPECT_EQ(measure({nullptr, 0}, kTestKernels, &needs).code, Code::not_a_program);
  const Block zeros(4096, 0);
  EXPECT_EQ(measure(zeros.file(), kTestKernels, &needs).code, Code::not_a_program);
  Good good;
  const std::vector<uint8_t> bytes = good.bytes();
  EXPECT_EQ(measure(Block(std::vector<uint8_t>(bytes.begin(), bytes.begin() + 63)).file(),
                    kTestKernels, &needs)
                .code,
            Code::not_a_program);
  std::vector<uint8_t> other = bytes;
  other[6] = '3';  // ET13 would be another version
  EXPECT_EQ(measure(Block(other).file(), kTestKernels, &needs).code, Code::not_a_program);
  // Bytes behind the last segment are nobody's business.
  other = bytes;
  other.resize(other.size() + 100, 0xEE);
  EXPECT_TRUE(Loaded(other, kTestKernels).status.ok());
}

// A list of 800 integers that every call reads: the work is their product, the file their sum.
TEST(LoadChecks, WorkIsBoundedByTheSizeOfTheFile) {
  for (const bool is_too_much : {false, true}) {
    Good p;
    const int32_t list = p.ints(std::vector<int64_t>(800, 1)), n = p.integer(2),
                  yes = p.boolean(true), text = p.string("x");
    const int32_t none = p.none(), tensors = p.tensor_list({p.a, p.c});
    for (int k = 0; k < (is_too_much ? 400 : 10); ++k)
      p.call("test::any", {p.a, p.c, n, n, n, n, yes, list, none, tensors, text, p.y});
    p.finish();
    const Block file(p.bytes());
    Needs needs;
    const Status s = measure(file.file(), kTestKernels, &needs);
    EXPECT_LT(max_load_steps(static_cast<uint32_t>(file.size())), 800u * 400u)
        << "so few bytes may not take 800 * 400 steps";
    EXPECT_EQ(s.code, is_too_much ? Code::unsupported : Code::ok) << (s.detail ? s.detail : "");
    EXPECT_STREQ(s.detail, is_too_much ? "the program is too large to be checked" : nullptr);
  }
}

// The extended header, as in the stock loader: 24 bytes are an old one, longer ones are taken,
// shorter ones refused. The first integer's vtable at byte 0, where the root's offset and the
// identifier stand in for one: its field would lie 21 KB further on.
TEST(LoadChecks, AVtableInThePrefix) {
  constexpr int64_t kMark = 0x1122334455667788;
  Good p;
  p.value(p.numbers - 2).set(0, kMark);
  std::vector<uint8_t> bytes = p.bytes();
  ASSERT_TRUE(Loaded(bytes, kTestKernels).status.ok());
  const auto field =
      std::search(bytes.begin(), bytes.end(), reinterpret_cast<const uint8_t*>(&kMark),
                  reinterpret_cast<const uint8_t*>(&kMark) + sizeof kMark);
  ASSERT_NE(field, bytes.end());
  const int32_t table = static_cast<int32_t>(field - bytes.begin()) -
                        8;  // as FlatWriter lays out a table with one field of 8 bytes
  std::memcpy(&bytes[static_cast<size_t>(table)], &table, sizeof table);
  const Loaded loaded(bytes, kTestKernels);
  EXPECT_EQ(loaded.status.code, Code::corrupt);
  EXPECT_STREQ(loaded.status.detail, "a vtable lies outside the file");
}

TEST(LoadChecks, ExtendedHeader) {
  Good good;
  const std::vector<uint8_t> bytes = good.bytes();
  const auto with = [&](size_t at, auto value) {
    std::vector<uint8_t> b = bytes;
    std::memcpy(&b[at], &value, sizeof value);
    return Loaded(b, kTestKernels).status.code;
  };
  EXPECT_EQ(with(12, uint32_t{24}), Code::ok);
  EXPECT_EQ(with(12, uint32_t{23}), Code::corrupt);
  EXPECT_EQ(with(12, UINT32_MAX), Code::corrupt);
  EXPECT_EQ(with(9, 'x'), Code::corrupt) << "no header, so the constants have no place";
  EXPECT_EQ(with(16, uint64_t{4}), Code::corrupt);
  EXPECT_EQ(with(16, uint64_t{bytes.size() + 1}), Code::corrupt);
  EXPECT_EQ(with(24, UINT64_MAX), Code::corrupt);
  EXPECT_EQ(with(32, uint64_t{33}), Code::corrupt);
  EXPECT_EQ(with(32, uint64_t{16}), Code::corrupt) << "the segment is larger than the data";
}

}  // namespace
}  // namespace deuteron
