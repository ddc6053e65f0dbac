#include "output/gif.h"

#include <fmt/format.h>
#include <gif_lib.h>

#include <algorithm>
#include <cmath>

#include "drift/error.h"

namespace drift {
namespace {

constexpr int kBits = 8;                 // of a pixel
constexpr GifByteType kUnchanged = 255;  // the colour that is transparent

}  // namespace

struct GifWriter::File {
  std::filesystem::path path;
  GifFileType* gif = nullptr;
  std::size_t width, height;
  Palette palette;
  int hundredths;  // of a second that a frame stays
  std::vector<GifByteType> shown = {};

  void require(bool done) const {
    if (done) return;
    const char* reason = GifErrorString(gif == nullptr ? 0 : gif->Error);
    throw Error(fmt::format("{}: cannot write the GIF: {}", path.string(), reason == nullptr ? "no reason given" : reason));
  }
};

GifWriter::GifWriter(const std::filesystem::path& path, std::size_t width, std::size_t height, Palette palette,
                     double frames_per_second)
    : file_(new File{.path = path,
                     .width = width,
                     .height = height,
                     .palette = std::move(palette),
                     .hundredths = std::max(2, static_cast<int>(std::lround(100.0 / frames_per_second)))}) {
  File& f = *file_;
  int error = 0;
  f.gif = EGifOpenFileName(path.c_str(), false, &error);
  f.require(f.gif != nullptr);
  ColorMapObject* map = GifMakeMapObject(1 << kBits, nullptr);
  for (std::size_t i = 0; i < f.palette.colours.size(); ++i) {
    const Rgb& c = f.palette.colours[i];
    map->Colors[i] = {c[0], c[1], c[2]};
  }
  EGifSetGifVersion(f.gif, true);
  const int screen = EGifPutScreenDesc(f.gif, static_cast<int>(width), static_cast<int>(height), kBits, 0, map);
  GifFreeMapObject(map);
  f.require(screen == GIF_OK);
  const std::array<GifByteType, 3> for_ever = {1, 0, 0};
  f.require(EGifPutExtensionLeader(f.gif, APPLICATION_EXT_FUNC_CODE) == GIF_OK);
  f.require(EGifPutExtensionBlock(f.gif, 11, "NETSCAPE2.0") == GIF_OK);
  f.require(EGifPutExtensionBlock(f.gif, for_ever.size(), for_ever.data()) == GIF_OK);
  f.require(EGifPutExtensionTrailer(f.gif) == GIF_OK);
}

GifWriter::~GifWriter() {
  int ignored = 0;
  if (file_->gif != nullptr) EGifCloseFile(file_->gif, &ignored);
}

void GifWriter::add(const Pixels& frame) {
  File& f = *file_;
  std::vector<GifByteType> now(f.width * f.height);
  for (std::size_t i = 0; i < now.size(); ++i) now[i] = f.palette.entry[ColourCounts::index_of(frame.at[i])];
  const bool first = f.shown.empty();
  const GraphicsControlBlock control = {.DisposalMode = DISPOSE_DO_NOT,
                                        .UserInputFlag = false,
                                        .DelayTime = f.hundredths,
                                        .TransparentColor = first ? NO_TRANSPARENT_COLOR : kUnchanged};
  std::array<GifByteType, 4> block;
  const auto length = static_cast<int>(EGifGCBToExtension(&control, block.data()));
  f.require(EGifPutExtension(f.gif, GRAPHICS_EXT_FUNC_CODE, length, block.data()) == GIF_OK);
  f.require(EGifPutImageDesc(f.gif, 0, 0, static_cast<int>(f.width), static_cast<int>(f.height), false, nullptr) == GIF_OK);
  std::vector<GifByteType> row(f.width);
  for (std::size_t y = 0; y < f.height; ++y) {
    for (std::size_t x = 0; x < f.width; ++x) {
      const std::size_t i = y * f.width + x;
      row[x] = !first && f.shown[i] == now[i] ? kUnchanged : now[i];
    }
    f.require(EGifPutLine(f.gif, row.data(), static_cast<int>(f.width)) == GIF_OK);
  }
  f.shown = std::move(now);
}

void GifWriter::finish() {
  int error = 0;
  GifFileType* gif = file_->gif;
  file_->gif = nullptr;
  if (EGifCloseFile(gif, &error) != GIF_OK)
    throw Error(fmt::format("{}: cannot write the GIF: {}", file_->path.string(), GifErrorString(error)));
}

}  // namespace drift
