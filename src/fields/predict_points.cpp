// The table goes through the reader's window. Each window's whole rows are taken apart, predicted together and written with the
// new columns behind the row's own text, which is left as it is.

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <iterator>
#include <set>
#include <span>

#include "core/atomic_file.h"
#include "data/csv_field.h"
#include "data/csv_layout.h"
#include "data/csv_rows.h"
#include "data/csv_time.h"
#include "data/input_files.h"
#include "drift/error.h"
#include "drift/files.h"
#include "drift/predict.h"
#include "fields/goes_with.h"
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
        far_(model),
        source_(points, kWindow),
        out_(path),
        layout_(layout(points, roles)),
        time_days_(time_days) {
    check_positions(model, layout_.on_plane, points.string());
    if (model.info.has_time && !layout_.has(CsvRole::time) && !time_days) {
      throw UsageError(
          fmt::format("{}: the model varies in time but the table has no column of times; name it with --time-column, or give "
                      "one time for all with --time",
                      points.string()));
    }
  }

  PointsReport run(const Control& control) {
    write(header_ + "\n");
    for_windows(source_, layout_, [&](std::string_view rows) {
      read(rows);
      predict(control);
    });
    out_.commit();
    report_.far = far_.result();
    report_.missing -= report_.far.unreached;
    report_.lacks = layers_.lacks();
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
    std::set<std::string> taken(found.names.begin(), found.names.end());
    for (const FieldLayer& layer : layers_.layers()) {
      if (layer.members == 0) report_.columns.push_back(free_name(layer.info.name, taken));
      for (std::size_t member = 0; member < layer.members; ++member)
        report_.columns.push_back(free_name(fmt::format("{}_{}", layer.info.name, member + 1), taken));
    }
    columns.insert(columns.end(), report_.columns.begin(), report_.columns.end());
    header_ = fmt::format("{}", fmt::join(columns, std::string(1, found.separator)));
    return found;
  }

  // The table's own columns keep their names; a new one that would repeat one is told from it by its end.
  static std::string free_name(const std::string& name, std::set<std::string>& taken) {
    std::string free = name;
    for (int i = 1; !taken.insert(free).second; ++i)
      free = i == 1 ? name + "_predicted" : fmt::format("{}_predicted_{}", name, i);
    return free;
  }

  static std::string quoted(const std::string& field, char separator) {
    if (field.find_first_of(std::string("\"\n") + separator) == std::string::npos) return field;
    std::string text = "\"";
    for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + "\"";
  }

  void read(std::string_view rows) {
    lon_.clear(), lat_.clear(), time_.clear(), lines_.clear();
    for_rows(source_, layout_, rows, [&](const std::vector<CsvField>& fields, std::string_view line) {
      lines_.push_back(line);
      lon_.push_back(number(fields, CsvRole::lon));
      lat_.push_back(number(fields, CsvRole::lat));
      if (model_.info.has_time) time_.push_back(time(fields));
    });
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

  // NaN where there is none.
  double time(const std::vector<CsvField>& fields) const {
    if (!layout_.has(CsvRole::time)) return *time_days_;
    double time = std::nan("");
    const CsvTime kind = read_time(layout_, fields, time);
    const bool is_date = kind == CsvTime::date || layout_.time_units;
    if (kind == CsvTime::missing || is_date == model_.info.calendar_time) return time;
    throw field_problem(
        field(fields, CsvRole::time), layout_.name_of(CsvRole::time),
        is_date ? "is a date, and the model's times are numbers" : "is not a date, and the model's times are dates");
  }

  void predict(const Control& control) {
    if (lines_.empty()) return;
    const auto begin = std::chrono::steady_clock::now();
    const FieldPrediction prediction = predict_(lon_, lat_, time_, wants_, control);
    report_.predict_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    far_.add(lon_, lat_);
    std::vector<std::vector<double>> columns;
    std::vector<int> digits;
    layers_.each(prediction, lat_, [&](std::size_t layer, std::size_t, std::span<const double> values) {
      digits.push_back(layers_.layers()[layer].digits);
      columns.emplace_back(values.begin(), values.end());
    });
    std::string text;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      text += lines_[i];
      for (std::size_t column = 0; column < columns.size(); ++column) add(text, columns[column][i], digits[column]);
      text += '\n';
      if (!std::isnan(prediction.mean[i])) continue;
      ++report_.missing;
      if (model_.info.has_time) time_[i] = std::nan("");  // a time without a position is outside nothing
    }
    const double outside = furthest_outside(model_.info, time_);
    if (std::abs(outside) > std::abs(report_.furthest_days)) report_.furthest_days = outside;
    report_.rows += lines_.size();
    write(text);
  }

  void add(std::string& text, double number, int digits) const {
    text += layout_.separator;
    if (!std::isnan(number))
      fmt::format_to(std::back_inserter(text), "{:.{}g}", number, digits);
    else if (layout_.separator == ' ')
      text += "NaN";  // between blanks, nothing would be no column
  }

  void write(const std::string& text) { out_.write(std::as_bytes(std::span(text))); }

  FieldPredictor predict_;
  const FieldModel& model_;
  PredictWants wants_;
  LayerMaker layers_;
  FarCounter far_;
  CsvSource source_;
  AtomicFile out_;
  PointsReport report_;
  std::string header_;
  CsvLayout layout_;
  std::optional<double> time_days_;
  std::vector<std::string_view> lines_;  // rows of the window
  std::vector<double> lon_, lat_, time_;
};

}  // namespace

PointsReport predict_points(Engine& engine, const FieldModel& model, const std::filesystem::path& points,
                            const std::filesystem::path& path, const Roles& roles, std::optional<double> time_days,
                            const PredictWants& wants, const Control& control) {
  check_outputs({{"the points", points}}, {{"the table", path}});
  check_is_text(points);
  Control quiet = control;  // the table's length is not known, nor is the share that is done
  quiet.progress = {};
  return PointsTable(engine, model, points, path, roles, time_days, wants).run(quiet);
}

}  // namespace drift
