// SPDX-License-Identifier: Apache-2.0
// Ed25519 (RFC 8032) verification for the test of signed programs on a board: small and slow,
// checked by that test alone. It stands in for the platform's own: do not ship it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace deuteron::test {

bool verify_ed25519_slowly(void*, const uint8_t* public_key, const uint8_t* message, size_t bytes,
                           const uint8_t* signature);

}  // namespace deuteron::test
