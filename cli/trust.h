// SPDX-License-Identifier: Apache-2.0
// Keys that verbs take: to sign what they write, and to check who made what they read.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "cli/command_line.h"
#include "cli/verb.h"
#include "write/pte/signature.h"

namespace deuteron {

void add_verify_key(Verb& verb, std::string& path);
// What the file says who signed it, if anybody: a line for people, an entry `signature` of the
// JSON.
void tell_signature(std::span<const std::byte> file, std::string& text, Json& json);
std::optional<SigningKey> read_signing_key(const std::string& path, Diagnostics& diagnostics);
// False, with one error: the file at `path`, of these bytes, was changed after it was signed; or
// the public key in the file `key_path` ("": none is asked for) has not signed it.
bool check_signature(std::span<const std::byte> file, const std::string& path,
                     const std::string& key_path, Diagnostics& diagnostics);
// With an error where it cannot be signed.
std::optional<std::vector<uint8_t>> sign_file(std::span<const uint8_t> file,
                                              const std::string& path, const SigningKey& key,
                                              Diagnostics& diagnostics);

}  // namespace deuteron
