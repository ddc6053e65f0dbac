#include "data/nc_rows.h"

#include <fmt/format.h>
#include <netcdf.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/longitude.h"
#include "data/labels.h"
#include "data/nc_column.h"
#include "data/platform_names.h"
#include "data/words.h"
#include "drift/calendar.h"
#include "drift/error.h"
#include "geo/projection.h"

namespace drift {
namespace {

// In the order in which a cell is looked at.
enum Reason : std::size_t {
  kValueMissing,
  kValueInvalid,
  kTimeMissing,
  kSigmaMissing,
  kSigmaBad,
  kTrackMissing,
  kPlatformMissing,
  kPositionMissing,
  kBeyondLatitude,
  kBeyondLongitude,
  kReasons
};
constexpr std::array<std::string_view, kReasons> kTexts = {"value missing",
                                                           "value outside the file's valid range",
                                                           "time missing",
                                                           "sigma missing",
                                                           "sigma not more than zero",
                                                           "track missing",
                                                           "platform missing",
                                                           "position missing",
                                                           "latitude beyond 90 degrees",
                                                           "longitude beyond 540 degrees"};

// The platforms of a file: one for all, a number for each cell, or a text for each.
class Platforms {
 public:
  Platforms(const NcSource& file, const NcLayout& layout, std::size_t axis) : file_(file), layout_(layout) {
    const NcVariable* const variable = layout.platform;
    if (variable == nullptr) {
      if (!layout.platform_name.empty()) names_.number_of(layout.platform_name);
      return;
    }
    if (variable->is_number()) {
      column_ = std::make_unique<NcColumn>(file, *layout.value, *variable, axis);
      flag_values_ = file.numbers(*variable, "flag_values");
      flag_meanings_ = split(file.text(*variable, "flag_meanings").value_or(""), ' ');
    } else {
      read_text(*variable);
    }
  }

  bool exist() const { return names_.size() > 0 || column_ != nullptr; }
  const std::vector<std::string>& names() const { return names_.labels(); }

  void load(const NcBlock& block) {
    if (column_) column_->load(block);
  }

  // Of a cell of the block; kMostPlatforms where it is missing.
  std::size_t number(std::size_t cell) {
    if (!column_) return 0;
    const double code = column_->cells()[cell];
    if (std::isnan(code)) return kMostPlatforms;
    if (code == last_code_) return last_number_;
    last_code_ = code;
    last_number_ = is_text_ ? static_cast<std::size_t>(code) : names_.number_of(name_of(code));
    check_count();
    return last_number_;
  }

 private:
  void read_text(const NcVariable& variable) {
    const std::size_t rank = variable.dimensions.size() - (variable.type == NC_CHAR && !variable.dimensions.empty() ? 1 : 0);
    const NcVariable without_letters = {variable.name,
                                        variable.group,
                                        variable.id,
                                        variable.type,
                                        {variable.dimensions.begin(), variable.dimensions.begin() + static_cast<long>(rank)}};
    if (!lies_along(without_letters, *layout_.value)) {
      throw UsageError(fmt::format("{}: variable '{}' (--platform) does not lie along the dimensions of '{}'",
                                   file_.path().string(), variable.name, layout_.value->name));
    }
    std::vector<double> codes;
    for (const std::string& text : file_.read_text(variable)) {
      const std::string_view name = stripped(text);
      codes.push_back(name.empty() ? std::nan("") : static_cast<double>(names_.number_of(name)));
    }
    check_count();
    is_text_ = true;
    column_ = std::make_unique<NcColumn>(*layout_.value, variable, rank, std::move(codes));
  }

  std::string name_of(double code) const {
    for (std::size_t i = 0; i < flag_values_.size() && i < flag_meanings_.size(); ++i) {
      if (flag_values_[i] == code) return flag_meanings_[i];
    }
    return fmt::format("{:.10g}", code);
  }

  void check_count() const {
    if (names_.size() <= kMostPlatforms) return;
    throw Error(fmt::format("{}: variable '{}' has more than {} different platforms; is it the right one?", file_.path().string(),
                            layout_.platform->name, kMostPlatforms));
  }

  const NcSource& file_;
  const NcLayout& layout_;
  std::unique_ptr<NcColumn> column_;
  bool is_text_ = false;
  Labels names_;
  std::vector<double> flag_values_;
  std::vector<std::string> flag_meanings_;
  double last_code_ = std::nan("");
  std::size_t last_number_ = 0;
};

class RowReader {
 public:
  RowReader(const NcSource& file, const NcLayout& layout, const RowFilter& filter, std::size_t block_cells)
      : file_(file),
        layout_(layout),
        filter_(filter),
        blocks_(*layout.value, block_cells),
        value_(column(*layout.value)),
        x_(column(*layout.x)),
        y_(column(*layout.y)),
        platforms_(file, layout, blocks_.axis()),
        refused_(layout.where.size(), 0) {
    if (layout.time != nullptr) time_ = std::make_unique<NcColumn>(column(*layout.time));
    if (layout.time_offset != nullptr) time_offset_ = std::make_unique<NcColumn>(column(*layout.time_offset));
    if (layout.sigma != nullptr) sigma_ = std::make_unique<NcColumn>(column(*layout.sigma));
    if (layout.track != nullptr) track_ = std::make_unique<NcColumn>(column(*layout.track));
    if (layout.cycle != nullptr) cycle_ = std::make_unique<NcColumn>(column(*layout.cycle));
    for (const NcVariable* variable : layout.where) where_.push_back(column(*variable));
  }

  FilePart read(const Control& control) && {
    NcBlock block;
    while (blocks_.next(block)) {
      control.check_stop("stopped while reading");
      load(block);
      gather(block.size());
      if (!layout_.crs.empty()) unproject();
      keep();
      part_.rows += block.size();
    }
    finish();
    return std::move(part_);
  }

 private:
  NcColumn column(const NcVariable& variable) const { return {file_, *layout_.value, variable, blocks_.axis()}; }

  void load(const NcBlock& block) {
    value_.load_stored(block);
    x_.load(block);
    y_.load(block);
    for (NcColumn* some : {time_.get(), time_offset_.get(), sigma_.get(), track_.get(), cycle_.get()}) {
      if (some != nullptr) some->load(block);
    }
    for (NcColumn& some : where_) some.load(block);
    platforms_.load(block);
  }

  // Cells with all that an observation needs, but for the position.
  struct Kept {
    double value, time;
    float sigma;
    std::int32_t track;
    std::uint8_t platform;
  };

  void gather(std::size_t cells) {
    kept_.clear();
    kept_x_.clear();
    kept_y_.clear();
    for (std::size_t cell = 0; cell < cells; ++cell) {
      Kept row = {};
      if (time_ && !read_time(cell, row.time)) {
        ++counts_[kTimeMissing];
        continue;
      }
      if (!read_value(cell, row.value) || !read_others(cell, row) || !meets_conditions(cell, row.value)) continue;
      kept_.push_back(row);
      kept_x_.push_back(x_.cells()[cell]);
      kept_y_.push_back(y_.cells()[cell]);
    }
  }

  bool refuse(Reason reason) {
    ++counts_[reason];
    return false;
  }

  bool read_value(std::size_t cell, double& value) {
    const NcPacking& packing = value_.packing();
    double stored = value_.cells()[cell];
    if (stored < 0.0) stored += packing.wrap;
    if (packing.is_missing(stored) || !std::isfinite(stored)) return refuse(kValueMissing);
    if (packing.is_out_of_range(stored)) return refuse(kValueInvalid);
    value = stored * packing.scale + packing.offset;
    return true;
  }

  bool read_time(std::size_t cell, double& time) {
    const double number = time_->cells()[cell];
    if (!std::isfinite(number)) return false;
    time = layout_.calendar ? layout_.calendar->to_days(number) : number;
    if (std::isnan(time)) return false;
    if (layout_.tai) time = tai_to_utc(time);
    if (time_offset_) {
      const double later = time_offset_->cells()[cell];
      if (!std::isfinite(later)) return false;
      time += later * layout_.seconds_per_offset / kSecondsPerDay;
    }
    if (layout_.in_order && time < last_time_) fail_order(part_.rows + cell, time);
    last_time_ = time;
    return true;
  }

  [[noreturn]] void fail_order(std::size_t index, double time) const {
    throw Error(
        fmt::format("{}: times run backwards: variable '{}' goes from {} to {} at index {}; is the file damaged? "
                    "--any-order accepts it",
                    file_.path().string(), layout_.time->name, shown(last_time_), shown(time), index));
  }

  std::string shown(double time) const { return layout_.calendar ? iso_time(time) : fmt::format("{}", time); }

  bool read_others(std::size_t cell, Kept& row) {
    if (sigma_) {
      const double sigma = sigma_->cells()[cell];
      if (std::isnan(sigma)) return refuse(kSigmaMissing);
      row.sigma = static_cast<float>(sigma);
      if (!(row.sigma > 0.0F) || std::isinf(row.sigma)) return refuse(kSigmaBad);
    }
    if (platforms_.exist()) {
      const std::size_t number = platforms_.number(cell);
      if (number == kMostPlatforms) return refuse(kPlatformMissing);
      row.platform = static_cast<std::uint8_t>(number);
    }
    return read_track(cell, row);
  }

  bool read_track(std::size_t cell, Kept& row) {
    if (!track_) return true;
    const double track = track_->cells()[cell], cycle = cycle_ ? cycle_->cells()[cell] : 0.0;
    if (std::isnan(track) || std::isnan(cycle)) return refuse(kTrackMissing);
    if (track != last_track_ || cycle != last_cycle_ || row.platform != last_platform_) {
      const std::string platform = platforms_.exist() ? platforms_.names()[row.platform] : std::string();
      const std::string label = fmt::format("{}{}{:.10g}/{:.10g}", platform, '\0', cycle, track);
      last_number_ = static_cast<std::int32_t>(tracks_.number_of(label));
      last_track_ = track;
      last_cycle_ = cycle;
      last_platform_ = row.platform;
    }
    row.track = last_number_;
    return true;
  }

  bool meets_conditions(std::size_t cell, double value) {
    for (std::size_t i = 0; i < where_.size(); ++i) {
      if (layout_.conditions[i].holds(where_[i].cells()[cell]) != layout_.conditions[i].refused) continue;
      ++refused_[i];
      return false;
    }
    const std::optional<Range>& range = layout_.quality_valid;
    const bool good = !range || (value >= range->low && value <= range->high);
    if (!good) ++out_of_range_;
    return good;
  }

  void unproject() {
    for (double& x : kept_x_) x *= layout_.metres_per_unit;
    for (double& y : kept_y_) y *= layout_.metres_per_unit;
    projection()->inverse(kept_x_, kept_y_);
  }

  std::shared_ptr<const Projection> projection() const {
    try {
      return projection_of(layout_.crs);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: the grid mapping of variable '{}' cannot be used: {}", file_.path().string(),
                              layout_.value->name, error.what()));
    }
  }

  bool check_position(double& x, double y) {
    if (!std::isfinite(x) || !std::isfinite(y)) return refuse(kPositionMissing);
    if (layout_.on_plane) return true;
    if (std::abs(y) > 90.0) return refuse(kBeyondLatitude);
    if (std::abs(x) > kMostLongitudeDeg) return refuse(kBeyondLongitude);
    x = wrapped_longitude(x);
    return true;
  }

  void keep() {
    Observations& to = part_.observations;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const Kept& row = kept_[i];
      if (!check_position(kept_x_[i], kept_y_[i])) continue;
      const std::string_view refusal =
          filter_.refusal(kept_x_[i], kept_y_[i], time_ ? &row.time : nullptr, row.value, layout_.on_plane);
      if (!refusal.empty()) {
        add_rejected(part_.rejected, refusal, 1);
        continue;
      }
      to.lon_deg.push_back(kept_x_[i]);
      to.lat_deg.push_back(kept_y_[i]);
      to.value.push_back(row.value);
      if (time_) to.time_days.push_back(row.time);
      if (sigma_) to.sigma.push_back(row.sigma);
      if (track_ || !layout_.pass_label.empty()) to.track.push_back(row.track);
      if (platforms_.exist()) to.platform.push_back(row.platform);
    }
  }

  void finish() {
    const std::size_t good = part_.observations.size() + counts_[kBeyondLatitude];
    if (counts_[kBeyondLatitude] * 2 > good) {
      throw Error(fmt::format("{}: {} of {} latitudes in variable '{}' are beyond 90 degrees; is it the right variable?",
                              file_.path().string(), counts_[kBeyondLatitude], good, layout_.y->name));
    }
    std::vector<Rejected> rejected;
    for (std::size_t i = 0; i < kReasons; ++i) add_rejected(rejected, kTexts.at(i), counts_.at(i));
    for (std::size_t i = 0; i < refused_.size(); ++i) {
      add_rejected(rejected, layout_.conditions[i].refusal(), refused_[i]);
    }
    if (layout_.quality_valid) {
      add_rejected(rejected, fmt::format("{}not {}", kQuality, quality_words(layout_, *layout_.quality_valid)), out_of_range_);
    }
    for (const Rejected& other : part_.rejected) add_rejected(rejected, other.reason, other.count);
    part_.rejected = std::move(rejected);
    part_.observations.platform_names = platforms_called(platforms_.names());
    part_.track_labels = tracks_.labels();
    if (!layout_.pass_label.empty())
      part_.track_labels = {fmt::format("{}{}{}", layout_.platform_name, '\0', layout_.pass_label)};
  }

  const NcSource& file_;
  const NcLayout& layout_;
  const RowFilter& filter_;
  NcBlocks blocks_;
  NcColumn value_, x_, y_;
  std::unique_ptr<NcColumn> time_, time_offset_, sigma_, track_, cycle_;
  std::vector<NcColumn> where_;
  Platforms platforms_;
  Labels tracks_;
  FilePart part_;
  std::array<std::size_t, kReasons> counts_ = {};
  std::vector<std::size_t> refused_;  // by condition
  std::size_t out_of_range_ = 0;      // of quality control
  std::vector<Kept> kept_;
  std::vector<double> kept_x_, kept_y_;
  double last_time_ = -std::numeric_limits<double>::infinity();
  double last_track_ = std::nan(""), last_cycle_ = std::nan("");
  std::uint8_t last_platform_ = 0;
  std::int32_t last_number_ = 0;
};

}  // namespace

FilePart read_rows(const NcSource& file, const NcLayout& layout, const RowFilter& filter, const Control& control,
                   std::size_t block_cells) {
  return RowReader(file, layout, filter, block_cells).read(control);
}

}  // namespace drift
