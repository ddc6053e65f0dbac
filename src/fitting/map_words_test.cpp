// A map's attributes name the parts or the method that made it, whatever these are.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "drift/fit.h"
#include "drift/predict.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::map<std::string, std::string> attributes_of_map(const std::function<void(RunSettings&)>& change) {
  const Dataset data = small_dataset(20, 20);
  RunSettings settings = small_settings();
  settings.train.epochs = 1.0;
  change(settings);
  const FieldModel model = fit(plan_fit(settings, data), data).model;
  const Field map = predict_map(model, {.grid = parse_grid("bbox:-10,15,10,30:5"), .time_days = {20003.0}});
  return map.header.attributes;
}

TEST(MapAttributes, NameThePartsOfTheModelAndTheirPublications) {
  struct Case {
    std::string summary, reference;  // the latter empty: no attribute
    std::function<void(RunSettings&)> change;
  };
  const auto method = [](const char* text) { return [text](RunSettings& s) { s.fit.method = fit_choice(text); }; };
  const auto uncertain = [](UncertaintyMethod how) {
    return [how](RunSettings& s) {
      s.fit.method = FitMethod::network;
      s.model.members = 1;
      s.uncertainty.method = how;
      s.uncertainty.draws = 7;
    };
  };
  const std::string chen = "Deep random features";
  const std::vector<Case> cases = {
      {"by an ensemble of 4 deep random-feature networks", chen, method("network")},
      {"by an ensemble of 4 deep random-feature networks and kriging in a moving frame", chen, method("blend")},
      {"by kriging in a moving frame", "", method("process")},
      {"by Nearest-neighbour GP (nngp:subset=100): kriging from the nearest observations", "Vecchia 1988",
       method("nngp:subset=100")},
      {"by 7 draws from deep random-feature networks with variational weights", chen, uncertain(UncertaintyMethod::variational)},
      {"by 7 draws from deep random-feature networks with dropout", chen, uncertain(UncertaintyMethod::dropout)},
      {"by 1 deep random-feature network with last-layer posteriors", chen, uncertain(UncertaintyMethod::last_layer)},
  };
  for (const Case& one : cases) {
    const std::map<std::string, std::string> attributes = attributes_of_map(one.change);
    EXPECT_THAT(attributes.at("summary"), EndsWith(one.summary));
    const auto found = attributes.find("references");
    if (one.reference.empty())
      EXPECT_EQ(found, attributes.end()) << one.summary;
    else
      EXPECT_THAT(found->second, HasSubstr(one.reference)) << one.summary;
  }
}

}  // namespace
}  // namespace drift
