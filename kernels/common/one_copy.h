// SPDX-License-Identifier: Apache-2.0
// For a function that is called from several places, with constants among its arguments: gcc
// inlines it or makes a copy for each of them.
#pragma once
#if defined(__clang__)
#define DEUTERON_ONE_COPY [[gnu::noinline]]
#else
#define DEUTERON_ONE_COPY [[gnu::noinline, gnu::noclone]]
#endif
