// Zarr stores and OPeNDAP, through netCDF-C.

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

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

TEST(Zarr, OfVersion3IsRefusedAsSuch) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "three.zarr");
  write_bytes(folder / "three.zarr" / "zarr.json", R"({"zarr_format": 3, "node_type": "group"})");
  for (const char* name : {"three.zarr", "*.zarr"}) {
    EXPECT_THAT(refusal({(folder / name).string()}),
                AllOf(HasSubstr("is a Zarr store of version 3"), HasSubstr("to_zarr(\"three_v2.zarr\", zarr_format=2)")));
  }
}

// netCDF returns the packed bytes as values, and no error.
TEST(Zarr, ThatIsPackedWithACodecThatNetcdfLacksIsRefusedByItsName) {
  const ScratchFolder folder;
  const std::filesystem::path store = folder / "tracks.zarr";
  write_zarr(store, R"("compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}, "filters": null)");
  EXPECT_THAT(refusal({store.string()}), AllOf(HasSubstr("tracks.zarr: variable '"), HasSubstr("packed with blosc (lz4), which"),
                                               HasSubstr("to_netcdf(\"tracks.nc\")")));
  write_zarr(folder / "filtered.zarr", R"("compressor": null, "filters": [{"id": "delta", "dtype": "<f8"}, 7])");
  EXPECT_THAT(refusal({(folder / "filtered.zarr").string()}), HasSubstr("packed with delta and an unnamed codec"));
}

}  // namespace
}  // namespace drift
