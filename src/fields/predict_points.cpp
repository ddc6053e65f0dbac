// The table goes through the reader's window. Each window's whole rows are taken apart, predicted together and written with the
// new columns behind the row's own text, which is left as it is.

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "core/atomic_file.h"
#include "data/csv_field.h"
#include "data/csv_layout.h"
#include "data/csv_rows.h"
#include "drift/error.h"
#include "drift/predict.h"
#include "fields/layers.h"

namespace drift {
namespace {

constexpr std::size_t kWindow = std::size_t{8} << 20;  // bytes

class PointsTable {
 public:
  PointsTable(Engine& engine, const FieldModel& model, const std::filesystem::path& points, const std::filesystem::path& path,
              const Roles& roles, std::optional<double> time_days, const PredictWants& wants)
      : predict_(engine, model),
        model_(model),
        wants_(wants),
        layers_(model, wants),
        source_(points, kWindow),
        out_(path),
        layout_(layout(points, roles)),
        time_days_(time_days) {
    const bool plane = model.domain.kind == DomainKind::xy;
    if (plane != layout_.on_plane) {
      throw UsageError(fmt::format("{}: the table has {} but the model {}; name its columns with --lon and --lat",
                                   points.string(), layout_.on_plane ? "x and y" : "longitudes and latitudes",
                                   plane ? "plain x and y" : "longitudes and latitudes"));
    }
    if (model.info.has_time && !layout_.has(CsvRole::time) && !time_days) {
      throw UsageError(
          fmt::format("{}: the model varies in time but the table has no column of times; name it with --time-column, or give "
                      "one time for all with --time",
                      points.string()));
    }
  }

  PointsReport run(const Control& control) {
    write(header_ + "\n");
    for (source_.fill(); !source_.text().empty(); source_.fill()) {
      const std::string_view text = source_.text();
      const std::string_view rows = source_.at_end() ? text : text.substr(0, whole_rows(text));
      if (rows.empty()) fail_too_long(source_);
      read(rows);
      predict(control);
      source_.consume(rows.size());
    }
    out_.commit();
    return report_;
  }

 private:
  // Reads the header, and makes the new one.
  CsvLayout layout(const std::filesystem::path& points, const Roles& roles) {
    const bool plane = model_.domain.kind == DomainKind::xy;
    const Roles wanted = plane ? Roles{.x = roles.lon, .y = roles.lat, .time = roles.time} : roles;
    CsvLayout found = read_points_layout(source_, points.string(), wanted);
    std::vector<std::string> columns;
    for (const std::string& column : found.names) columns.push_back(quoted(column, found.separator));
    for (const FieldLayer& layer : layers_.layers()) {
      if (layer.members == 0) columns.push_back(layer.info.name);
      for (std::size_t member = 0; member < layer.members; ++member)
        columns.push_back(fmt::format("{}_{}", layer.info.name, member + 1));
    }
    header_ = fmt::format("{}", fmt::join(columns, std::string(1, found.separator)));
    return found;
  }

  static std::string quoted(const std::string& field, char separator) {
    if (field.find_first_of(std::string("\"\n") + separator) == std::string::npos) return field;
    std::string text = "\"";
    for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + "\"";
  }

  void read(std::string_view rows) {
    lon_.clear(), lat_.clear(), time_.clear(), lines_.clear();
    const CsvRowScanner scanner(layout_.separator);
    std::vector<CsvField> fields(layout_.names.size() + 1);
    const char* const end = rows.data() + rows.size();
    try {
      for (const char* row = rows.data(); row != end;) {
        std::size_t count = 0;
        const char* const next = scanner.scan(row, end, fields, count);
        if (count > 0) {
          if (count != layout_.names.size()) {
            throw CsvProblem{row, fmt::format("{} fields, but the header has {}", count, layout_.names.size())};
          }
          std::string_view line(row, static_cast<std::size_t>(next - row));
          while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
          lines_.push_back(line);
          lon_.push_back(number(fields, CsvRole::lon));
          lat_.push_back(number(fields, CsvRole::lat));
          if (model_.info.has_time) time_.push_back(time(fields));
        }
        row = next;
      }
    } catch (const CsvProblem& problem) {
      source_.fail(problem.at, problem.message);
    }
  }

  const CsvField& field(const std::vector<CsvField>& fields, CsvRole role) const { return fields[layout_.column_of(role)]; }

  // NaN where there is nothing.
  double number(const std::vector<CsvField>& fields, CsvRole role) const {
    double value = std::nan("");
    const CsvField& text = field(fields, role);
    const CsvParsed parsed = parse_number(text.text, value);
    if (parsed != CsvParsed::good && parsed != CsvParsed::missing) {
      throw CsvProblem{text.text.data(),
                       fmt::format("\"{}\" in column \"{}\" is not a number", excerpt(text.text), layout_.name_of(role))};
    }
    if (role == CsvRole::lat && model_.domain.kind != DomainKind::xy && std::abs(value) > 90.0) {
      throw CsvProblem{text.text.data(), fmt::format("latitude {} is beyond 90 degrees", value)};
    }
    return value;
  }

  double time(const std::vector<CsvField>& fields) const {
    if (!layout_.has(CsvRole::time)) return *time_days_;
    const CsvField& text = field(fields, CsvRole::time);
    double days = 0.0;
    if (model_.info.calendar_time && looks_like_date(text.text)) {
      if (parse_iso_time(text.text, days)) return days;
      throw CsvProblem{text.text.data(), fmt::format("\"{}\" is not a time", excerpt(text.text))};
    }
    if (model_.info.calendar_time && !is_missing(text.text)) {
      throw CsvProblem{text.text.data(),
                       fmt::format("\"{}\" is not a date, and the model's times are dates", excerpt(text.text))};
    }
    return number(fields, CsvRole::time);
  }

  void predict(const Control& control) {
    if (lines_.empty()) return;
    const FieldPrediction prediction = predict_(lon_, lat_, time_, wants_, control);
    std::vector<std::vector<float>> columns;
    layers_.each(prediction, lat_, [&](std::size_t, std::size_t, std::span<const float> values) {
      columns.emplace_back(values.begin(), values.end());
    });
    std::string text;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      text += lines_[i];
      for (const std::vector<float>& column : columns) add(text, column[i]);
      text += '\n';
      if (std::isnan(prediction.mean[i]))
        ++report_.missing;
      else if (model_.info.has_time)
        note_time(time_[i]);
    }
    report_.rows += lines_.size();
    write(text);
  }

  void add(std::string& text, float number) const {
    text += layout_.separator;
    if (!std::isnan(number))
      text += fmt::format("{:.7g}", number);
    else if (layout_.separator == ' ')
      text += "NaN";  // between blanks, nothing would be no column
  }

  void note_time(double time) {
    const double outside = days_outside(model_.info, time);
    if (std::abs(outside) > std::abs(report_.furthest_days)) report_.furthest_days = outside;
  }

  void write(const std::string& text) { out_.write(std::as_bytes(std::span(text))); }

  FieldPredictor predict_;
  const FieldModel& model_;
  PredictWants wants_;
  LayerMaker layers_;
  CsvSource source_;
  AtomicFile out_;
  std::string header_;
  CsvLayout layout_;
  std::optional<double> time_days_;
  std::vector<std::string_view> lines_;  // rows of the window
  std::vector<double> lon_, lat_, time_;
  PointsReport report_;
};

}  // namespace

PointsReport predict_points(Engine& engine, const FieldModel& model, const std::filesystem::path& points,
                            const std::filesystem::path& path, const Roles& roles, std::optional<double> time_days,
                            const PredictWants& wants, const Control& control) {
  Control quiet = control;  // the table's length is not known, nor is the share that is done
  quiet.progress = {};
  return PointsTable(engine, model, points, path, roles, time_days, wants).run(quiet);
}

}  // namespace drift
