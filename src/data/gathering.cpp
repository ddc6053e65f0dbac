#include "data/gathering.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <system_error>
#include <utility>

#include "data/observation_columns.h"
#include "data/row_filter.h"
#include "drift/error.h"

namespace drift {
namespace {

void check_both(const FileFacts& first, const FileFacts& other, bool FileFacts::*has, const char* what) {
  if (first.*has == other.*has) return;
  const FileFacts &with = first.*has ? first : other, &without = first.*has ? other : first;
  throw Error(fmt::format("{} has {} and {} has none; read them apart, or name the role \"-\" to do without", with.path.string(),
                          what, without.path.string()));
}

std::string quoted(const std::string& unit) { return unit.empty() ? "no unit" : fmt::format("\"{}\"", unit); }

template <class Number>
void append_column(std::vector<Number>& to, std::vector<Number>& from) {
  to.insert(to.end(), from.begin(), from.end());
  from = {};  // its memory is needed
}

}  // namespace

void check_alike(const FileFacts& first, const FileFacts& other) {
  if (first.value != other.value) {
    throw Error(fmt::format("the values are '{}' in {} and '{}' in {}; read them apart, or name the value", first.value,
                            first.path.string(), other.value, other.path.string()));
  }
  if (first.unit != other.unit) {
    throw Error(fmt::format("'{}' is in {} in {} and in {} in {}; convert one of them", first.value, quoted(first.unit),
                            first.path.string(), quoted(other.unit), other.path.string()));
  }
  if (first.on_plane != other.on_plane || first.plane_unit != other.plane_unit) {
    throw Error(fmt::format(
        "positions are {} in {} and {} in {}; read them apart",
        first.on_plane ? "on a plane in " + quoted(first.plane_unit) : "longitude and latitude", first.path.string(),
        other.on_plane ? "on a plane in " + quoted(other.plane_unit) : "longitude and latitude", other.path.string()));
  }
  check_both(first, other, &FileFacts::has_time, "times");
  check_both(first, other, &FileFacts::has_sigma, "standard deviations");
  check_both(first, other, &FileFacts::has_track, "tracks");
  check_both(first, other, &FileFacts::has_platform, "a platform");
  check_both(first, other, &FileFacts::calendar_time, "dates");
}

Gathering::Gathering(const std::vector<std::filesystem::path>& files) {
  for (const auto& path : files) {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(path, error);
    bytes_.push_back(error ? 0 : bytes);
  }
}

void Gathering::add(FilePart&& part, const FileFacts& facts) {
  if (files_read_ == 0) first_ = facts;
  if (files_read_ > 0) check_alike(first_, facts);
  ++files_read_;
  rows_ += part.rows;
  for (const Rejected& some : part.rejected) add_rejected(rejected_, some.reason, some.count);
  append(part);
}

void Gathering::append(FilePart& part) {
  Observations& from = part.observations;
  std::vector<std::size_t> track_numbers, platform_numbers;
  for (const std::string& label : part.track_labels) track_numbers.push_back(tracks_.number_of(label));
  for (const std::string& name : from.platform_names) platform_numbers.push_back(platforms_.number_of(name));
  if (platforms_.size() > kMostPlatforms || tracks_.size() > std::numeric_limits<std::int32_t>::max()) {
    throw Error(
        fmt::format("the files up to {} have more than {} platforms or 2,147,483,647 tracks; are these the right variables?",
                    first_.path.string(), kMostPlatforms));
  }
  for (std::int32_t& track : from.track) track = static_cast<std::int32_t>(track_numbers[static_cast<std::size_t>(track)]);
  for (std::uint8_t& platform : from.platform) platform = static_cast<std::uint8_t>(platform_numbers[platform]);
  if (all_.size() == 0) {
    all_ = std::move(from);
    return;
  }
  make_room(from.size());
  append_column(all_.lon_deg, from.lon_deg);
  append_column(all_.lat_deg, from.lat_deg);
  append_column(all_.time_days, from.time_days);
  append_column(all_.value, from.value);
  append_column(all_.sigma, from.sigma);
  append_column(all_.track, from.track);
  append_column(all_.platform, from.platform);
}

// For as many observations as the files so far let expect in all, so that columns need not be copied often.
void Gathering::make_room(std::size_t more) {
  const std::size_t needed = all_.size() + more;
  if (needed <= all_.value.capacity()) return;
  const auto read = bytes_.begin() + static_cast<std::ptrdiff_t>(std::min(files_read_, bytes_.size()));
  const double so_far = static_cast<double>(std::accumulate(bytes_.begin(), read, std::uintmax_t{0}));
  const double total = static_cast<double>(std::accumulate(bytes_.begin(), bytes_.end(), std::uintmax_t{0}));
  const double expected = so_far > 0.0 ? 1.02 * static_cast<double>(needed) * total / so_far : 0.0;
  const double bounded = std::min(expected, 3.0 * static_cast<double>(needed));
  const std::size_t room = std::max(needed, static_cast<std::size_t>(bounded));
  for_each_column(all_, [&](auto& column) {
    if (!column.empty()) column.reserve(room);
  });
}

Observations Gathering::finish() && {
  all_.platform_names = platforms_.labels();
  for_each_column(all_, [](auto& column) {
    if (column.capacity() > column.size() + column.size() / 8) column.shrink_to_fit();
  });
  return std::move(all_);
}

}  // namespace drift
