// Golden tests: each file in tests/golden is a command, a graph in the text form, and exactly what the command prints.
//   # RUN: deuteron analyze %s --target cortex-m55 --stop-after=fuse     %s: this file
//   # EXIT: 1                                                            the exit code, if it is not 0
//   <graph>
//   --- expect
//   <standard output and errors>
// DEUTERON_WRITE_GOLDEN=1 writes what is printed into the file instead; look at the difference before committing it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "--- expect\n";

std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The rest of the line that begins with `key`; empty if there is none.
std::string line_after(const std::string& text, const std::string& key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) return "";
  const size_t start = at + key.size();
  return text.substr(start, text.find('\n', start) - start);
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
  return text;
}

std::vector<std::string> golden_files() {
  std::vector<std::string> files;
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(DEUTERON_SOURCE_DIR) / "tests/golden", missing))
    if (entry.path().extension() == ".txt") files.push_back(entry.path().stem().string());
  std::sort(files.begin(), files.end());
  return files;
}

class Golden : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Golden);

TEST_P(Golden, PrintsWhatIsExpected) {
  const fs::path path = fs::path(DEUTERON_SOURCE_DIR) / "tests/golden" / (GetParam() + ".txt");
  const std::string text = read_file(path);
  const size_t mark = text.find(kMark);
  ASSERT_NE(mark, std::string::npos) << path << " has no line `--- expect`";
  std::string command = line_after(text.substr(0, mark), "# RUN: deuteron ");
  ASSERT_NE(command, "") << path << " has no line `# RUN: deuteron ...`";
  const std::string exit = line_after(text.substr(0, mark), "# EXIT: ");
  // From the folder itself, so that messages name the file without this machine's folders.
  command = fmt::format("cd '{}' && '{}' {} 2>&1 < /dev/null", path.parent_path().string(), DEUTERON_TOOL,
                        replaced(command, "%s", path.filename().string()));
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string printed;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) printed.append(buffer, n);
  const int status = pclose(pipe);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), exit.empty() ? 0 : std::atoi(exit.c_str())) << command;
  if (std::getenv("DEUTERON_WRITE_GOLDEN")) {
    std::ofstream(path, std::ios::binary) << text.substr(0, mark) << kMark << printed;
    return;
  }
  EXPECT_EQ(printed, text.substr(mark + kMark.size())) << command;
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(golden_files()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace
