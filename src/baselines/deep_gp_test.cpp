// Sparse variational processes, shallow and deep, as methods.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/random.h"
#include "drift/error.h"
#include "drift/interpolator.h"
#include "gp/svgp_setup.h"

namespace drift {
namespace {

// Observations of a field, and points at which it is wanted.
struct Scene {
  Space space = Space::plane;
  std::size_t columns = 3;
  std::vector<float> rows, values, points;
  std::vector<double> truth;

  template <class Field>
  Scene(Space on, std::size_t observations, std::size_t wanted, double noise_sd, const Field& field)
      : space(on), columns(on == Space::sphere ? 4 : 3) {
    RandomStream stream({.seed = 17, .purpose = Purpose::simulation});
    for (std::size_t i = 0; i < observations + wanted; ++i) {
      std::vector<double> x(columns);
      for (double& each : x) each = stream.normal();
      if (space == Space::sphere) {
        const double length = std::hypot(x[0], x[1], x[2]);
        for (std::size_t d = 0; d < 3; ++d) x[d] /= length;
      }
      const double f = field(x);
      std::vector<float>& to = i < observations ? rows : points;
      to.insert(to.end(), x.begin(), x.end());
      if (i < observations) values.push_back(static_cast<float>(f + noise_sd * stream.normal()));
      if (i >= observations) truth.push_back(f);
    }
  }

  InterpolatorData data() const {
    InterpolatorData out;
    out.training = {.coordinates = {rows.data(), values.size(), columns}, .values = {values.data(), values.size(), 1}};
    out.space = space;
    out.space_coordinates = space == Space::sphere ? 3 : 2;
    return out;
  }
};

struct Forecast {
  std::vector<double> mean, sd, sd_total;
};

Forecast forecast(const std::string& method, const Scene& scene, int threads = 2) {
  const auto interpolator = make_interpolator(method, scene.space == Space::sphere ? sphere_domain() : xy_domain("km"));
  interpolator->fit(scene.data(), {.seed = 3, .threads = threads});
  const std::size_t n = scene.truth.size();
  Forecast out{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  interpolator->predict({scene.points.data(), n, scene.columns}, {out.mean, out.sd, out.sd_total});
  return out;
}

double rmse(const Forecast& found, const Scene& scene) {
  double sum = 0.0;
  for (std::size_t i = 0; i < scene.truth.size(); ++i) sum += std::pow(found.mean[i] - scene.truth[i], 2);
  return std::sqrt(sum / static_cast<double>(scene.truth.size()));
}

double smooth(const std::vector<double>& x) { return std::sin(2.0 * x[0]) + x[1] * std::cos(x.back()); }
double cliff(const std::vector<double>& x) { return std::tanh(20.0 * (x[0] + 0.5 * std::sin(2.0 * x[1]))); }

TEST(Svgp, MapsFieldsOfThePlaneAndTheSphereWithTime) {
  for (const Space space : {Space::plane, Space::sphere}) {
    const Scene scene(space, 600, 200, 0.1, smooth);
    for (const char* method : {"svgp:inducing=60,steps=60,rate=0.05", "svgp:inducing=60,steps=60,rate=0.05,covariance=product",
                               "svgp:inducing=60,steps=60,rate=0.05,optimiser=adam,batch=200"}) {
      const Forecast found = forecast(method, scene);
      EXPECT_LT(rmse(found, scene), 0.3) << method;  // the field's own sd is 0.9
      for (std::size_t i = 0; i < found.sd.size(); ++i) {
        EXPECT_GT(found.sd[i], 0.0);
        EXPECT_GT(found.sd_total[i], found.sd[i]);
      }
    }
  }
}

TEST(DeepGp, WithOneLayerIsTheSparseProcessToTheLastBit) {
  const Scene scene(Space::plane, 400, 50, 0.1, smooth);
  const std::string same = "inducing=40,epochs=5,steps=1,batch=100,rate=0.05";
  const Forecast shallow = forecast("svgp:" + same, scene), deep = forecast("dgp:layers=1," + same, scene);
  EXPECT_EQ(shallow.mean, deep.mean);
  EXPECT_EQ(shallow.sd_total, deep.sd_total);
}

// A step in the field is beyond a stationary covariance: short lengthscales for the step, long ones beside it.
TEST(DeepGp, BeatsTheSparseProcessWhereTheFieldHasAStep) {
  const Scene scene(Space::plane, 600, 300, 0.1, cliff);
  const double shallow = rmse(forecast("svgp:inducing=60,steps=150,rate=0.03", scene), scene);
  const double deep = rmse(forecast("dgp:inducing=60,steps=150,rate=0.03,draws=3,batch=200", scene), scene);
  RecordProperty("shallow_rmse", std::to_string(shallow));
  RecordProperty("deep_rmse", std::to_string(deep));
  EXPECT_LT(deep, 0.8 * shallow);
}

TEST(DeepGp, WorksOnTheSphereAndWithAnyWidth) {
  const Scene scene(Space::sphere, 400, 100, 0.1, smooth);
  for (const char* width : {"2", "4", "6"}) {
    const Forecast found = forecast(std::string("dgp:inducing=40,steps=60,rate=0.03,draws=3,batch=200,width=") + width, scene);
    EXPECT_LT(rmse(found, scene), *width == '2' ? 1.0 : 0.5) << width;  // two principal directions do not hold all
  }
}

TEST(DeepGp, AForecastDoesNotDependOnItsCompanyNorOnThreads) {
  const Scene scene(Space::plane, 300, 40, 0.1, smooth);
  const std::string method = "dgp:inducing=30,steps=6,draws=4";
  const auto interpolator = make_interpolator(method, xy_domain("km"));
  interpolator->fit(scene.data(), {.seed = 3, .threads = 1});
  const Forecast all = forecast(method, scene, 3);
  std::vector<double> mean(1), sd(1);
  interpolator->predict({scene.points.data() + 7 * scene.columns, 1, scene.columns}, {.mean = mean, .sd_epistemic = sd});
  EXPECT_NEAR(mean[0], all.mean[7], 1e-9);
  EXPECT_NEAR(sd[0], all.sd[7], 1e-6);
}

TEST(Svgp, FindingsAreInTheDomainsUnits) {
  const Scene scene(Space::plane, 300, 1, 0.1, smooth);
  Domain domain = xy_domain("m");
  domain.scale = 50.0;
  const auto interpolator = make_interpolator("svgp:inducing=30,steps=3,lengthscale=40", domain);
  interpolator->fit(scene.data(), {});
  EXPECT_TRUE(interpolator->knows_noise());
  const auto found = interpolator->findings(domain);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].first, "lengthscale");
  EXPECT_EQ(found[0].second, "40 m");
}

TEST(Svgp, WhatDoesNotFitIntoMemoryIsRefusedWithBothFigures) {
  gp::SvgpSettings settings;
  EXPECT_LT(gp::svgp_bytes(settings, 1000000, 3), 1e9);  // the paper's 3,000 inducing points: well under a gigabyte
  const Scene scene(Space::plane, 30000, 1, 0.1, smooth);
  const auto interpolator = make_interpolator("dgp:inducing=20000,width=30,draws=1000", xy_domain("km"));
  try {
    interpolator->fit(scene.data(), {});
    FAIL() << "a terabyte was not refused";
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("method dgp"), std::string::npos) << what;
    EXPECT_NE(what.find("GB of memory"), std::string::npos) << what;
    EXPECT_NE(what.find("dgp:inducing=10000"), std::string::npos) << what;
  }
}

TEST(Svgp, StopsWhenAskedAndReportsProgressInOrder) {
  const Scene scene(Space::plane, 300, 1, 0.1, smooth);
  const auto interpolator = make_interpolator("svgp:inducing=30,steps=200", xy_domain("km"));
  double last = -1.0;
  std::stop_source source;
  const Control control{.progress =
                            [&](double share, const std::string&) {
                              EXPECT_GE(share, last);
                              last = share;
                              if (share > 0.5) source.request_stop();
                            },
                        .stop = source.get_token()};
  EXPECT_THROW(interpolator->fit(scene.data(), {}, control), Stopped);
  EXPECT_LT(last, 0.6);
}

TEST(Svgp, RefusesWhatCannotBe) {
  const Domain domain = xy_domain("km");
  EXPECT_THROW(make_interpolator("svgp:inducing=0", domain), UsageError);
  EXPECT_THROW(make_interpolator("svgp:freedom=1.5", domain), UsageError);
  EXPECT_THROW(make_interpolator("svgp:optimiser=sgd", domain), UsageError);
  EXPECT_THROW(make_interpolator("dgp:lengthscale=3", domain), UsageError);
  Scene scene(Space::plane, 20, 1, 0.1, smooth);
  scene.values[3] = std::nanf("");
  EXPECT_THROW(make_interpolator("svgp", domain)->fit(scene.data(), {}), Error);
}

}  // namespace
}  // namespace drift
