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

// The codes of Copernicus Marine and AVISO; phases of an orbit, as in "j1n", are the same satellite.
constexpr std::array<Satellite, 37> kCodes = {{{"al", "SARAL/AltiKa"},
                                               {"alg", "SARAL/AltiKa"},
                                               {"c2", "CryoSat-2"},
                                               {"c2n", "CryoSat-2"},
                                               {"cfo", "CFOSAT"},
                                               {"e1", "ERS-1"},
                                               {"e1g", "ERS-1"},
                                               {"e2", "ERS-2"},
                                               {"en", "Envisat"},
                                               {"enn", "Envisat"},
                                               {"g2", "GFO"},
                                               {"h2", "HY-2A"},
                                               {"h2a", "HY-2A"},
                                               {"h2ag", "HY-2A"},
                                               {"h2g", "HY-2A"},
                                               {"h2b", "HY-2B"},
                                               {"h2c", "HY-2C"},
                                               {"h2d", "HY-2D"},
                                               {"j1", "Jason-1"},
                                               {"j1g", "Jason-1"},
                                               {"j1n", "Jason-1"},
                                               {"j2", "Jason-2"},
                                               {"j2g", "Jason-2"},
                                               {"j2n", "Jason-2"},
                                               {"j3", "Jason-3"},
                                               {"j3g", "Jason-3"},
                                               {"j3n", "Jason-3"},
                                               {"s3a", "Sentinel-3A"},
                                               {"s3b", "Sentinel-3B"},
                                               {"s6a", "Sentinel-6A"},
                                               {"s6ahr", "Sentinel-6A"},
                                               {"s6alr", "Sentinel-6A"},
                                               {"s6b", "Sentinel-6B"},
                                               {"swon", "SWOT"},
                                               {"swonc", "SWOT"},
                                               {"tp", "TOPEX/Poseidon"},
                                               {"tpn", "TOPEX/Poseidon"}}};

// What stands where a name should.
constexpr std::array<std::string_view, 10> kNone = {"satellite", "satellites", "altimeter", "platform", "spacecraft",
                                                    "unknown",   "none",       "na",        "mission",  "notapplicable"};

std::string letters_and_digits(const std::string& text) {
  std::string kept = lower(text);
  std::erase_if(kept, [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')); });
  return kept;
}

std::string_view satellite_of_code(const std::string& said) {
  const auto* const known = std::find_if(kCodes.begin(), kCodes.end(), [&](const Satellite& s) { return s.begins == said; });
  return known == kCodes.end() ? std::string_view() : known->name;
}

// Empty: none is known.
std::string_view satellite_beginning(const std::string& said) {
  for (const Satellite& known : kSatellites) {
    if (said.starts_with(known.begins)) return known.name;
  }
  return {};
}

bool is_placeholder(const std::string& said) { return std::find(kNone.begin(), kNone.end(), said) != kNone.end(); }

}  // namespace

std::string platform_called(const std::string& text) {
  const std::string said = letters_and_digits(text);
  if (is_placeholder(said)) return {};
  if (const std::string_view name = satellite_of_code(said); !name.empty()) return std::string(name);
  const std::string_view name = satellite_beginning(said);
  return name.empty() ? text : std::string(name);
}

bool is_platform(const std::string& platform, const std::string& name) {
  return platform == name || (!platform.empty() && platform == platform_called(name));
}

std::vector<std::string> platforms_called(const std::vector<std::string>& labels) {
  const auto is_code = [](const std::string& label) { return !satellite_of_code(letters_and_digits(label)).empty(); };
  const bool are_codes = std::all_of(labels.begin(), labels.end(), is_code);
  std::vector<std::string> names;
  for (const std::string& label : labels) {
    const std::string said = letters_and_digits(label);
    const bool stays = is_placeholder(said) || (!are_codes && is_code(label) && satellite_beginning(said).empty());
    names.push_back(stays ? label : platform_called(label));
  }
  std::vector<std::string> apart = names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::count(names.begin(), names.end(), names[i]) > 1) apart[i] = labels[i];
  }
  return apart;
}

}  // namespace drift
