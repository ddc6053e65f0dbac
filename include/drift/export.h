#pragma once

// drift is compiled with hidden symbols. What its headers declare is exported: they open their namespace with this mark.
#define DRIFT_PUBLIC [[gnu::visibility("default")]]
