#pragma once

#include <string>
#include <vector>

#include "drift/field_model.h"

namespace drift {

// The files that observations came from, by the paths and globs that name them, with checksums, several at a time.
std::vector<SourceFile> sources_of(const std::vector<std::string>& patterns, int threads, const Control& control = {});

// As sha256sum writes it: a line "SHA256  NAME" per file, - for a checksum that is not known. Throws Error for another text.
std::string sources_text(const std::vector<SourceFile>& sources);
std::vector<SourceFile> sources_from_text(const std::string& text);

// In one line, "a.nc (sha256 ...), b.nc (...)", of the first hundred.
std::string sources_line(const std::vector<SourceFile>& sources);

}  // namespace drift
