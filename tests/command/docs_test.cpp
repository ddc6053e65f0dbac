// The documentation's examples run, and it leaves no option and no setting out.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>
#include <sstream>

#include "drift/run_settings.h"
#include "options_table.h"
#include "product_files.h"
#include "settings_table.h"
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

// Names of the pages in a folder of docs/, in order.
std::vector<std::string> pages(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(page(folder))) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

// gtest's names are letters, digits and _.
std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// The lines for which the programs are at hand: an MP4 takes ffmpeg, which is no dependency. Others are named on the terminal.
std::string runnable(const std::string& examples, bool has_ffmpeg) {
  std::istringstream stream(examples);
  std::string lines;
  for (std::string line; std::getline(stream, line);) {
    if (has_ffmpeg || !contains(line, ".mp4"))
      lines += line + "\n";
    else
      std::cout << "not run, since ffmpeg is not installed: " << line << "\n";
  }
  return lines;
}

// Runs what a page has a reader type, in one shell, as a reader would; it ends at the first line that fails. What it prints.
std::string expect_examples_run(const std::filesystem::path& folder, const std::string& examples) {
  const bool has_ffmpeg = run_shell(folder, "command -v ffmpeg").status == 0;
  const FinishedRun run = run_shell(folder, "set -ex\n" + runnable(examples, has_ffmpeg));
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  return run.out;
}

// A line with its numbers apart: "RMSE # m", 0.6181.
struct Said {
  std::string words;
  std::vector<std::string> numbers;
};
Said said(const std::string& line) {
  static const std::regex number("[0-9][0-9,]*(\\.[0-9]+)?");
  Said found;
  std::size_t end = 0;
  for (std::sregex_iterator i(line.begin(), line.end(), number), last; i != last; ++i) {
    found.words += line.substr(end, static_cast<std::size_t>(i->position()) - end) + "#";
    end = static_cast<std::size_t>(i->position() + i->length());
    std::string digits = i->str();
    std::erase(digits, ',');
    found.numbers.push_back(digits);
  }
  found.words += line.substr(end);
  std::string single;  // blanks, whose number depends on the numbers' widths
  for (const char c : found.words) {
    if (c != ' ' || (!single.empty() && single.back() != ' ')) single += c;
  }
  found.words = single;
  return found;
}

// Within 2 %, or one in the last digit that the page has.
bool same_numbers(const Said& page, const Said& run) {
  for (std::size_t i = 0; i < page.numbers.size(); ++i) {
    const double wanted = std::stod(page.numbers[i]), found = std::stod(run.numbers[i]);
    const std::size_t point = page.numbers[i].find('.');
    const double digit =
        point == std::string::npos ? 1.0 : std::pow(10.0, -static_cast<double>(page.numbers[i].size() - point - 1));
    if (std::abs(found - wanted) > std::max(0.02 * std::abs(wanted), 1.001 * digit)) return false;
  }
  return true;
}

// Each line that a page quotes is one that the run prints, with these numbers. Returns those that are not.
std::vector<std::string> stale_lines(const std::string& quoted, const std::string& printed) {
  std::vector<Said> lines;
  std::istringstream stream(printed);
  for (std::string line; std::getline(stream, line);) lines.push_back(said(line));
  std::vector<std::string> stale;
  std::istringstream page_stream(quoted);
  for (std::string line; std::getline(page_stream, line);) {
    const Said page = said(line);
    const auto same = [&](const Said& run) { return run.words == page.words && same_numbers(page, run); };
    if (std::none_of(lines.begin(), lines.end(), same)) stale.push_back(line);
  }
  return stale;
}

class VerbPage : public testing::TestWithParam<std::string> {};

TEST_P(VerbPage, ExamplesRun) {
  const TemporaryFolder folder;
  std::filesystem::copy(small_run(), folder.path(), std::filesystem::copy_options::recursive);
  std::ofstream(folder.path() / "run.toml") << blocks(read_file(page("run-file.md")), "toml");
  const std::string examples = blocks(read_file(page("verbs/" + GetParam() + ".md")), "sh");
  ASSERT_TRUE(contains(examples, "drift " + GetParam()));
  expect_examples_run(folder.path(), examples);
}

std::string help_of(const std::string& verb) {
  std::string help = run_command(verb + " --help").out;
  for (const std::string& own : subcommands_of(verb)) help += run_command(own + " --help").out;
  return help;
}

TEST_P(VerbPage, HasTheTableOfItsOptionsAsItsHelpHasThem) {
  const std::string text = read_file(page("verbs/" + GetParam() + ".md")), help = help_of(GetParam());
  EXPECT_EQ(text, with_options_table(text, help)) << "make settings-table writes it";
  const bool has_options = contains(help, "\n  --");
  EXPECT_EQ(contains(text, std::string(kTableBegins)), has_options) << "markers, where there are options";
}

// Every option of the help is in the table, or is a setting, in the table of which the page links to.
TEST(OptionsTable, LeavesNoOptionOut) {
  const std::string help =
      "Usage: drift x\n\nOptions:\n  -h,--help          Print this\n  --out FILE REQUIRED  The map, a|b\n"
      "  --epochs           Times each observation is seen [8]\n  --rate-hz Excludes: --observations\n                     "
      "Rate\n  --json  As "
      "JSON\n\nRun:\n";
  EXPECT_EQ(options_table("[keys](../run-file.md#keys)", help),
            "| option | meaning |\n|---|---|\n| `--out`, required | The map, a\\|b |\n| `--rate-hz` | Rate |\n| `--json` | As "
            "JSON |\n");
  EXPECT_TRUE(contains(options_table("", help), "| `--epochs` | Times each observation is seen [8] |"));
}

INSTANTIATE_TEST_SUITE_P(All, VerbPage, testing::ValuesIn(pages("verbs")), test_name);

TEST(VerbPages, ThereIsOneForEveryVerb) {
  const std::string help = run_command("--help").out;
  const std::string list = help.substr(help.find("Subcommands:"));
  const std::vector<std::string> written = pages("verbs");
  const std::regex verb("\n  ([a-z]+) ");
  std::size_t verbs = 0;
  for (std::sregex_iterator i(list.begin(), list.end(), verb), end; i != end; ++i, ++verbs) {
    EXPECT_TRUE(std::binary_search(written.begin(), written.end(), (*i)[1].str())) << "no docs/verbs/" << (*i)[1] << ".md";
  }
  EXPECT_EQ(verbs, written.size());
}

// Files of products that a page reads: the real ones where they are at hand, else simulated ones of the same layout.
void add_products(const std::filesystem::path& folder, const std::string& examples) {
  const std::filesystem::path ice = std::filesystem::path(DRIFT_TEST_DATA) / "cryosat2_l2i";
  if (contains(examples, "cryosat2/") && std::filesystem::is_directory(ice)) {
    std::filesystem::create_directory_symlink(std::filesystem::absolute(ice), folder / "cryosat2");
  } else if (contains(examples, "cryosat2/")) {
    write_cryosat2_passes(folder / "cryosat2");
  }
  if (contains(examples, "swot/")) write_swot_passes(folder / "swot");
}

class HowToPage : public testing::TestWithParam<std::string> {};

TEST_P(HowToPage, ExamplesRun) {
  const TemporaryFolder folder;
  std::filesystem::copy(small_run(), folder.path(), std::filesystem::copy_options::recursive);
  const std::string examples = blocks(read_file(page("howto/" + GetParam() + ".md")), "sh");
  ASSERT_TRUE(contains(examples, "drift "));
  add_products(folder.path(), examples);
  const std::string printed = expect_examples_run(folder.path(), examples);
  if (GetParam() == "animations" && run_shell(folder.path(), "command -v ffmpeg").status == 0) {
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "days.mp4"));
  }
  if (GetParam() != "gis") return;
  // GMT finds the field by itself, in degrees and on a plane; of several times it is told.
  for (const char* map : {"field.nc", "projected.nc", "several.nc"})
    EXPECT_TRUE(std::regex_search(printed, std::regex(std::string(map) + ".*: v_min: .* name: Sea surface height \\[m\\]")))
        << printed;
  EXPECT_TRUE(contains(printed, "Description = ssh 2020-03-02T00:00:00Z")) << printed;
  EXPECT_TRUE(contains(printed, "Band 10 ")) << "the page says ten bands";
  EXPECT_FALSE(contains(printed, "Band 11 ")) << "the page says ten bands";
  EXPECT_TRUE(contains(printed, "EPSG:3035")) << "the page has GDAL find the reference system";
}

TEST(HowToPages, OmitLinesOfFfmpegOnlyWhereThereIsNone) {
  const std::string lines = "drift plot a.nc --out a.gif\ndrift plot a.nc --out a.mp4\n";
  EXPECT_EQ(runnable(lines, true), lines);
  EXPECT_EQ(runnable(lines, false), "drift plot a.nc --out a.gif\n");
}

INSTANTIATE_TEST_SUITE_P(All, HowToPage, testing::ValuesIn(pages("howto")), test_name);

TEST(Tutorial, RunsFromFilesToMapAndScore) {
  const std::filesystem::path data = std::filesystem::path(DRIFT_TEST_DATA) / "s3_waves";
  if (!std::filesystem::is_directory(data)) GTEST_SKIP() << "no wave heights at " << data;
  const TemporaryFolder folder;
  std::filesystem::create_directory_symlink(std::filesystem::absolute(data), folder.path() / "s3_waves");
  const std::string text = read_file(page("tutorial.md"));
  const std::string printed = expect_examples_run(folder.path(), blocks(text, "sh"));
  for (const std::string& line : stale_lines(blocks(text, "text"), printed))
    ADD_FAILURE() << "docs/tutorial.md quotes what is not printed: " << line;
}

TEST(Tutorial, RunsOnSimulatedFilesOfTheSameLayout) {
  const TemporaryFolder folder;
  write_wave_passes(folder.path() / "s3_waves");
  const std::string printed = expect_examples_run(folder.path(), blocks(read_file(page("tutorial.md")), "sh"));
  EXPECT_TRUE(contains(printed, "Roles (preset cmems-l3-swh)")) << printed;
}

TEST(Tutorial, CheckOfItsNumbersNoticesThoseThatAreStale) {
  const std::string printed = "  RMSE     0.6181 m\nmoving 243 km per day\n";
  EXPECT_TRUE(stale_lines("RMSE 0.618 m\nmoving 241 km per day\n", printed).empty());
  EXPECT_EQ(stale_lines("  RMSE     0.6351 m\n", printed).size(), 1u) << "2.7 % off";
  EXPECT_EQ(stale_lines("  MAE     0.6181 m\n", printed).size(), 1u);
  EXPECT_EQ(stale_lines("moving 480 km per day\n", printed).size(), 1u);
}

TEST(RunFilePage, HasTheTableOfAllSettingsAsTheLibraryListsThem) {
  const std::string text = read_file(page("run-file.md"));
  EXPECT_EQ(text, with_settings_table(text)) << "make settings-table writes it";
}

// A plan of the house that can be read at a sitting.
TEST(DesignPage, StaysWithinTwoHundredLines) {
  const std::string text = read_file(page("design.md"));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 200);
}

// Options that are settings stand in one table, that of the page on run files.
TEST(RunFilePage, IsLinkedFromThePagesOfVerbsThatTakeSettings) {
  for (const char* verb : {"fit", "tune", "compare", "score"}) {
    EXPECT_TRUE(contains(read_file(page(std::string("verbs/") + verb + ".md")), "../run-file.md#keys")) << verb;
  }
}

}  // namespace
