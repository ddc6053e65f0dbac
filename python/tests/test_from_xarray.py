"""xarray objects are understood as their files are."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import drift

DAY = np.datetime64("2020-03-01T06:00:00", "ns")


def track(folder, ds):
    """drift's own file: sigma, track and platform by their variables."""
    ds.save(folder / "file.nc")


def passes(folder, ds):
    """Packed numbers with gaps and limits, passes of cycles, platforms as a flag, nav_lon and nav_lat, and a flag that is no value."""
    n = 60
    rng = np.random.default_rng(1)
    ssha = rng.normal(0, 0.2, n)
    ssha[7] = np.nan
    ssha[11] = 9.0  # outside its valid range
    lat = np.linspace(30, 50, n)
    lat[3] = np.nan
    made = xr.Dataset(
        {
            "ssha": ("n", ssha, {"units": "m", "standard_name": "sea_surface_height_above_sea_level", "valid_max": np.int16(2000)}),
            "surface": ("n", (np.arange(n) % 3 == 0).astype("int8"), {"flag_values": np.array([0, 1], "int8"), "flag_meanings": "ocean ice"}),
            "pass": ("n", np.repeat([4, 9, 4], 20).astype("int16")),
            "cycle": ("n", np.repeat([1, 1, 2], 20).astype("int16")),
            "platform": ("n", np.repeat([3, 5], 30).astype("int8"), {"flag_values": np.array([3, 5], "int8"), "flag_meanings": "S3A S3B"}),
            "nav_lon": ("n", np.linspace(170, 190, n)),
            "nav_lat": ("n", lat),
            "time": ("n", DAY + np.arange(n) * np.timedelta64(700, "ms")),
        }
    )
    packed = {"ssha": {"dtype": "int16", "scale_factor": 0.001, "_FillValue": -32768}, "time": {"units": "seconds since 2020-01-01", "dtype": "f8"}}
    made.to_netcdf(folder / "file.nc", encoding=packed)


def grid(folder, ds):
    values = np.random.default_rng(2).normal(size=(2, 6, 5)).astype("float32")
    values[0, 2, 3] = np.nan
    made = xr.Dataset(
        {"sst": (("lat", "time", "lon"), values.transpose(1, 0, 2), {"units": "degC", "long_name": "temperature"})},
        coords={"time": [DAY, DAY + np.timedelta64(1, "D")], "lat": np.arange(6.0), "lon": 350.0 + 5 * np.arange(5.0)},
    )
    made.to_netcdf(folder / "file.nc")


def swath(folder, ds):
    lines, pixels = 40, 7
    across, along = np.meshgrid(np.arange(pixels), np.arange(lines))
    made = xr.Dataset(
        {"ssh": (("line", "pixel"), np.sin(along / 5) + 0.01 * across, {"units": "m", "coordinates": "longitude latitude"})},
        coords={
            "longitude": (("line", "pixel"), 0.02 * across + 0.01 * along),
            "latitude": (("line", "pixel"), 40 + 0.05 * along - 0.01 * across),
            "time": ("line", DAY + np.arange(lines) * np.timedelta64(1, "s")),
        },
    )
    made.to_netcdf(folder / "file.nc")


def projected(folder, ds):
    """In kilometres on the plane of EASE-Grid 2.0; its corners have positions too."""
    made = xr.Dataset(
        {"conc": (("time", "y", "x"), np.random.default_rng(3).uniform(size=(1, 5, 4)), {"units": "1", "grid_mapping": "crs"})},
        coords={"time": [DAY], "x": ("x", np.arange(4) * 25.0, {"units": "km"}), "y": ("y", np.arange(5) * -25.0, {"units": "km"})},
    )
    made["crs"] = xr.DataArray(0, attrs={"grid_mapping_name": "lambert_azimuthal_equal_area", "latitude_of_projection_origin": 90.0, "longitude_of_projection_origin": 0.0, "semi_major_axis": 6378137.0, "inverse_flattening": 298.257223563})
    made.to_netcdf(folder / "file.nc")


def field(folder, ds):
    """A map of drift's own: the mean, with its uncertainty as sigma."""
    drift.fit(ds, method="process").predict("EPSG:3035:200km:2600,2000,5000,4400", "2020-03-02").to_netcdf(folder / "file.nc")


@pytest.mark.filterwarnings("ignore:.*entries were left out")
@pytest.mark.filterwarnings("ignore:.*lie more than")
@pytest.mark.parametrize("decode_coords", [True, "all"])
@pytest.mark.parametrize("make", [track, passes, grid, swath, projected, field], ids=lambda make: make.__name__)
def test_an_opened_file_gives_what_reading_it_gives(make, decode_coords, ds, tmp_path):
    make(tmp_path, ds)
    theirs = drift.read(tmp_path / "file.nc")
    with xr.open_dataset(tmp_path / "file.nc", decode_coords=decode_coords) as opened:
        ours = drift.Dataset.from_xarray(opened)
    assert len(theirs) > 10 and (ours.name, ours.unit, ours._data.on_plane) == (theirs.name, theirs.unit, theirs._data.on_plane)
    assert ours._data.long_name == theirs._data.long_name and ours._data.tracks_from == theirs._data.tracks_from
    for column in ("lon", "lat", "value", "sigma"):
        mine, want = getattr(ours, column), getattr(theirs, column)
        assert (mine is None) == (want is None), column
        if want is not None:  # xarray unpacks in single precision
            np.testing.assert_allclose(mine, want, rtol=1e-6 if make is passes and column == "value" else 0, atol=0, err_msg=column)
    for column in ("track", "platform"):
        np.testing.assert_array_equal(getattr(ours, column), getattr(theirs, column), err_msg=column)
    assert np.abs(ours.time - theirs.time).max() <= np.timedelta64(1, "us")
    mine, want = ours.report, theirs.report
    assert (mine["roles"], mine["rows"], mine["rejected"]) == (want["roles"], want["rows"], want["rejected"])


def test_the_files_of_that_test_have_what_it_is_about(ds, tmp_path):
    passes(tmp_path, ds)
    with pytest.warns(UserWarning, match=r"1 of 60 entries were left out: position missing \(1\)"):
        made = drift.Dataset.from_xarray(xr.open_dataset(tmp_path / "file.nc"))
    assert len(made) == 57 and set(made.platform) == {"Sentinel-3A", "Sentinel-3B"} and len(set(made.track)) == 4
    assert made.report["rejected"] == {"value missing": 1, "value outside the file's valid range": 1, "position missing": 1}
    projected(tmp_path, ds)
    made = drift.Dataset.from_xarray(xr.open_dataset(tmp_path / "file.nc"))
    assert not made._data.on_plane and made.lat.min() > 88 and made.lat.max() == 90


def test_conditions_and_packed_numbers_that_xarray_left_packed(ds, tmp_path):
    passes(tmp_path, ds)
    raw = xr.open_dataset(tmp_path / "file.nc", mask_and_scale=False)
    ours = drift.Dataset.from_xarray(raw, where=["surface == ocean"])
    theirs = drift.read(tmp_path / "file.nc", where=["surface == ocean"])
    assert 0 < len(ours) < 50
    np.testing.assert_array_equal(ours.value, theirs.value)
    assert ours.report["rejected"] == theirs.report["rejected"] and "value outside the file's valid range" in str(ours.report)


def test_arrays_that_play_no_role_are_not_loaded():
    class Lazy(xr.backends.BackendArray):
        shape, dtype = (3,), np.dtype("float64")

        def __getitem__(self, key):
            raise AssertionError("loaded")

    from xarray.core import indexing

    data = xr.Dataset({"sst": ("n", [1.0, 2.0, 3.0]), "other": ("n", indexing.LazilyIndexedArray(Lazy()))}, coords={"lon": ("n", [0.0, 1.0, 2.0]), "lat": ("n", [40.0, 41.0, 42.0])})
    assert len(drift.Dataset.from_xarray(data, "sst")) == 3
    with pytest.raises(AssertionError, match="loaded"):
        drift.Dataset.from_xarray(data, "sst", where="other > 1")


def test_names_and_units_given_prevail():
    plane = xr.Dataset({"h": ("n", np.arange(5.0), {"units": "m"})}, coords={"x": ("n", np.arange(5.0)), "y": ("n", np.arange(5.0) ** 2)})
    made = drift.Dataset.from_xarray(plane, name="height", unit="cm", plane_unit="km")
    assert (made.name, made.unit, made._data.on_plane, made._data.plane_unit) == ("height", "cm", True, "km")
    times = plane.assign_coords(t=("n", np.arange(5.0)))
    assert not drift.Dataset.from_xarray(times, time="t")._data.calendar_time
    assert drift.Dataset.from_xarray(times, time="t", calendar_time=True).time[1] == np.datetime64("1950-01-02")
    dated = times.assign_coords(t=("n", pd.date_range("2020-03-01", periods=5)))
    with pytest.raises(drift.UsageError, match="calendar_time is False, but the times are dates"):
        drift.Dataset.from_xarray(dated, calendar_time=False)


def test_a_calendar_that_is_not_the_gregorian_one_is_refused():
    cftime = pytest.importorskip("cftime")
    data = xr.Dataset({"sst": ("n", [1.0, 2.0])}, coords={"lon": ("n", [0.0, 1.0]), "lat": ("n", [40.0, 41.0])})
    data["time"] = ("n", [cftime.DatetimeNoLeap(2020, 3, 1), cftime.DatetimeNoLeap(2020, 3, 2)])
    with pytest.raises(drift.UsageError, match="'time' has a calendar that is not the Gregorian one"):
        drift.Dataset.from_xarray(data, "sst")
