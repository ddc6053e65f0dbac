// Zarr stores and OPeNDAP, through netCDF-C.

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "core/child_process.h"
#include "core/scratch_folder.h"
#include "data/reading_testing.h"
#include "data/words.h"
#include "netcdf/netcdf_testing.h"

namespace drift {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Serves one dataset of three points by version 2 of the Data Access Protocol, on the loopback, until it goes.
class DapServer {
 public:
  DapServer() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_, 16), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  DapServer(const DapServer&) = delete;
  DapServer& operator=(const DapServer&) = delete;
  ~DapServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }

  std::string address(const std::string& name) const { return fmt::format("http://127.0.0.1:{}/{}", port_, name); }

 private:
  void serve() {
    for (int client = ::accept(socket_, nullptr, nullptr); client >= 0; client = ::accept(socket_, nullptr, nullptr)) {
      std::string request(8192, '\0');
      const ssize_t got = ::recv(client, request.data(), request.size(), 0);
      request.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
      const std::size_t begin = request.find(' ') + 1;
      const std::string body = answer(request.substr(begin, request.find(' ', begin) - begin));
      const std::string reply = body.empty() ? "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n"
                                             : fmt::format("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
      ::send(client, reply.data(), reply.size(), MSG_NOSIGNAL);
      ::close(client);
    }
  }

  static std::string answer(const std::string& path) {
    const std::string_view before = std::string_view(path).substr(0, path.find('?'));
    if (!before.starts_with("/tracks.")) return "";
    if (before.ends_with(".dds")) return dds({"lon", "lat", "ssh"});
    if (before.ends_with(".das")) {
      return "Attributes {\n lon {\n  String units \"degrees_east\";\n }\n lat {\n  String units \"degrees_north\";\n }\n"
             " ssh {\n  String units \"m\";\n }\n}\n";
    }
    if (!before.ends_with(".dods")) return "";
    std::vector<std::string> names;
    const std::size_t question = path.find('?');
    for (const std::string& name : split(question == std::string::npos ? "lon,lat,ssh" : path.substr(question + 1), ',')) {
      names.push_back(name.substr(0, name.find_first_of("[%")));
    }
    std::string body = dds(names) + "Data:\n";
    for (const std::string& name : names) body += numbers(name == "lon" ? 10.0 : name == "lat" ? 50.0 : 0.5);
    return body;
  }

  static std::string dds(const std::vector<std::string>& names) {
    std::string text = "Dataset {\n";
    for (const std::string& name : names) text += fmt::format(" Float64 {}[obs = 3];\n", name);
    return text + "} tracks;\n";
  }

  // XDR: the length twice, then big-endian doubles.
  static std::string numbers(double first) {
    std::string bytes("\0\0\0\3\0\0\0\3", 8);
    for (int i = 0; i < 3; ++i) {
      const auto bits = std::bit_cast<std::uint64_t>(first + i);
      for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift & 0xFFU);
    }
    return bytes;
  }

  int socket_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

TEST(Opendap, IsReadLikeAFile) {
  const DapServer server;
  const Reading reading = read_observations({server.address("tracks")}, {.roles = {.value = "ssh"}});
  EXPECT_THAT(reading.observations.lon_deg, ElementsAre(10, 11, 12));
  EXPECT_THAT(reading.observations.value, ElementsAre(0.5, 1.5, 2.5));
  EXPECT_EQ(reading.value.unit, "m");
}

TEST(Opendap, ThatIsNoneIsRefusedWithWhatToDo) {
  const DapServer server;
  EXPECT_THAT(refusal({server.address("other.nc")}), AllOf(HasSubstr("cannot be opened"), HasSubstr("fetch a plain file first")));
}

TEST(Opendap, ThatDoesNotAnswerIsRefusedInOneSentenceOfDriftsOwn) {
  testing::internal::CaptureStderr();
  const std::string sentence = refusal({"http://127.0.0.1:1/nobody.nc"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");  // netCDF has words of its own
  EXPECT_THAT(sentence, HasSubstr("the server does not answer, or the address is not one of OPeNDAP"));
}

// A store of lon, lat and ssh, three numbers each, that says it is packed as `packing` says ("compressor" and "filters" in JSON).
void write_zarr(const std::filesystem::path& store, const std::string& packing) {
  std::filesystem::create_directory(store);
  write_bytes(store / ".zgroup", R"({"zarr_format": 2})");
  write_bytes(store / ".zattrs", R"({"platform": "Jason-3"})");
  const std::vector<std::pair<std::string, double>> variables = {{"lon", 10.0}, {"lat", 50.0}, {"ssh", 0.5}};
  for (const auto& [name, first] : variables) {
    std::filesystem::create_directory(store / name);
    write_bytes(store / name / ".zarray",
                fmt::format(R"({{"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": "<f8", "fill_value": "NaN", {},)"
                            R"( "order": "C"}})",
                            packing));
    write_bytes(store / name / ".zattrs",
                fmt::format(R"({{"_ARRAY_DIMENSIONS": ["obs"], "units": "{}"}})", name == "lon"   ? "degrees_east"
                                                                                  : name == "lat" ? "degrees_north"
                                                                                                  : "m"));
    std::string bytes(3 * sizeof(double), '\0');
    for (int i = 0; i < 3; ++i) {
      const double number = first + i;
      std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(double), &number, sizeof(double));
    }
    write_bytes(store / name / "0", bytes);
  }
}

// Version 2 has it among the array's own metadata, and netCDF-C does not show it.
TEST(Zarr, HasItsFillValueHeeded) {
  const ScratchFolder folder;
  const std::filesystem::path store = folder / "tracks.zarr";
  write_zarr(store, R"("compressor": null, "filters": null)");
  write_bytes(store / "ssh/.zarray", R"({"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": "<f8", "fill_value": 1.5, )"
                                     R"("compressor": null, "filters": null, "order": "C"})");
  EXPECT_THAT(read_observations({store.string()}, {.roles = {.value = "ssh"}}).observations.value, ElementsAre(0.5, 2.5));
}

TEST(Zarr, AStoreIsReadLikeAFile) {
  const ScratchFolder folder;
  const std::filesystem::path store = folder / "tracks.zarr";
  write_zarr(store, R"("compressor": null, "filters": null)");
  const Reading reading = read_observations({store.string()}, {.roles = {.value = "ssh"}});
  EXPECT_THAT(reading.observations.lat_deg, ElementsAre(50, 51, 52));
  EXPECT_THAT(reading.observations.value, ElementsAre(0.5, 1.5, 2.5));
  EXPECT_EQ(read_observations({(folder / "*.zarr").string()}).observations.size(), 3u);
  EXPECT_THAT(refusal({(folder / "tracks.zarr" / "lon").string()}), HasSubstr("is a folder; name the files in it"));
}

// xarray packs with Blosc by default.
TEST(Zarr, ThatIsPackedWithBloscIsReadThroughGdal) {
  const std::string program = find_program("gdalmdimtranslate");
  if (program.empty()) GTEST_SKIP() << "gdal-bin is not installed";
  const ScratchFolder folder;
  {
    NcTestFile file(folder / "t.nc");
    const int n = file.dimension("time", 3);
    file.variable("time", NC_DOUBLE, {n}, {1, 2, 3}, "days since 2000-01-01");
    file.variable("lon", NC_DOUBLE, {n}, {10, 11, 12}, "degrees_east");
    file.variable("lat", NC_DOUBLE, {n}, {50, 51, 52}, "degrees_north");
    const int sla =
        file.variable("sla", NC_SHORT, {n}, {100, NC_FILL_SHORT, 300}, "m", "sea_surface_height_above_mean_sea_level");
    file.pack(sla, 0.001);
  }
  const std::string store = (folder / "t.zarr").string();
  run_gdal(program, {"-q", "-of", "Zarr", "-co", "ARRAY:COMPRESS=BLOSC", (folder / "t.nc").string(), store}, folder / "", {});
  std::ifstream metadata(std::filesystem::path(store) / "sla" / ".zarray");
  const std::string packing((std::istreambuf_iterator<char>(metadata)), {});
  if (packing.find("blosc") == std::string::npos) GTEST_SKIP() << "this GDAL has no Blosc";
  const Reading packed = read_observations({store}), plain = read_observations({(folder / "t.nc").string()});
  EXPECT_EQ(packed.observations.value, plain.observations.value);
  EXPECT_THAT(packed.observations.value, ElementsAre(testing::DoubleNear(0.1, 1e-12), testing::DoubleNear(0.3, 1e-12)));
  EXPECT_EQ(packed.observations.time_days, plain.observations.time_days);
  EXPECT_EQ(packed.value, plain.value);
  EXPECT_EQ(packed.report.files, std::vector<std::filesystem::path>{store});
}

// What xarray writes of a variable in version 3, less what `codecs` are.
std::string array_of_version_3(const std::string& type, const std::string& codecs, const std::string& attributes,
                               const std::string& fill = "0") {
  return fmt::format(
      R"({{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "{}", "fill_value": {}, "dimension_names": ["obs"],)"
      R"( "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [2]}}}}, "attributes": {{{}}}, "codecs": [{}],)"
      R"( "chunk_key_encoding": {{"name": "default", "configuration": {{"separator": "/"}}}}, "storage_transformers": []}})",
      type, fill, attributes, codecs);
}

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

constexpr const char* kLittle = R"({"name": "bytes", "configuration": {"endian": "little"}})";

// lon, lat and ssh in two chunks of two; the first chunk of ssh holds a _FillValue, 1e10 in base64.
void write_zarr_3(const std::filesystem::path& store) {
  write_bytes(store / "zarr.json", R"({"zarr_format": 3, "node_type": "group", "attributes": {"platform": "Jason-3"}})");
  const auto add = [&](const std::string& name, const std::string& metadata, const std::string& first,
                       const std::string& second) {
    std::filesystem::create_directories(store / name / "c");
    write_bytes(store / name / "zarr.json", metadata);
    write_bytes(store / name / "c/0", first);
    write_bytes(store / name / "c/1", second);
  };
  add("lon", array_of_version_3("float32", kLittle, R"("units": "degrees_east")", "\"NaN\""), bytes_of<float>({10, 11}),
      bytes_of<float>({12, 13}));
  add("lat", array_of_version_3("int16", kLittle, R"("units": "degrees_north", "scale_factor": 0.5)"),
      bytes_of<std::int16_t>({0, 101}), bytes_of<std::int16_t>({102, 103}));
  add("ssh", array_of_version_3("float64", kLittle, R"("units": "m", "_FillValue": "AAAAIF+gAkI=")"),
      bytes_of<double>({0.5, 1e10}), bytes_of<double>({0.0, 3.5}));
  add("name", array_of_version_3("string", R"({"name": "vlen-utf8"})", "", "\"\""), "", "");
}

TEST(Zarr, OfVersion3IsReadAsOfVersion2) {
  const ScratchFolder folder;
  const std::filesystem::path store = folder / "three.zarr";
  std::filesystem::create_directory(store);
  write_zarr_3(store);
  for (const std::string name : {"three.zarr", "three.zarr/", "*.zarr"}) {
    const Reading reading = read_observations({(folder / name).string()}, {.roles = {.value = "ssh"}});
    EXPECT_THAT(reading.observations.value, ElementsAre(0.5, 0.0, 3.5)) << name;
    EXPECT_THAT(reading.observations.lon_deg, ElementsAre(10, 12, 13));
    EXPECT_THAT(reading.observations.lat_deg, ElementsAre(0, 51, 51.5));
    EXPECT_EQ(reading.value.unit, "m");
  }
  EXPECT_THAT(refusal({(store / "lon").string()}), HasSubstr("is no Zarr group but an array of one"));
}

TEST(Zarr, OfVersion3WithWhatVersion2HasNotIsRefusedWithWhatToDo) {
  const ScratchFolder folder;
  const std::filesystem::path store = folder / "three.zarr";
  std::filesystem::create_directory(store);
  const auto why = [&](const std::string& metadata) {
    write_zarr_3(store);
    write_bytes(store / "ssh/zarr.json", metadata);
    return refusal({store.string()}, {.roles = {.value = "ssh"}});
  };
  EXPECT_THAT(why(array_of_version_3("float64", R"({"name": "sharding_indexed"})", "")),
              AllOf(HasSubstr("three.zarr: array 'ssh' is packed with the codec 'sharding_indexed'"),
                    HasSubstr("to_zarr(\"three_v2.zarr\", zarr_format=2)")));
  EXPECT_THAT(why(array_of_version_3("float64", kLittle, R"("_FillValue": "AAA")")), HasSubstr("has the _FillValue \"AAA\""));
  EXPECT_THAT(why("{"), HasSubstr("zarr.json: the text is not valid JSON"));
  EXPECT_THAT(why(R"({"node_type": "array", "data_type": "int8"})"), HasSubstr("its metadata are not those of Zarr's version 3"));
  std::filesystem::remove(store / "ssh/c/1");
  write_bytes(store / "ssh/zarr.json", array_of_version_3("float64", kLittle, R"("units": "m")"));
  EXPECT_THAT(refusal({store.string()}), HasSubstr("has 1 of its 2 chunks alone"));
}

// As xarray packs by default, and as others do: netCDF or GDAL unpacks them.
TEST(Zarr, OfVersion3IsUnpackedLikeVersion2) {
  const ScratchFolder folder;
  const std::filesystem::path store = folder / "three.zarr";
  std::filesystem::create_directory(store);
  write_zarr_3(store);
  const auto pack = [&](const std::vector<double>& numbers, const std::string& chunk) {
    const std::string bytes = bytes_of(numbers);
    const gzFile file = gzopen((store / "ssh/c" / chunk).c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
  };
  write_bytes(store / "ssh/zarr.json",
              array_of_version_3("float64", std::string(kLittle) + R"(, {"name": "gzip", "configuration": {"level": 5}})",
                                 R"("units": "m", "_FillValue": "AAAAIF+gAkI=")"));
  pack({0.5, 1e10}, "0");
  pack({0.25, 3.5}, "1");
  if (find_program("gdalmdimtranslate").empty()) {
    EXPECT_THAT(refusal({store.string()}, {.roles = {.value = "ssh"}}),
                HasSubstr("three.zarr: variable 'ssh' is packed with gzip"));
    GTEST_SKIP() << "gdal-bin is not installed";
  }
  EXPECT_THAT(read_observations({store.string()}, {.roles = {.value = "ssh"}}).observations.value, ElementsAre(0.5, 0.25, 3.5));
}

// netCDF returns the packed bytes as values, and no error.
TEST(Zarr, ThatIsPackedWithACodecThatNetcdfLacksIsRefusedByItsName) {
  const ScratchFolder folder;
  const std::filesystem::path store = folder / "tracks.zarr";
  write_zarr(store, R"("compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}, "filters": null)");
  EXPECT_THAT(refusal({store.string()}), AllOf(HasSubstr("tracks.zarr: variable '"), HasSubstr("packed with blosc (lz4), which"),
                                               HasSubstr("to_netcdf(\"tracks.nc\")")));
  write_zarr(folder / "filtered.zarr", R"("compressor": null, "filters": [{"id": "delta", "dtype": "<f8"}, {"id": ""}])");
  EXPECT_THAT(refusal({(folder / "filtered.zarr").string()}), HasSubstr("packed with delta and an unnamed codec"));
}

}  // namespace
}  // namespace drift
