#include "output/plot_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace drift {
namespace {

constexpr std::size_t kMostValues = 8'000'000;  // that quantiles of a scale are taken of
constexpr double kFastShare = 0.99;

void merge(std::vector<float>& extent, const std::vector<float>& values) {
  for (std::size_t i = 0; i < extent.size(); ++i) {
    if (!std::isfinite(extent[i])) extent[i] = values[i];
  }
}

}  // namespace

MapSeries::MapSeries(const std::filesystem::path& map, const PlotOptions& options, bool keep)
    : map_(map), options_(options), keep_(keep), times_(times_asked_for(map, options)), sources_(times_.size()) {}

const PlotSource& MapSeries::at(std::size_t index) {
  if (!sources_[index]) {
    if (!keep_) std::fill(sources_.begin(), sources_.end(), std::nullopt);
    sources_[index] = read(times_[index]);
  }
  return *sources_[index];
}

PlotSource MapSeries::read(const std::string& time) const {
  PlotOptions one = options_;
  one.time = time;
  PlotSource source = read_plot_source(map_, one);
  if (options_.minus.empty()) return source;
  const PlotSource other = read_other_source(options_.minus, source, one);
  return difference_of(std::move(source), other, map_, options_.minus);
}

double MapSurvey::fast() const {
  if (speeds.empty()) return 0.0;
  std::vector<float> sorted = speeds;
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(kFastShare * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

MapSurvey survey_of(MapSeries& series, const Control& control) {
  MapSurvey survey = {.extent = series.at(0), .mean = {}, .sd = {}};
  const std::size_t cells = survey.extent.x.size() * survey.extent.y.size();
  std::size_t every = std::max<std::size_t>(1, cells * series.size() / kMostValues);
  if (every > 1) every |= 1u;  // even strides would meet the same columns again and again
  for (std::size_t i = 0; i < series.size(); ++i) {
    control.check_stop("stopped; nothing was drawn");
    const PlotSource& source = series.at(i);
    merge(survey.extent.mean, source.mean);
    merge(survey.extent.sd, source.sd);
    for (std::size_t c = 0; c < cells; c += every) {
      if (!source.mean.empty()) survey.mean.push_back(source.mean[c]);
      if (!source.sd.empty()) survey.sd.push_back(source.sd[c]);
      if (source.u.empty()) continue;
      const float speed = std::hypot(source.u[c], source.v[c]);
      if (std::isfinite(speed)) survey.speeds.push_back(speed);
    }
    control.report(static_cast<double>(i + 1) / static_cast<double>(series.size()), "reading");
  }
  return survey;
}

}  // namespace drift
