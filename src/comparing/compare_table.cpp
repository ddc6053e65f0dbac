// The comparison as people and programs read it: one list of measures makes all four forms.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "comparing/compare_parts.h"
#include "drift/compare.h"
#include "drift/grouped.h"
#include "drift/version.h"

namespace drift {
namespace {

using Kind = CompareMeasure::Kind;

constexpr std::array<const char*, 4> kMarks = {"", " 1st", " 2nd", " 3rd"};
constexpr std::array<const char*, 4> kColours = {"", "\033[1;32m", "\033[32m", "\033[33m"};  // bold green, green, yellow

// Letters that a text takes on a terminal: bytes of UTF-8 that begin one.
std::size_t letters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, letters(text)), ' ');
}

// Digits behind the point for a column: three significant ones of its middle mean, at most six.
int decimals(const Comparison& comparison, const std::string& measure) {
  std::vector<double> sizes;
  for (const ComparedMethod& row : comparison.rows) {
    const auto found = row.measures.find(measure);
    if (found != row.measures.end() && found->second.mean != 0.0) sizes.push_back(std::abs(found->second.mean));
  }
  if (sizes.empty()) return 0;
  std::sort(sizes.begin(), sizes.end());
  return std::clamp(2 - static_cast<int>(std::floor(std::log10(sizes[(sizes.size() - 1) / 2]))), 0, 6);
}

std::string cost_text(double value) {
  return value < 10.0 ? fmt::format("{:.2f}", value) : value < 100.0 ? fmt::format("{:.1f}", value) : grouped(std::round(value));
}

class Column {
 public:
  Column(const Comparison& comparison, const CompareMeasure& measure)
      : measure_(measure), decimals_(decimals(comparison, measure.name)) {}

  const CompareMeasure& measure() const { return measure_; }

  std::string title(const std::string& unit) const {
    const bool shown = measure_.has_unit && !unit.empty() && unit != "1";
    return shown ? fmt::format("{} [{}]", measure_.title, unit) : measure_.title;
  }

  // Without its mark; a dash where the row has none.
  std::string number(const ComparedMethod& row) const {
    const auto found = row.measures.find(measure_.name);
    if (found == row.measures.end()) return "-";
    const auto& [mean, sd, rank] = found->second;
    if (measure_.kind == Kind::cost) return cost_text(mean);
    const bool percent = measure_.kind == Kind::coverage;
    const double factor = percent ? 100.0 : 1.0;
    const int digits = percent ? 1 : decimals_;
    if (std::abs(mean) >= 1e5) return row.fits > 1 ? fmt::format("{:.3g} ± {:.1g}", mean, sd) : fmt::format("{:.3g}", mean);
    const std::string spread = row.fits > 1 ? fmt::format(" ± {:.{}f}", factor * sd, digits) : "";
    return fmt::format("{:.{}f}{}{}", factor * mean, digits, spread, percent ? " %" : "");
  }

  int rank(const ComparedMethod& row) const {
    const auto found = row.measures.find(measure_.name);
    return found == row.measures.end() ? 0 : found->second.rank;
  }

 private:
  const CompareMeasure& measure_;
  int decimals_;
};

// The columns of one of the tables: scores by held-out observations with the costs, or scores by the truth.
std::vector<Column> columns_of(const Comparison& comparison, bool of_truth) {
  std::vector<Column> columns;
  for (const CompareMeasure& measure : compare_measures()) {
    if (measure.in_table && measure.of_truth == of_truth) columns.emplace_back(comparison, measure);
  }
  return columns;
}

std::string heading(const Comparison& comparison, bool of_truth) {
  const std::size_t seeds = comparison.rows.empty() ? 0 : comparison.rows.front().seeds;
  const std::string spread = seeds > 1 ? fmt::format(", mean ± standard deviation over {} seeds", seeds) : "";
  if (of_truth) return fmt::format("Against the truth, with the spread of the field{}", spread);
  return fmt::format("{}: {} observations train, {} held out ({}){}", comparison.variable,
                     grouped(static_cast<double>(comparison.training)), grouped(static_cast<double>(comparison.held_out)),
                     comparison.split, spread);
}

std::string calibration_words(CalibrationMethod calibrate) {
  if (calibrate == CalibrationMethod::none)
    return "Each method keeps its own spread, and its own noise if it has one; otherwise the noise is estimated on the first "
           "half.";
  if (calibrate == CalibrationMethod::scale)
    return "The first half calibrates the noise and a factor on the spread of each method.";
  return "The first half calibrates the noise, a factor on the spread and the conformal intervals of each method.";
}

// Held-out observations were too few to halve.
bool scores_calibrated(const Comparison& comparison) {
  return std::any_of(comparison.rows.begin(), comparison.rows.end(), [](const ComparedMethod& row) {
    const auto found = row.measures.find(kScoresCalibrated);
    return found != row.measures.end() && found->second.mean > 0.0;
  });
}

// The meaning of the numbers, a sentence each.
std::vector<std::string> notes(const Comparison& comparison) {
  return {
      scores_calibrated(comparison)
          ? "Held-out observations are too few to halve: those that give the scores also calibrated, and the scores are "
            "optimistic."
          : "Held-out observations are halved: the second half gives the scores. " + calibration_words(comparison.calibrate),
      fmt::format("fit: wall time in seconds on {} thread{}, from standardised observations to a method that can predict, with "
                  "the tuning that its text requests; core-s: processor time of the same.",
                  comparison.threads, comparison.threads == 1 ? "" : "s"),
      "MiB: peak memory of the process that fitted and predicted, including program and observations."};
}

std::string seeds_text(const ComparedMethod& row) {
  return row.fits == row.seeds ? "" : fmt::format("{} of {} seeds", row.fits, row.seeds);
}

std::string text_table(const Comparison& comparison, bool of_truth, bool coloured) {
  const std::vector<Column> columns = columns_of(comparison, of_truth);
  std::vector<std::size_t> widths;
  std::size_t name_width = 6;
  for (const ComparedMethod& row : comparison.rows) name_width = std::max(name_width, letters(row.method));
  for (const Column& column : columns) {
    std::size_t width = letters(column.title(comparison.unit));
    for (const ComparedMethod& row : comparison.rows) {
      if (row.fits > 0)
        width = std::max(width, letters(column.number(row) + kMarks.at(static_cast<std::size_t>(column.rank(row)))));
    }
    widths.push_back(width);
  }
  std::string text = heading(comparison, of_truth) + "\n\n" + padded("method", name_width);
  for (std::size_t i = 0; i < columns.size(); ++i)
    text += fmt::format("  {}", padded(columns[i].title(comparison.unit), widths[i]));
  while (text.back() == ' ') text.pop_back();
  text += "\n";
  for (const ComparedMethod& row : comparison.rows) {
    if (row.fits == 0) {
      if (!of_truth)
        text += fmt::format("{}  {}\n", padded(row.method, name_width),
                            row.failure.empty() ? "not done" : fmt::format("failed: {}", row.failure));
      continue;
    }
    text += padded(row.method, name_width);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto rank = static_cast<std::size_t>(columns[i].rank(row));
      const std::string cell = padded(columns[i].number(row) + kMarks.at(rank), widths[i]);
      text += coloured && rank > 0 ? fmt::format("  {}{}\033[0m", kColours.at(rank), cell) : fmt::format("  {}", cell);
    }
    if (!seeds_text(row).empty()) text += fmt::format("  {}", seeds_text(row));
    while (text.back() == ' ') text.pop_back();
    text += "\n";
    if (!row.failure.empty() && !of_truth)
      text += fmt::format("{}  one fit failed: {}\n", std::string(name_width, ' '), row.failure);
  }
  return text;
}

std::string markdown_table(const Comparison& comparison, bool of_truth) {
  const std::vector<Column> columns = columns_of(comparison, of_truth);
  std::string text = heading(comparison, of_truth) + ".\n\n| method |", rule = "|---|";
  for (const Column& column : columns) {
    text += fmt::format(" {} |", column.title(comparison.unit));
    rule += "---|";
  }
  text += fmt::format("\n{}\n", rule);
  for (const ComparedMethod& row : comparison.rows) {
    if (row.fits == 0 && of_truth) continue;
    text += fmt::format("| `{}` |", row.method);
    if (row.fits == 0) {
      std::string why = row.failure.empty() ? "not done" : fmt::format("failed: {}", row.failure);
      std::replace(why.begin(), why.end(), '|', '/');
      text += fmt::format(" {} |\n", why);
      continue;
    }
    for (const Column& column : columns) {
      const int rank = column.rank(row);
      const std::string number = column.number(row);
      text += rank == 1 ? fmt::format(" **{}** |", number)
                        : fmt::format(" {}{} |", number,
                                      rank == 0   ? ""
                                      : rank == 2 ? " (2nd)"
                                                  : " (3rd)");
    }
    text += "\n";
  }
  return text;
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string comparison_text(const Comparison& comparison, bool coloured) {
  std::string text = text_table(comparison, false, coloured);
  if (comparison.has_truth) text += fmt::format("\n{}", text_table(comparison, true, coloured));
  text += "\n";
  for (const std::string& note : notes(comparison)) text += note + "\n";
  return text;
}

std::string comparison_markdown(const Comparison& comparison) {
  std::string text = markdown_table(comparison, false);
  if (comparison.has_truth) text += fmt::format("\n{}", markdown_table(comparison, true));
  text += "\nBest in bold, second and third marked.";
  for (const std::string& note : notes(comparison)) text += fmt::format(" {}", note);
  text += "\n";
  bool headed = false;
  for (const ComparedMethod& row : comparison.rows) {
    if (row.findings.empty()) continue;
    if (!headed) text += "\nWhat the fits found (first seed):\n\n";
    headed = true;
    std::string list;
    for (const auto& [name, value] : row.findings) list += fmt::format("{}{} {}", list.empty() ? "" : "; ", name, value);
    text += fmt::format("- `{}`: {}\n", row.method, list);
  }
  return text;
}

std::string comparison_csv(const Comparison& comparison) {
  std::string text = "method,title,fits,seeds,failure";
  for (const CompareMeasure& measure : compare_measures()) {
    text += fmt::format(",{0},{0}_sd{1}", measure.name, measure.kind == Kind::cost ? "" : fmt::format(",{}_rank", measure.name));
  }
  text += "\n";
  for (const ComparedMethod& row : comparison.rows) {
    text += fmt::format("{},{},{},{},{}", csv_text(row.method), csv_text(row.title), row.fits, row.seeds, csv_text(row.failure));
    for (const CompareMeasure& measure : compare_measures()) {
      const auto found = row.measures.find(measure.name);
      const bool ranked = measure.kind != Kind::cost, there = found != row.measures.end();
      text += there ? fmt::format(",{},{}", found->second.mean, found->second.sd) : ",,";
      if (ranked) text += there && found->second.rank > 0 ? fmt::format(",{}", found->second.rank) : ",";
    }
    text += "\n";
  }
  return text;
}

std::string comparison_json(const Comparison& comparison) {
  nlohmann::ordered_json json = {{"drift", version()},
                                 {"build", build_id()},
                                 {"finished", comparison.finished},
                                 {"variable", comparison.variable},
                                 {"unit", comparison.unit},
                                 {"training_observations", comparison.training},
                                 {"held_out_observations", comparison.held_out},
                                 {"held_out", comparison.split},
                                 {"calibrate", word_of(comparison.calibrate)},
                                 {"scores_also_calibrated", scores_calibrated(comparison)},
                                 {"threads", comparison.threads},
                                 {"notes", notes(comparison)}};
  json["measures"] = nlohmann::ordered_json::object();
  for (const CompareMeasure& measure : compare_measures()) json["measures"][measure.name] = measure.help;
  json["methods"] = nlohmann::ordered_json::array();
  for (const ComparedMethod& row : comparison.rows) {
    nlohmann::ordered_json one = {{"method", row.method}, {"title", row.title}, {"fits", row.fits}, {"seeds", row.seeds}};
    one["failure"] = row.failure.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(row.failure);
    one["measures"] = nlohmann::ordered_json::object();
    for (const CompareMeasure& measure : compare_measures()) {
      const auto found = row.measures.find(measure.name);
      if (found == row.measures.end()) continue;
      nlohmann::ordered_json& entry = one["measures"][measure.name];
      entry = {{"mean", found->second.mean}, {"sd", found->second.sd}};
      if (found->second.rank > 0) entry["rank"] = found->second.rank;
    }
    one["findings"] = nlohmann::ordered_json::object();
    for (const auto& [name, value] : row.findings) one["findings"][name] = value;
    json["methods"].push_back(one);
  }
  return json.dump(2) + "\n";
}

}  // namespace drift
