// The documentation's examples run, and it leaves no option and no setting out.

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "drift/run_settings.h"
#include "small_run.h"

namespace {

std::filesystem::path page(const std::string& name) { return std::filesystem::path(DRIFT_SOURCE) / "docs" / name; }

// What stands in the page's blocks of one language.
std::string blocks(const std::string& text, const std::string& language) {
  std::istringstream stream(text);
  std::string found;
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (line == "```" + language)
      inside = true;
    else if (line.starts_with("```"))
      inside = false;
    else if (inside)
      found += line + "\n";
  }
  return found;
}

class VerbPage : public testing::TestWithParam<std::string> {};

TEST_P(VerbPage, ExamplesRun) {
  const TemporaryFolder folder;
  std::filesystem::copy(small_run(), folder.path(), std::filesystem::copy_options::recursive);
  std::ofstream(folder.path() / "run.toml") << blocks(read_file(page("run-file.md")), "toml");
  const std::string examples = blocks(read_file(page("verbs/" + GetParam() + ".md")), "sh");
  ASSERT_TRUE(contains(examples, "drift " + GetParam()));
  std::istringstream lines(examples);
  for (std::string line; std::getline(lines, line);) {
    const FinishedRun run = run_shell(folder.path(), line);
    EXPECT_EQ(run.status, 0) << line << "\n" << run.err;
  }
}

TEST_P(VerbPage, NamesEveryOption) {
  const std::string text = read_file(page("verbs/" + GetParam() + ".md"));
  std::string help = run_command(GetParam() + " --help").out;
  if (GetParam() == "bench") {
    for (const char* verb : {"train", "predict", "baselines"}) help += run_command(std::string("bench ") + verb + " --help").out;
  }
  const std::regex option("\n  (?:-h,)?(--[a-z][a-z-]*)");
  for (std::sregex_iterator i(help.begin(), help.end(), option), end; i != end; ++i) {
    const std::string name = (*i)[1];
    if (name == "--help") continue;
    EXPECT_TRUE(contains(text, "`" + name + "`")) << "docs/verbs/" << GetParam() << ".md does not name " << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, VerbPage,
                         testing::Values("demo", "inspect", "simulate", "fit", "tune", "predict", "score", "compare", "plot",
                                         "bench", "completion"),
                         [](const auto& verb) { return verb.param; });

TEST(RunFilePage, NamesEverySettingWithItsFlagAndHelp) {
  const std::string text = read_file(page("run-file.md"));
  for (const drift::SettingInfo& info : drift::setting_infos()) {
    EXPECT_TRUE(
        contains(text, "| `" + info.key + "` | " + (info.flag.empty() ? "" : "`" + info.flag + "`") + " | " + info.help + " |"))
        << "docs/run-file.md has no row for [" << info.table << "] " << info.key << ": " << info.help;
  }
}

}  // namespace
