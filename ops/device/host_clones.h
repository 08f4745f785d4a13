// A portable kernel that a host's library compiles twice: for any x86-64, and for processors with AVX2, which the program asks for when it
// starts. What the kernel calls is compiled into it. The bits are the same: nothing is contracted.
#pragma once

#if defined(DEUTERON_HOST_KERNELS) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define DEUTERON_HOST_CLONES [[gnu::target_clones("avx2", "default"), gnu::flatten]]
#else
#define DEUTERON_HOST_CLONES
#endif
