#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace drift {

inline std::string header_of(const std::string& bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  return bytes.substr(sizeof(length), length);
}

// The same file with another header.
inline std::string with_header(const std::string& bytes, const std::string& header) {
  const std::uint64_t length = header.size();
  std::string out(sizeof(length), '\0');
  std::memcpy(out.data(), &length, sizeof(length));
  return out + header + bytes.substr(sizeof(length) + header_of(bytes).size());
}

// As earlier versions wrote it: what is damaged then gets past the checksums and meets the checks behind them.
inline std::string without_checksums(const std::string& bytes) {
  std::string header = header_of(bytes);
  for (const char* key : {"\"crc32.header\":", "\"crc32.tensors\":"}) {
    const std::size_t begin = header.find(key);
    if (begin == std::string::npos) continue;
    std::size_t end = header.find('"', header.find('"', begin + std::strlen(key)) + 1) + 1;
    if (header[end] == ',') ++end;
    header.erase(begin, end - begin);
  }
  return with_header(bytes, header);
}

}  // namespace drift
