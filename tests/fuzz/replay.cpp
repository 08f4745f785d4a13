// SPDX-License-Identifier: Apache-2.0
// Fuzz targets on the inputs that are kept of them: fuzz_replay FOLDER [--change TIMES [SEED]]
// [--each-byte] [TARGET ...]. A folder of the target's name has its inputs. With --change also on
// random changes of them, TIMES the number in fuzz.cmake; those of SEED are always the same. With
// --each-byte also on each input cut anywhere, and with any one byte changed to any other. The
// input at work is in fuzz_replay.TARGET. That is no match for `./dev fuzz`, which sees what its
// changes reach, but needs no clang.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/fuzz/change_field.h"

#define DEUTERON_FUZZ_TARGET(name, most, schema, changed) \
  extern "C" int fuzz_##name(const uint8_t*, size_t);
#include "fuzz_targets.inc"
#undef DEUTERON_FUZZ_TARGET

namespace {

struct FuzzTarget {
  std::string name;
  int (*run)(const uint8_t*, size_t);
  size_t most_bytes;
  std::string schema;  // "-": it has none
  size_t changed;      // inputs that a test runs
};
#define DEUTERON_FUZZ_TARGET(name, most, schema, changed) \
  {#name, fuzz_##name, most, schema, changed},
const FuzzTarget kTargets[] = {
#include "fuzz_targets.inc"
};
#undef DEUTERON_FUZZ_TARGET

using Bytes = std::vector<uint8_t>;

std::vector<Bytes> read_all(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Bytes> all;
  for (const std::filesystem::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::vector<char> text((std::istreambuf_iterator<char>(stream)),
                                 std::istreambuf_iterator<char>());
    all.emplace_back(text.begin(), text.end());
  }
  return all;
}

void change(Bytes& b, const std::vector<Bytes>& others, std::mt19937& random) {
  static constexpr uint8_t kOdd[] = {0, 1, 0x7f, 0x80, 0xff, ' ', '\n', '-', '9', '"'};
  for (auto times = 1 + random() % 4; times > 0; --times) {
    const size_t at = b.empty() ? 0 : random() % b.size(),
                 some = std::min<size_t>(b.size() - at, 1 + random() % 8);
    const auto from = b.begin() + static_cast<std::ptrdiff_t>(at);
    const Bytes& other = others[random() % others.size()];
    switch (random() % 6) {
      case 0:
        if (!b.empty()) b[at] = static_cast<uint8_t>(random());
        break;
      case 1:
        if (!b.empty()) b[at] = kOdd[random() % std::size(kOdd)];
        break;
      case 2:
        b.erase(from, from + static_cast<std::ptrdiff_t>(some));
        break;
      case 3:
        b.insert(from, some, kOdd[random() % std::size(kOdd)]);
        break;
      case 4:
        b.resize(at);
        break;
      default:
        if (!other.empty()) {
          const size_t begin = random() % other.size(),
                       count = std::min<size_t>(other.size() - begin, 1 + random() % 64);
          b.insert(from, other.begin() + static_cast<std::ptrdiff_t>(begin),
                   other.begin() + static_cast<std::ptrdiff_t>(begin + count));
        }
    }
  }
}

// The input at work, in a file that stays open: to close one costs more than most inputs.
class AtWork {
 public:
  explicit AtWork(const std::string& path)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (file_ < 0) std::perror(path.c_str()), std::abort();
  }
  AtWork(const AtWork&) = delete;
  ~AtWork() { ::close(file_); }
  void is(const Bytes& b) const {
    if (::pwrite(file_, b.data(), b.size(), 0) != static_cast<ssize_t>(b.size()) ||
        ::ftruncate(file_, static_cast<off_t>(b.size())) != 0)
      std::abort();
  }

 private:
  int file_;
};

void run_changed(const FuzzTarget& target, const std::vector<Bytes>& inputs, size_t times,
                 uint32_t seed) {
  const AtWork at_work("fuzz_replay." + target.name);
  std::mt19937 random(seed);
  for (size_t k = 0; k < times; ++k) {
    Bytes b = inputs[random() % inputs.size()];
    const bool by_field =
        target.schema != "-" && random() % 2 &&
        deuteron::test::change_field(b, target.schema, static_cast<uint32_t>(random()));
    if (!by_field) change(b, inputs, random);
    b.resize(std::min(b.size(), target.most_bytes));
    b.shrink_to_fit();
    at_work.is(b);
    target.run(b.data(), b.size());
  }
}

// Every file that one changed byte or a cut makes of each input.
size_t run_each_byte(const FuzzTarget& target, const std::vector<Bytes>& inputs) {
  const AtWork at_work("fuzz_replay." + target.name);
  size_t tried = 0;
  const auto run = [&](const Bytes& b) {
    at_work.is(b);
    target.run(b.data(), b.size());
    ++tried;
  };
  for (const Bytes& input : inputs) {
    for (size_t cut = 0; cut < input.size(); ++cut)
      run(Bytes(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(cut)));
    Bytes b = input;
    for (auto& byte : b)
      for (int k = 0; k < 256; ++k) {
        if (++byte; k < 255) run(b);  // the last one is what it was
      }
  }
  return tried;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> wanted(argv + std::min(argc, 2), argv + argc);
  size_t times = 0;
  uint32_t seed = 1;
  const auto number = [&](auto& value) {
    if (wanted.empty() || wanted[0].find_first_not_of("0123456789") != std::string::npos) return;
    value = static_cast<std::remove_reference_t<decltype(value)>>(std::stoul(wanted[0]));
    wanted.erase(wanted.begin());
  };
  if (!wanted.empty() && wanted[0] == "--change") {
    wanted.erase(wanted.begin());
    number(times), number(seed);
  }
  const bool each_byte = !wanted.empty() && wanted[0] == "--each-byte";
  if (each_byte) wanted.erase(wanted.begin());
  bool is_complete = argc >= 2;
  for (const FuzzTarget& target : kTargets) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), target.name) == wanted.end())
      continue;
    const std::vector<Bytes> inputs =
        argc >= 2 ? read_all(std::filesystem::path(argv[1]) / target.name) : std::vector<Bytes>();
    const auto start = std::chrono::steady_clock::now();
    for (const Bytes& b : inputs) target.run(b.data(), b.size());
    const size_t random = inputs.empty() ? 0 : times * target.changed;
    run_changed(target, inputs, random, seed);
    const size_t changed = random + (each_byte ? run_each_byte(target, inputs) : 0);
    const double took =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%-12s %4zu inputs, %zu changed, in %.2f s\n", target.name.c_str(), inputs.size(),
                changed, took);
    std::fflush(stdout);
    is_complete = is_complete && !inputs.empty();
  }
  if (!is_complete) std::printf("a target without inputs: this test looks at nothing there\n");
  return is_complete ? 0 : 1;
}
