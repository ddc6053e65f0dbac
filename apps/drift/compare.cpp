// `drift compare`: methods beside each other on one data set. Every fit is a process of its own, so that its memory, its
// processor time and its crashes are its own too.

#include "drift/compare.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "child.h"
#include "commands.h"
#include "drift/error.h"
#include "print.h"
#include "progress.h"
#include "run_options.h"
#include "verb_control.h"
#include "warnings.h"

namespace {

struct CompareOptions {
  std::vector<std::string> inputs;
  bool fresh = false, plan_only = false, json = false, quiet = false, list = false, no_maps = false;
  std::string one;             // a child: fit this method
  std::uint64_t one_seed = 1;  // with this seed
};

void list_methods() {
  for (const drift::MethodInfo& method : drift::compare_methods()) {
    print("{:10} {}: {} ({})\n", method.name, method.title, method.summary, method.source);
    for (const drift::MethodOption& option : method.options)
      print("             {:16} {} [{}]\n", option.name, option.help, option.fallback);
  }
}

drift::RunSettings settle(const CompareOptions& options, const RunOptions& flags) {
  drift::RunSettings settings = flags.settings(options.inputs);
  if (settings.data.files.empty())
    throw drift::UsageError(
        "compare needs observations, or a run file that names them: drift compare FILES --value NAME --method nngp --method "
        "drift");
  if (settings.compare.folder.empty()) throw drift::UsageError("compare needs a --folder for its results");
  return settings;
}

class Compare {
 public:
  Compare(const CompareOptions& options, drift::RunSettings settings)
      : options_(options),
        settings_(std::move(settings)),
        verb_(!options.quiet && !options.json && options.one.empty(), !options.quiet) {}

  void run() {
    if (!options_.one.empty())
      end_with_parent();
    else
      drift::check_compare_paths(settings_);
    drift::Control control = verb_.quiet_job();
    control.fresh = options_.fresh;
    const drift::Reading reading = drift::read_run(settings_, control);
    const drift::ComparePlan plan = drift::plan_compare(settings_, reading, drift::make_compared_method, control);
    if (!options_.one.empty()) return fit_one(plan, reading);
    report_reading(verb_, reading);
    for (const std::string& choice : plan.choices) say(choice);
    if (options_.plan_only) return;
    run_file_ = drift::save_compare_run(plan);
    compare_all(plan, reading, control);
  }

 private:
  void say(const std::string& text) const { verb_.say(text); }

  // In the child: the result goes to stdout, for the parent to read.
  void fit_one(const drift::ComparePlan& plan, const drift::Reading& reading) {
    const drift::Control control = verb_.job(fmt::format("{}, seed {}", options_.one, options_.one_seed));
    print_json_text(drift::to_json(drift::compare_fit(plan, reading, options_.one, options_.one_seed, control)));
  }

  drift::ComparedFit fit_in_child(const std::string& method, std::uint64_t seed, const std::stop_token& stop) const {
    std::vector<std::string> arguments = {"compare", run_file_.string(), "--one", method, "--one-seed", std::to_string(seed)};
    if (options_.quiet) arguments.emplace_back("--quiet");
    const ChildResult child = run_child(arguments, stop);
    if (child.stopped) throw drift::Stopped("stopped");
    if (child.status == 0) return drift::compared_fit_from_json(child.out);
    const std::string why = child.signal == SIGKILL ? "it was killed, perhaps because the machine ran out of memory"
                            : child.signal != 0     ? fmt::format("it crashed (signal {})", child.signal)
                                                    : fmt::format("it ended with status {}", child.status);
    return drift::ComparedFit{.method = method, .seed = seed, .failure = why};
  }

  // Stopped, the table so far is printed all the same.
  void compare_all(const drift::ComparePlan& plan, const drift::Reading& reading, const drift::Control& control) const {
    drift::CompareHooks hooks;
    hooks.fit = [&](const std::string& method, std::uint64_t seed) { return fit_in_child(method, seed, control.stop); };
    const std::size_t all = plan.methods.size() * plan.seeds.size();
    std::size_t count = 0;
    say("");
    drift::Comparison so_far;
    hooks.done = [&](const drift::ComparedFit& fit, bool from_file, const drift::Comparison& comparison) {
      so_far = comparison;
      const std::string head = fmt::format("{}/{}  {}, seed {}", ++count, all, fit.method, fit.seed);
      if (!fit.failure.empty())
        say(fmt::format("{}: failed: {}", head, fit.failure));
      else
        say(fmt::format("{}: CRPS {:.4g}, fitted in {}{}", head, fit.measures.at("crps"), clock_text(fit.measures.at("fit_s")),
                        from_file ? " by an earlier run" : ""));
    };
    try {
      so_far = drift::compare(plan, reading, control, hooks);
    } catch (const drift::Stopped&) {
      if (!so_far.rows.empty()) report(plan, so_far, "");
      throw;
    }
    std::string pictures;
    try {
      pictures = draw(plan, so_far, control);
    } catch (const drift::Stopped&) {
      report(plan, so_far, "");
      throw;
    }
    report(plan, so_far, pictures);
    std::size_t worked = 0;
    for (const drift::ComparedMethod& row : so_far.rows) worked += row.fits;
    if (worked == 0)
      throw drift::Error(fmt::format("no method succeeded; the first failed with: {}", so_far.rows.front().failure));
  }

  std::string draw(const drift::ComparePlan& plan, const drift::Comparison& comparison, const drift::Control& control) const {
    if (options_.no_maps) return "";
    try {
      std::string names;
      for (const std::filesystem::path& picture : drift::draw_comparison(plan, comparison, control))
        names += ", " + picture.filename().string();
      return names;
    } catch (const drift::Stopped&) {
      throw;
    } catch (const drift::Error& error) {
      say(fmt::format("No pictures: {}", error.what()));
      return "";
    }
  }

  void report(const drift::ComparePlan& plan, const drift::Comparison& comparison, const std::string& pictures) const {
    const bool coloured = isatty(STDOUT_FILENO) == 1;
    if (options_.json) {
      print_json_text(drift::comparison_json(comparison));
    } else {
      const std::string table = "\n" + drift::comparison_text(comparison, coloured);
      if (coloured && !options_.quiet)
        fmt::print("{}\n", table);  // with the colours' own control characters
      else
        say(table);
      say(fmt::format("{}  table.md, table.csv, table.json, run.toml{}; fits and their maps in fits", plan.folder.string(),
                      pictures));
    }
  }

  const CompareOptions& options_;
  drift::RunSettings settings_;
  VerbControl verb_;
  std::filesystem::path run_file_;
};

}  // namespace

void add_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* verb = app.add_subcommand("compare", "Compare methods on the same observations");
  verb->footer(
      "drift compare run.toml --method all --seeds 1\ndrift compare FILES --value sla --method drift --method "
      "nngp:neighbours=64\n"
      "If stopped, the same command resumes; drift compare --list lists the methods and their options.");
  verb->add_option("INPUT", options->inputs, "A run file (.toml), or observations: paths or globs, NetCDF or CSV")->type_name("");
  verb->add_flag("--list", options->list, "List the methods and their options, then exit");
  auto flags = std::make_shared<RunOptions>(*verb);
  verb->add_flag("--no-maps", options->no_maps, "Draw no pictures")->group("Compare");
  verb->add_flag("--fresh", options->fresh, "Start afresh and ignore earlier results in the folder")->group("Run");
  verb->add_flag("--plan", options->plan_only, "Print the plan and exit")->group("Run");
  verb->add_flag("--json", options->json, "Print the table as JSON")->group("Run");
  add_quiet(*verb, options->quiet);
  verb->add_option("--one", options->one)->group("");
  verb->add_option("--one-seed", options->one_seed)->group("");
  verb->callback([options, flags] {
    if (options->list)
      list_methods();
    else
      Compare(*options, settle(*options, *flags)).run();
  });
}
