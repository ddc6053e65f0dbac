#include "data/platform_names.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "data/words.h"

namespace drift {
namespace {

struct Satellite {
  std::string_view begins;  // letters and digits of what files call it, in lower case
  std::string_view name;
};

// The longer before those that they begin with.
constexpr std::array<Satellite, 28> kSatellites = {{{"sentinel3a", "Sentinel-3A"},
                                                    {"sentinel3b", "Sentinel-3B"},
                                                    {"s3a", "Sentinel-3A"},
                                                    {"s3b", "Sentinel-3B"},
                                                    {"sentinel6a", "Sentinel-6A"},
                                                    {"sentinel6michaelfreilich", "Sentinel-6A"},
                                                    {"sentinel6b", "Sentinel-6B"},
                                                    {"s6a", "Sentinel-6A"},
                                                    {"saral", "SARAL/AltiKa"},
                                                    {"altika", "SARAL/AltiKa"},
                                                    {"cryosat", "CryoSat-2"},
                                                    {"ostm", "Jason-2"},
                                                    {"jason1", "Jason-1"},
                                                    {"jason2", "Jason-2"},
                                                    {"jason3", "Jason-3"},
                                                    {"topex", "TOPEX/Poseidon"},
                                                    {"envisat", "Envisat"},
                                                    {"ers1", "ERS-1"},
                                                    {"ers2", "ERS-2"},
                                                    {"hy2a", "HY-2A"},
                                                    {"hy2b", "HY-2B"},
                                                    {"hy2c", "HY-2C"},
                                                    {"haiyang2a", "HY-2A"},
                                                    {"haiyang2b", "HY-2B"},
                                                    {"cfosat", "CFOSAT"},
                                                    {"swot", "SWOT"},
                                                    {"icesat2", "ICESat-2"},
                                                    {"geosatfollowon", "GFO"}}};

// What stands where a name should.
constexpr std::array<std::string_view, 10> kNone = {"satellite", "satellites", "altimeter", "platform", "spacecraft",
                                                    "unknown",   "none",       "na",        "mission",  "notapplicable"};

std::string letters_and_digits(const std::string& text) {
  std::string kept = lower(text);
  std::erase_if(kept, [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')); });
  return kept;
}

}  // namespace

std::string platform_called(const std::string& text) {
  const std::string said = letters_and_digits(text);
  if (std::find(kNone.begin(), kNone.end(), said) != kNone.end()) return {};
  for (const Satellite& satellite : kSatellites) {
    if (said.starts_with(satellite.begins)) return std::string(satellite.name);
  }
  return text;
}

bool is_platform(const std::string& platform, const std::string& name) {
  return platform == name || (!platform.empty() && platform == platform_called(name));
}

std::vector<std::string> platforms_called(const std::vector<std::string>& labels) {
  std::vector<std::string> names;
  for (const std::string& label : labels) {
    const std::string name = platform_called(label);
    names.push_back(name.empty() ? label : name);
  }
  std::vector<std::string> apart = names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::count(names.begin(), names.end(), names[i]) > 1) apart[i] = labels[i];
  }
  return apart;
}

}  // namespace drift
