#include "geo/crs_text.h"

#include <gtest/gtest.h>

#include "core/scratch_folder.h"
#include "drift/domain.h"
#include "drift/error.h"

namespace drift {
namespace {

TEST(CrsText, MayBeACodeWktOrParameters) {
  for (const char* good : {"EPSG:6931", "ESRI:102001", "IAU_2015:30100", "urn:ogc:def:crs:EPSG::3411", "+proj=laea +lat_0=90",
                           "+proj=merc +a=6378137 +nadgrids=@null +wktext", "PROJCRS[\"x\"", "PROJCS [\"x\"]", "projcrs(\"x\")",
                           "PROJCS[\"Pseudo\",EXTENSION[\"PROJ4\",\"+proj=merc +nadgrids=@null +no_defs\"]]"}) {
    EXPECT_NO_THROW(check_crs_text(good)) << good;
  }
}

TEST(CrsText, MayNotNameAFile) {
  for (const char* bad :
       {"+init=/etc/passwd:x", "init=/etc/passwd:x +proj=laea", "+proj=laea +nadgrids=/tmp/x", "+init=epsg:3411",
        "+proj=laea +nadgrids = /tmp/x", "+proj=laea +geoidgrids=x.gtx", "+proj=pipeline +step +proj=hgridshift +grids=/x",
        "BOUNDCRS[SOURCECRS[PARAMETERFILE[\"x\",\"/tmp/x\"]]]",
        "PROJCS[\"x\",EXTENSION[\"PROJ4\",\"+proj=laea +nadgrids=/tmp/x\"]]", "/tmp/some.wkt", "some file", "",
        "{\"type\":\"ProjectedCRS\"}"}) {
    EXPECT_THROW(check_crs_text(bad), UsageError) << bad;
  }
  // PROJ would look such a name up.
  for (const char* bad : {"xPROJCRS[\"x\"]", "[\"x\"]", " [", "WGS 84 [\"x\"]"})
    EXPECT_THROW(check_crs_text(bad), UsageError) << bad;
  EXPECT_THROW(check_crs_text("PROJCRS[" + std::string(100000, ' ')), UsageError);
}

// A file of PROJ's own kind, which a text once led it to.
TEST(PlaneDomain, DoesNotOpenAFileThatItsCrsNames) {
  const ScratchFolder folder;
  write_bytes(folder / "init", "<x> +proj=laea +lat_0=90 <>\n");
  EXPECT_THROW(plane_domain("+init=" + (folder / "init").string() + ":x"), UsageError);
}

}  // namespace
}  // namespace drift
