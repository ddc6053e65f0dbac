#include "drift/verify.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "drift/error.h"
#include "print.h"
#include "verb_control.h"

namespace {

struct VerifyOptions {
  std::vector<std::string> files;
  bool json = false;
};

void print_file(const std::string& path, const drift::VerifiedFile& file) {
  print("{}: {}, whole{}\n", path, file.kind, file.has_checksums ? ", every checksum right" : "");
  for (const auto& [name, text] : file.facts) print("  {:11} {}\n", name, text);
}

nlohmann::ordered_json json_of(const std::string& path, const drift::VerifiedFile& file) {
  nlohmann::ordered_json json = {{"file", path},
                                 {"whole", true},
                                 {"kind", file.kind},
                                 {"checksums", file.has_checksums},
                                 {"facts", nlohmann::json::object()}};
  for (const auto& [name, text] : file.facts) json["facts"][name] = text;
  return json;
}

// All files are looked at; then the damaged ones make the verb fail.
void run(const VerifyOptions& options) {
  const VerbControl verb(false, false);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::vector<std::string> problems;
  for (const std::string& path : options.files) {
    try {
      const drift::VerifiedFile file = drift::verify_file(path, verb.quiet_job());
      list.push_back(json_of(path, file));
      if (!options.json) print_file(path, file);
    } catch (const drift::Stopped&) {
      throw;
    } catch (const drift::Error& error) {
      list.push_back({{"file", path}, {"whole", false}, {"problem", error.what()}});
      problems.emplace_back(error.what());
    }
  }
  if (options.json) print_json(list);
  if (problems.empty()) return;
  if (options.files.size() == 1) throw drift::Error(problems.front());
  for (const std::string& problem : problems) print(stderr, "drift: {}\n", problem);
  throw drift::Error(fmt::format("{} of {} files are damaged", problems.size(), options.files.size()));
}

}  // namespace

void add_verify(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* verb = app.add_subcommand("verify", "Check models, checkpoints, studies and maps for damage");
  verb->footer("drift verify model.safetensors map.nc");
  verb->add_option("FILES", options->files, "Files that drift wrote")->type_name("")->required();
  verb->add_flag("--json", options->json, "Print it as JSON")->group("Run");
  verb->callback([options] { run(*options); });
}
