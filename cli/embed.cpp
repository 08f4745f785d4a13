// SPDX-License-Identifier: Apache-2.0
#include "cli/embed.h"

namespace deuteron {

VerbEnd run_verb_here(const std::vector<std::string>& arguments, Watch& watch) {
  VerbEnd end;
  const WatchScope watched(&watch);
  const VerbEndScope caught(end);
  std::vector<std::string> words = {"deuteron"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  CommandLine line;
  add_verbs(line);
  end.code = line.run(static_cast<int>(words.size()), pointers.data());
  return end;
}

std::vector<OptionFacts> options_of_verb(const std::string& verb) {
  CommandLine line;
  add_verbs(line);
  return line.facts_of(verb).options;
}

}  // namespace deuteron
