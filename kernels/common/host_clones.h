// SPDX-License-Identifier: Apache-2.0
// A portable kernel that a host's library compiles three times: for any x86-64, for AVX2 and for
// AVX-512 (x86-64-v4). Which of them the processor has is found when the program starts. What the
// kernel calls is compiled into it. The bits are the same: nothing is contracted.
#pragma once

#if defined(DEUTERON_HOST_KERNELS) && defined(__x86_64__) && defined(__GNUC__) && \
    !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define DEUTERON_HOST_CLONES \
  [[gnu::target_clones("arch=x86-64-v4", "avx2", "default"), gnu::flatten]]
#else
#define DEUTERON_HOST_CLONES
#endif
