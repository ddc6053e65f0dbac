#include "drift/read_observations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <set>
#include <utility>

#include "core/threads.h"
#include "data/array_source.h"
#include "data/check_values.h"
#include "data/csv.h"
#include "data/csv_header.h"
#include "data/describe.h"
#include "data/duplicates.h"
#include "data/gathering.h"
#include "data/input_files.h"
#include "data/nc_layout.h"
#include "data/nc_rows.h"
#include "data/preset.h"
#include "data/row_filter.h"
#include "data/time_units.h"
#include "data/tracks.h"
#include "drift/error.h"
#include "drift/read_arrays.h"
#include "netcdf/guarded_open.h"
#include "netcdf/netcdf_call.h"
#include "netcdf/netcdf_reader.h"

namespace drift {
namespace {

// One file, read; what is known of it besides its observations.
struct OneFile {
  FilePart part;
  FileFacts facts;
  Roles roles;
  VariableInfo value;
  std::string preset;
  std::string tracks_from;
  DataLayout layout = DataLayout::points;
  bool may_have_tracks = false;  // that are to be found where none are given
  std::vector<std::string> quality, warnings;
};

std::string tracks_of(const NcLayout& layout) {
  if (layout.cycle != nullptr) return fmt::format("variables '{}' and '{}'", layout.cycle->name, layout.track->name);
  if (layout.track != nullptr) return fmt::format("variable '{}'", layout.track->name);
  return layout.pass_label.empty() ? std::string() : fmt::format("the file's attribute '{}'", layout.preset->pass_attribute);
}

OneFile read_variable(const NcSource& file, NcLayout layout, const RowFilter& filter, const Control& control) {
  OneFile result;
  result.part = read_rows(file, layout, filter, control);
  result.roles = layout.roles;
  result.value = layout.info;
  result.preset = layout.preset == nullptr ? std::string() : layout.preset->name;
  result.tracks_from = tracks_of(layout);
  result.layout = layout.layout;
  result.quality = quality_words(layout);
  result.warnings = std::move(layout.warnings);
  const bool follows_track = layout.layout == DataLayout::along_track || layout.layout == DataLayout::swath;
  result.may_have_tracks = follows_track && layout.calendar && !layout.on_plane;
  const bool has_platform = layout.platform != nullptr || !layout.platform_name.empty();
  result.facts = {file.path(),
                  layout.info.name,
                  layout.info.unit,
                  layout.on_plane,
                  layout.on_plane ? layout.plane_unit : std::string(),
                  layout.time != nullptr,
                  layout.sigma != nullptr,
                  !result.tracks_from.empty(),
                  has_platform,
                  layout.calendar.has_value()};
  return result;
}

// One entry for each variable that holds values: the beams of a laser are several.
std::vector<OneFile> read_source(const NcSource& file, const ReadOptions& options, const RowFilter& filter,
                                 const Control& control) {
  std::vector<OneFile> result;
  for (NcLayout& layout : find_layouts(file, options, filter)) {
    result.push_back(read_variable(file, std::move(layout), filter, control));
  }
  return result;
}

std::vector<OneFile> read_netcdf_file(const std::filesystem::path& path, const ReadOptions& options, const RowFilter& filter,
                                      const Control& control) {
  return read_source(NcReader(path, control.stop), options, filter, control);
}

std::vector<OneFile> read_csv_file(const std::filesystem::path& path, const ReadOptions& options, const RowFilter& filter,
                                   const Control& control) {
  const CsvOptions how = {.columns = options.roles, .threads = options.threads, .time_units = options.time_units};
  CsvReading csv = read_csv(path, how, filter, control);
  OneFile result;
  result.part = std::move(csv.part);
  result.roles = csv.columns;
  result.value = {csv.columns.value, {}, {}, unit_in_name(csv.columns.value)};
  result.warnings = std::move(csv.warnings);
  describe(result.value, options, result.warnings);
  const Roles& roles = result.roles;
  if (!roles.track.empty()) result.tracks_from = fmt::format("column \"{}\"", roles.track);
  result.layout = roles.track.empty() ? DataLayout::points : DataLayout::along_track;
  result.may_have_tracks = csv.iso_times && !csv.on_plane;
  result.facts = {path,
                  roles.value,
                  result.value.unit,
                  csv.on_plane,
                  unit_in_name(roles.x),
                  !roles.time.empty(),
                  !roles.sigma.empty(),
                  !roles.track.empty(),
                  !roles.platform.empty(),
                  csv.iso_times};
  std::vector<OneFile> results;
  results.push_back(std::move(result));
  return results;
}

// Calls read(i) for all files on several threads and merge(i, result) in the files' order, one at a time. A thread whose file is
// read waits for its turn, so no more files are in memory than there are threads. Throws what the first file that failed threw.
class InOrder {
 public:
  using Read = std::function<std::vector<OneFile>(std::size_t)>;
  using Merge = std::function<void(std::vector<OneFile>&&)>;

  void run(std::size_t files, int threads, const Read& read, const Merge& merge) {
    failed_ = files;
    run_on_threads(std::min(threads, static_cast<int>(std::min<std::size_t>(files, 1024))), [&](int) {
      for (std::size_t i = take(); i < failed(); i = take()) one(i, read, merge);
    });
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::size_t take() {
    const std::lock_guard lock(mutex_);
    return next_++;
  }
  std::size_t failed() {
    const std::lock_guard lock(mutex_);
    return failed_;
  }

  void one(std::size_t i, const Read& read, const Merge& merge) {
    try {
      std::vector<OneFile> result = read(i);
      std::unique_lock lock(mutex_);
      turn_.wait(lock, [&] { return merged_ == i || failed_ < i; });
      if (failed_ < i) return;
      merge(std::move(result));
      ++merged_;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (i < failed_) {
        failed_ = i;
        error_ = std::current_exception();
      }
    }
    turn_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable turn_;
  std::size_t next_ = 0, merged_ = 0, failed_ = 0;
  std::exception_ptr error_;
};

class ObservationReader {
 public:
  ObservationReader(std::vector<std::filesystem::path> files, const ReadOptions& options, const Control& control)
      : options_(options),
        control_(control),
        filter_(make_filter(options)),
        netcdf_(are_netcdf(files)),
        threads_(threads_or_all(control.threads != 0 ? control.threads : options.threads)),
        files_(netcdf_ ? that_open(files) : std::move(files)),
        gathering_(files_) {
    if (!netcdf_ && !options.preset.empty() && options.preset != "none") {
      throw UsageError(
          fmt::format("the preset \"{}\" is for NetCDF files, and {} is not one", options.preset, files_[0].string()));
    }
    reading_.report.files = files_;
    reading_.report.warnings = warnings_;
    reading_.report.format = netcdf_ ? "NetCDF" : "CSV";
  }

  // For read_arrays.
  ObservationReader(const std::string& arrays, const ReadOptions& options, const Control& control)
      : options_(options),
        control_(control),
        filter_(make_filter(options)),
        netcdf_(true),
        threads_(threads_or_all(control.threads != 0 ? control.threads : options.threads)),
        files_({arrays}),
        gathering_(files_) {
    reading_.report.format = "arrays";
  }

  Reading read_arrays(const NcSource& arrays) && {
    for (OneFile& variable : read_source(arrays, options_, filter_, control_)) merge(std::move(variable));
    finish();
    return std::move(reading_);
  }

  Reading read() && {
    const auto read_one = netcdf_ ? read_netcdf_file : read_csv_file;
    const int threads = netcdf_ ? threads_ : 1;  // a CSV file is read by several by itself
    damage_.resize(files_.size());
    InOrder().run(
        files_.size(), threads,
        [&](std::size_t i) {
          try {
            return read_one(files_[i], options_, filter_, control_);
          } catch (const NetcdfError& error) {
            if (options_.bad_files == BadFiles::stop) throw Error(error.what() + hint(files_.size()));
            damage_[i] = error.what();
            return std::vector<OneFile>();
          }
        },
        [&](std::vector<OneFile>&& variables) {
          control_.check_stop("stopped while reading");
          control_.report(static_cast<double>(++merged_) / static_cast<double>(files_.size()), "reading");
          for (OneFile& variable : variables) merge(std::move(variable));
        });
    leave_out_damaged();
    finish();
    return std::move(reading_);
  }

 private:
  static constexpr const char* kLeftOut = "; it was left out.";

  static void add_once(std::vector<std::string>& texts, const std::string& text) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }

  // What keeps a file from being opened, as far as that is known before; empty: nothing.
  std::vector<std::string> troubles(const std::vector<std::filesystem::path>& files) {
    Control opening = control_;
    opening.threads = threads_;
    auto [wrong, warning] = try_to_open(files, options_.open_limit_s, opening);
    if (!warning.empty()) warnings_.push_back(std::move(warning));
    for (std::size_t i = 0; i < files.size() && options_.bad_files == BadFiles::skip; ++i) {
      if (!wrong[i].empty() || (options_.open_limit_s > 0.0 && needs_guard(files[i]))) continue;
      try {
        const NcReader file(files[i]);
      } catch (const Error& error) {
        wrong[i] = error.what();
      }
    }
    return wrong;
  }

  // The first file that does not open ends the reading, or all such are left out.
  std::vector<std::filesystem::path> that_open(const std::vector<std::filesystem::path>& files) {
    const std::vector<std::string> wrong = troubles(files);
    std::vector<std::filesystem::path> good;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (wrong[i].empty()) {
        good.push_back(files[i]);
      } else if (options_.bad_files == BadFiles::stop) {
        throw Error(wrong[i] + hint(files.size()));
      } else {
        warnings_.push_back(wrong[i] + kLeftOut);
      }
    }
    if (good.empty()) throw Error(fmt::format("none of {} files can be opened; {}", files.size(), wrong.front()));
    return good;
  }

  static std::string hint(std::size_t files) { return files == 1 ? "" : " (--bad-files skip reads the others)"; }

  // Files that could be opened, but whose numbers netCDF could not read.
  void leave_out_damaged() {
    std::vector<std::filesystem::path> good;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (damage_[i].empty())
        good.push_back(files_[i]);
      else
        reading_.report.warnings.push_back(damage_[i] + kLeftOut);
    }
    if (good.empty()) throw Error(fmt::format("none of {} files can be read; {}", files_.size(), damage_.front()));
    files_ = std::move(good);
    reading_.report.files = files_;
  }

  void merge(OneFile&& file) {
    ReadReport& report = reading_.report;
    if (!file.preset.empty()) presets_.insert(file.preset);
    for (const std::string& words : file.quality) add_once(report.quality, words);
    for (const std::string& warning : file.warnings) add_once(report.warnings, warning);
    if (!begun_) {
      begun_ = true;
      may_have_tracks_ = true;
      reading_.layout = file.layout;
      report.roles = file.roles;
      reading_.value = file.value;
      reading_.on_plane = file.facts.on_plane;
      reading_.plane_unit = file.facts.on_plane ? file.facts.plane_unit : std::string();
      reading_.calendar_time = file.facts.calendar_time;
      reading_.tracks_from = file.tracks_from;
    }
    may_have_tracks_ = may_have_tracks_ && file.may_have_tracks;
    if (file.layout != reading_.layout) reading_.layout = DataLayout::points;
    gathering_.add(std::move(file.part), file.facts);
  }

  void finish() {
    ReadReport& report = reading_.report;
    report.preset = fmt::format("{}", fmt::join(presets_, ", "));
    report.rows = gathering_.rows();
    report.rejected = gathering_.rejected();
    for (const Rejected& some : report.rejected) {
      if (some.reason.starts_with(kQuality)) report.quality_left_out += some.count;
    }
    reading_.provenance = files_.size() == 1 ? files_[0].filename().string()
                                             : fmt::format("{} files, {} to {}", files_.size(),
                                                           files_.front().filename().string(), files_.back().filename().string());
    Observations& observations = reading_.observations;
    observations = std::move(gathering_).finish();
    if (options_.time && report.roles.time.empty()) {
      throw UsageError(fmt::format("--from or --to is given, but {} has no times", files_[0].string()));
    }
    if (observations.size() == 0) fail_empty();
    take_out_duplicates();
    check_values(reading_.observations.value, reading_.value, report.warnings);
    if (!reading_.calendar_time) {
      if (std::string doubt = doubtful_times(observations); !doubt.empty()) report.warnings.push_back(std::move(doubt));
    }
    if (!reading_.tracks_from.empty()) {
      reading_.tracks = renumber_tracks(observations);
    } else if (may_have_tracks_ && options_.roles.track != kNoRole) {
      find_their_tracks();
    }
    if (reading_.layout == DataLayout::along_track && reading_.tracks == 0) reading_.layout = DataLayout::points;
    if (reading_.calendar_time && reading_.tracks > 1) {
      if (std::string sparse = sparse_tracks(observations, reading_.tracks); !sparse.empty())
        report.warnings.push_back(std::move(sparse));
    }
  }

  void find_their_tracks() {
    const FoundTracks found = find_tracks(reading_.observations, options_.track_gap_s);
    reading_.tracks = found.count;
    if (found.count == 0) return;
    reading_.tracks_from = fmt::format("{}gaps of {:g} s and turns", found.of_lines ? "lines, " : "", options_.track_gap_s);
    reading_.layout = found.of_lines ? DataLayout::swath : DataLayout::along_track;
  }

  [[noreturn]] void fail_empty() const {
    const ReadReport& report = reading_.report;
    std::vector<std::string> reasons;
    for (const Rejected& some : report.rejected) reasons.push_back(fmt::format("{} {}", some.reason, some.count));
    const std::string where =
        files_.size() == 1 ? files_[0].string() : fmt::format("{} files from {} on", files_.size(), files_[0].string());
    if (report.rows == 0) throw Error(fmt::format("{}: no observations: '{}' has no values at all", where, report.roles.value));
    throw Error(fmt::format("{}: none of {} values of '{}' is left: {}{}", where, report.rows, report.roles.value,
                            fmt::join(reasons, ", "),
                            report.quality_left_out > 0 ? "; --no-quality-control keeps what it leaves out" : ""));
  }

  void take_out_duplicates() {
    ReadReport& report = reading_.report;
    const std::size_t before = reading_.observations.size();
    const std::size_t dropped = drop_duplicates(reading_.observations, threads_);
    if (dropped == 0) return;
    if (2 * dropped > before) {
      throw Error(
          fmt::format("{} of {} observations are there more than once, with the same position, time and value; is a file "
                      "given under two names, or is the position or the time the wrong variable?",
                      dropped, before));
    }
    add_rejected(report.rejected, "exact duplicate", dropped);
    report.warnings.push_back(
        fmt::format("{} of {} observations were exact duplicates of others (same position, time{} and value) "
                    "and were left out.",
                    dropped, before, reading_.observations.platform.empty() ? "" : ", platform"));
  }

  const ReadOptions& options_;
  const Control& control_;
  RowFilter filter_;
  std::vector<std::string> warnings_;
  bool netcdf_;
  int threads_;
  std::vector<std::filesystem::path> files_;
  std::vector<std::string> damage_;  // of each file; empty: none
  Gathering gathering_;
  std::size_t merged_ = 0;
  bool begun_ = false, may_have_tracks_ = false;
  std::set<std::string> presets_;
  Reading reading_;
};

void check_options(const ReadOptions& options) {
  if (!(options.track_gap_s > 0.0)) {
    throw UsageError(fmt::format("track_gap_s is {}; it must be more than zero", options.track_gap_s));
  }
  if (options.threads < 0) throw UsageError(fmt::format("threads is {}; it must be zero or more", options.threads));
}

}  // namespace

Reading read_observations(const std::vector<std::string>& patterns, const ReadOptions& options, const Control& control) {
  check_options(options);
  return ObservationReader(input_files(patterns), options, control).read();
}

Reading read_arrays(const ArrayFile& arrays, const ReadOptions& options, const Control& control) {
  check_options(options);
  return ObservationReader(arrays.name, options, control).read_arrays(ArraySource(arrays));
}

}  // namespace drift
