// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate/spikes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compile/calibrate/test_graph.h"

namespace deuteron {
namespace {

TestGraph spiky_network() {
  TestGraph t;
  t.output(t.node("y", Unary{UnaryFn::gelu}, {t.input("x", {1, 2, 3})}));
  return t;
}

Samples spiky_samples(unsigned count) {
  Samples samples;
  for (unsigned s = 0; s < count; ++s) samples.push_back({random_floats(6, 7 + s, -1, 1)});
  return samples;
}

TEST(Spikes, AreNamedBySampleAndElement) {
  const TestGraph t = spiky_network();
  Samples samples = spiky_samples(24);
  EXPECT_TRUE(find_spikes(t.g, samples).empty());
  samples[17][0][4] = 300;
  const std::vector<Spike> spikes = find_spikes(t.g, samples);
  ASSERT_EQ(spikes.size(), 1u);
  EXPECT_EQ(spikes[0].sample, 17u);
  EXPECT_EQ(spikes[0].value, 300);
  EXPECT_GT(spikes[0].ratio, 250);
  EXPECT_EQ(place_of(t.g, spikes[0]), "`x`[0, 1, 1]");
  EXPECT_EQ(without_spikes(samples, spikes).size(), 23u);
  EXPECT_EQ(only_spikes(samples, spikes)[0][0][4], 300);
}

TEST(Spikes, AreLookedForInEachColumn) {
  const TestGraph t = spiky_network();
  Samples samples = spiky_samples(24);
  for (auto& sample : samples)
    for (size_t k = 0; k < 3; ++k)
      sample[0][k] = 101325 + 800 * sample[0][k];  // beside pressures nobody sees 300
  samples[3][0][5] = 300;
  ASSERT_EQ(find_spikes(t.g, samples).size(), 1u);
  EXPECT_EQ(find_spikes(t.g, samples)[0].sample, 3u);
}

TEST(Spikes, AreNoneWhereNumbersAreSpreadWidely) {
  const TestGraph t = spiky_network();
  Samples samples = spiky_samples(24);
  for (size_t s = 0; s < samples.size(); ++s)  // loud and quiet ones
    for (float& x : samples[s][0]) x *= std::exp2(-static_cast<float>(s));
  EXPECT_TRUE(find_spikes(t.g, samples).empty());
  for (auto& sample : samples) std::ranges::fill(sample[0], 0.0f);
  samples[2][0][1] = 1;  // an event
  EXPECT_TRUE(find_spikes(t.g, samples).empty());
  samples.resize(4);
  samples[1][0][1] = 1000;
  EXPECT_TRUE(find_spikes(t.g, samples).empty()) << "four samples do not say what is usual";
}

}  // namespace
}  // namespace deuteron
