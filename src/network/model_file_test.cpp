#include "network/model_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/version.h"
#include "network/plan.h"

namespace drift {
namespace {

NetworkSpec small_sphere() {
  NetworkSpec spec = default_spec(Space::sphere, 3, true);
  spec.coupling = Coupling::additive;
  spec.spatial.layers = 2;
  spec.joint.layers = 1;
  spec.features = 12;
  spec.bottleneck = 5;
  spec.frequencies = Frequencies::orthogonal;
  return spec;
}

NetworkSpec small_space_time(Space space) {
  NetworkSpec spec = default_spec(space, space == Space::sphere ? 3 : 2, true);
  spec.features = 12;
  spec.bottleneck = 5;
  return spec;
}

NetworkSpec small_plane() {
  NetworkSpec spec = paper_spec(0.3, 0.7, 0.1);
  spec.features = 12;
  spec.bottleneck = 5;
  return spec;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// A saved sphere model whose parts may be changed before they are written.
class ChangedModel {
 public:
  ChangedModel() : ensemble_(draw_ensemble(small_sphere(), 5, 2)), parts_(model_parts(ensemble_, {})) {}

  TensorSource& tensor(const std::string& name) {
    const auto found = std::find_if(parts_.tensors.begin(), parts_.tensors.end(),
                                    [&](const TensorSource& source) { return source.name == name; });
    if (found == parts_.tensors.end()) throw std::logic_error("no tensor " + name);
    return *found;
  }
  std::span<float> numbers(const std::string& name) {  // they are the ensemble's, which is ours
    const auto data = std::get<std::span<const float>>(tensor(name).data);
    return {const_cast<float*>(data.data()), data.size()};
  }
  std::map<std::string, std::string>& metadata() { return parts_.metadata; }
  std::vector<TensorSource>& tensors() { return parts_.tensors; }

  // What load_model says of it, without the path; empty when it loads.
  std::string refusal() const {
    const ScratchFolder folder;
    const std::filesystem::path path = folder / "model.safetensors";
    write_safetensors(path, parts_.tensors, parts_.metadata);
    const std::string message = message_of([&] { load_model(path); });
    if (message.empty()) return message;
    EXPECT_TRUE(message.starts_with(path.string() + ": ")) << message;
    return message.substr(path.string().size() + 2);
  }

 private:
  Ensemble ensemble_;
  ModelParts parts_;
};

TEST(ModelFile, ComesBackBitForBit) {
  const ScratchFolder folder;
  for (const NetworkSpec& spec :
       {small_sphere(), small_plane(), small_space_time(Space::plane), small_space_time(Space::sphere)}) {
    Ensemble ensemble = draw_ensemble(spec, std::numeric_limits<std::uint64_t>::max(), 3);
    ensemble.members.erase(ensemble.members.begin());  // indices need not start at zero
    ensemble.members[0].parameters[0] = -0.0f;
    ensemble.members[1].parameters[make_plan(spec).hyper] = 0.25f;
    const Metadata metadata = {{"domain", "{\"centre\": [0, 90]}"}, {"format", "the caller's own"}, {"", "nameless"}};
    const std::filesystem::path path = folder / "model.safetensors";
    save_model(path, ensemble, metadata);
    const Model model = load_model(path);
    EXPECT_EQ(model.metadata, metadata);
    EXPECT_EQ(model.ensemble.spec, ensemble.spec);
    EXPECT_EQ(model.ensemble.seed, ensemble.seed);
    ASSERT_EQ(model.ensemble.members.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      const Member& saved = ensemble.members[i];
      const Member& loaded = model.ensemble.members[i];
      EXPECT_EQ(loaded.index, i + 1);
      ASSERT_EQ(loaded.fixed.size(), saved.fixed.size());
      ASSERT_EQ(loaded.parameters.size(), saved.parameters.size());
      EXPECT_EQ(std::memcmp(loaded.fixed.data(), saved.fixed.data(), saved.fixed.size() * sizeof(float)), 0);
      EXPECT_EQ(std::memcmp(loaded.parameters.data(), saved.parameters.data(), saved.parameters.size() * sizeof(float)), 0);
    }
    EXPECT_EQ(folder.files(), 1u);
  }
}

TEST(ModelFile, IsTheSameFileEachTimeItIsSaved) {
  const ScratchFolder folder;
  const Ensemble ensemble = draw_ensemble(small_plane(), 1, 2);
  save_model(folder / "a", ensemble);
  save_model(folder / "b", load_model(folder / "a").ensemble);
  EXPECT_EQ(read_bytes(folder / "a"), read_bytes(folder / "b"));
}

TEST(ModelFile, MayHoldMoreThanTheModel) {
  ChangedModel model;
  const std::vector<float> moment(7, 1.0f);
  model.tensors().push_back({"training.0.moment1", {7}, moment});
  model.metadata()["training.step"] = "12";
  EXPECT_EQ(model.refusal(), "");
}

TEST(ModelFile, IsNotWrittenFromAnEnsembleThatIsNotWhatItsSpecSays) {
  const ScratchFolder folder;
  const auto refused = [&](const Ensemble& ensemble) { return message_of([&] { save_model(folder / "m", ensemble); }); };
  Ensemble ensemble = draw_ensemble(small_plane(), 1, 2);
  const Ensemble good = ensemble;
  const std::size_t fixed = ensemble.members[1].fixed.size();
  const std::size_t parameters = ensemble.members[1].parameters.size();
  ensemble.members[1].parameters.pop_back();
  EXPECT_EQ(refused(ensemble), "the ensemble cannot be saved: member 1 has " + std::to_string(fixed) + " fixed numbers and " +
                                   std::to_string(parameters - 1) + " parameters but its spec " + std::to_string(fixed) +
                                   " and " + std::to_string(parameters));
  ensemble = good;
  ensemble.members[1].parameters[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(
      refused(ensemble),
      "the ensemble cannot be saved: entry 3 of member.1.spatial.0.bottleneck is not a finite number; lower the learning rate");
  ensemble.members.clear();
  EXPECT_EQ(refused(ensemble), "the ensemble cannot be saved: it has no members");
  EXPECT_EQ(folder.files(), 0u);
}

TEST(ModelFile, IsRefusedWhenMissing) {
  EXPECT_EQ(message_of([] { load_model("/no/such/model"); }), "/no/such/model: cannot be read: No such file or directory");
}

TEST(ModelFile, IsRefusedWhenForeign) {
  ChangedModel model;
  model.metadata().erase("format");
  EXPECT_EQ(model.refusal(), "is a safetensors file but not a drift model");
  model.metadata()["format"] = "pt";
  EXPECT_EQ(model.refusal(), "is a safetensors file but not a drift model");
}

TEST(ModelFile, IsRefusedWhenFromANewerVersion) {
  ChangedModel model;
  model.metadata()["format_version"] = "10";
  model.metadata()["drift_version"] = "7.1.0";
  model.metadata()["spec"] = "whatever a newer spec looks like";
  EXPECT_EQ(model.refusal(),
            "was written by drift 7.1.0, which is newer than this one (" + std::string(version()) + "): update drift");
}

TEST(ModelFile, IsRefusedWhenItsMetadataAreMissingOrWrong) {
  for (const char* key : {"format_version", "spec", "seed", "members"}) {
    ChangedModel model;
    model.metadata().erase(key);
    EXPECT_EQ(model.refusal(), "its metadata lack \"" + std::string(key) + "\"");
  }
  const auto with = [](const std::string& key, const std::string& text) {
    ChangedModel model;
    model.metadata()[key] = text;
    return model.refusal();
  };
  EXPECT_EQ(with("format_version", "one"), "its format_version is \"one\", not a whole number from 1");
  EXPECT_EQ(with("format_version", "0"), "its format_version is \"0\", not a whole number from 1");
  EXPECT_EQ(with("seed", "-1"), "its seed is \"-1\", not a whole number");
  EXPECT_EQ(with("seed", "18446744073709551616"), "its seed is \"18446744073709551616\", not a whole number");
  EXPECT_EQ(with("members", ""), "has 36 tensors of members but 0 members of this network have 0");
  EXPECT_EQ(with("members", "0,1,"), "its members are \"0,1,\", not whole numbers with commas between");
  EXPECT_EQ(with("members", "0, 1"), "its members are \"0, 1\", not whole numbers with commas between");
  EXPECT_EQ(with("members", "0,4294967296"), "its members are \"0,4294967296\", not whole numbers with commas between");
  EXPECT_EQ(with("spec", "{}"), "network spec: key \"space\" is missing");
  NetworkSpec spec = small_sphere();
  std::string text = to_json(spec);
  text.replace(text.find("\"features\":12"), 13, "\"features\":0");
  EXPECT_EQ(with("spec", text), "its network is invalid: features is 0 but must be between 1 and 1000000");
}

TEST(ModelFile, IsRefusedWhenTensorsAreNotThoseOfItsSpec) {
  {
    ChangedModel model;
    std::erase_if(model.tensors(), [](const TensorSource& source) { return source.name == "member.1.joint.0.phases"; });
    EXPECT_EQ(model.refusal(), "tensor \"member.1.joint.0.phases\" is missing");
  }
  {
    ChangedModel model;
    model.tensor("member.0.spatial.1.bottleneck").shape = {5, 12};
    EXPECT_EQ(model.refusal(), "tensor \"member.0.spatial.1.bottleneck\" has shape [5, 12] but [12, 5] is wanted");
  }
  {
    ChangedModel model;
    const std::vector<float> extra(3);
    model.tensors().push_back({"member.0.spatial.7.phases", {3}, extra});
    EXPECT_EQ(model.refusal(), "has 37 tensors of members but 2 members of this network have 36");
  }
  {
    ChangedModel model;
    model.metadata()["members"] = "0";
    EXPECT_EQ(model.refusal(), "has 36 tensors of members but 1 members of this network have 18");
  }
}

TEST(ModelFile, IsRefusedWhenItClaimsMoreThanItHolds) {
  {
    ChangedModel model;
    std::string many = "0";
    for (int i = 1; i < 100'000; ++i) many += fmt::format(",{}", i);
    model.metadata()["members"] = many;
    EXPECT_EQ(model.refusal(), "tensor \"member.2.spatial.0.degrees\" is missing");
  }
  {
    ChangedModel model;
    NetworkSpec spec = small_sphere();
    spec.features = 1'000'000;
    spec.bottleneck = 500;
    model.metadata()["spec"] = to_json(spec);
    EXPECT_EQ(model.refusal(), "tensor \"member.0.spatial.0.degrees\" has shape [12] but [1000000] is wanted");
    spec.bottleneck = 100'000;
    model.metadata()["spec"] = to_json(spec);
    EXPECT_EQ(model.refusal(),
              "the network is too large: with spatial.0.bottleneck a member needs more than 32 GiB; lower features (1000000), "
              "bottleneck (100000) or the layers");
  }
}

TEST(ModelFile, IsRefusedWhenNumbersCannotBe) {
  const auto with = [](const std::string& tensor, std::size_t entry, float number) {
    ChangedModel model;
    model.numbers(tensor)[entry] = number;
    return model.refusal();
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(with("member.1.hyper", 1, kInfinity), "is corrupt: entry 1 of tensor \"member.1.hyper\" is not a finite number");
  EXPECT_EQ(with("member.0.joint.0.hidden_frequencies", 7, -std::nanf("")),
            "is corrupt: entry 7 of tensor \"member.0.joint.0.hidden_frequencies\" is not a finite number");
  EXPECT_TRUE(with("member.0.spatial.0.degrees", 2, 3e8f)
                  .starts_with("is corrupt: entry 2 of tensor \"member.0.spatial.0.degrees\" is 300000000, not a whole number"));
  EXPECT_TRUE(with("member.0.spatial.1.degrees", 0, 0.5f)
                  .starts_with("is corrupt: entry 0 of tensor \"member.0.spatial.1.degrees\" is 0.5, not a whole number"));
  EXPECT_NE(with("member.0.spatial.1.degrees", 0, -1.0f), "");
  EXPECT_TRUE(with("member.1.spatial.0.poles", 13, 2.0f)
                  .starts_with("is corrupt: column 1 of tensor \"member.1.spatial.0.poles\" has length 2."));
}

TEST(ModelFile, IsRefusedWhenCutShortAnywhere) {
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "model";
  save_model(path, draw_ensemble(small_plane(), 1, 1));
  const std::string whole = read_bytes(path);
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    write_bytes(path, whole.substr(0, length));
    EXPECT_NE(message_of([&] { load_model(path); }), "") << length << " of " << whole.size() << " bytes";
  }
}

}  // namespace
}  // namespace drift
