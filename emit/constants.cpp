#include "emit/constants.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>
#include <unordered_map>

namespace deuteron {
namespace {

using Bytes = std::span<const std::byte>;

std::string_view text_of(Bytes b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

uint32_t first_word(const std::byte* p) {
  uint32_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

struct Home {
  int32_t in = -1;  // the constant that contains it, itself if none does
  int64_t at = 0;
};

// Looks in each larger constant, at each 16-aligned place, for the beginnings of smaller ones. One pass over all bytes.
void find_containers(const std::vector<Bytes>& constants, const std::vector<int32_t>& largest_first, std::vector<Home>& home) {
  std::unordered_map<uint32_t, std::vector<int32_t>> begins_with;
  for (const int32_t i : largest_first)
    if (constants[i].size() >= sizeof(uint32_t)) begins_with[first_word(constants[i].data())].push_back(i);
  for (const int32_t outer : largest_first) {
    const Bytes whole = constants[outer];
    for (size_t at = 0; at + sizeof(uint32_t) <= whole.size(); at += kConstantAlignment) {
      const auto found = begins_with.find(first_word(whole.data() + at));
      if (found == begins_with.end()) continue;
      for (const int32_t inner : found->second) {
        const Bytes part = constants[inner];
        if (home[inner].in != inner || part.size() >= whole.size() || part.size() > whole.size() - at) continue;
        if (std::memcmp(part.data(), whole.data() + at, part.size()) == 0) home[inner] = {outer, static_cast<int64_t>(at)};
      }
    }
  }
}

}  // namespace

ConstantSegment lay_out_constants(std::span<const Bytes> constants) {
  std::vector<Bytes> distinct;
  std::vector<int32_t> which;  // by constant: index into `distinct`
  std::unordered_map<std::string_view, int32_t> known;
  for (const Bytes c : constants) {
    const auto [it, added] = known.emplace(text_of(c), static_cast<int32_t>(distinct.size()));
    if (added) distinct.push_back(c);
    which.push_back(it->second);
  }
  std::vector<int32_t> largest_first(distinct.size());
  std::iota(largest_first.begin(), largest_first.end(), 0);
  std::stable_sort(largest_first.begin(), largest_first.end(), [&](int32_t a, int32_t b) { return distinct[a].size() > distinct[b].size(); });
  std::vector<Home> home(distinct.size());
  for (size_t i = 0; i < home.size(); ++i) home[i].in = static_cast<int32_t>(i);
  find_containers(distinct, largest_first, home);

  ConstantSegment segment;
  std::vector<uint64_t> offset(distinct.size());
  for (size_t i = 0; i < distinct.size(); ++i) {  // in the order of their first use
    if (home[i].in != static_cast<int32_t>(i) || distinct[i].empty()) continue;
    segment.bytes.resize((segment.bytes.size() + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment);
    offset[i] = segment.bytes.size();
    const auto* begin = reinterpret_cast<const uint8_t*>(distinct[i].data());
    segment.bytes.insert(segment.bytes.end(), begin, begin + distinct[i].size());
  }
  for (const int32_t i : largest_first)  // a container is larger, so it has its offset already
    if (home[i].in != i) offset[i] = offset[home[i].in] + static_cast<uint64_t>(home[i].at);
  for (const int32_t i : which) segment.offsets.push_back(offset[i]);
  if (segment.bytes.empty() && !constants.empty()) segment.bytes.resize(kConstantAlignment);  // loaders want a place even for no bytes
  return segment;
}

}  // namespace deuteron
