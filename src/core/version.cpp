#include "drift/version.h"

#include <fmt/format.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace drift {
namespace {

struct Search {
  std::uintptr_t address;  // within the object that is meant
  std::string found = {};
};

bool holds(const dl_phdr_info& object, std::uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    const std::uintptr_t first = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= first && address - first < segment.p_memsz) return true;
  }
  return false;
}

// Notes follow each other: sizes and type, then the name and the contents, each filled up to whole words of 4 bytes, or 8.
std::string build_id_in(const unsigned char* note, std::size_t size, std::size_t word) {
  const auto whole_words = [word](std::size_t bytes) { return (bytes + word - 1) / word * word; };
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) head;
    std::memcpy(&head, note + at, sizeof(head));
    const std::size_t name = at + sizeof(head), contents = name + whole_words(head.n_namesz);
    at = contents + whole_words(head.n_descsz);
    if (at > size) break;
    if (head.n_type != NT_GNU_BUILD_ID || head.n_namesz != 4 || std::memcmp(note + name, "GNU", 4) != 0) continue;
    std::string digits;
    for (std::size_t i = 0; i < head.n_descsz; ++i) digits += fmt::format("{:02x}", note[contents + i]);
    return digits;
  }
  return {};
}

int look(dl_phdr_info* object, std::size_t /*size*/, void* data) {
  Search& search = *static_cast<Search*>(data);
  if (!holds(*object, search.address)) return 0;
  for (int i = 0; i < object->dlpi_phnum && search.found.empty(); ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // The loader tells places as numbers. NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* notes = reinterpret_cast<const unsigned char*>(object->dlpi_addr + segment.p_vaddr);
    search.found = build_id_in(notes, segment.p_memsz, segment.p_align == 8 ? 8 : 4);
  }
  return 1;  // no need to go on
}

}  // namespace

const char* version() { return DRIFT_VERSION; }

std::string build_id() {
  Search search = {.address = reinterpret_cast<std::uintptr_t>(&look)};
  dl_iterate_phdr(look, &search);
  return search.found.empty() ? version() : search.found;
}

}  // namespace drift
