"""Observations from arrays, tables, xarray objects and files."""

import copy
import datetime
import gc
import logging
import os
import pickle
import subprocess
import sys
import tracemalloc
import weakref

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import drift

N = 40


@pytest.fixture
def columns():
    rng = np.random.default_rng(3)
    return {"lon": rng.uniform(-20, 20, N), "lat": rng.uniform(30, 50, N), "value": rng.normal(size=N)}


def test_arrays_become_a_dataset(columns):
    time = np.datetime64("2020-03-01T06:30") + np.arange(N).astype("timedelta64[s]")
    ds = drift.Dataset(**columns, time=time, sigma=np.full(N, 0.1), track=np.repeat([7, 3], N // 2), platform=["B"] * 30 + ["A"] * 10, name="sla", unit="m")
    assert len(ds) == N and ds.name == "sla" and ds.unit == "m"
    np.testing.assert_array_equal(ds.value, columns["value"])
    np.testing.assert_array_equal(ds.time.astype("datetime64[s]"), time)
    assert set(ds.track) == {0, 1} and (ds.track[: N // 2] == ds.track[0]).all()
    assert list(ds.platform) == ["B"] * 30 + ["A"] * 10
    assert ds.sigma.dtype == np.float32


def test_float32_strided_readonly_and_lists_give_the_same(columns):
    exact = {name: column.astype(np.float32).astype(np.float64) for name, column in columns.items()}
    want = drift.Dataset(**exact)
    single = {name: column.astype(np.float32) for name, column in columns.items()}
    strided = {name: np.stack([column, column], axis=1)[:, 0] for name, column in exact.items()}
    frozen = {name: column.copy() for name, column in exact.items()}
    for column in frozen.values():
        column.setflags(write=False)
    for other in (single, strided, frozen, {name: list(column) for name, column in exact.items()}):
        got = drift.Dataset(**other)
        for name in ("lon", "lat", "value"):
            np.testing.assert_array_equal(getattr(got, name), getattr(want, name))


def test_later_changes_of_an_array_do_not_reach_the_dataset(columns):
    value = columns["value"].copy()
    ds = drift.Dataset(columns["lon"], columns["lat"], value)
    value[:] = 99.0
    assert (ds.value != 99.0).all()


def test_columns_are_read_only_views_that_keep_the_dataset_alive(columns):
    ds = drift.Dataset(**columns)
    view, again = ds.value, ds.value
    assert np.shares_memory(view, again)
    with pytest.raises(ValueError):
        view[0] = 1.0
    copy, ending = view.copy(), weakref.ref(ds)
    del ds, again
    gc.collect()
    assert ending() is None  # the Python object is gone, the columns are not
    np.testing.assert_array_equal(view, copy)


def test_making_and_dropping_datasets_leaves_no_reference(columns):
    value = columns["value"]
    before = sys.getrefcount(value)
    for _ in range(50):
        drift.Dataset(columns["lon"], columns["lat"], value)
    assert sys.getrefcount(value) == before


def test_missing_values_are_left_out(columns):
    columns["value"][[3, 5]] = np.nan
    assert len(drift.Dataset(**columns)) == N - 2
    columns["value"] = np.ma.masked_invalid(columns["value"])
    assert len(drift.Dataset(**columns)) == N - 2


def test_masks_and_nullable_columns_are_those_of_plain_arrays(columns):
    """Missing values are left out whoever says that they are missing, and so with their rows; nullable numbers are numbers."""
    gone = np.arange(N) % 7 == 3
    whole = np.round(10 * columns["value"]).astype(np.int64)
    want = drift.Dataset(columns["lon"], columns["lat"], np.where(gone, np.nan, whole), time=np.arange(N) + 0.0, track=np.arange(N) // 10)
    nullable = pd.Series(whole, dtype="Int64")
    nullable[gone] = pd.NA
    for value in (np.ma.array(whole, mask=gone), np.ma.array(np.where(gone, 1e20, whole), mask=gone), nullable):
        for time in (pd.Series(np.arange(N), dtype="Int64"), np.ma.array(np.arange(N)), pd.array(np.arange(N), dtype="Float64")):
            got = drift.Dataset(columns["lon"], columns["lat"], value, time=time, track=pd.Series(np.arange(N) // 10, dtype="Int64"))
            for name in ("lon", "lat", "value", "time", "track"):
                np.testing.assert_array_equal(getattr(got, name), getattr(want, name))
    names = ["A", "B"] * (N // 2)
    for platform in (pd.Series(names, dtype="string"), pd.Series(names, dtype="category"), np.ma.array(names)):
        assert list(drift.Dataset(**columns, platform=platform).platform) == names


def test_misaligned_columns_are_read_all_the_same(columns):
    def misaligned(column):
        return np.frombuffer(np.frombuffer(b"\0" + column.tobytes(), np.uint8, offset=1).data, column.dtype)

    for kind in (np.float64, np.float32):
        moved = {name: misaligned(column.astype(kind)) for name, column in columns.items()}
        assert not any(column.flags.aligned for column in moved.values())
        want, got = drift.Dataset(**{name: column.astype(kind) for name, column in columns.items()}), drift.Dataset(**moved)
        for name in columns:
            np.testing.assert_array_equal(getattr(got, name), getattr(want, name))


COPIES = """
import numpy as np, drift
n, kind = 4_000_000, np.{kind}
columns = [np.linspace(low, high, n).astype(kind) for low, high in ((190.0, 210.0), (30.0, 50.0), (-1.0, 1.0))]
for column in columns:
    column.setflags(write=False)
drift.Dataset(*(column[:10] for column in columns))

def peak():
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])

open("/proc/self/clear_refs", "w").write("5")  # the peak from now on
before = peak()
ds = drift.Dataset(*columns)
print((peak() - before) / (3 * 8 * n))
"""


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_each_column_is_copied_once_into_the_dataset(kind):
    """By the peak of a process's memory, in sizes of the dataset's own columns, float64: longitudes are wrapped there, not in a copy."""
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "1000000"}  # what is freed goes back to the system, and hides no copy
    done = subprocess.run([sys.executable, "-c", COPIES.format(kind=kind)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 0.9 < float(done.stdout) < 1.25  # the address sanitizer takes an eighth of its own; a column copied twice would be a third


def test_pandas_columns_are_found_by_their_usual_names(columns):
    frame = pd.DataFrame({"Longitude": columns["lon"], "LAT": columns["lat"], "sst": columns["value"]})
    frame["time"] = pd.date_range("2020-03-01", periods=N, freq="h")
    frame["pass"] = 1
    ds = drift.Dataset.from_pandas(frame, value="sst", unit="degC")
    assert ds.name == "sst" and ds.unit == "degC" and ds.track is not None
    np.testing.assert_array_equal(ds.time, frame["time"].to_numpy())
    back = ds.to_pandas()
    assert list(back.columns) == ["lon", "lat", "time", "sst", "track"]
    np.testing.assert_array_equal(back["sst"], columns["value"])


def test_pandas_on_a_plane_and_by_names_given(columns):
    frame = pd.DataFrame({"easting": columns["lon"], "northing": columns["lat"], "h": columns["value"], "t": np.arange(N) / 4.0})
    ds = drift.Dataset.from_pandas(frame, value="h", time="t", plane_unit="km")
    assert ds._data.on_plane and ds._data.plane_unit == "km"
    np.testing.assert_array_equal(ds.time, frame["t"])  # numbers stay numbers


def test_pandas_columns_of_times_that_nobody_reads_are_told(columns):
    frame = pd.DataFrame({"lon": columns["lon"], "lat": columns["lat"], "sst": columns["value"]})
    frame["gemessen"] = pd.date_range("2020-03-01", periods=N, freq="h")
    with pytest.warns(UserWarning, match="no times are read.*\"gemessen\" may hold them: time gemessen reads it"):
        ds = drift.Dataset.from_pandas(frame)
    assert ds.name == "sst" and ds.time is None
    drift.Dataset.from_pandas(frame, time="gemessen")
    drift.Dataset.from_pandas(frame, time="-")


def test_xarray_tracks_by_cf_names(columns):
    along = xr.Dataset(
        {"sla": ("obs", columns["value"], {"units": "m", "standard_name": "sea_surface_height_above_sea_level", "ancillary_variables": "err"})},
        coords={
            "where_x": ("obs", columns["lon"], {"standard_name": "longitude"}),
            "where_y": ("obs", columns["lat"], {"units": "degrees_north"}),
            "time": ("obs", pd.date_range("2020-03-01", periods=N, freq="s")),
        },
    )
    along["err"] = ("obs", np.full(N, 0.02), {"units": "m", "standard_name": "sea_surface_height_above_sea_level standard_error"})
    ds = drift.Dataset.from_xarray(along)
    assert (ds.name, ds.unit) == ("sla", "m")
    np.testing.assert_array_equal(ds.lon, columns["lon"])
    np.testing.assert_allclose(ds.sigma, 0.02)


def test_xarray_grids_are_broadcast_and_swaths_taken_as_they_are():
    grid = xr.DataArray(
        np.arange(24.0).reshape(2, 3, 4),
        coords={"time": pd.to_datetime(["2020-03-01", "2020-03-02"]), "lat": [50.0, 51.0, 52.0], "lon": [0.0, 1.0, 2.0, 3.0]},
        dims=("time", "lat", "lon"),
        name="sst",
    )
    grid[0, 0, 0] = np.nan
    ds = drift.Dataset.from_xarray(grid)
    assert len(ds) == 23
    at = np.flatnonzero(ds.value == 23.0)[0]
    assert (ds.lon[at], ds.lat[at], ds.time[at]) == (3.0, 52.0, np.datetime64("2020-03-02"))
    # The same points whichever way the dimensions lie.
    turned = drift.Dataset.from_xarray(grid.transpose("lon", "time", "lat"))
    key = lambda d: sorted(zip(d.lon, d.lat, d.time, d.value))  # noqa: E731
    assert key(turned) == key(ds)
    swath = xr.Dataset(
        {"ssh": (("line", "pixel"), np.arange(6.0).reshape(2, 3))},
        coords={"longitude": (("line", "pixel"), np.arange(6.0).reshape(2, 3)), "latitude": (("line", "pixel"), np.full((2, 3), 40.0))},
    )
    np.testing.assert_array_equal(drift.Dataset.from_xarray(swath).lon, np.arange(6.0))


def test_files_are_read_as_the_command_reads_them(ds, tmp_path, caplog):
    ds.save(tmp_path / "tracks.nc")
    with caplog.at_level(logging.INFO, logger="drift"):
        back = drift.read(tmp_path / "tracks.nc")
    for name in ("lon", "lat", "time", "value", "sigma", "track"):
        np.testing.assert_array_equal(getattr(back, name), getattr(ds, name))
    assert back.report["format"] == "NetCDF" and back.report["roles"]["value"] == ds.name
    half = drift.read([str(tmp_path / "*.nc")], value=ds.name, bbox=(-30, 30, -10, 60), from_="2020-03-02")
    assert 0 < len(half) < len(ds) and half.lon.max() <= -10 and half.time.min() >= np.datetime64("2020-03-02")


def test_pickles(ds):
    back = pickle.loads(pickle.dumps(ds))
    for name in ("lon", "lat", "time", "value", "sigma", "track", "platform"):
        np.testing.assert_array_equal(getattr(back, name), getattr(ds, name))
    assert repr(back) == repr(ds)


def test_a_pickled_dataset_keeps_its_report(ds, tmp_path):
    frame = ds.to_pandas()
    frame.loc[3, "synthetic"] = np.nan
    frame.to_csv(tmp_path / "tracks.csv", index=False)
    read = drift.read(tmp_path / "tracks.csv", value="synthetic")
    assert read.report["rejected"] and read.report["files"] == [str(tmp_path / "tracks.csv")]
    assert pickle.loads(pickle.dumps(read)).report == read.report
    assert pickle.loads(pickle.dumps(ds)).report is None and ds.report is None


def test_copies_have_the_same_columns(ds):
    for back in (copy.copy(ds), copy.deepcopy(ds)):
        assert repr(back) == repr(ds)
        np.testing.assert_array_equal(back.value, ds.value)


def test_columns_of_numbers_are_read_in_place(columns):
    """By the memory that NumPy takes meanwhile: the columns are the library's own. A column of whole numbers is converted, and shows."""
    n = 200_000
    wide = {name: np.resize(column, n) for name, column in columns.items()}

    def taken(**changes):
        tracemalloc.start()
        drift.Dataset(**{**wide, **changes})
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    for column in wide.values():
        column.setflags(write=False)
    assert taken() < 0.1 * 8 * n
    assert taken(**{name: column.astype(np.float32) for name, column in wide.items()}) < 0.1 * 8 * n
    assert taken(value=np.arange(n)) > 0.9 * 8 * n


def test_repr_tells_what_a_person_wants_to_know(ds):
    for text in (repr(ds), ds._repr_html_()):
        for part in (f"{len(ds):,} observations", "2020-03-01", "Sentinel-3A", "tracks", "longitude"):
            assert part in text
    assert "<table>" in ds._repr_html_()


def test_test_sets(ds):
    split = ds.with_test_platforms("CryoSat-2")
    assert set(split.platform[split.test]) == {"CryoSat-2"}
    first, rest = ds.to_pandas().iloc[:100], ds.to_pandas().iloc[100:]
    make = lambda frame: drift.Dataset.from_pandas(frame, value=ds.name)  # noqa: E731
    both = make(rest).with_test(make(first))
    assert len(both) == len(ds) and len(both.test) == 100


@pytest.mark.parametrize(
    "change, error, sentence",
    [
        ({"lon": ["a"] * N}, drift.UsageError, "lon must hold numbers, but its type is <U1"),
        ({"value": np.array([{}] * N)}, drift.UsageError, "value must hold numbers, but its type is object"),
        ({"value": np.ones(N, dtype=complex)}, drift.UsageError, "value must hold numbers"),
        ({"lat": np.ones((N, 2))}, drift.UsageError, r"lat has 2 dimensions, shape \(40, 2\); it must have one"),
        ({"lat": np.ones(N - 1)}, drift.UsageError, "the column 'lat' has 39 entries but 'value' has 40"),
        ({"lat": np.full(N, np.nan)}, drift.UsageError, "the column 'lat' is nan in row 0"),
        ({"lat": np.full(N, 91.0)}, drift.UsageError, "from -90 to 90 degrees"),
        ({"lon": np.full(N, np.inf)}, drift.UsageError, "the column 'lon' is inf in row 0; it must be finite"),
        ({"value": np.full(N, np.nan)}, drift.Error, "no row has a value"),
        ({"sigma": np.zeros(N)}, drift.UsageError, "the column 'sigma' is 0 in row 0"),
        ({"time": pd.date_range("2020", periods=N, tz="Europe/Paris")}, drift.UsageError, "time has the time zone Europe/Paris"),
        ({"time": ["yesterday"] * N}, drift.UsageError, "time 'yesterday': must be a time such as"),
        ({"time": [object()] * N}, drift.UsageError, "time must hold times or numbers"),
        ({"track": np.full(N, np.nan)}, drift.UsageError, "track is missing in row 0"),
        ({"track": np.ma.array(np.arange(N), mask=np.arange(N) == 4)}, drift.UsageError, "track is missing in row 4"),
        ({"track": pd.Series([1, 2, None, 4] * 10, dtype="Int64")}, drift.UsageError, "track is missing in row 2"),
        ({"platform": [*"ABC", None] * 10}, drift.UsageError, "platform is missing in row 3"),
        ({"platform": pd.Series(["A", pd.NA] * 20, dtype="string")}, drift.UsageError, "platform is missing in row 1"),
        ({"platform": pd.Series(["A", None] * 20, dtype="category")}, drift.UsageError, "platform is missing in row 1"),
        ({"platform": np.ma.array(["A", "B"] * 20, mask=[False, True] * 20)}, drift.UsageError, "platform is missing in row 1"),
        ({"lon": pd.Series(["a"] * N, dtype="string")}, drift.UsageError, "lon must hold numbers, but its type is string"),
        ({"lon": pd.Series(["a"] * N, dtype="category")}, drift.UsageError, "lon must hold numbers, but its type is category"),
        ({"value": pd.Series([True, None] * 20, dtype="boolean")}, drift.UsageError, "value must hold numbers, but its type is boolean"),
        ({"value": np.ones(N, bool)}, drift.UsageError, "value must hold numbers, but its type is bool"),
        ({"lon": [[1.0], [1.0, 2.0]]}, drift.UsageError, "lon is no array"),
        ({"lon": np.ma.array(np.zeros(N), mask=np.arange(N) == 5)}, drift.UsageError, "the column 'lon' is nan in row 5"),
        ({"time": np.ma.array(np.arange(float(N)), mask=np.arange(N) == 6)}, drift.UsageError, "the column 'time' is nan in row 6"),
        ({"time": [None, *["2020-03-01"] * (N - 1)]}, drift.UsageError, "the column 'time' is nan in row 0"),
        ({"time": pd.Series([pd.NaT, *[pd.Timestamp("2020-03-01")] * (N - 1)], dtype=object)}, drift.UsageError, "the column 'time' is nan in row 0"),
        ({"time": [datetime.date(2020, 3, 1)] * (N - 1) + [3.5]}, drift.UsageError, "time must hold times or numbers, but one entry is a float"),
    ],
)
def test_wrong_columns_get_one_clear_exception(columns, change, error, sentence):
    with pytest.raises(error, match=sentence) as raised:
        drift.Dataset(**{**columns, **change})
    assert isinstance(raised.value, drift.Error)
    assert (error is drift.UsageError) == isinstance(raised.value, ValueError)


@pytest.mark.parametrize("zone", ["UTC", "Etc/UTC", datetime.timezone.utc, datetime.timezone(datetime.timedelta(0))])
def test_utc_is_the_one_time_zone_that_is_taken(columns, zone):
    zoned = pd.date_range("2020", periods=N, freq="h", tz=zone)
    plain = drift.Dataset(**columns, time=zoned.tz_localize(None))
    for same in (zoned, pd.Series(zoned), list(zoned), list(zoned.to_pydatetime())):
        np.testing.assert_array_equal(drift.Dataset(**columns, time=same).time, plain.time)


@pytest.mark.parametrize("zone", ["Europe/London", "Asia/Tokyo", datetime.timezone(datetime.timedelta(hours=1))])
def test_another_time_zone_is_refused_whatever_holds_it_and_whatever_the_season(columns, zone):
    """London keeps UTC in winter, all of these times: a zone is refused for what it is, not for what it happens to be."""
    zoned = pd.date_range("2020-01-01", periods=N, freq="h", tz=zone)
    for times in (zoned, pd.Series(zoned), list(zoned), list(zoned.to_pydatetime()), pd.Series(list(zoned), dtype=object)):
        with pytest.raises(drift.UsageError, match="^time has the time zone .*; drift's times are UTC: convert them, as by tz_convert"):
            drift.Dataset(**columns, time=times)


def test_tables_without_a_column_get_one_clear_exception(columns):
    frame = pd.DataFrame({"lon": columns["lon"], "value": columns["value"]})
    with pytest.raises(drift.UsageError, match="no column is called lat"):
        drift.Dataset.from_pandas(frame)
    with pytest.raises(drift.UsageError, match=r"the xarray object: no variable 'slo' \(value\); did you mean 'sla'\?"):
        drift.Dataset.from_xarray(xr.Dataset({"sla": ("n", [1.0])}), value="slo")
    with pytest.raises(drift.UsageError, match="no variable along the dimensions of 'sla' is known for its longitude; name it"):
        drift.Dataset.from_xarray(xr.Dataset({"sla": ("n", [1.0])}))
    with pytest.raises(drift.Error, match="nothing.nc"):
        drift.read("nothing.nc", value="sla")
