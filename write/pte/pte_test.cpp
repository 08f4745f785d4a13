// SPDX-License-Identifier: Apache-2.0
// Programs of hand-made graphs: read back with FlatBuffers' own verifier, checked against the rules
// of every loader, loaded and run.
#include "write/pte/pte.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "compile/plan/hand_made_graph.h"
#include "compile/plan/plan_memory.h"
#include "write/pte/constants.h"
#include "write/pte/program_generated.h"

namespace deuteron {
namespace {

// y[i] = x[i] * 3 + w[i % size of w] + added; fills its scratch first. "TTIFBLtOO": x, w, added,
// ..., scratch, y
Status prepare_twist(Call& call, Prepared* prepared) {
  struct Args {
    const int8_t *x, *w;
    int8_t *scratch, *y;
    int32_t n, weights, scratch_bytes, added;
  };
  Args* args = call.arena->make<Args>();
  if (!args) return out_of_memory();
  const Tensor &x = call.tensor(0), &w = call.tensor(1), &scratch = call.tensor(7),
               &y = call.tensor(8);
  *args = {static_cast<const int8_t*>(x.data),
           static_cast<const int8_t*>(w.data),
           static_cast<int8_t*>(scratch.data),
           static_cast<int8_t*>(y.data),
           y.numel,
           w.numel,
           scratch.numel,
           static_cast<int32_t>(call.integer(2))};
  if (x.numel != y.numel) return bad_argument(0, "another size");
  prepared->args = args;
  prepared->run = [](const void* p) {
    const Args& a = *static_cast<const Args*>(p);
    for (int32_t i = 0; i < a.scratch_bytes; ++i) a.scratch[i] = 77;
    for (int32_t i = 0; i < a.n; ++i)
      a.y[i] = static_cast<int8_t>(a.x[i] * 3 + a.w[i % a.weights] + a.added);
  };
  return {};
}
Status prepare_nothing(Call&, Prepared*) { return {}; }
constexpr Kernel kTwist = {"cortex_m::twist.out", "TTIFBLtOO", prepare_twist};
constexpr Kernel kTouch = {"cortex_m::touch.out", "TO", prepare_nothing, true};
constexpr const Kernel* kList[] = {&kTouch, &kTwist};
constexpr KernelTable kKernels = {kList, 2};

KernelArg in(i64 k, Face face) { return {KernelArg::Kind::input, k, 0, {}, std::move(face)}; }
KernelArg out(i64 k, Face face) { return {KernelArg::Kind::output, k, 0, {}, std::move(face)}; }

ValueId twist(HandMadeGraph& h, ValueId x, ValueId w, i64 added, i64 scratch,
              std::vector<i64> list = {1, 1}) {
  const Shape shape = h.graph.type(x).shape;
  KernelCall k;
  k.name = "cortex_m::twist";
  k.overload = "out";
  k.args = {in(0, elementwise_face(shape)),
            in(1, plain_face(h.graph.type(w).shape)),
            {KernelArg::Kind::integer, added, 0, {}, {}},
            {KernelArg::Kind::real, 0, 0.5 + static_cast<double>(added), {}, {}},
            {KernelArg::Kind::boolean, added % 2, 0, {}, {}},
            {KernelArg::Kind::integers, 0, 0, std::move(list), {}},
            {},
            out(1, plain_face({scratch})),
            out(0, elementwise_face(shape))};
  return h.call(std::move(k), {x, w}, {s8(shape), {DType::u8, {scratch}, {}}});
}

std::vector<int8_t> counted(size_t n, int first) {
  std::vector<int8_t> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = static_cast<int8_t>(first + static_cast<int>(i));
  return v;
}

// [2,3,5,7] image, two calls and a view, output in the user's axes.
struct Network {
  HandMadeGraph h;
  ValueId x, w1, w2, y;
  std::vector<int8_t> a = counted(7, -3), b = counted(21, 5);
  Network() {
    x = h.input("x", DType::s8, {2, 3, 5, 7}, Axes{0, 2, 3, 1});
    w1 = h.constant<int8_t>("w1", DType::s8, {7}, a);
    w2 = h.constant<int8_t>("w2", DType::s8, {3, 7}, b);
    const ValueId first = twist(h, x, w1, 4, 40);
    const ValueId view = h.reshape(first, {6, 35});
    y = twist(h, view, w2, -1, 0, {1, 4, 1});
    h.output(y);
  }
  std::vector<int8_t> expected(const std::vector<int8_t>& in_data) const {
    std::vector<int8_t> v = in_data;
    for (size_t i = 0; i < v.size(); ++i)
      v[i] = static_cast<int8_t>(v[i] * 3 + a[i % a.size()] + 4);
    for (size_t i = 0; i < v.size(); ++i)
      v[i] = static_cast<int8_t>(v[i] * 3 + b[i % b.size()] - 1);
    return v;
  }
};

struct Opened {
  const pte::Program* program;
  uint64_t program_size, base, segment_size;
};
template <class T>
T at(const std::vector<uint8_t>& file, size_t where) {
  T v;
  std::memcpy(&v, file.data() + where, sizeof v);
  return v;
}

// The rules that every loader checks or should: /docs/runtime.md.
void check_file(const std::vector<uint8_t>& file, Opened* opened) {
  ASSERT_GE(file.size(), 64u);
  ASSERT_EQ(std::memcmp(file.data() + 4, "ET12", 4), 0);
  Opened o{nullptr, file.size(), 0, 0};
  if (std::memcmp(file.data() + 8, "eh00", 4) == 0) {
    EXPECT_EQ(at<uint32_t>(file, 12), 32u);
    o.program_size = at<uint64_t>(file, 16);
    o.base = at<uint64_t>(file, 24);
    o.segment_size = at<uint64_t>(file, 32);
    EXPECT_EQ(o.base % 16, 0u);
    EXPECT_GE(o.base, o.program_size);
    EXPECT_LT(o.base, o.program_size + 16);
    EXPECT_EQ(o.base + o.segment_size, file.size());
  }
  flatbuffers::Verifier verifier(file.data(), o.program_size);
  ASSERT_TRUE(pte::VerifyProgramBuffer(verifier));
  o.program = pte::GetProgram(file.data());
  *opened = o;
  const pte::Program& p = *o.program;
  ASSERT_EQ(p.execution_plan()->size(), 1u);
  const pte::ExecutionPlan& plan = *p.execution_plan()->Get(0);
  EXPECT_EQ(plan.name()->str(), "forward");
  ASSERT_TRUE(plan.values() && plan.inputs() && plan.outputs() && plan.operators() &&
              plan.delegates());
  ASSERT_EQ(plan.chains()->size(), 1u);
  ASSERT_TRUE(plan.chains()->Get(0)->instructions());
  EXPECT_EQ(plan.non_const_buffer_sizes()->Get(0), 0);
  const auto& offsets = *p.constant_segment()->offsets();
  EXPECT_EQ(offsets.Get(0), 0u);
  EXPECT_EQ(p.segments()->Get(p.constant_segment()->segment_index())->size(), o.segment_size);
  for (uint32_t i = 0; i < plan.values()->size(); ++i) {
    const pte::EValue& v = *plan.values()->Get(i);
    ASSERT_NE(v.val(), nullptr);
    if (const auto* list = v.val_as_IntList()) {
      for (const int64_t item : *list->items()) {
        EXPECT_LT(item, i) << "elements come before their list";
        EXPECT_NE(plan.values()->Get(static_cast<uint32_t>(item))->val_as_Int(), nullptr);
      }
    }
    const auto* t = v.val_as_Tensor();
    if (!t) continue;
    ASSERT_TRUE(t->sizes() && t->dim_order());
    ASSERT_EQ(t->sizes()->size(), t->dim_order()->size());
    EXPECT_NE(t->data_buffer_idx() != 0, t->allocation_info() != nullptr)
        << "either a constant or planned";
    if (t->data_buffer_idx() != 0) {
      ASSERT_LT(t->data_buffer_idx(), offsets.size());
      EXPECT_EQ(offsets.Get(t->data_buffer_idx()) % 16, 0u);
      EXPECT_LE(offsets.Get(t->data_buffer_idx()), o.segment_size);
    } else {
      EXPECT_EQ(t->allocation_info()->memory_id(), 1u);
      EXPECT_EQ(t->allocation_info()->memory_offset_low() % 16, 0u);
    }
  }
  for (const int32_t i : *plan.inputs())
    EXPECT_EQ(plan.values()->Get(i)->val_as_Tensor()->data_buffer_idx(), 0u);
  for (const auto* instruction : *plan.chains()->Get(0)->instructions()) {
    const auto* call = instruction->instr_args_as_KernelCall();
    ASSERT_LT(call->op_index(), static_cast<int>(plan.operators()->size()));
    ASSERT_GE(call->args()->size(), 2u);
    EXPECT_EQ(call->args()->Get(call->args()->size() - 1),
              call->args()->Get(call->args()->size() - 2))
        << "the return value repeats the out";
    for (const int32_t a : *call->args()) ASSERT_LT(a, static_cast<int>(plan.values()->size()));
  }
}

std::vector<uint8_t> written(const Graph& g, PteParts* parts = nullptr) {
  return write_pte(g, plan_memory(g), Isa::mve, parts);
}

TEST(WritePte, KeepsTheRulesOfEveryLoader) {
  const Network n;
  PteParts parts;
  const std::vector<uint8_t> file = written(n.h.graph, &parts);
  Opened o;
  check_file(file, &o);
  EXPECT_EQ(parts.program + parts.constants + parts.padding, static_cast<i64>(file.size()));
  EXPECT_EQ(parts.constants, static_cast<i64>(o.segment_size));
  EXPECT_EQ(parts.program, static_cast<i64>(o.program_size));
  const pte::ExecutionPlan& plan = *o.program->execution_plan()->Get(0);
  const auto* x = plan.values()->Get(plan.inputs()->Get(0))->val_as_Tensor();
  EXPECT_EQ(std::vector<int32_t>(x->sizes()->begin(), x->sizes()->end()),
            (std::vector<int32_t>{2, 7, 3, 5}))
      << "the user's axes";
  EXPECT_EQ(std::vector<uint8_t>(x->dim_order()->begin(), x->dim_order()->end()),
            (std::vector<uint8_t>{0, 2, 3, 1}));
  EXPECT_EQ(plan.operators()->size(), 1u);
  EXPECT_EQ(plan.chains()->Get(0)->instructions()->size(), 2u) << "a view is no instruction";
}

TEST(WritePte, LiteralsAndVectorsAppearOnce) {
  HandMadeGraph h;
  const ValueId w = h.constant<int8_t>("w", DType::s8, {4}, {1, 2, 3, 4});
  ValueId v = h.input("x", DType::s8, {4, 4});
  for (int k = 0; k < 6; ++k) v = twist(h, v, w, k % 2, 16, {1, 2 - k % 2});
  h.output(v);
  const std::vector<uint8_t> file = written(h.graph);
  Opened o;
  check_file(file, &o);
  const pte::ExecutionPlan& plan = *o.program->execution_plan()->Get(0);
  std::map<std::string, int> count;
  std::map<const void*, int> sizes;
  for (const auto* value : *plan.values()) {
    if (const auto* i = value->val_as_Int()) ++count["int " + std::to_string(i->int_val())];
    if (const auto* d = value->val_as_Double()) ++count["real " + std::to_string(d->double_val())];
    if (const auto* b = value->val_as_Bool()) ++count["bool " + std::to_string(b->bool_val())];
    if (value->val_as_Null()) ++count["null"];
    if (const auto* l = value->val_as_IntList())
      ++count["list of " + std::to_string(plan.values()
                                              ->Get(static_cast<uint32_t>(l->items()->Get(1)))
                                              ->val_as_Int()
                                              ->int_val())];
    if (const auto* t = value->val_as_Tensor()) ++sizes[t->sizes()];
  }
  EXPECT_EQ(count.size(), 3u + 2u + 2u + 1u + 2u)
      << "0 1 2, 0.5 1.5, two booleans, none, two lists";
  for (const auto& [what, times] : count) EXPECT_EQ(times, 1) << what;
  EXPECT_EQ(sizes.size(), 3u) << "one vector for each shape: w, x and results, scratch";
}

TEST(WritePte, EveryMarkerNamesItsInstructionSet) {
  for (const Isa isa : {Isa::scalar, Isa::dsp, Isa::mve}) {
    const Network n;
    const std::vector<uint8_t> file = write_pte(n.h.graph, plan_memory(n.h.graph), isa);
    Opened o;
    check_file(file, &o);
    int markers = 0;
    for (const auto* v : *o.program->execution_plan()->Get(0)->values())
      if (const auto* s = v->val_as_String())
        markers += s->string_val()->str() == std::string("deuteron:isa=") + name_of(isa);
    EXPECT_EQ(markers, 1);
  }
}

struct LoadedFile {
  std::vector<uint8_t> file_memory, tables_memory, planned_memory;
  Program program;
  Status status;
};
template <class T>
T* aligned16(std::vector<T>& memory) {
  return reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(memory.data()) + 15) & ~uintptr_t{15});
}

void load(const std::vector<uint8_t>& file, LoadedFile* l) {
  l->file_memory.resize(file.size() + 16);
  std::memcpy(aligned16(l->file_memory), file.data(), file.size());
  const File in_place = {aligned16(l->file_memory), file.size()};
  Needs needs;
  l->status = measure(in_place, kKernels, &needs);
  ASSERT_TRUE(l->status.ok()) << name_of(l->status.code) << ": "
                              << (l->status.detail ? l->status.detail : "");
  l->tables_memory.resize(needs.tables_bytes + 16);
  l->planned_memory.resize(needs.planned_bytes + 16);
  l->status = l->program.load(in_place, kKernels, {aligned16(l->tables_memory), needs.tables_bytes},
                              {aligned16(l->planned_memory), needs.planned_bytes});
  ASSERT_TRUE(l->status.ok()) << name_of(l->status.code) << ": "
                              << (l->status.detail ? l->status.detail : "");
}

TEST(WritePte, OurLoaderRunsIt) {
  const Network n;
  LoadedFile l;
  load(written(n.h.graph), &l);
  if (HasFatalFailure()) return;
  for (const int seed : {1, 50}) {
    const std::vector<int8_t> x = counted(210, seed);
    ASSERT_TRUE(l.program.set_input(0, x.data(), x.size()).ok());
    ASSERT_TRUE(l.program.run().ok());
    const std::vector<int8_t> expected = n.expected(x);
    ASSERT_EQ(l.program.output(0).numel, 210);
    EXPECT_EQ(std::memcmp(l.program.output(0).data, expected.data(), 210), 0);
  }
}

TEST(WritePte, OutputsMayBeInputsConstantsAndViewsOfThem) {
  HandMadeGraph h;
  const ValueId x = h.input("x", DType::f32, {2, 3, 5, 4}, Axes{0, 2, 3, 1});
  const ValueId w = h.constant<float>("w", DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6});
  const ValueId scalar = h.constant<float>("s", DType::f32, {}, {9});
  h.output(x, Axes{0, 2, 3, 1});
  h.output(h.reshape(x, {12, 10}), Axes{1, 0});
  h.output(h.reshape(w, {6}));
  h.output(w);
  h.output(scalar);
  h.output(x, Axes{0, 2, 3, 1});
  const std::vector<uint8_t> file = written(h.graph);
  Opened o;
  check_file(file, &o);
  const pte::ExecutionPlan& plan = *o.program->execution_plan()->Get(0);
  ASSERT_EQ(plan.outputs()->size(), 6u);
  EXPECT_EQ(plan.outputs()->Get(0), plan.inputs()->Get(0));
  EXPECT_EQ(plan.outputs()->Get(5), plan.inputs()->Get(0));
  LoadedFile l;
  load(file, &l);
  if (HasFatalFailure()) return;
  std::vector<float> data(120);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i) * 0.5f;
  ASSERT_TRUE(l.program.set_input(0, data.data(), data.size() * 4).ok());
  ASSERT_TRUE(l.program.run().ok());
  EXPECT_EQ(std::memcmp(l.program.output(1).data, data.data(), data.size() * 4), 0);
  EXPECT_EQ(l.program.output(1).sizes[0], 10);
  EXPECT_EQ(l.program.output(1).sizes[1], 12);
  EXPECT_EQ(static_cast<const float*>(l.program.output(2).data)[5], 6);
  EXPECT_EQ(l.program.output(4).rank, 0);
  EXPECT_EQ(static_cast<const float*>(l.program.output(4).data)[0], 9);
}

TEST(WritePte, NoConstantsMeansNoHeader) {
  HandMadeGraph h;
  h.output(h.call("touch", {h.input("x", DType::s8, {3})}, {s8({3})}, {{0, 0}}));
  const std::vector<uint8_t> file = written(h.graph);
  Opened o;
  check_file(file, &o);
  EXPECT_EQ(o.base, 0u);
  EXPECT_NE(std::memcmp(file.data() + 8, "eh00", 4), 0);
  LoadedFile l;
  load(file, &l);
}

TEST(WritePte, TensorsOfNoBytesHaveAPlace) {
  HandMadeGraph h;
  const ValueId x = h.input("x", DType::s8, {0, 3});
  const ValueId w = h.constant<int8_t>("w", DType::s8, {0}, {});
  h.output(h.call("touch", {x}, {s8({0, 3})}));
  h.output(w);
  const std::vector<uint8_t> file = written(h.graph);
  Opened o;
  check_file(file, &o);
  LoadedFile l;
  load(file, &l);
}

TEST(WritePte, WideNumbersSurvive) {
  HandMadeGraph h;
  const ValueId w = h.constant<int8_t>("w", DType::s8, {1}, {0});
  const ValueId x = h.input("x", DType::s8, {1});
  std::vector<i64> numbers = {INT64_MIN, INT64_MAX, 0, -1};
  h.output(twist(h, x, w, -5, 0, numbers));
  std::get<KernelCall>(h.graph.nodes[0].op).args[3].real = -0.0;
  const std::vector<uint8_t> file = written(h.graph);
  Opened o;
  check_file(file, &o);
  const auto& values = *o.program->execution_plan()->Get(0)->values();
  std::vector<i64> read;
  bool negative_zero = false;
  for (const auto* v : values) {
    if (const auto* l = v->val_as_IntList())
      for (const int64_t item : *l->items())
        read.push_back(values.Get(static_cast<uint32_t>(item))->val_as_Int()->int_val());
    if (const auto* d = v->val_as_Double())
      negative_zero = d->double_val() == 0 && std::signbit(d->double_val());
  }
  EXPECT_EQ(read, numbers);
  EXPECT_TRUE(negative_zero);
}

TEST(WritePte, SameGraphSameBytes) {
  const Network a, b;
  EXPECT_EQ(written(a.h.graph), written(b.h.graph));
}

// What a layer costs beyond its constants: the tables of the six networks must stay below those of
// the reference flow (about 700 bytes).
TEST(WritePte, ALayerTakesFewBytes) {
  const auto size_of = [](int layers) {
    HandMadeGraph h;
    ValueId v = h.input("x", DType::s8, {1, 8, 8, 24}, Axes{0, 2, 3, 1});
    for (int k = 0; k < layers; ++k) {
      const ValueId w = h.constant<int8_t>("w", DType::s8, {16}, counted(16, k));
      v = twist(h, v, w, k, 64 * k);
    }
    h.output(v);
    PteParts parts;
    written(h.graph, &parts);
    return parts.program;
  };
  EXPECT_LE((size_of(30) - size_of(10)) / 20, 350);
}

std::vector<std::span<const std::byte>> spans(const std::vector<std::vector<int8_t>>& list) {
  std::vector<std::span<const std::byte>> s;
  for (const auto& v : list) s.push_back(std::as_bytes(std::span<const int8_t>(v)));
  return s;
}

TEST(Constants, EqualBytesAndBeginningsAppearOnce) {
  const std::vector<int8_t> big = counted(100, 0);
  const std::vector<std::vector<int8_t>> list = {counted(40, 0),  // the beginning of big
                                                 big,
                                                 counted(30, 16),
                                                 big,
                                                 counted(3, 0),
                                                 counted(31, 16),
                                                 counted(5, 1)};
  const ConstantSegment s = lay_out_constants(spans(list));
  std::vector<uint8_t> bytes(s.bytes);
  write_constants(spans(list), s, bytes.data());
  ASSERT_EQ(s.offsets.size(), list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(s.offsets[i] % 16, 0u);
    ASSERT_LE(s.offsets[i] + list[i].size(), s.bytes);
    EXPECT_EQ(std::memcmp(bytes.data() + s.offsets[i], list[i].data(), list[i].size()), 0) << i;
  }
  EXPECT_EQ(s.offsets, (std::vector<uint64_t>{0, 0, 112, 0, 0, 112, 144}));
  EXPECT_EQ(s.bytes, 149u) << "the last one is not padded";
}

TEST(Constants, RandomOnesAreFoundWhereTheyAreSaid) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::vector<int8_t>> list;
    for (int k = 0; k < 12; ++k) {
      std::vector<int8_t> v(random() % 70);
      for (int8_t& x : v) x = static_cast<int8_t>(random() % 2);
      list.push_back(std::move(v));
    }
    const ConstantSegment s = lay_out_constants(spans(list));
    std::vector<uint8_t> bytes(s.bytes);
    write_constants(spans(list), s, bytes.data());
    for (size_t i = 0; i < list.size(); ++i) {
      ASSERT_LE(s.offsets[i] + list[i].size(), s.bytes);
      ASSERT_EQ(s.offsets[i] % 16, 0u);
      EXPECT_TRUE(std::equal(list[i].begin(), list[i].end(),
                             reinterpret_cast<const int8_t*>(bytes.data()) + s.offsets[i]));
    }
  }
}

}  // namespace
}  // namespace deuteron
