// SPDX-License-Identifier: Apache-2.0
// Signed files: the runtime and the host take what a key has signed, and nothing else.
#include "write/pte/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

#include "explain/report/test_map.h"
#include "explain/traces/write_etrecord.h"
#include "runtime/signature.h"
#include "runtime/test_kernels.h"
#include "runtime/test_program.h"

namespace deuteron {
namespace {
using Bytes = std::vector<uint8_t>;
using test::Block;
using test::kTestKernels;

// RFC 8032, section 7.1, tests 1 and 2.
constexpr char kPrivate1[] =
    "-----BEGIN PRIVATE "
    "KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE "
    "KEY-----\n";
constexpr char kPublic1[] =
    "-----BEGIN PUBLIC "
    "KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC "
    "KEY-----\n";
constexpr char kPrivate2[] =
    "-----BEGIN PRIVATE "
    "KEY-----\nMC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n-----END PRIVATE "
    "KEY-----\n";
constexpr char kHex1[] = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
constexpr char kHex2[] = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}
SigningKey key_of(const char* pem) {
  Diagnostics diagnostics;
  return parse_signing_key(as_bytes(pem), "key.pem", diagnostics).value();
}
Bytes program() { return test::two_calls().bytes(); }
Bytes signed_program(const char* pem = kPrivate1) { return sign(program(), key_of(pem)).value(); }

// What the host says of a file: the rule, or "".
std::string complaint(const Bytes& file, const std::optional<PublicKey>& trusted) {
  Diagnostics diagnostics;
  const bool ok = check_signature(file, "p.pte", trusted, diagnostics);
  EXPECT_EQ(ok, diagnostics.list().empty());
  return ok ? "" : diagnostics.list()[0].rule;
}
// What the device says.
Trust trust_in(const Bytes& file, const PublicKey& key) {
  const Block block(file);  // any read outside is seen
  return check_signature(block.file(), {key.data(), verify_ed25519, nullptr});
}

TEST(Signature, KeysAreThoseOfRfc8032) {
  EXPECT_EQ(to_hex(key_of(kPrivate1).public_key), kHex1);
  EXPECT_EQ(to_hex(key_of(kPrivate2).public_key), kHex2);
  Diagnostics diagnostics;
  EXPECT_EQ(to_hex(parse_public_key(as_bytes(kPublic1), "key.pub", diagnostics).value()), kHex1);
  EXPECT_FALSE(parse_public_key(as_bytes(kPrivate1), "key.pem", diagnostics));
  EXPECT_FALSE(parse_signing_key(as_bytes(kPublic1), "key.pub", diagnostics));
  EXPECT_EQ(diagnostics.list().size(), 2u);
}

TEST(Signature, OfRfc8032IsRight) {
  const SigningKey key = key_of(kPrivate2);  // test 2: the message is the byte 0x72
  Bytes signature;
  const std::string hex =
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f1"
      "1d8c387b2eaeb4302aeeb00d291612bb0c00";
  for (size_t i = 0; i < hex.size(); i += 2)
    signature.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  const uint8_t message = 0x72, other = 0x73;
  EXPECT_TRUE(verify_ed25519(nullptr, key.public_key.data(), &message, 1, signature.data()));
  EXPECT_FALSE(verify_ed25519(nullptr, key.public_key.data(), &other, 1, signature.data()));
}

TEST(Signature, IsBehindTheFileAndOfAllInFrontOfIt) {
  const Bytes plain = program(), file = signed_program();
  ASSERT_EQ(file.size(), plain.size() + sizeof(SignatureSection));
  EXPECT_TRUE(std::equal(plain.begin(), plain.end(), file.begin()));
  const Block block(file);
  EXPECT_EQ(without_signature(block.file()).bytes, plain.size());
  struct Seen {
    const uint8_t* message = nullptr;
    size_t bytes = 0;
  } seen;
  const auto look = [](void* context, const uint8_t*, const uint8_t* message, size_t bytes,
                       const uint8_t* signature) {
    *static_cast<Seen*>(context) = {message, bytes};
    return signature == message + bytes;
  };
  const PublicKey key = key_of(kPrivate1).public_key;
  EXPECT_EQ(check_signature(block.file(), {key.data(), look, &seen}), Trust::trusted);
  EXPECT_EQ(seen.message, block.data());
  EXPECT_EQ(seen.bytes, file.size() - 64);
}

TEST(Signature, ASignedProgramRunsAsTheOtherDoes) {
  const PublicKey key = key_of(kPrivate1).public_key;
  const Block file(signed_program());
  Needs needs;
  ASSERT_TRUE(measure(file.file(), kTestKernels, &needs).ok());
  const Block tables(needs.tables_bytes), planned(needs.planned_bytes);
  Program p;
  Trust trust = Trust::changed;
  const TrustedKey trusted{key.data(), verify_ed25519, nullptr};
  ASSERT_TRUE(
      load_signed(p, file.file(), trusted, kTestKernels, tables.memory(), planned.memory(), &trust)
          .ok());
  EXPECT_EQ(trust, Trust::trusted);
  const Bytes a(30, 5), b(30, 7);
  ASSERT_TRUE(p.set_input(0, a.data(), a.size()).ok() && p.set_input(1, b.data(), b.size()).ok());
  ASSERT_TRUE(p.run().ok());
  EXPECT_EQ(static_cast<const uint8_t*>(p.output(0).data)[0], 12);

  // One that is not trusted leaves nothing of the one before, and is not looked into.
  const Block bad(Bytes(200, 0xFF));
  const Status s =
      load_signed(p, bad.file(), trusted, kTestKernels, tables.memory(), planned.memory(), &trust);
  EXPECT_EQ(s.code, Code::bad_input);
  EXPECT_EQ(trust, Trust::no_signature);
  EXPECT_EQ(p.output_count(), 0);
  for (const TrustedKey& nobody :
       {TrustedKey{key.data(), nullptr, nullptr}, TrustedKey{nullptr, verify_ed25519, nullptr}}) {
    EXPECT_EQ(
        load_signed(p, file.file(), nobody, kTestKernels, tables.memory(), planned.memory(), &trust)
            .code,
        Code::bad_input);
    EXPECT_EQ(trust, Trust::no_verifier);
  }
  const Block other(signed_program(kPrivate2));
  EXPECT_THAT(
      load_signed(p, other.file(), trusted, kTestKernels, tables.memory(), planned.memory()).detail,
      testing::HasSubstr("another key"));
}

TEST(Signature, EveryChangedBitIsSeen) {
  const PublicKey key = key_of(kPrivate1).public_key;
  const Bytes file = signed_program();
  EXPECT_EQ(trust_in(file, key), Trust::trusted);
  EXPECT_EQ(complaint(file, key), "");
  EXPECT_EQ(complaint(file, std::nullopt), "");
  const size_t section = file.size() - sizeof(SignatureSection);
  for (size_t at = 0; at < file.size(); ++at)
    for (const int bit : {0, 7}) {
      Bytes changed = file;
      changed[at] ^= static_cast<uint8_t>(1 << bit);
      const bool in_magic = at >= section && at < section + 8,
                 in_key = at >= section + 40 && at < section + 72;
      EXPECT_EQ(trust_in(changed, key), in_magic ? Trust::no_signature
                                        : in_key ? Trust::other_key
                                                 : Trust::changed)
          << at;
      EXPECT_EQ(complaint(changed, key), in_magic ? "signature.none"
                                         : in_key ? "signature.other_key"
                                                  : "signature.changed")
          << at;
      EXPECT_EQ(complaint(changed, std::nullopt), in_magic ? "" : "signature.changed") << at;
    }
}

TEST(Signature, EveryCutIsSeen) {
  const PublicKey key = key_of(kPrivate1).public_key;
  const Bytes file = signed_program();
  for (size_t n = 0; n < file.size(); ++n) {
    const Bytes end(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n)),
        start(file.end() - static_cast<std::ptrdiff_t>(n), file.end());
    EXPECT_EQ(trust_in(end, key), Trust::no_signature) << n;
    EXPECT_NE(trust_in(start, key), Trust::trusted) << n;
    EXPECT_EQ(complaint(end, key), "signature.none") << n;
    EXPECT_EQ(complaint(end, std::nullopt),
              n >= file.size() - sizeof(SignatureSection) + 4 ? "signature.none" : "")
        << n;
  }
}

// A section that is right for a part of the file is wrong for the file.
TEST(Signature, OfAPartIsNoSignature) {
  const PublicKey key = key_of(kPrivate1).public_key;
  const Bytes file = signed_program(), plain = program();
  const Bytes section(file.end() - sizeof(SignatureSection), file.end());
  Bytes longer = plain, twice = file, before(16, 0), inside = plain;
  longer.resize(longer.size() + 16);
  inside.insert(inside.begin() + 64, 0);
  before.insert(before.end(), plain.begin(), plain.end());
  for (Bytes* all : {&longer, &twice, &before, &inside}) {
    all->insert(all->end(), section.begin(), section.end());
    EXPECT_EQ(trust_in(*all, key), Trust::changed);
    EXPECT_EQ(complaint(*all, key), "signature.changed");
  }
  Bytes behind = file;
  behind.push_back(0);
  EXPECT_EQ(trust_in(behind, key), Trust::no_signature);
}

TEST(Signature, KeysAreNotMixedUp) {
  const PublicKey key = key_of(kPrivate1).public_key;
  const Bytes other = signed_program(kPrivate2);
  EXPECT_EQ(complaint(other, std::nullopt), "");
  EXPECT_EQ(complaint(other, key), "signature.other_key");
  EXPECT_EQ(complaint(program(), std::nullopt), "");
  EXPECT_EQ(complaint(program(), key), "signature.none");
  Bytes renamed = other;  // says that it is the first key's
  std::copy(key.begin(), key.end(), renamed.end() - 96);
  EXPECT_EQ(trust_in(renamed, key), Trust::changed);
  EXPECT_EQ(complaint(renamed, std::nullopt), "signature.changed");
}

TEST(Signature, IsReplacedAndTheSameEachTime) {
  EXPECT_EQ(sign(signed_program(kPrivate2), key_of(kPrivate1)).value(), signed_program());
  EXPECT_EQ(signature_of(signed_program()).value().public_key, kHex1);
  EXPECT_FALSE(signature_of(program()));
}

TEST(Signature, OfARecordIsTheCommentOfTheArchive) {
  const Bytes plain = write_etrecord(
      test::map_of("input x : f32[1,4]\ny = unary(x) fn=tanh\noutput y\n", "cortex-m55"));
  const Bytes file = sign(plain, key_of(kPrivate1)).value();
  const PublicKey key = key_of(kPrivate1).public_key;
  EXPECT_EQ(complaint(file, key), "");
  EXPECT_EQ(sign(sign(plain, key_of(kPrivate2)).value(), key_of(kPrivate1)).value(), file);
  zip_error_t error;
  zip_t* zip = zip_open_from_source(zip_source_buffer_create(file.data(), file.size(), 0, &error),
                                    ZIP_RDONLY | ZIP_CHECKCONS, &error);
  ASSERT_TRUE(zip);
  int comment_bytes = 0;
  zip_get_archive_comment(zip, &comment_bytes, ZIP_FL_ENC_RAW);
  EXPECT_EQ(comment_bytes, static_cast<int>(sizeof(SignatureSection)));
  EXPECT_GT(zip_get_num_entries(zip, 0), 3);
  zip_close(zip);
  Bytes other_comment = plain;
  other_comment[other_comment.size() - 2] = 1;
  other_comment.push_back('!');
  EXPECT_FALSE(sign(other_comment, key_of(kPrivate1)));
}

}  // namespace
}  // namespace deuteron
