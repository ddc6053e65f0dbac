// The result of a fit as drift compare keeps it.

#include "drift/compare.h"
#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("kept_fit", [](std::string_view input) {
  const ComparedFit fit = compared_fit_from_json(std::string(input));
  const std::string text = to_json(fit);
  require(to_json(compared_fit_from_json(text)) == text, "a fit comes back from its own JSON");
});

}  // namespace
}  // namespace drift::fuzz
