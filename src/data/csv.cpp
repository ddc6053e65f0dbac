// The text goes through a window of fixed size. Whole rows in it are cut into chunks, which threads turn into columns side by
// side; the columns are then put together in the chunks' order. The bounds of chunks depend on the text alone, and so does the
// result.

#include "data/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>

#include "core/threads.h"
#include "data/csv_chunk.h"
#include "data/csv_field.h"
#include "data/csv_layout.h"
#include "data/csv_rows.h"
#include "data/csv_source.h"
#include "data/platform_names.h"
#include "data/time_units.h"
#include "drift/error.h"

namespace drift {
namespace {

template <class Number>
void append(std::vector<Number>& to, const std::vector<Number>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

class Assembly {
 public:
  Assembly(const CsvSource& source, const CsvLayout& layout) : source_(source), layout_(layout) {}

  // Chunks must come in the file's order, while their text is in the window.
  void add(const CsvChunk& chunk) {
    if (chunk.problem) source_.fail(chunk.problem->at, chunk.problem->message);
    rows_ += chunk.rows;
    count_bad(chunk);
    for (std::size_t role = 0; role < kCsvRoles; ++role) missing_[role] += chunk.missing[role];
    for (const Rejected& some : chunk.refused) add_rejected(refused_, some.reason, some.count);
    const Observations& from = chunk.observations;
    append(observations_.lon_deg, from.lon_deg);
    append(observations_.lat_deg, from.lat_deg);
    append(observations_.time_days, from.time_days);
    append(observations_.value, from.value);
    append(observations_.sigma, from.sigma);
    const std::vector<std::size_t> tracks = numbers_of(chunk.tracks, tracks_);
    for (const std::int32_t track : from.track) {
      observations_.track.push_back(static_cast<std::int32_t>(tracks[static_cast<std::size_t>(track)]));
    }
    const std::vector<std::size_t> platforms = numbers_of(chunk.platforms, platforms_);
    if (platforms_.labels().size() > kMostPlatforms) {
      source_.fail(fmt::format("column \"{}\" has more than {} different platforms; is it the right column?",
                               layout_.name_of(CsvRole::platform), kMostPlatforms));
    }
    for (const std::uint8_t platform : from.platform) {
      observations_.platform.push_back(static_cast<std::uint8_t>(platforms[platform]));
    }
  }

  CsvReading finish() && {
    if (too_many_bad()) fail_bad();
    CsvReading reading;
    reading.warnings = layout_.warnings;
    if (bad_rows_ > 0) {
      reading.part.rejected.push_back({"bad row", bad_rows_});
      warn_of_bad(reading.warnings);
    }
    for (std::size_t role = 0; role < kCsvRoles; ++role) {
      if (missing_[role] == 0) continue;
      reading.part.rejected.push_back(
          {fmt::format("nothing in column \"{}\"", layout_.name_of(static_cast<CsvRole>(role))), missing_[role]});
    }
    for (const Rejected& some : refused_) reading.part.rejected.push_back(some);
    reading.columns = columns_in_use(layout_);
    reading.on_plane = layout_.on_plane;
    reading.iso_times = layout_.has(CsvRole::time) && (layout_.dates || layout_.time_units);
    reading.part.rows = rows_;
    reading.part.observations = std::move(observations_);
    reading.part.observations.platform_names = platforms_called(platforms_.labels());
    reading.part.track_labels = tracks_.labels();
    return reading;
  }

 private:
  // Rows with which one thing is wrong.
  struct Bad {
    std::string kind = {}, message = {};  // of the first
    std::size_t count = 0;
    std::vector<std::size_t> lines = {};  // of the first few
  };

  void count_bad(const CsvChunk& chunk) {
    for (const CsvBad& some : chunk.bad) {
      const CsvProblem& first = some.first.front();
      const auto same = std::find_if(bad_.begin(), bad_.end(), [&](const Bad& bad) { return bad.kind == first.kind; });
      Bad& bad = same == bad_.end() ? bad_.emplace_back(Bad{.kind = first.kind, .message = first.message}) : *same;
      bad.count += some.count;
      bad_rows_ += some.count;
      for (const CsvProblem& problem : some.first) {
        if (bad.lines.size() < kBadShown) bad.lines.push_back(source_.line_of(problem.at));
      }
    }
    constexpr std::size_t kEnough = 1000;  // not all of a large file need be read to see that it is none
    if (bad_rows_ > kEnough && too_many_bad()) fail_bad();
  }

  // A sentence for each kind.
  void warn_of_bad(std::vector<std::string>& warnings) const {
    constexpr std::size_t kKinds = 5;
    for (std::size_t i = 0; i < std::min(bad_.size(), kKinds); ++i) {
      const Bad& bad = bad_[i];
      const std::vector<std::size_t> others(bad.lines.begin() + 1, bad.lines.end());
      const std::string lines = fmt::format("{}{}{}{}", source_.at_line(bad.lines.front()), others.empty() ? "" : ", ",
                                            fmt::join(others, ", "), bad.count > bad.lines.size() ? " and others" : "");
      warnings.push_back(bad.count == 1 ? fmt::format("a row was left out, {}: {}.", lines, bad.message)
                                        : fmt::format("{} rows were left out, {}: {}.", bad.count, lines, bad.message));
    }
    std::size_t rest = 0;
    for (std::size_t i = kKinds; i < bad_.size(); ++i) rest += bad_[i].count;
    if (rest > 0) warnings.push_back(fmt::format("{} more rows were left out for other reasons.", rest));
  }

  bool too_many_bad() const { return static_cast<double>(bad_rows_) > kMostBad * static_cast<double>(rows_); }

  [[noreturn]] void fail_bad() const {
    const Bad& first =
        *std::min_element(bad_.begin(), bad_.end(), [](const Bad& a, const Bad& b) { return a.lines[0] < b.lines[0]; });
    throw Error(fmt::format("{}: {}{}", source_.at_line(first.lines[0]), first.message,
                            rows_ == 1 ? std::string()
                                       : fmt::format("; {} of {} rows are bad, and more than {:.0f} % is too many", bad_rows_,
                                                     rows_, 100.0 * kMostBad)));
  }

  static std::vector<std::size_t> numbers_of(const Labels& chunk, Labels& file) {
    std::vector<std::size_t> numbers;
    for (const std::string& label : chunk.labels()) numbers.push_back(file.number_of(label));
    return numbers;
  }

  const CsvSource& source_;
  const CsvLayout& layout_;
  Observations observations_;
  Labels tracks_, platforms_;
  std::size_t rows_ = 0;
  std::array<std::size_t, kCsvRoles> missing_ = {};
  std::vector<Rejected> refused_;
  std::vector<Bad> bad_;  // by kind, in the order of the first of each
  std::size_t bad_rows_ = 0;
};

void read_chunks(const std::vector<std::string_view>& pieces, const CsvLayout& layout, int threads,
                 std::vector<CsvChunk>& chunks) {
  if (chunks.size() < pieces.size()) chunks.resize(pieces.size());
  std::atomic<std::size_t> next{0};
  run_on_threads(std::min(threads, static_cast<int>(pieces.size())), [&](int) {
    for (std::size_t i = next++; i < pieces.size(); i = next++) chunks[i].read(pieces[i], layout);
  });
}

}  // namespace

CsvReading read_csv(const std::filesystem::path& path, const CsvOptions& options, const RowFilter& filter, const Control& control,
                    const CsvSizes& sizes) {
  const int threads = threads_or_all(options.threads);
  CsvSource source(path, sizes.window);
  CsvLayout layout = read_layout(source, path.string(), options.columns, filter);
  if (!options.time_units.empty()) layout.time_units = parse_time_units(options.time_units);
  find_kind_of_times(source, layout);
  Assembly assembly(source, layout);
  std::vector<CsvChunk> chunks;
  const CsvRowScanner scanner(layout.separator);
  for_windows(source, layout, [&](std::string_view rows) {
    control.check_stop("stopped while reading");
    const std::vector<std::string_view> pieces = scanner.cut_at_rows(rows, sizes.chunk);
    read_chunks(pieces, layout, threads, chunks);
    for (std::size_t i = 0; i < pieces.size(); ++i) assembly.add(chunks[i]);
  });
  return std::move(assembly).finish();
}

}  // namespace drift
