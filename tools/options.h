// Options that several verbs have, so that they are called and explained the same everywhere.
#pragma once
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <string>
#include <vector>

#include "data/image.h"
#include "tools/verb.h"

namespace deuteron {

// `name` may be given several times and takes one file each time.
CLI::Option* add_files(CLI::App* verb, const std::string& name, std::vector<std::string>& files, const std::string& help);
void add_json(CLI::App* verb, std::string& path);
void add_image_options(CLI::App* verb, ImageMap& map);

// Registers `verb` with options of type T, which live as long as the program.
template <class T>
CLI::App* add_verb(CLI::App& app, Action& chosen, const char* name, const char* what, const char* example, int (*run)(const T&),
                   T*& options) {
  auto owned = std::make_shared<T>();
  options = owned.get();
  CLI::App* verb = app.add_subcommand(name, what);
  verb->footer(std::string("Example:\n  ") + example);
  verb->callback([owned, run, &chosen] { chosen = [owned, run] { return run(*owned); }; });
  return verb;
}

}  // namespace deuteron
