#include "data/csv_chunk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/longitude.h"
#include "data/csv_field.h"
#include "data/csv_time.h"

namespace drift {
namespace {

// One row's numbers, before it is known whether all are there.
struct Row {
  std::array<double, kCsvRoles> numbers = {};  // of the roles that are numbers
  std::string_view track, platform;
};

class ChunkReader {
 public:
  ChunkReader(const CsvLayout& layout, CsvChunk& chunk)
      : layout_(layout), chunk_(chunk), scanner_(layout.separator), fields_(layout.names.size()) {}

  void read(std::string_view rows) {
    const char* const end = rows.data() + rows.size();
    for (const char* row = rows.data(); row != end;) {
      const CsvRow found = scanner_.scan(row, end, fields_);
      if (found.next == nullptr) throw found.problem();
      if (found.count != 0) {
        ++chunk_.rows;
        if (found.at != nullptr) {
          skip(found.problem());
        } else if (found.count != fields_.size()) {
          skip({row, fmt::format("{} field{} but the header has {}", found.count, found.count == 1 ? "" : "s", fields_.size()),
                "fields"});
        } else {
          read_row();
        }
      }
      row = found.next;
    }
  }

 private:
  const CsvField& field(CsvRole role) const { return fields_[layout_.column_of(role)]; }

  [[noreturn]] void fail(CsvRole role, const std::string& message) const {
    throw field_problem(field(role), layout_.name_of(role), message);
  }

  void skip(CsvProblem&& problem) {
    if (problem.kind.empty()) problem.kind = problem.message;
    const auto same = std::find_if(chunk_.bad.begin(), chunk_.bad.end(),
                                   [&](const CsvBad& bad) { return bad.first.front().kind == problem.kind; });
    CsvBad& bad = same == chunk_.bad.end() ? chunk_.bad.emplace_back() : *same;
    ++bad.count;
    if (bad.first.size() < kBadShown) bad.first.push_back(std::move(problem));
  }

  void read_row() {
    try {
      read_fields();
    } catch (CsvProblem& problem) {
      skip(std::move(problem));
    }
  }

  void read_fields() {
    Row row;
    for (std::size_t i = 0; i < kCsvRoles; ++i) {
      const auto role = static_cast<CsvRole>(i);
      if (layout_.has(role) && !read_field(role, row)) {
        ++chunk_.missing[i];
        return;
      }
    }
    if (is_wanted(row)) keep(row);
  }

  bool is_wanted(const Row& row) {
    const RowFilter& filter = layout_.filter;
    for (std::size_t i = 0; i < filter.where.size(); ++i) {
      if (holds(filter.where[i], layout_.where_column[i]) != filter.where[i].refused) continue;
      add_rejected(chunk_.refused, filter.where[i].refusal(), 1);
      return false;
    }
    const auto number = [&](CsvRole role) { return row.numbers[static_cast<std::size_t>(role)]; };
    const double time = number(CsvRole::time);
    const std::string_view refusal =
        filter.refusal(number(CsvRole::lon), number(CsvRole::lat), layout_.has(CsvRole::time) ? &time : nullptr,
                       number(CsvRole::value), layout_.on_plane);
    if (!refusal.empty()) add_rejected(chunk_.refused, refusal, 1);
    return refusal.empty();
  }

  bool holds(const Condition& condition, std::size_t column) const {
    const CsvField& text = fields_[column];
    if (condition.of_text()) {
      const std::string word = text.unescaped();
      return !is_missing(word) && condition.holds(std::string_view(word));
    }
    double number = 0.0;
    const CsvParsed parsed = parse_number(text.text, number);
    if (parsed == CsvParsed::bad) {
      throw field_problem(text, layout_.names[column], fmt::format("is not a number, which \"{}\" needs", condition.text));
    }
    return parsed == CsvParsed::good && condition.holds(number);
  }

  // False where there is no value.
  bool read_field(CsvRole role, Row& row) {
    double& number = row.numbers[static_cast<std::size_t>(role)];
    switch (role) {
      case CsvRole::time:
        return read_time(number);
      case CsvRole::track:
        return read_label(role, track_text_, row.track);
      case CsvRole::platform:
        return read_label(role, platform_text_, row.platform);
      default:
        if (!read_number(role, number)) return false;
        check_range(role, number);
        return true;
    }
  }

  bool read_number(CsvRole role, double& number) const {
    switch (parse_number(field(role).text, number)) {
      case CsvParsed::good:
        return true;
      case CsvParsed::missing:
        return false;
      case CsvParsed::not_finite:
        fail(role, "is not a finite number");
      default:
        fail(role, "is not a number");
    }
  }

  bool read_time(double& number) {
    const CsvTime kind = drift::read_time(layout_, fields_, number);
    if (kind == CsvTime::missing) return false;
    if (kind == CsvTime::date && !layout_.dates) fail(CsvRole::time, "is a date, but the times are numbers");
    if (kind == CsvTime::number && layout_.dates) fail(CsvRole::time, "is a number, but the times are dates");
    return true;
  }

  bool read_label(CsvRole role, std::string& unescaped, std::string_view& label) const {
    const CsvField& text = field(role);
    label = text.text;
    if (text.escaped) label = unescaped = text.unescaped();
    return !is_missing(label);
  }

  void check_range(CsvRole role, double& number) const {
    if (role == CsvRole::lon && !layout_.on_plane) {
      if (!(std::abs(number) <= kMostLongitudeDeg)) fail(role, "is not a longitude: they lie between -540 and 540 degrees");
      number = wrapped_longitude(number);
    } else if (role == CsvRole::lat && !layout_.on_plane) {
      if (!(std::abs(number) <= 90.0)) fail(role, "is not a latitude: they lie between -90 and 90 degrees");
    } else if (role == CsvRole::sigma) {
      const bool good = number <= std::numeric_limits<float>::max() && static_cast<float>(number) > 0.0f;
      if (!good) fail(role, "is not a standard deviation: it must be more than zero and fit single precision");
    }
  }

  void keep(const Row& row) {
    const auto number = [&](CsvRole role) { return row.numbers[static_cast<std::size_t>(role)]; };
    Observations& to = chunk_.observations;
    to.lon_deg.push_back(number(CsvRole::lon));
    to.lat_deg.push_back(number(CsvRole::lat));
    to.value.push_back(number(CsvRole::value));
    if (layout_.has(CsvRole::time)) to.time_days.push_back(number(CsvRole::time));
    if (layout_.has(CsvRole::sigma)) to.sigma.push_back(static_cast<float>(number(CsvRole::sigma)));
    if (layout_.has(CsvRole::platform)) to.platform.push_back(platform_number(row.platform));
    if (layout_.has(CsvRole::track)) {
      scratch_.assign(row.platform).append(1, '\0').append(row.track);
      to.track.push_back(static_cast<std::int32_t>(chunk_.tracks.number_of(scratch_)));
    }
  }

  std::uint8_t platform_number(std::string_view label) {
    const std::size_t number = chunk_.platforms.number_of(label);
    if (number >= kMostPlatforms) {
      fail(CsvRole::platform, fmt::format("is one platform more than {}; is it the right column?", kMostPlatforms));
    }
    return static_cast<std::uint8_t>(number);
  }

  const CsvLayout& layout_;
  CsvChunk& chunk_;
  CsvRowScanner scanner_;
  std::vector<CsvField> fields_;
  std::string track_text_, platform_text_, scratch_;
};

void clear(Observations& observations) {
  observations.lon_deg.clear();
  observations.lat_deg.clear();
  observations.time_days.clear();
  observations.value.clear();
  observations.sigma.clear();
  observations.track.clear();
  observations.platform.clear();
}

}  // namespace

void CsvChunk::read(std::string_view text, const CsvLayout& layout) {
  clear(observations);  // keeps the memory for the next piece
  tracks.clear();
  platforms.clear();
  rows = 0;
  missing = {};
  refused.clear();
  bad.clear();
  problem.reset();
  try {
    ChunkReader(layout, *this).read(text);
  } catch (CsvProblem& found) {
    problem = std::move(found);
  }
}

}  // namespace drift
