// make_fuzz_seeds FOLDER: small models, a checkpoint and a study as the fuzz targets take them, without checksums, which would
// keep every mutation from the checks behind them.

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/random.h"
#include "drift/engine.h"
#include "drift/field_model.h"
#include "drift/interpolator.h"
#include "drift/tune.h"
#include "network/safetensors_testing.h"
#include "process/process.h"

namespace drift {
namespace {

NetworkSpec tiny(Space space) {
  NetworkSpec spec = default_spec(space, space == Space::sphere ? 3 : 2, false);
  spec.spatial.layers = 2;
  spec.coupling = Coupling::additive;
  spec.features = 4;
  spec.bottleneck = 2;
  spec.sphere_max_degree = 20;
  return spec;
}

FieldModel tiny_model(Space space) {
  FieldModel model;
  model.domain = space == Space::sphere ? sphere_domain() : xy_domain("km");
  model.ensemble = draw_ensemble(tiny(space), 5, 1);
  model.info.value.name = "ssh";
  model.info.training = 100;
  model.cells = {1, 1, {0, 0, 1, 1}, {1}};
  return model;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A header's text, a line end, the tensors' bytes.
void rewrite(const std::filesystem::path& path) {
  const std::string bytes = without_checksums(bytes_of(path));
  std::string header = header_of(bytes);
  const std::string data = bytes.substr(8 + header.size());
  header.erase(header.find_last_not_of(' ') + 1);
  std::ofstream(path, std::ios::binary) << header << '\n' << data;
}

// Another method, fitted to thirty observations on the sphere.
void write_method(const std::filesystem::path& path, const std::string& text) {
  RandomStream random({.seed = 1, .purpose = Purpose::simulation});
  constexpr std::size_t kRows = 30;
  std::vector<float> rows, values;
  std::vector<std::uint8_t> folds;
  for (std::size_t i = 0; i < kRows; ++i) {
    const double lon = 0.3 * random.uniform(), lat = 0.3 * random.uniform();  // radians
    for (const double x : {std::cos(lat) * std::cos(lon), std::cos(lat) * std::sin(lon), std::sin(lat)})
      rows.push_back(static_cast<float>(x));
    values.push_back(static_cast<float>(std::sin(20.0 * lon) + 0.1 * random.normal()));
    folds.push_back(static_cast<std::uint8_t>(i % 3));
  }
  FieldModel model = tiny_model(Space::sphere);
  model.ensemble.members.clear();
  InterpolatorData data = {
      .training = {{rows.data(), kRows, 3}, {values.data(), kRows, 1}}, .space = Space::sphere, .space_coordinates = 3};
  data.fold = folds;
  data.fold_count = 3;
  const std::shared_ptr<Interpolator> method = make_interpolator(text, model.domain);
  method->fit(data, {.threads = 1});
  model.method = method;
  model.method_text = text;
  save_field_model(path, model);
  rewrite(path);
}

void write_models(const std::filesystem::path& folder) {
  save_field_model(folder / "plane", tiny_model(Space::plane));
  save_field_model(folder / "sphere", tiny_model(Space::sphere));
  FieldModel blend = tiny_model(Space::plane);
  Places places;
  places.columns = 2;
  places.coordinates = {0.0f, 0.0f, 1.0f, 1.0f, -1.0f, 0.5f};
  places.value = {0.1f, -0.4f, 0.2f};
  places.error_variance = {0.0f, 0.0f, 0.0f};
  places.count = {1.0f, 1.0f, 2.0f};
  places.track = {0, 0, 1};
  places.platform = {0, 0, 0};
  places.group = {0, 1, 2};
  places.fold.assign(3, kNoFold);
  blend.process = std::make_shared<const Process>(Space::plane, false, ProcessParameters(), places, 3);
  save_field_model(folder / "blend", blend);
  Places far = places;
  far.columns = 3;
  far.coordinates = {1.0f, 0.0f, 0.0f, 0.6f, 0.8f, 0.0f, 0.6f, 0.0f, 0.8f};
  ProcessParameters varying;
  varying.by_latitude[0] = -0.3;
  varying.by_latitude[4] = 0.2;
  FieldModel process = tiny_model(Space::sphere);
  process.ensemble.members.clear();
  process.process = std::make_shared<const Process>(Space::sphere, false, varying, far, 3);
  save_field_model(folder / "by_latitude", process);
  for (const char* name : {"plane", "sphere", "blend", "by_latitude"}) rewrite(folder / name);
  write_method(folder / "nngp", "nngp:subset=20,neighbours=4");
  write_method(folder / "svgp", "svgp:inducing=5,steps=2,epochs=1");
  write_method(folder / "experts", "experts:spacing=1500,inducing=0,max_observations=10");
}

void write_checkpoint(const std::filesystem::path& path) {
  const Ensemble ensemble = draw_ensemble(tiny(Space::plane), 5, 1);
  TrainingState state;
  state.members.resize(1);
  MemberProgress& member = state.members[0];
  member.step = 3;
  member.losses = {1.0f, 0.5f, 0.25f};
  member.moment1.assign(ensemble.members[0].parameters.size(), 0.125f);
  member.moment2 = member.moment1;
  save_checkpoint(path, ensemble, state, default_recipe(), {{"fingerprint", "0123456789abcdef"}});
  rewrite(path);
}

void write_study(const std::filesystem::path& path) {
  Study study = make_study({{.name = "rate", .kind = SettingKind::log_real, .low = 0.1, .high = 1.0},
                            {.name = "coupling", .kind = SettingKind::choice, .words = {"product", "additive"}}});
  for (const Proposal& proposal : propose(study, 2)) record(study, proposal, {.value = 0.5}, 1.5);
  save_study(study, path);
}

}  // namespace
}  // namespace drift

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path corpus = argv[1];
  for (const char* target : {"model", "checkpoint", "study", "safetensors", "json"})
    std::filesystem::create_directories(corpus / target);
  drift::write_models(corpus / "model");
  drift::write_checkpoint(corpus / "checkpoint" / "tiny");
  drift::write_study(corpus / "study" / "tiny");
  drift::save_model(corpus / "safetensors" / "sealed", drift::draw_ensemble(drift::tiny(drift::Space::plane), 5, 1));
  std::ofstream(corpus / "json" / "spec") << 'n' << to_json(drift::tiny(drift::Space::sphere));
  std::ofstream(corpus / "json" / "recipe") << 'r' << to_json(drift::default_recipe());
  std::ofstream(corpus / "json" / "domain") << 'd' << to_json(drift::xy_domain("km"));
}
