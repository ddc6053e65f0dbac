#pragma once

#include <string>
#include <vector>

namespace drift {

// The satellite's name for what a file calls it: "SARAL/AltiKa" for "Altika Drifting Phase", "Sentinel-3A" for "S3A", "Jason-2"
// for AVISO's "j2"; as it is where it is not known; empty where it names none, as "Satellite".
std::string platform_called(const std::string& text);

// Whether `name`, as a user gives it, is what `platform` is called.
bool is_platform(const std::string& platform, const std::string& name);

// The same for the labels of a column, [labels]. One that names none stays as it is, and so do those that would become one name:
// buoys called S3A1 and S3A2 are not the satellite. The two letters of codes, as "j2", are one only among codes alone.
std::vector<std::string> platforms_called(const std::vector<std::string>& labels);

}  // namespace drift
