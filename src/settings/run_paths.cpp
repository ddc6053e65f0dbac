#include "data/input_files.h"
#include "drift/files.h"
#include "drift/run_settings.h"

namespace drift {

NamedPaths named_files(const std::string& what, const std::vector<std::string>& patterns) {
  NamedPaths files;
  for (const std::string& pattern : patterns) {
    for (const std::filesystem::path& path : matching_files(pattern)) files.push_back({what, path});
  }
  return files;
}

NamedPaths run_inputs(const RunSettings& settings) {
  NamedPaths inputs;
  for (const NamedPaths& some :
       {named_files("the observations", settings.data.files), named_files("the test set", settings.split.test),
        named_file("the truth", settings.compare.truth), named_file("the grid", settings.compare.grid)}) {
    inputs.insert(inputs.end(), some.begin(), some.end());
  }
  return inputs;
}

NamedPaths run_outputs(const RunSettings& settings) {
  NamedPaths outputs;
  const std::string& model = settings.output.model;
  if (!model.empty()) outputs = {{"the model", model}, {"the checkpoint", model + ".checkpoint"}};
  if (settings.tune.method != TuneMethod::bayes) return outputs;
  if (!settings.tune.study.empty())
    outputs.push_back({"the study", settings.tune.study});
  else if (!model.empty())
    outputs.push_back({"the study", model + ".study.json"});
  return outputs;
}

}  // namespace drift
