// SPDX-License-Identifier: Apache-2.0
// Whatever a file says, a kernel that prepare() has accepted stays inside its tensors. A valid call
// of it, as a line of words, is spoiled at random and runs under AddressSanitizer and
// UndefinedBehaviorSanitizer; the memory of each tensor is exactly as large as its sizes say. What
// is refused, at which argument and in which words, and how often, stands in tests/refusals: a
// check that is lost or moved shows there.
#pragma once
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>

#include "kernels/common/test_call.h"
#include "tests/paths.h"

namespace deuteron {

struct SpoiledArgument {
  char kind = 'n';  // x tensor, i integer, l list, f real, b boolean, n none
  ScalarType type = ScalarType::s8;
  bool constant = false;
  bool positive = false;  // a constant whose entries are 1..30
  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;
  std::vector<int64_t> numbers;  // of i, b and l
  double real = 0;
};

// A word of a template: x8:2,4,6,7:0231 (sizes, order), x32c:6 (a constant), x32pc:6 (a positive
// one, of x64pc too), xf:.. xu:.. x16:.. x64:.. xb:.., i:5, l:1,1, f:0.5, b:1, n.
inline SpoiledArgument read_argument(const std::string& word) {
  SpoiledArgument a;
  a.kind = word[0];
  const size_t colon = word.find(':');
  std::string head = word.substr(0, colon),
              body = colon == std::string::npos ? "" : word.substr(colon + 1), order;
  if (a.kind == 'x') {
    a.constant = head.back() == 'c';
    if (a.constant) head.pop_back();
    a.positive = head.back() == 'p';
    if (a.positive) head.pop_back();
    a.type = head == "x8"    ? ScalarType::s8
             : head == "x16" ? ScalarType::s16
             : head == "x32" ? ScalarType::s32
             : head == "x64" ? ScalarType::s64
             : head == "xb"  ? ScalarType::b8
             : head == "xf"  ? ScalarType::f32
                             : ScalarType::u8;
    if (const size_t second = body.find(':'); second != std::string::npos)
      order = body.substr(second + 1), body = body.substr(0, second);
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

inline std::vector<SpoiledArgument> read_template(const char* text) {
  std::vector<SpoiledArgument> result;
  std::istringstream in(text);
  for (std::string word; in >> word;) result.push_back(read_argument(word));
  return result;
}

inline int64_t odd_number(Random& random, int64_t now) {
  constexpr int64_t kOdd[] = {0,         1,         -1,        2,         3,
                              4,         7,         31,        -32,       127,
                              128,       -128,      -129,      255,       256,
                              -255,      32767,     65536,     1 << 28,   1 << 29,
                              INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, int64_t{1} << 32};
  if (random.in(0, 1) == 0 && now > INT32_MIN && now < INT32_MAX) return now + random.in(-2, 2);
  return kOdd[random.in(0, static_cast<int32_t>(std::size(kOdd)) - 1)];
}

inline void spoil(SpoiledArgument& a, Random& random) {
  if (a.kind == 'i' || a.kind == 'b')
    a.numbers[0] = a.kind == 'b' ? random.in(0, 1) : odd_number(random, a.numbers[0]);
  if (a.kind == 'f') {
    const double odd[] = {0,
                          -1,
                          1e-46,
                          1e-38,
                          1e38,
                          1e300,
                          std::numeric_limits<double>::quiet_NaN(),
                          std::numeric_limits<double>::infinity(),
                          a.real * 3};
    a.real = odd[random.in(0, 8)];
  }
  if (a.kind == 'l') {
    const int32_t what = random.in(0, 9);
    if (what == 0 && !a.numbers.empty()) a.numbers.pop_back();
    else if (what == 1) a.numbers.push_back(1);
    else if (!a.numbers.empty()) {
      int64_t& n =
          a.numbers[static_cast<size_t>(random.in(0, static_cast<int32_t>(a.numbers.size()) - 1))];
      n = odd_number(random, n);
    }
  }
  if (a.kind != 'x') return;
  const int32_t what = random.in(0, 19);
  if (what == 0) a.type = static_cast<ScalarType>(random.in(0, 7));
  else if (what == 1) a.constant = !a.constant;
  else if (what <= 4 && !a.order.empty())
    std::shuffle(a.order.begin(), a.order.end(), random.engine);
  else if (what == 5)
    a.sizes.insert(a.sizes.begin(), 1), a.order.push_back(static_cast<uint8_t>(a.order.size()));
  else if (what == 6 && !a.sizes.empty()) {
    a.sizes.pop_back();
    a.order.resize(a.sizes.size());
    std::iota(a.order.begin(), a.order.end(), uint8_t{0});
  } else if (!a.sizes.empty()) {
    int32_t& s =
        a.sizes[static_cast<size_t>(random.in(0, static_cast<int32_t>(a.sizes.size()) - 1))];
    if (s < 1 << 20) s = random.in(0, 2) == 0 ? random.in(0, 3) : std::max(0, s + random.in(-2, 2));
    if (s == 0 && random.in(0, 1) == 0)  // beside an extent of 0 the others may be anything
      for (int32_t& other : a.sizes)
        if (&other != &s && random.in(0, 1) == 0) other = 1 << 30;
  }
}

inline TestCall spoiled_call(const Kernel& kernel, const std::vector<SpoiledArgument>& arguments,
                             Random& random) {
  TestCall call(kernel);
  for (const SpoiledArgument& a : arguments) {
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
        for (size_t i = 0; i < bytes; ++i)
          data_of<uint8_t>(t)[i] = static_cast<uint8_t>(random.in(0, 255));
        if (a.constant && a.type == ScalarType::s32)  // in range as a multiplier and as a shift
          for (int32_t i = 0; i < t.numel; ++i)
            data_of<int32_t>(t)[i] = random.in(a.positive ? 1 : -31, 30);
        if (a.constant && a.positive && a.type == ScalarType::s64)
          for (int32_t i = 0; i < t.numel; ++i) data_of<int64_t>(t)[i] = 1 + i % 30;
      }
    }
  }
  return call;
}

// A file for each valid call, named after the kernel and the call.
inline std::string refusals_file(const Kernel& kernel, const char* text) {
  uint32_t hash = 2166136261;  // FNV-1a
  for (const char* c = text; *c; ++c) hash = (hash ^ static_cast<uint8_t>(*c)) * 16777619;
  std::string name = kernel.name;
  for (size_t at; (at = name.find("::")) != std::string::npos;) name.replace(at, 2, ".");
  char digits[8];
  std::snprintf(digits, sizeof digits, "%04x", static_cast<unsigned>(hash >> 16));
  return source_path("tests/refusals/" + name + "." + digits + ".txt");
}

inline void expect_recorded(const Kernel& kernel, const char* text,
                            const std::map<std::string, int>& outcomes) {
  std::ostringstream found;
  found << text << "\n";
  for (const auto& [what, times] : outcomes) found << what << ": " << times << "\n";
  const std::string path = refusals_file(kernel, text);
  if (std::getenv("DEUTERON_WRITE_REFUSALS")) std::ofstream(path) << found.str();
  std::ostringstream recorded;
  recorded << std::ifstream(path).rdbuf();
  EXPECT_EQ(found.str(), recorded.str()) << path << "\nDEUTERON_WRITE_REFUSALS=1 writes it anew";
}

inline void expect_inside(const Kernel& kernel, const char* text) {
  const std::vector<SpoiledArgument> valid = read_template(text);
  Random random(20257);
  int accepted = 0;
  std::map<std::string, int> outcomes;
  for (int i = 0; i < 3000; ++i) {
    std::vector<SpoiledArgument> arguments = valid;
    const int32_t times = i == 0 ? 0 : random.in(1, 3);
    for (int32_t k = 0; k < times; ++k)
      spoil(
          arguments[static_cast<size_t>(random.in(0, static_cast<int32_t>(arguments.size()) - 1))],
          random);
    const bool huge =
        std::any_of(arguments.begin(), arguments.end(),
                    [](const SpoiledArgument& a) {  // and no extent of 0 any more
                      return std::count(a.sizes.begin(), a.sizes.end(), 1 << 30) > 0 &&
                             std::count(a.sizes.begin(), a.sizes.end(), 0) == 0;
                    });
    if (huge) continue;
    TestCall call = spoiled_call(kernel, arguments, random);
    const Status status = call.prepare();
    EXPECT_TRUE(status.ok() || status.detail != nullptr);
    EXPECT_TRUE(i > 0 || status.ok())
        << text << " argument " << status.argument << " " << (status.detail ? status.detail : "");
    ++outcomes[status.ok() ? "taken"
                           : "argument " + std::to_string(status.argument) + " " +
                                 (status.detail ? status.detail : "")];
    if (!status.ok()) continue;
    ++accepted;
    call.run();
  }
  expect_recorded(kernel, text, outcomes);
  EXPECT_GE(accepted, 100) << text;
  testing::Test::RecordProperty(kernel.name, accepted);
}

}  // namespace deuteron
