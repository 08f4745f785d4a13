// SPDX-License-Identifier: Apache-2.0
// The command line: the bytes, cut at zeros, are its words; behind a first byte of 1 they are all
// of them. A verb with an option of every kind: what is taken keeps its limits.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/data/image.h"
#include "cli/command_line.h"
#include "cli/options.h"

using namespace deuteron;

namespace {

struct EveryKind {
  std::string text, word = "auto", file;
  std::vector<std::string> texts, files;
  int threads = 1;
  int64_t bytes = 1;
  uint32_t events = 1;
  size_t rows = 0;
  double seconds = 1;
  bool flag = false;
  ImageMap image;
  std::vector<std::string> shapes, states;
  std::string json;
  int64_t ram = 1;
  double gain = 1, loss = 0;
};

int check(const EveryKind& o) {
  DEUTERON_CHECK(!o.file.empty() && o.threads >= 1 && o.threads <= 1024 && o.bytes >= 1 &&
                 o.events >= 1);
  DEUTERON_CHECK(o.seconds > 0 && o.seconds <= 1e6);
  DEUTERON_CHECK(o.word == "auto" || o.word == "off");
  DEUTERON_CHECK(std::isfinite(o.image.scale) && (o.ram == -1 || o.ram >= 1));
  DEUTERON_CHECK(std::isfinite(o.gain) && o.gain != 0 && std::isfinite(o.loss) && o.loss >= 0);
  for (const float v : o.image.mean) DEUTERON_CHECK(std::isfinite(v));
  for (const float v : o.image.std) DEUTERON_CHECK(std::isfinite(v) && v != 0);
  for (const std::string& t : o.texts) DEUTERON_CHECK(!t.empty());
  return 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::string> words = {"deuteron", "verb"};
  std::string word;
  const bool has_verb = size == 0 || data[0] != 1;
  if (!has_verb) words.pop_back();
  for (size_t k = has_verb ? 0 : 1; k < size; ++k) {
    if (data[k] != 0) word += static_cast<char>(data[k]);
    if (data[k] == 0 || k + 1 == size) words.push_back(std::exchange(word, {}));
  }
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);

  CommandLine line;
  EveryKind* o = nullptr;
  Verb verb =
      add_verb<EveryKind>(line, "verb", "has every kind of option", "deuteron verb FILE", check, o);
  verb.option("file", o->file, "by its place").value("F").required();
  verb.option("-t,--text", o->text, "a text");
  verb.option("--word", o->word, "one of some").one_of({"auto", "off"});
  verb.option("--texts", o->texts, "a list").one_each();
  verb.option("--threads", o->threads, "an int").between(1, 1024);
  verb.option("--bytes", o->bytes, "64 bits").positive();
  verb.option("--events", o->events, "32 bits").positive();
  verb.option("--rows", o->rows, "a size");
  verb.flag("--flag", o->flag, "a flag");
  add_files(verb, "--input", o->files, "files");
  add_timeout(verb, o->seconds);
  add_image_options(verb, o->image);
  add_input_shape(verb, o->shapes);
  add_state(verb, o->states);
  add_json(verb, o->json);
  verb.number_or("least", -1, "--ram", o->ram, "a number or a word").positive();
  verb.option("--gain", o->gain, "not zero").not_zero();
  verb.option("--loss", o->loss, "not negative").not_negative();
  DEUTERON_CHECK(line.facts_of("verb").options.size() > 10);
  static FILE* const nowhere = std::fopen("/dev/null", "w");
  FILE* const error = std::exchange(stderr, nowhere);
  std::cout.setstate(std::ios::badbit);
  const int code = line.run(static_cast<int>(words.size()), arguments.data());
  stderr = error;
  DEUTERON_CHECK(code == 0 || code == 2);
  return 0;
}
