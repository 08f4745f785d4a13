// SPDX-License-Identifier: Apache-2.0
// deuteron sign: a program or a record becomes one of which others can see who made it.
#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/files/read_file.h"
#include "base/files/write_file.h"
#include "cli/options.h"
#include "cli/output_paths.h"
#include "cli/program_file.h"
#include "cli/trust.h"
#include "explain/traces/read_etrecord.h"

namespace deuteron {
namespace {

struct SignOptions {
  std::string file, key, output, json, verify_key;
};

// Only what this program can read again: a signature says that the file is meant to be used.
bool is_of_a_kind_to_sign(const SignOptions& o, std::span<const std::byte> bytes,
                          Diagnostics& diagnostics) {
  if (is_etrecord(bytes))
    return check_signature(bytes, o.file, o.verify_key, diagnostics) &&
           read_etrecord(o.file, diagnostics);
  const auto file = ProgramFile::read(o.file, bytes, diagnostics, o.verify_key);
  if (file && file->has_data_files)
    diagnostics.error(o.file, "has data files (.ptd), which no signature would hold for",
                      "pte.data_file",
                      "write the program with its constants in it: external_constants=False");
  return file && !file->has_data_files;
}

int sign_verb(const SignOptions& o) {
  Diagnostics diagnostics;
  const NamedPath read[] = {{"the file", o.file}, {"--key", o.key}, {"--verify-key", o.verify_key}};
  const NamedPath written[] = {{"-o", o.output}, {"--json", o.json}};
  if (!check_outputs(read, written, diagnostics)) return finish("", diagnostics, {}, "");
  const auto fail = [&] { return finish(o.json, diagnostics, {}, ""); };
  const std::optional<std::vector<std::byte>> bytes = read_file(o.file, diagnostics);
  if (!bytes || !is_of_a_kind_to_sign(o, *bytes, diagnostics)) return fail();
  const std::optional<SigningKey> key = read_signing_key(o.key, diagnostics);
  if (!key) return fail();
  const std::optional<std::vector<uint8_t>> result = sign_file(
      {reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size()}, o.file, *key, diagnostics);
  if (!result || !write_file(o.output, *result, diagnostics)) return fail();
  const std::optional<SignatureFacts> facts = signature_of(*result);
  return finish(o.json, diagnostics,
                {{"file", o.file},
                 {"output", o.output},
                 {"file_bytes", result->size()},
                 {"public_key", facts->public_key},
                 {"sha256", facts->sha256}},
                fmt::format("{}: {} bytes, signed with the key {}\n", o.output, result->size(),
                            facts->public_key));
}

}  // namespace

void add_sign(CommandLine& line) {
  SignOptions* o = nullptr;
  Verb verb = add_verb<SignOptions>(
      line, "sign",
      "sign a program or a record, so that firmware and tools can check where it comes from",
      "deuteron sign model.pte --key key.pem -o signed.pte\n  deuteron run signed.pte --verify-key "
      "key.pub "
      "--input x.npy --output-dir out/",
      sign_verb, o);
  verb.option("file", o->file,
              "a program (.pte) or a record (ETRecord); an existing signature is replaced")
      .value("FILE")
      .required();
  verb.option("--key", o->key,
              "the private key (PEM, Ed25519): openssl genpkey -algorithm ed25519 -out key.pem")
      .value("FILE")
      .required();
  add_verify_key(verb, o->verify_key);
  verb.option("-o,--output", o->output, "the signed file to write").value("OUT").required();
  add_json(verb, o->json);
}

}  // namespace deuteron
