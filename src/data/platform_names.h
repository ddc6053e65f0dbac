#pragma once

#include <string>

namespace drift {

// The satellite's name for what a file calls it: "SARAL/AltiKa" for "Altika Drifting Phase", "Sentinel-3A" for "S3A"; as it is
// where it is not known; empty where it names none, as "Satellite".
std::string platform_called(const std::string& text);

}  // namespace drift
