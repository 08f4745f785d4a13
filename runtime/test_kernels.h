// SPDX-License-Identifier: Apache-2.0
// Tiny kernels for tests of the loader: what they do is easy to predict.
#pragma once
#include <cstring>

#include "runtime/kernel.h"

namespace deuteron::test {

struct Bytes {
  const uint8_t *a, *b;
  uint8_t *y, *scratch;
  int32_t count;
};

inline Status keep_bytes(Call& call, Prepared* prepared, const Bytes& args,
                         void (*run)(const void*)) {
  Bytes* kept = call.arena->make<Bytes>();
  if (!kept) return out_of_memory();
  *kept = args;
  *prepared = {run, kept};
  return {};
}

inline int32_t bytes_of(const Tensor& t) {
  return t.numel * static_cast<int32_t>(element_bytes(t.type));
}
inline uint8_t* data_of(const Tensor& t) { return static_cast<uint8_t*>(t.data); }

// y = a + b, byte by byte.
inline const Kernel kAdd = {"test::add.out", "TTO",
                            [](Call& c, Prepared* p) {
                              if (bytes_of(c.tensor(0)) != bytes_of(c.tensor(2)))
                                return bad_argument(0, "has another size than the out");
                              if (bytes_of(c.tensor(1)) != bytes_of(c.tensor(2)))
                                return bad_argument(1, "has another size than the out");
                              return keep_bytes(
                                  c, p,
                                  {data_of(c.tensor(0)), data_of(c.tensor(1)), data_of(c.tensor(2)),
                                   nullptr, bytes_of(c.tensor(2))},
                                  [](const void* args) {
                                    const Bytes& k = *static_cast<const Bytes*>(args);
                                    for (int32_t i = 0; i < k.count; ++i)
                                      k.y[i] = static_cast<uint8_t>(k.a[i] + k.b[i]);
                                  });
                            },
                            true};

// y = a reversed: must not work in place.
inline const Kernel kReverse = {
    "test::reverse.out", "TO", [](Call& c, Prepared* p) {
      if (bytes_of(c.tensor(0)) != bytes_of(c.tensor(1)))
        return bad_argument(0, "has another size than the out");
      return keep_bytes(
          c, p,
          {data_of(c.tensor(0)), nullptr, data_of(c.tensor(1)), nullptr, bytes_of(c.tensor(1))},
          [](const void* args) {
            const Bytes& k = *static_cast<const Bytes*>(args);
            for (int32_t i = 0; i < k.count; ++i) k.y[i] = k.a[k.count - 1 - i];
          });
    }};

// Fills its scratch with 255, then y = a.
inline const Kernel kScratch = {"test::scratch.out", "TXO", [](Call& c, Prepared* p) {
                                  if (bytes_of(c.tensor(0)) != bytes_of(c.tensor(2)) ||
                                      bytes_of(c.tensor(1)) != bytes_of(c.tensor(2)))
                                    return bad_argument(1, "has another size than the out");
                                  return keep_bytes(
                                      c, p,
                                      {data_of(c.tensor(0)), nullptr, data_of(c.tensor(2)),
                                       data_of(c.tensor(1)), bytes_of(c.tensor(2))},
                                      [](const void* args) {
                                        const Bytes& k = *static_cast<const Bytes*>(args);
                                        std::memset(k.scratch, 255, static_cast<size_t>(k.count));
                                        std::memcpy(k.y, k.a, static_cast<size_t>(k.count));
                                      });
                                }};

// Takes one argument of each kind; runs as nothing. Its out keeps whatever it had.
inline const Kernel kAny = {"test::any.out", "TtIiFfBLlVSO",
                            [](Call&, Prepared*) { return Status{}; }};

// Two outs, returned as a list.
inline const Kernel kTwo = {"test::two", "TOO", [](Call&, Prepared*) { return Status{}; }};

inline const Kernel* const kTestKernelList[] = {&kAdd, &kReverse, &kScratch, &kAny, &kTwo};
inline const KernelTable kTestKernels = {kTestKernelList, 5};

}  // namespace deuteron::test
