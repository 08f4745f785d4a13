// Whatever a file says, a kernel that prepare() has accepted stays inside its tensors: valid calls of every kernel, spoiled at random, run
// under AddressSanitizer and UndefinedBehaviorSanitizer. The memory of each tensor is exactly as large as its sizes say.
#include "ops/kernels.h"

#include <limits>
#include <sstream>
#include <string>

#include "ops/test_call.h"

namespace deuteron {
namespace {

struct Argument {
  char kind = 'n';  // x tensor, i integer, l list, f real, b boolean, n none
  ScalarType type = ScalarType::s8;
  bool constant = false;
  bool positive = false;  // a constant whose entries are 1..30
  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;
  std::vector<int64_t> numbers;  // of i, b and l
  double real = 0;
};

// A word of a template: x8:2,4,6,7:0231 (sizes, order), x32c:6 (a constant), x32pc:6 (a positive one), xf:.. xu:.. x16:.., i:5, l:1,1,
// f:0.5, b:1, n.
Argument read_argument(const std::string& word) {
  Argument a;
  a.kind = word[0];
  const size_t colon = word.find(':');
  std::string head = word.substr(0, colon), body = colon == std::string::npos ? "" : word.substr(colon + 1), order;
  if (a.kind == 'x') {
    a.constant = head.back() == 'c';
    if (a.constant) head.pop_back();
    a.positive = head.back() == 'p';
    if (a.positive) head.pop_back();
    a.type = head == "x8"    ? ScalarType::s8
             : head == "x16" ? ScalarType::s16
             : head == "x32" ? ScalarType::s32
             : head == "xf"  ? ScalarType::f32
                             : ScalarType::u8;
    if (const size_t second = body.find(':'); second != std::string::npos) order = body.substr(second + 1), body = body.substr(0, second);
  }
  if (a.kind == 'f') {
    a.real = std::stod(body);
    return a;
  }
  std::istringstream numbers(body);
  for (std::string n; std::getline(numbers, n, ',');) {
    if (a.kind == 'x') a.sizes.push_back(std::stoi(n));
    else a.numbers.push_back(std::stoll(n));
  }
  for (char c : order) a.order.push_back(static_cast<uint8_t>(c - '0'));
  if (a.kind == 'x' && order.empty())
    for (size_t k = 0; k < a.sizes.size(); ++k) a.order.push_back(static_cast<uint8_t>(k));
  return a;
}

std::vector<Argument> read_template(const char* text) {
  std::vector<Argument> result;
  std::istringstream in(text);
  for (std::string word; in >> word;) result.push_back(read_argument(word));
  return result;
}

int64_t odd_number(Random& random, int64_t now) {
  constexpr int64_t kOdd[] = {0,         1,         -1,        2,         3,
                              4,         7,         31,        -32,       127,
                              128,       -128,      -129,      255,       256,
                              -255,      32767,     65536,     1 << 28,   1 << 29,
                              INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, int64_t{1} << 32};
  if (random.in(0, 1) == 0 && now > INT32_MIN && now < INT32_MAX) return now + random.in(-2, 2);
  return kOdd[random.in(0, static_cast<int32_t>(std::size(kOdd)) - 1)];
}

void spoil(Argument& a, Random& random) {
  if (a.kind == 'i' || a.kind == 'b') a.numbers[0] = a.kind == 'b' ? random.in(0, 1) : odd_number(random, a.numbers[0]);
  if (a.kind == 'f') {
    const double odd[] = {
        0, -1, 1e-46, 1e-38, 1e38, 1e300, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), a.real * 3};
    a.real = odd[random.in(0, 8)];
  }
  if (a.kind == 'l') {
    const int32_t what = random.in(0, 9);
    if (what == 0 && !a.numbers.empty()) a.numbers.pop_back();
    else if (what == 1) a.numbers.push_back(1);
    else if (!a.numbers.empty()) {
      int64_t& n = a.numbers[static_cast<size_t>(random.in(0, static_cast<int32_t>(a.numbers.size()) - 1))];
      n = odd_number(random, n);
    }
  }
  if (a.kind != 'x') return;
  const int32_t what = random.in(0, 19);
  if (what == 0) a.type = static_cast<ScalarType>(random.in(0, 7));
  else if (what == 1) a.constant = !a.constant;
  else if (what <= 4 && !a.order.empty()) std::shuffle(a.order.begin(), a.order.end(), random.engine);
  else if (what == 5) a.sizes.insert(a.sizes.begin(), 1), a.order.push_back(static_cast<uint8_t>(a.order.size()));
  else if (what == 6 && !a.sizes.empty()) {
    a.sizes.pop_back();
    a.order.resize(a.sizes.size());
    std::iota(a.order.begin(), a.order.end(), uint8_t{0});
  } else if (!a.sizes.empty()) {
    int32_t& s = a.sizes[static_cast<size_t>(random.in(0, static_cast<int32_t>(a.sizes.size()) - 1))];
    if (s < 1 << 20) s = random.in(0, 2) == 0 ? random.in(0, 3) : std::max(0, s + random.in(-2, 2));
    if (s == 0 && random.in(0, 1) == 0)  // beside an extent of 0 the others may be anything
      for (int32_t& other : a.sizes)
        if (&other != &s && random.in(0, 1) == 0) other = 1 << 30;
  }
}

TestCall call_of(const Kernel& kernel, const std::vector<Argument>& arguments, Random& random) {
  TestCall call(kernel);
  for (const Argument& a : arguments) {
    switch (a.kind) {
      case 'i':
        call.integer(a.numbers[0]);
        break;
      case 'b':
        call.boolean(a.numbers[0] != 0);
        break;
      case 'f':
        call.real(a.real);
        break;
      case 'l':
        call.integers(a.numbers);
        break;
      case 'n':
        call.none();
        break;
      default: {
        Tensor& t = call.tensor(a.type, a.sizes, a.order);
        t.constant = a.constant;
        const size_t bytes = static_cast<size_t>(t.numel) * element_bytes(a.type);
        for (size_t i = 0; i < bytes; ++i) data_of<uint8_t>(t)[i] = static_cast<uint8_t>(random.in(0, 255));
        if (a.constant && a.type == ScalarType::s32)  // in range as a multiplier and as a shift
          for (int32_t i = 0; i < t.numel; ++i) data_of<int32_t>(t)[i] = random.in(a.positive ? 1 : -31, 30);
      }
    }
  }
  return call;
}

struct Template {
  const Kernel* kernel;
  const char* arguments;
};
const Template kTemplates[] = {
    {&kQuantizePerTensor, "xf:2,3,4,5:0231 f:0.05 i:3 i:-128 i:127 i:1 x8:2,3,4,5:0231"},
    {&kQuantizePerTensor, "xf:7,3 f:0.05 i:300 i:-30000 i:32767 i:2 x16:7,3"},
    {&kDequantizePerTensor, "x8:2,3,4,5:0231 f:0.05 i:3 i:-128 i:127 i:1 xf:2,3,4,5:0231"},
    {&kDequantizePerTensor, "x16:9 f:0.05 i:300 i:-30000 i:32767 i:2 xf:9"},
    {&kQuantizedAdd,
     "x8:2,3,4,5:0231 i:-128 i:1118190138 i:-2 x8:2,3,4,5:0231 i:31 i:1073741824 i:0 i:14 i:2051533446 i:-19 i:-128 i:127 x8:2,3,4,5:0231"},
    {&kQuantizedAdd,
     "x8:1,3,1,1:0231 i:-128 i:1118190138 i:-2 x8:2,3,4,5:0231 i:31 i:1073741824 i:0 i:14 i:2051533446 i:-19 i:-128 i:127 x8:2,3,4,5:0231"},
    {&kQuantizedMul, "x8:2,3,4,5:0231 i:-49 x8:1,3,1,1:0123 i:-128 i:-115 i:1197340606 i:-6 x8:2,3,4,5:0231"},
    {&kQuantizedMul, "x8:6,5 i:-49 x8:6,5 i:-300 i:-115 i:1197340606 i:-6 x8:6,5"},
    {&kQuantizedDiv, "x8:6,5 i:-49 x8:6,5 i:-12 i:-115 f:1.5 x8:6,5"},
    {&kQuantizedActivation, "x8:2,3,4,5:0231 x8c:256 x8:2,3,4,5:0231"},
    {&kMinimum, "x8:2,3,4,5:0231 x8:3,1,5:012 x8:2,3,4,5:0123"},
    {&kMaximum, "x8:2,3,4,5:0231 x8:2,3,4,5:0231 x8:2,3,4,5:0231"},
    {&kQuantizedLinear, "x8:3,2,9 x8c:6,9 x32c:6 n i:-120 i:0 i:-128 l:1231339291 l:-7 i:127 i:-128 x8:3,2,6"},
    {&kQuantizedLinear, "x8:4,9 x8c:6,9 n x32c:1,6 i:-120 i:5 i:-128 l:1231339291 l:-7 i:127 i:-128 x8:4,6"},
    {&kSoftmax, "x8:4,9 i:-1 i:5 i:-128 i:1080227072 i:24 i:-124 x8:4,9"},
    {&kSoftmax, "x8:2,5,3,4:0231 i:1 i:5 i:-128 i:1080227072 i:24 i:-124 x8:2,5,3,4:0231"},
    {&kTranspose, "x8:2,3,4,5:0231 l:0,2,3,1 x8:2,4,5,3:0123"},
    {&kTranspose, "x8:3,4,5 l:2,0,1 x8:5,3,4"},
    {&kPad, "x8:2,3,4,5:0231 l:0,1,2,0 l:0,3,1,0 i:84 x8:2,3,8,8:0231"},
    {&kPad, "x8:4,5 l:0,0,1,2 l:0,0,3,1 i:84 x8:8,8"},
    {&kQuantizedConv2d, "x8:2,4,6,7:0231 x8c:6,3,3,2 x32c:6 l:1,1 l:1,1 l:1,1 i:12 i:11 x32c:6 x32c:6 i:-128 i:127 xu:0 x8:2,6,6,7:0231"},
    {&kQuantizedConv2d, "x8:1,3,5,6:0231 x8c:4,1,1,3 n l:2,2 l:0,0 l:1,1 i:12 i:11 x32c:4 x32c:4 i:-128 i:127 xu:8 x8:1,4,3,3:0231"},
    {&kQuantizedDepthwiseConv2d,
     "x8:1,4,6,7:0231 x8c:1,3,3,8 x32c:8 l:1,2 l:1,0 l:1,1 i:2 i:1 i:12 x32c:8 x32c:8 i:-128 i:127 xu:0 x8:1,8,6,3:0231"},
    {&kQuantizedDepthwiseConv2d,
     "x8:1,5,6,7:0231 x8c:1,3,2,5 n l:1,1 l:1,1 l:2,1 i:1 i:1 i:12 x32c:5 x32c:5 i:-128 i:127 xu:0 x8:1,5,4,8:0231"},
    {&kQuantizedTransposeConv2d,
     "x8:1,4,4,5:0231 x8c:3,2,2,4 x32c:3 l:2,2 l:0,0 l:0,0 l:1,1 i:2 i:-21 x32c:3 x32c:3 i:-128 i:127 xu:8 xu:0 x8:1,3,8,10:0231"},
    {&kQuantizedAvgPool2d, "x8:2,3,7,9:0231 l:3,3 l:2,2 l:1,1 b:0 i:-128 i:1830453504 i:-4 xu:0 x8:2,3,4,5:0231"},
    {&kQuantizedMaxPool2d, "x8:2,3,7,9:0231 l:3,3 l:2,2 l:1,1 l:1,1 b:0 i:-34 i:-34 i:-128 i:127 x8:2,3,4,5:0231"},
    {&kQuantizedBatchMatmul, "x8:2,4,6 i:41 x8:2,5,6 i:4 i:41 i:1109366862 i:-6 xu:0 x8:2,4,5"},
    {&kLstm,
     "x8:2,3,4 x8:2,3,2 x8c:2,8,4 x8c:2,8,2 x32pc:2,8 x32pc:2,2,8 x32pc:2,8 x32pc:2,2,8 x32pc:2,8 b:0 b:0 b:1 i:-5 i:1500000000 i:-22 "
     "x8:2,3,2 i:12 i:3 i:1400000000 i:6 i:-7 i:1300000000 i:-21 x8:2,3,4 x8:2,3,2 x8:2,3,2 xu:4"},
    {&kGru,
     "x8:2,3,4 x8:1,2,2 x8c:1,6,4 x8c:1,6,2 x32pc:1,6 x32pc:1,2,6 x32pc:1,6 x32pc:1,2,6 x32pc:1,6 b:1 b:1 b:1 i:-5 i:1500000000 i:-22 "
     "i:15 i:3 i:1400000000 i:6 x8:2,3,2 x8:1,2,2 xu:4"},
    {&kRnn,
     "x8:2,3,4 n x8c:1,2,4 x8c:1,2,2 x32pc:1,2 x32pc:1,1,2 x32pc:1,2 x32pc:1,1,2 x32pc:1,2 b:0 b:0 b:0 i:-5 i:1500000000 i:-22 b:1 xu:4 "
     "x8:1,3,2"},
};

TEST(Kernels, StayInsideTheirTensorsWhateverTheArguments) {
  for (const Template& t : kTemplates) {
    const std::vector<Argument> valid = read_template(t.arguments);
    Random random(20257);
    int accepted = 0;
    for (int i = 0; i < 3000; ++i) {
      std::vector<Argument> arguments = valid;
      const int32_t times = i == 0 ? 0 : random.in(1, 3);
      for (int32_t k = 0; k < times; ++k)
        spoil(arguments[static_cast<size_t>(random.in(0, static_cast<int32_t>(arguments.size()) - 1))], random);
      const bool huge = std::any_of(arguments.begin(), arguments.end(), [](const Argument& a) {  // and no extent of 0 any more
        return std::count(a.sizes.begin(), a.sizes.end(), 1 << 30) > 0 && std::count(a.sizes.begin(), a.sizes.end(), 0) == 0;
      });
      if (huge) continue;
      TestCall call = call_of(*t.kernel, arguments, random);
      const int refused = call.refused();
      EXPECT_TRUE(i > 0 || refused == -1) << t.arguments << " argument " << refused;
      if (refused >= 0) continue;
      ++accepted;
      call.run();
    }
    EXPECT_GE(accepted, 100) << t.arguments;
    RecordProperty(t.kernel->name, accepted);
  }
}

TEST(Kernels, HaveTheNamesOfTheDialect) {
  const char* const names[] = {"quantize_per_tensor",
                               "dequantize_per_tensor",
                               "quantized_add",
                               "quantized_mul",
                               "quantized_div",
                               "quantized_activation",
                               "minimum",
                               "maximum",
                               "quantized_linear",
                               "softmax",
                               "transpose",
                               "pad",
                               "quantized_conv2d",
                               "quantized_depthwise_conv2d",
                               "quantized_transpose_conv2d",
                               "quantized_avg_pool2d",
                               "quantized_max_pool2d",
                               "quantized_batch_matmul"};
#define DEUTERON_ADDRESS(name) &name,
  const Kernel* const kernels[] = {DEUTERON_DIALECT_KERNELS(DEUTERON_ADDRESS)};
#undef DEUTERON_ADDRESS
  ASSERT_EQ(std::size(kernels), std::size(names));
  for (size_t i = 0; i < 18; ++i) EXPECT_EQ(kernels[i]->name, "cortex_m::" + std::string(names[i]) + ".out");
}

}  // namespace
}  // namespace deuteron
