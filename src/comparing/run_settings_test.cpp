#include "drift/run_settings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "core/scratch_folder.h"
#include "drift/compare.h"
#include "drift/error.h"
#include "drift/tune_run.h"
#include "drift/verb_settings.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

RunSettings parse(const std::string& text) { return run_settings_from_toml(text, "run.toml"); }

std::string refusal(const std::string& text) {
  try {
    parse(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RunFile, ReadsEveryKindOfSetting) {
  const RunSettings settings = parse(R"(seed = 7
[data]
files = ["a.nc", "b/*.nc"]
value = "sla"
where = "flag in 1,2"
valid = [-3, 3.5]
bbox = [170, 60, -170, 80]
any_order = true
[split]
method = "track"
held_out = 0.25
[model]
members = 4
lengthscale = 120
[train]
epochs = 2.5
)");
  EXPECT_EQ(settings.seed, 7u);
  EXPECT_EQ(settings.data.files, (std::vector<std::string>{"a.nc", "b/*.nc"}));
  EXPECT_EQ(settings.data.roles.value, "sla");
  EXPECT_EQ(settings.data.where, std::vector<std::string>{"flag in 1,2"});
  EXPECT_EQ(settings.data.valid->high, 3.5);
  EXPECT_EQ((*settings.data.box)[2], -170.0);
  EXPECT_TRUE(settings.data.any_order);
  EXPECT_EQ(settings.split.held_out, 0.25);
  EXPECT_EQ(settings.model.members, 4u);
  EXPECT_EQ(settings.model.lengthscale, 120.0);
  EXPECT_EQ(settings.train.epochs, 2.5);
}

TEST(RunFile, AnEmptyOneIsAllDefaults) { EXPECT_EQ(to_toml(parse("")), ""); }

TEST(RunFile, WrittenSettingsAreReadBackToTheSame) {
  RunSettings settings;
  settings.data.files = {"odd \"name\".nc", "tab\there"};
  settings.data.valid = Range{-0.1, 1e-17};
  settings.data.box = {1.0 / 3.0, -90, 180, 90};
  settings.model.amplitude = 0.7;
  settings.train.batch = 300;
  settings.domain.kind = DomainKind::plane;
  settings.domain.crs = "EPSG:6932";
  settings.backend = Backend::cuda;
  settings.split.method = SplitMethod::none;
  settings.train.optimiser = Optimiser::adam;
  settings.uncertainty.method = UncertaintyMethod::last_layer;
  settings.tune.settings = {SearchedSetting::layers, SearchedSetting::noise_sd};
  settings.seed = 123456789012345;
  const std::string text = to_toml(settings);
  const RunSettings back = parse(text);
  EXPECT_EQ(to_toml(back), text);
  EXPECT_EQ(back.data.files, settings.data.files);
  EXPECT_EQ(back.data.valid->high, 1e-17);
  EXPECT_EQ((*back.data.box)[0], 1.0 / 3.0);
  EXPECT_EQ(back.seed, settings.seed);
  EXPECT_EQ(back.backend, settings.backend);
  EXPECT_EQ(back.split.method, settings.split.method);
  EXPECT_EQ(back.train.optimiser, settings.train.optimiser);
  EXPECT_EQ(back.uncertainty.method, settings.uncertainty.method);
  EXPECT_EQ(back.tune.settings, settings.tune.settings);
}

TEST(RunFile, NamesFileLineAndNearestKeyOfAnUnknownOne) {
  EXPECT_EQ(refusal("[train]\nepochs = 2\nbatchh = 3\n"), "run.toml:3: unknown key in [train]: 'batchh'; did you mean 'batch'?");
  EXPECT_EQ(refusal("[trian]\nepochs = 2\n"), "run.toml:1: unknown table 'trian'; did you mean 'train'?");
  EXPECT_EQ(refusal("sead = 2\n"), "run.toml:1: unknown key 'sead'; did you mean 'seed'?");
}

TEST(RunFile, NamesLineAndBothTypesOfAWrongOne) {
  EXPECT_EQ(refusal("[train]\nepochs = \"two\"\n"), "run.toml:2: epochs must be a number but is a text");
  EXPECT_EQ(refusal("[data]\nvalue = 3\n"), "run.toml:2: value must be a text in quotes but is a number");
  EXPECT_EQ(refusal("[data]\nvalid = [1]\n"), "run.toml:2: valid must be two numbers, [low, high] but is an array");
  EXPECT_EQ(refusal("[data]\nany_order = 1\n"), "run.toml:2: any_order must be true or false but is a number");
}

TEST(RunFile, NamesLineAndRangeOfAValueOutside) {
  EXPECT_EQ(refusal("[train]\n\nepochs = 0\n"), "run.toml:3: epochs is 0; it must be more than 0");
  EXPECT_EQ(refusal("[model]\nmembers = 2.5\n"), "run.toml:2: members is 2.5; it must be a whole number");
  EXPECT_EQ(refusal("[split]\nheld_out = 0.95\n"), "run.toml:2: held_out is 0.95; it must be at least 0 and at most 0.9");
  EXPECT_EQ(refusal("[train]\nepochs = inf\n"), "run.toml:2: epochs is inf; it must be finite");
  EXPECT_EQ(refusal("[split]\nmethod = \"tracks\"\n"),
            "run.toml:2: method is \"tracks\"; it must be one of auto, none, random, track, platform, time, block; did you mean "
            "'track'?");
  EXPECT_EQ(refusal("[tune]\nsettings = [\"layers\", \"depth\"]\n"),
            "run.toml:2: settings is \"depth\"; it must be one of lengthscale, hidden_lengthscale, time_lengthscale_days, "
            "amplitude, hidden_amplitude, noise_sd, layers, "
            "features, bottleneck_rate");
  EXPECT_THAT(refusal("[data]\nvalid = [3, 1]\n"), HasSubstr("run.toml:2: valid runs from 3 down to 1"));
}

TEST(RunFile, AutoIsLeftOpen) {
  const RunSettings settings = parse("[domain]\nkind = \"auto\"\n[split]\nmethod = \"auto\"\n[train]\noptimiser = \"auto\"\n");
  EXPECT_FALSE(settings.domain.kind);
  EXPECT_FALSE(settings.split.method);
  EXPECT_FALSE(settings.train.optimiser);
  EXPECT_EQ(to_toml(settings), "");
}

TEST(RunFile, MayNotBeNestedWithoutEnd) {
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  EXPECT_EQ(refusal(repeated("a.", 40000) + "a = 1\n"), "run.toml:1: nested more than 16 deep");
  EXPECT_EQ(refusal("\n[" + repeated("a.", 40000) + "a]\n"), "run.toml:2: nested more than 16 deep");
  EXPECT_EQ(refusal("x = '#'\na = " + repeated("[", 40000) + repeated("]", 40000)), "run.toml:2: nested more than 16 deep");
  EXPECT_EQ(refusal("a = " + repeated("{a=", 40000)), "run.toml:1: nested more than 16 deep");
  // A string of several lines may end with quotes of its own.
  for (const std::string quote : {"\"", "'"}) {
    for (int quotes = 3; quotes <= 5; ++quotes) {
      const std::string text = repeated(quote, 3) + "a" + repeated(quote, quotes);
      EXPECT_EQ(refusal("x = [" + text + ", {" + repeated("a.", 40000) + "a = 1}]\n"), "run.toml:1: nested more than 16 deep");
      EXPECT_EQ(parse("[data]\nfiles = " + text + "\n").data.files.front(), "a" + repeated(quote, quotes - 3));
    }
    EXPECT_EQ(refusal("x = [" + repeated(quote, 6) + ", {" + repeated("a.", 40000) + "a = 1}]\n"),
              "run.toml:1: nested more than 16 deep");
  }
  EXPECT_THAT(refusal(std::string(20 << 20, '#')), HasSubstr("more than a run file may have"));
  // What only looks nested is not.
  const RunSettings settings = parse("# " + repeated("a.", 100) + "\n[data]\nfiles = ['" + repeated("../", 100) + "a.nc', \"" +
                                     repeated("[", 100) + "\", \"\"\"" + repeated(".{", 100) + "\"\"\"]\nvalid = [0.5, 1.5]\n");
  EXPECT_EQ(settings.data.files.size(), 3U);
}

TEST(RunFile, NamesTheLineOfATextThatIsNotToml) { EXPECT_THAT(refusal("[data]\nvalue = \n"), HasSubstr("run.toml:2: not TOML")); }

TEST(RunFile, TakesPathsFromItsOwnFolder) {
  const ScratchFolder folder;
  write_bytes(folder / "run.toml", "[data]\nfiles = [\"obs/*.nc\", \"/tmp/x.nc\"]\n[output]\nmodel = \"m.safetensors\"\n");
  const RunSettings settings = read_run_file(folder / "run.toml");
  EXPECT_EQ(settings.data.files[0], (folder / "obs/*.nc").string());
  EXPECT_EQ(settings.data.files[1], "/tmp/x.nc");
  EXPECT_EQ(settings.output.model, (folder / "m.safetensors").string());
  EXPECT_THROW(read_run_file(folder / "none.toml"), Error);
}

TEST(Flags, SetWhatTheirKeysDo) {
  RunSettings settings;
  set_from_flag(settings, "--epochs", {"2.5"});
  set_from_flag(settings, "--where", {"a < 3", "b in 1,2"});
  set_from_flag(settings, "--valid", {"-3:3"});
  set_from_flag(settings, "--bbox", {"170,60,-170,80"});
  set_from_flag(settings, "--any-order", {});
  set_from_flag(settings, "--members", {"1", "5"});  // the last one counts
  EXPECT_EQ(settings.train.epochs, 2.5);
  EXPECT_EQ(settings.data.where.size(), 2u);
  EXPECT_EQ(settings.data.valid->low, -3.0);
  EXPECT_EQ((*settings.data.box)[0], 170.0);
  EXPECT_TRUE(settings.data.any_order);
  EXPECT_EQ(settings.model.members, 5u);
  set_from_flag(settings, "--loss", {"huber"});
  set_from_flag(settings, "--domain", {"sphere"});
  set_from_flag(settings, "--search", {"layers", "features"});
  EXPECT_EQ(settings.train.loss, LossKind::huber);
  EXPECT_EQ(settings.domain.kind, DomainKind::sphere);
  EXPECT_EQ(settings.tune.settings, (std::vector{SearchedSetting::layers, SearchedSetting::features}));
  set_from_flag(settings, "--domain", {"auto"});
  EXPECT_FALSE(settings.domain.kind);
}

TEST(Flags, NameThemselvesWhereTheTextDoesNotFit) {
  RunSettings settings;
  const auto why = [&](const char* flag, const char* text) -> std::string {
    try {
      set_from_flag(settings, flag, {text});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(why("--epochs", "many"), "--epochs many: must be a number");
  EXPECT_EQ(why("--members", "1.5"), "--members 1.5: must be a whole number");
  EXPECT_EQ(why("--valid", "3:-3"), "--valid 3:-3: must be LOW:HIGH, two numbers in ascending order");
  EXPECT_EQ(why("--bbox", "1,2,3"), "--bbox 1,2,3: must be four numbers, LON0,LAT0,LON1,LAT1");
  EXPECT_EQ(why("--split", "half"), "--split half: must be one of auto, none, random, track, platform, time, block");
  EXPECT_EQ(why("--loss", "Huber"), "--loss Huber: must be one of squared, huber; did you mean 'huber'?");
}

// What a program may put into settings that no run file could.
TEST(CheckSettings, GivesAProgramTheSentencesOfARunFile) {
  const auto why = [](auto change) -> std::string {
    RunSettings settings;
    change(settings);
    try {
      check(settings);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(why([](RunSettings&) {}), "accepted");
  EXPECT_EQ(why([](RunSettings& s) { s.train.batch = std::numeric_limits<std::size_t>::max(); }),
            "[train] batch is 18446744073709551615; it must be at least 1 and at most 1e+09");
  EXPECT_EQ(why([](RunSettings& s) { s.train.epochs = kNan; }), "[train] epochs is nan; it must be finite");
  EXPECT_EQ(why([](RunSettings& s) { s.model.nu = kInfinity; }), "[model] nu is inf; it must be finite");
  EXPECT_EQ(why([](RunSettings& s) { s.split.held_out = -0.1; }),
            "[split] held_out is -0.1; it must be at least 0 and at most 0.9");
  EXPECT_EQ(why([](RunSettings& s) { s.threads = -1; }), "threads is -1; it must be at least 0 and at most 4096");
  EXPECT_EQ(why([](RunSettings& s) {
              s.data.valid = Range{3.0, 1.0};
            }),
            "[data] valid is [3, 1]; it must have its lower end first");
  EXPECT_EQ(why([](RunSettings& s) { s.data.box = {0.0, kNan, 1.0, 1.0}; }), "[data] bbox is nan; it must be finite");
  EXPECT_EQ(why([](RunSettings& s) { s.train.loss = static_cast<LossKind>(7); }),
            "[train] loss is enumerator 7; it must be one of squared, huber");
  EXPECT_EQ(why([](RunSettings& s) { s.tune.settings = {static_cast<SearchedSetting>(-1)}; }),
            "[tune] settings is enumerator -1; it must be one of lengthscale, hidden_lengthscale, time_lengthscale_days, "
            "amplitude, hidden_amplitude, noise_sd, "
            "layers, features, bottleneck_rate");
}

TEST(CheckSettings, IsDoneByWhateverTakesThem) {
  RunSettings settings;
  settings.train.batch = std::numeric_limits<std::size_t>::max();
  EXPECT_THROW(read_options(settings), UsageError);
  EXPECT_THROW(make_engine(settings), UsageError);
  const Dataset data = small_dataset();
  EXPECT_THROW(plan_fit(settings, data), UsageError);
  EXPECT_THROW(plan_compare(settings, data), UsageError);
  FitPlan changed = plan_fit({}, data);
  changed.settings.train.batch = settings.train.batch;
  EXPECT_THROW(fit(changed, data), UsageError);
  EXPECT_THROW(tune_run(changed, data, {}), UsageError);
  EXPECT_THROW(search_space(changed, data, {}), UsageError);
  EXPECT_THROW(foresee_seconds(changed, data), UsageError);
  EXPECT_THROW(search_space(plan_fit({}, data), data, {static_cast<SearchedSetting>(-1)}), UsageError);
}

// Texts with a grammar of their own are read when they are given, not when they are used.
TEST(Settings, TextsThatCannotBeReadAreRefusedByFileFlagAndCheck) {
  struct Wrong {
    const char *table, *key, *flag, *text, *why;
  };
  for (const Wrong& wrong : std::vector<Wrong>{
           {"data", "preset", "--preset", "sentinel3", "no preset is called 'sentinel3'"},
           {"data", "where", "--where", "swh ? 3", "swh ? 3"},
           {"data", "from", "--from", "yesterday", "neither a time"},
           {"data", "to", "--to", "2020-13-01", "neither a time"},
           {"data", "time_units", "--time-units", "fortnights since 2000-01-01", "fortnights"},
           {"split", "test_where", "--test-where", "pass", "pass"},
           {"domain", "crs", "--crs", "EPSG:12", "EPSG:12"},
           {"domain", "crs", "--crs", "EPSG:4326", "EPSG:4326"},
           {"compare", "methods", "--method", "nngq", "did you mean 'nngp'?"},
           {"compare", "methods", "--method", "nngp:neighbour=3", "did you mean 'neighbours'?"},
           {"compare", "methods", "--method", "drift:members=0", "members is 0"},
           {"compare", "grid", "--grid", "bbox:1,2:3", "four numbers"},
           {"compare", "grid", "--grid", "EPSG:12:5km", "EPSG:12"},
           {"compare", "truth", "--truth", "synthetic:x", "whole number"},
           {"compare", "map_time", "--map-time", "noon", "neither a time"},
       }) {
    RunSettings settings;
    try {
      set_from_flag(settings, wrong.flag, {wrong.text}, wrong.table);
      ADD_FAILURE() << wrong.flag;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(wrong.flag));
      EXPECT_THAT(error.what(), HasSubstr(wrong.why));
    }
    try {
      run_settings_from_toml(fmt::format("[{}]\n{} = \"{}\"\n", wrong.table, wrong.key, wrong.text), "run");
      ADD_FAILURE() << wrong.key;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(fmt::format("run:2: {}", wrong.key)));
      EXPECT_THAT(error.what(), HasSubstr(wrong.why));
    }
  }
  RunSettings settings;
  settings.compare.methods = {"a program's own"};
  EXPECT_NO_THROW(check(settings));
  for (const char* good : {"global:5", "EPSG:3035:25km", "+proj=laea +lat_0=40 +lon_0=10 +units=m:1km", "file:any", "any.nc"}) {
    settings.compare.grid = good;
    EXPECT_NO_THROW(check(settings)) << good;
  }
  settings.data.to = "yesterday";
  EXPECT_THROW(check(settings), UsageError);
  EXPECT_THROW(plan_fit(settings, small_dataset()), UsageError);
}

TEST(ReadRunFile, KeepsASyntheticTruthAsItIs) {
  const ScratchFolder folder;
  std::ofstream(folder / "run.toml") << "[compare]\ntruth = \"synthetic:7,evolution=2.5\"\n";
  EXPECT_EQ(read_run_file(folder / "run.toml").compare.truth, "synthetic:7,evolution=2.5");
}

TEST(SettingsOfAVerb, AreThoseOfItsTablesAndTheFlagsNamed) {
  const auto flags_of = [](std::string_view verb) {
    std::set<std::string> flags;
    for (const SettingInfo& info : settings_of_verb(verb)) EXPECT_TRUE(flags.insert(info.flag).second) << info.flag;
    return flags;
  };
  const std::set<std::string> read = flags_of("read"), fit = flags_of("fit"), compare = flags_of("compare");
  EXPECT_TRUE(std::includes(fit.begin(), fit.end(), read.begin(), read.end())) << "a fit reads";
  EXPECT_EQ(fit, flags_of("tune"));
  for (const char* flag : {"--value", "--threads", "--test"}) EXPECT_TRUE(read.contains(flag)) << flag;
  for (const char* flag : {"--members", "--epochs", "--out", "--seed"}) {
    EXPECT_TRUE(fit.contains(flag)) << flag;
    EXPECT_FALSE(read.contains(flag)) << flag;
  }
  EXPECT_TRUE(compare.contains("--folder"));
  EXPECT_FALSE(fit.contains("--folder"));
  EXPECT_FALSE(flags_of("inspect").contains("--test"));
  EXPECT_TRUE(flags_of("score").contains("--backend"));
  // Every setting that has a flag is one of some verb.
  std::set<std::string> all;
  for (const char* verb : {"fit", "compare"}) all.merge(flags_of(verb));
  for (const SettingInfo& info : setting_infos()) EXPECT_TRUE(info.flag.empty() || all.contains(info.flag)) << info.flag;
  EXPECT_THROW(settings_of_verb("plot"), UsageError);
}

TEST(Settings, NameTheWordsOfTheirTypeInTheirHelp) {
  for (const SettingInfo& info : setting_infos()) {
    if (info.flag == "--optimiser") {
      EXPECT_THAT(info.help, HasSubstr(": one of auto, adam, muon"));
      EXPECT_EQ(info.fallback, "auto");
    }
    if (info.flag == "--loss") {
      EXPECT_THAT(info.help, HasSubstr(": one of squared, huber"));
      EXPECT_EQ(info.fallback, "squared");
    }
    if (info.flag == "--search") {
      EXPECT_TRUE(info.repeats);
    }
  }
}

TEST(Settings, TellTheirTypes) {
  std::map<std::string, SettingInfo> by_key;
  for (const SettingInfo& info : setting_infos()) by_key[info.table + "." + info.key] = info;
  EXPECT_EQ(by_key["model.members"].type, SettingType::whole_number);
  EXPECT_EQ(by_key["train.epochs"].type, SettingType::number);
  EXPECT_EQ(by_key["data.any_order"].type, SettingType::truth);
  EXPECT_EQ(by_key["data.valid"].type, SettingType::range);
  EXPECT_EQ(by_key["data.bbox"].type, SettingType::box);
  EXPECT_EQ(by_key["data.where"].type, SettingType::text);
  EXPECT_EQ(by_key["tune.settings"].type, SettingType::word);
  EXPECT_EQ(by_key["train.loss"].type, SettingType::word);
  EXPECT_THAT(by_key["train.optimiser"].words, testing::ElementsAre("auto", "adam", "muon"));
}

TEST(Settings, AreCalledWhatAProgramCallsThem) {
  RunSettings settings;
  try {
    set_from_flag(settings, "--members", {"many"}, "model", "members");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()), "members many: must be a number");
  }
}

// No verb has both tables, fit and compare, which share --method.
TEST(Settings, HaveOneFlagEachAndHelp) {
  std::set<std::string> flags;
  for (const SettingInfo& info : setting_infos()) {
    EXPECT_FALSE(info.help.empty()) << info.key;
    const bool of_compare = std::string(info.table) == "compare";
    const bool is_new = info.flag.empty() || flags.insert((of_compare ? "compare " : "") + std::string(info.flag)).second;
    EXPECT_TRUE(is_new) << info.flag;
  }
}

TEST(ReadOptionsOfSettings, TurnTimesIntoDays) {
  RunSettings settings;
  settings.data.from = "1950-01-03";
  EXPECT_EQ(read_options(settings).time->low, 2.0);
  EXPECT_TRUE(std::isinf(read_options(settings).time->high));
  settings.data.to = "1";
  EXPECT_THROW(read_options(settings), UsageError);  // before `from`
  settings.data.to = "yesterday";
  EXPECT_THROW(read_options(settings), UsageError);
}

}  // namespace
}  // namespace drift
