#include "scores_text.h"

#include <fmt/format.h>

#include "drift/grouped.h"

std::string scores_text(const drift::Scores& scores, const std::string& unit) {
  const std::string in_unit = unit.empty() || unit == "1" ? "" : " " + unit;
  std::string text = fmt::format("  count    {}\n", drift::grouped(static_cast<double>(scores.count)));
  text += fmt::format("  RMSE     {:.4g}{}\n", scores.rmse, in_unit);
  text += fmt::format("  MAE      {:.4g}{}\n", scores.mae, in_unit);
  text += fmt::format("  bias     {:+.2g}{}\n", scores.bias, in_unit);
  if (!scores.crps) return text + "  (a single network has no spread, so its uncertainty is not scored)\n";
  text += fmt::format("  CRPS     {:.4g}{}   error of the whole forecast, including its spread\n", *scores.crps, in_unit);
  text += fmt::format("  NLL      {:.4g}   minus the log predictive density of the observed values\n", *scores.nll);
  text += fmt::format("  INT 95 % {:.4g}{}   width of the 95 % interval plus penalties for misses\n", *scores.interval_score95,
                      in_unit);
  text += "  coverage";
  for (const drift::Scores::Interval& interval : scores.intervals) {
    text += fmt::format("{} {:.1f} % ({:g} %)", &interval == scores.intervals.data() ? "" : ",", 100.0 * interval.share,
                        100.0 * interval.level);
  }
  return text + "\n";
}
