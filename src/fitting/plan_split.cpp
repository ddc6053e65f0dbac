#include "fitting/plan_split.h"

#include <algorithm>

#include "data/groups.h"
#include "drift/error.h"
#include "drift/grouped.h"
#include "fitting/domain_words.h"

namespace drift {
namespace {

constexpr double kHeldOut = 0.1;  // share of the observations, where they are

// None: the settings leave it open.
std::optional<SplitMethod> wanted_split(const FitPlan& plan) {
  const SplitSettings& wanted = plan.settings.split;
  if (plan.out_of_fold || (wanted.held_out == 0.0 && wanted.platforms.empty())) return SplitMethod::none;
  return wanted.method;
}

// By the rows that are not of the test set, whose observations may fill the very gaps to be forecast. Returns why, where the
// settings leave it open.
std::string choose_groups(const Dataset& data, const FitPlan& plan, std::span<const std::size_t> rows, SplitOptions& options,
                          const Control& control) {
  const SplitSettings& wanted = plan.settings.split;
  const std::optional<SplitMethod> method = wanted_split(plan);
  const std::string unit = data.plane_unit.empty() ? "units" : data.plane_unit;
  GroupingChoice choice;
  if (!method) {
    choice = choose_grouping(data.observations, data.on_plane, unit, rows, control);
  } else if (*method != SplitMethod::track && !wanted.block) {  // halves of what is held out may be of blocks
    choice = choose_blocks(data.observations, data.on_plane, unit, rows, control);
  }
  options.method = method.value_or(choice.method);
  options.block = wanted.block.value_or(choice.block);
  options.block_days = wanted.block_days.value_or(wanted.block ? 0.0 : choice.block_days);
  return method && *method != SplitMethod::block ? "" : choice.reason;
}

}  // namespace

void choose_split(const Dataset& data, FitPlan& plan, const Control& control) {
  const SplitSettings& wanted = plan.settings.split;
  SplitOptions options = {.held_out = wanted.held_out.value_or(kHeldOut),
                          .seed = plan.settings.seed,
                          .platforms = wanted.platforms,
                          .on_plane = data.on_plane};
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < data.observations.size(); ++row) {
    if (!std::binary_search(plan.test.begin(), plan.test.end(), row)) rows.push_back(row);
  }
  const std::string reason = choose_groups(data, plan, rows, options, control);
  plan.split_options = options;
  plan.split = split_observations(data.observations, options, std::span<const std::size_t>(rows), control);
  if (!plan.test.empty())
    note(plan, "Test set: {} observations, used for scores only.", grouped(static_cast<double>(plan.test.size())));
  if (plan.split.training.size() < kFewestObservations) {
    throw Error(
        fmt::format("only {} observations are left to train on; hold out fewer (--held-out)", plan.split.training.size()));
  }
  if (plan.out_of_fold) return;  // the folds say it
  if (options.method == SplitMethod::none) {
    note(plan, "Split: nothing is held out{}.",
         plan.test.empty() ? ", so there will be no scores" : "; noise and spread stay uncalibrated");
  } else {
    note(plan, "Split: {} observations held out {}, {} train.{}{}", grouped(static_cast<double>(plan.split.held_out.size())),
         split_words(options), grouped(static_cast<double>(plan.split.training.size())), reason.empty() ? "" : " ", reason);
  }
}

// Each network leaves a fold out, so that forecasts of its rows are honest and the networks differ where data are few.
void choose_folds(const Dataset& data, FitPlan& plan, const Control& control) {
  const RunSettings& wanted = plan.settings;
  if (by_paper(plan) || wanted.uncertainty.method != UncertaintyMethod::ensemble || wanted.model.members == 1u) return;
  const std::span<const std::size_t> rows = plan.split.training;
  const std::string unit = data.plane_unit.empty() ? "units" : data.plane_unit;
  const bool grouped_already = plan.split_options.method == SplitMethod::track || plan.split_options.method == SplitMethod::block;
  SplitOptions options = plan.split_options;
  if (!grouped_already) {
    const GroupingChoice choice = choose_grouping(data.observations, data.on_plane, unit, rows, control);
    options.method = choice.method;
    options.block = wanted.split.block.value_or(choice.block);
    options.block_days = wanted.split.block_days.value_or(wanted.split.block ? 0.0 : choice.block_days);
  }
  if (plan.out_of_fold) plan.split_options = options;  // halves of what is judged are made like the folds
  if (count_groups(data.observations, options, rows, control) < 2) {
    const bool asked = (grouped_already && wanted.split.method) || wanted.split.block || wanted.split.block_days;
    const std::string one = fmt::format("all training observations are of one {}", group_noun(options.method));
    if (asked) {
      throw UsageError(fmt::format(
          "folds {}: {}, and folds need at least two; {}", split_words(options), one,
          options.method == SplitMethod::block ? "give a smaller --block or --block-days, or neither" : "use --split block"));
    }
    control.warn(
        fmt::format("{}, so folds are of single observations at random; neighbours are correlated, which makes what is judged by "
                    "them optimistic",
                    one));
    options.method = SplitMethod::random;
  }
  const std::size_t most = has_networks(plan) ? wanted.model.members.value_or(kUsualMembers) : wanted.fit.folds;
  plan.folds = make_folds(data.observations,
                          {.method = options.method,
                           .count = static_cast<int>(std::min(wanted.fit.folds, most)),
                           .seed = wanted.seed,
                           .block = options.block,
                           .block_days = options.block_days,
                           .on_plane = data.on_plane},
                          rows, control);
  note(plan, "Folds: {}, {}. {}", plan.folds.count, split_words(options),
       plan.out_of_fold     ? "Each is forecast by parts fitted without it; those forecasts give calibration and scores."
       : has_networks(plan) ? "Each network leaves one out."
                            : "The method may choose its settings by them.");
}

// Fewer members than folds: folds are put together, so that each is left out by some member.
void fit_folds_to_members(FitPlan& plan) {
  const std::size_t members = plan.settings.model.members.value_or(kUsualMembers);
  if (!has_networks(plan) || static_cast<std::size_t>(plan.folds.count) <= members) return;
  plan.folds.count = static_cast<int>(members);
  for (std::uint8_t& fold : plan.folds.of) fold = static_cast<std::uint8_t>(fold % members);
  if (members < 2) plan.folds = {};
}

void choose_domain(const Dataset& data, FitPlan& plan) {
  const DomainSettings& wanted = plan.settings.domain;
  const Rows rows = std::span<const std::size_t>(plan.split.training);
  if (data.on_plane && (wanted.kind == DomainKind::sphere || wanted.kind == DomainKind::plane || !wanted.crs.empty())) {
    throw UsageError("domain: the positions are plain x and y, not longitudes and latitudes; use --domain xy");
  }
  if (wanted.kind == DomainKind::plane && wanted.crs.empty()) throw UsageError("domain: a plane needs --crs, such as EPSG:6931");
  if (!wanted.crs.empty() && wanted.kind.value_or(DomainKind::plane) != DomainKind::plane) {
    throw UsageError(fmt::format("domain: {} has no crs; use --domain plane, or leave --crs out", word_of(*wanted.kind)));
  }
  if (data.on_plane || wanted.kind == DomainKind::xy) {
    const std::string unit = !wanted.unit.empty() ? wanted.unit : !data.plane_unit.empty() ? data.plane_unit : "unit";
    plan.domain = fit_domain(xy_domain(unit), data.observations, rows);
  } else if (!wanted.crs.empty()) {
    plan.domain = fit_domain(plane_domain(wanted.crs), data.observations, rows);
  } else if (wanted.kind == DomainKind::sphere) {
    plan.domain = fit_domain(sphere_domain(), data.observations, rows);
  } else {
    plan.domain = drift::choose_domain(data.observations, rows);
  }
  note(plan, "Domain: {}.", domain_words(plan.domain));
}

}  // namespace drift
