#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/tune.h"
#include "tune/tune_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

Study some_study() {
  SearchPlan plan;
  plan.seed = 0xfedcba9876543210;
  plan.first = {{0.01, 3.0, 1.0}};
  plan.fingerprint = "00ff";
  Study study = make_study({{.name = "rate", .kind = SettingKind::log_real, .low = 1e-5, .high = 1.0},
                            {.name = "layers", .kind = SettingKind::whole, .low = 1, .high = 4},
                            {.name = "loss", .kind = SettingKind::choice, .words = {"squared", "huber \"quoted\""}}},
                           plan);
  record(study, propose(study, 1).at(0), {.value = 1.0 / 3.0}, 12.5);
  record(study, propose(study, 1).at(0), {.value = NAN, .message = "diverged\nat step 3"}, 0.25);
  record(study, propose(study, 1).at(0), {.value = 2.0, .state = TrialState::pruned}, 1.0);
  return study;
}

std::string refusal(const std::filesystem::path& path) {
  try {
    load_study(path);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(path.string()));
    return error.what();
  }
  return "";
}

TEST(StudyFile, HoldsAllOfAStudyToTheLastBit) {
  const ScratchFolder folder;
  const Study study = some_study();
  save_study(study, folder / "a.json");
  const Study back = load_study(folder / "a.json");
  EXPECT_EQ(back.plan.seed, study.plan.seed);
  EXPECT_EQ(back.plan.initial, study.plan.initial);
  EXPECT_EQ(back.plan.first, study.plan.first);
  EXPECT_EQ(back.plan.fingerprint, study.plan.fingerprint);
  ASSERT_EQ(back.space.size(), 3U);
  EXPECT_EQ(back.space[2].words, study.space[2].words);
  ASSERT_EQ(back.trials.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(back.trials[i].point, study.trials[i].point);
    EXPECT_EQ(back.trials[i].value, study.trials[i].value);
    EXPECT_EQ(back.trials[i].state, study.trials[i].state);
    EXPECT_EQ(back.trials[i].message, study.trials[i].message);
    EXPECT_EQ(back.trials[i].seed, study.trials[i].seed);
    EXPECT_EQ(back.trials[i].seconds, study.trials[i].seconds);
  }
  save_study(back, folder / "b.json");
  EXPECT_EQ(read_bytes(folder / "a.json"), read_bytes(folder / "b.json"));
  EXPECT_EQ(folder.files(), 2U);  // no temporary file is left
}

TEST(StudyFile, SaysWhetherTrialsGoInRounds) {
  const ScratchFolder folder;
  Study study = some_study();
  for (const bool rounds : {false, true}) {
    study.plan.rounds = rounds;
    save_study(study, folder / "study.json");
    EXPECT_EQ(load_study(folder / "study.json").plan.rounds, rounds);
    // Studies from before there were rounds lack the key.
    EXPECT_EQ(nlohmann::json::parse(read_bytes(folder / "study.json"))["plan"].contains("rounds"), rounds);
  }
}

TEST(StudyFile, CutShortAnywhereIsRefusedWithItsName) {
  const ScratchFolder folder;
  save_study(some_study(), folder / "study.json");
  const std::string text = read_bytes(folder / "study.json");
  for (std::size_t length = 0; length + 2 < text.size(); length += 7) {
    write_bytes(folder / "cut.json", text.substr(0, length));
    EXPECT_NE(refusal(folder / "cut.json"), "") << length << " bytes";
  }
}

TEST(StudyFile, ForeignFilesAndOtherVersionsAreRefused) {
  const ScratchFolder folder;
  EXPECT_THAT(refusal(folder / "none.json"), HasSubstr("No such file"));
  write_bytes(folder / "a", R"({"spec": 3})");
  EXPECT_THAT(refusal(folder / "a"), HasSubstr("not a drift study"));
  write_bytes(folder / "b", "[1, 2]");
  EXPECT_THAT(refusal(folder / "b"), HasSubstr("not a JSON object"));
  write_bytes(folder / "c", R"({"format": "drift study", "version": 99})");
  EXPECT_THAT(refusal(folder / "c"), HasSubstr("version 1"));
}

// Keys that are not known, nested without end, where the reader copies and prints what it finds.
TEST(StudyFile, NestedWithoutEndIsRefused) {
  const ScratchFolder folder;
  save_study(some_study(), folder / "study.json");
  const std::string text = read_bytes(folder / "study.json");
  for (const std::string& nested : {std::string(300'000, '[') + std::string(300'000, ']'), std::string(300'000, '['),
                                    std::string(17, '[') + std::string(17, ']')}) {
    for (const std::string key : {"\"seed\"", "\"number\"", "\"kind\""}) {
      std::string deep = text;
      deep.insert(deep.find(key), "\"x\": " + nested + ", ");
      write_bytes(folder / "deep.json", deep);
      EXPECT_EQ(refusal(folder / "deep.json"),
                (folder / "deep.json").string() + ": cannot be read as a study: the JSON is nested more than 16 deep")
          << key;
    }
  }
}

// Each way to spoil one value of a good file, and a word of the message it must give.
TEST(StudyFile, EveryDamagedValueIsRefused) {
  const ScratchFolder folder;
  save_study(some_study(), folder / "study.json");
  const auto good = nlohmann::json::parse(read_bytes(folder / "study.json"));
  const std::vector<std::tuple<const char*, nlohmann::json, const char*>> damages = {
      {"/plan/seed", -1, "seed"},
      {"/plan/parallel", 0, "side by side"},
      {"/plan/initial", 0, "initial"},
      {"/plan/shares", {0.5, 1.0}, "successive halving"},
      {"/plan/first/0/rate", 7.0, "rate"},
      {"/plan/extra", 1, "extra"},
      {"/plan/rounds", 1, "rounds"},
      {"/space", 3, "list"},
      {"/space/0/kind", "odd", "kind"},
      {"/space/0/low", 2.0, "range"},
      {"/space/1/high", 9.5, "whole"},
      {"/space/2/words", {"one"}, "two words"},
      {"/space/2/words", {1, 2}, "text"},
      {"/trials/0/point/layers", 1.5, "layers"},
      {"/trials/0/point/loss", "none", "loss"},
      {"/trials/0/point", {{"rate", 0.1}}, "one value a setting"},
      {"/trials/0/value", nullptr, "done trials have a value"},
      {"/trials/0/value", "low", "value"},
      {"/trials/0/value", 1e200, "too large"},
      {"/trials/1/value", 3.0, "failed ones have none"},
      {"/trials/1/number", 0, "ascend"},
      {"/trials/0/budget_share", 0.5, "successive halving"},
      {"/trials/0/seconds", -1.0, "seconds"},
      {"/trials/0/state", "lost", "state"},
      {"/unknown", 1, "unknown"},
  };
  for (const auto& [where, value, word] : damages) {
    nlohmann::json damaged = good;
    damaged[nlohmann::json::json_pointer(where)] = value;
    write_bytes(folder / "damaged.json", damaged.dump());
    EXPECT_THAT(refusal(folder / "damaged.json"), HasSubstr(word)) << where;
  }
  write_bytes(folder / "whole.json", good.dump());  // control: undamaged, it is read
  EXPECT_EQ(refusal(folder / "whole.json"), "");
}

TEST(StudyFile, OfFullTrialsFromWhenThereWasHalvingIsRead) {
  const ScratchFolder folder;
  const Study study = some_study();
  save_study(study, folder / "study.json");
  auto old = nlohmann::json::parse(read_bytes(folder / "study.json"));
  old["plan"]["shares"] = {1.0};
  for (auto& trial : old["trials"]) trial["budget_share"] = 1.0;
  write_bytes(folder / "old.json", old.dump());
  expect_same_trials(load_study(folder / "old.json"), study);
}

TEST(StudyFile, TrialsOfOtherDataAreNotGoneOnWith) {
  const ScratchFolder folder;
  SearchOptions options;
  options.trials = 6;
  const auto run = [&](const char* fingerprint, const char* file) {
    optimise(branin_space(), plain(branin), {.seed = 1, .fingerprint = fingerprint}, options, folder / file);
  };
  run("one", "study.json");
  EXPECT_NO_THROW(run("one", "study.json"));
  EXPECT_THROW(run("two", "study.json"), UsageError);
  run("", "old.json");  // from before there were fingerprints
  EXPECT_NO_THROW(run("two", "old.json"));
}

TEST(StudyFile, ASearchOfAnotherKindIsNotGoneOnWith) {
  const ScratchFolder folder;
  const auto path = folder / "study.json";
  SearchOptions options;
  options.trials = 6;
  optimise(branin_space(), plain(branin), {.seed = 1}, options, path);
  const std::string before = read_bytes(path);
  const auto message = [&](const SearchSpace& space, const SearchPlan& plan) -> std::string {
    try {
      optimise(space, plain(branin), plan, options, path);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  SearchSpace wider = branin_space();
  wider[1].high = 20.0;
  EXPECT_THAT(message(wider, {.seed = 1}), HasSubstr("another setting \"y\""));
  EXPECT_THAT(message(branin_space(), {.seed = 2}), HasSubstr("another seed (1)"));
  EXPECT_THAT(message(branin_space(), {.seed = 1, .parallel = 2}), HasSubstr("side by side (1)"));
  EXPECT_EQ(message(branin_space(), {.seed = 1}), "");
  EXPECT_EQ(read_bytes(path), before);
}

}  // namespace
}  // namespace drift
