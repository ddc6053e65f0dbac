// make_fuzz_seeds FOLDER: small models, a checkpoint and a study as the fuzz targets take them, without checksums, which would
// keep every mutation from the checks behind them.

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

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
  for (const char* name : {"plane", "sphere", "blend"}) rewrite(folder / name);
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
