"""Prediction: maps as the command writes them, points, threads."""

import gc
import sys
import threading
import tracemalloc
import warnings
import weakref

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import drift

GRIDS = ["bbox:-20,40,0,50:2", "EPSG:3035:200km:2600,2000,5000,4400"]


def same_but_history(ours, theirs):
    for field in (ours, theirs):
        for name in ("history", "date_created", "model_sha256"):  # the last is of a file
            field.attrs.pop(name, None)
    xr.testing.assert_identical(ours, theirs)
    for name in theirs.variables:  # assert_identical knows no types
        assert ours[name].dtype == theirs[name].dtype, name
        assert list(ours[name].attrs) == list(theirs[name].attrs), name


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("when", [["2020-03-01T12:00", "2020-03-02"], ["2020-03-02"]])
def test_a_field_is_what_xarray_reads_from_the_commands_map(networks, command, grid, when, tmp_path):
    networks.save(tmp_path / "model.safetensors")
    command(
        "predict", "model.safetensors", "--grid", grid, "--time", ",".join(when), "--members", "--gradient", "--attr", "institution=here",
        "--out", "map.nc", "--quiet", cwd=tmp_path,
    )  # fmt: skip
    with xr.open_dataset(tmp_path / "map.nc") as file:
        theirs = file.load()
    times = np.array(when, dtype="datetime64[s]")
    ours = networks.predict(grid, times, members=True, gradient=True, attributes={"institution": "here"})
    same_but_history(ours, theirs)
    scalar = len(when) == 1 and grid.startswith("EPSG")  # GMT would show longitudes in place of a field with a time
    assert ours.time.dims == (() if scalar else ("time",)) and ours.time.values.ravel()[-1] == times[-1]


def test_a_field_of_space_alone_and_on_a_plane(tmp_path):
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0, 10, 400), rng.uniform(0, 10, 400)
    model = drift.fit(drift.Dataset(x, y, np.sin(x) + np.cos(y), on_plane=True, plane_unit="m", name="h"), method="process")
    field = model.predict("xy:0,0,10,10:1")
    assert field["h"].dims == ("y", "x") and "time" not in field.dims
    at = model.predict_at([2.0], [3.0])
    assert abs(at["h"][0] - (np.sin(2.0) + np.cos(3.0))) < 0.2
    with pytest.raises(drift.UsageError, match="does not vary in time"):
        model.predict(time="2020-03-01")
    with pytest.raises(drift.UsageError, match="plain x and y"):
        model.predict("global:10")


def test_a_field_has_cf_attributes_and_writes_as_netcdf(ds, model, tmp_path):
    field = model.predict("bbox:-20,40,0,50:5", "2020-03-02", mask="data:500km")
    name = ds.name
    assert set(field.data_vars) >= {name, f"{name}_uncertainty", f"{name}_total_uncertainty", f"{name}_lower90", f"{name}_upper90"}
    assert field[name].attrs["ancillary_variables"].startswith(f"{name}_uncertainty")
    assert field.attrs["Conventions"].startswith("CF-1.8") and field["longitude"].attrs["units"] == "degrees_east"
    assert (field[f"{name}_total_uncertainty"] >= field[f"{name}_uncertainty"]).all()
    field.to_netcdf(tmp_path / "map.nc")
    with xr.open_dataset(tmp_path / "map.nc") as back:
        np.testing.assert_array_equal(back[name], field[name])
    assert name in repr(field.drift) and "<table>" in field.drift._repr_html_()


def test_masks_combine_and_grids_cover_the_observations(ds, model, tmp_path):
    name = ds.name
    (tmp_path / "area.geojson").write_text('{"type": "Polygon", "coordinates": [[[-15,41],[-5,41],[-5,49],[-15,49],[-15,41]]]}')
    both = model.predict("bbox:-20,40,0,50:1", "2020-03-02", mask=["data:300km", str(tmp_path / "area.geojson")])[name][0]
    near = model.predict("bbox:-20,40,0,50:1", "2020-03-02", mask="data:300km")[name][0]
    inside = (both.longitude > -15) & (both.longitude < -5) & (both.latitude > 41) & (both.latitude < 49)
    np.testing.assert_array_equal(both, near.where(inside))
    assert np.isfinite(both).any() and np.isfinite(near).sum() > np.isfinite(both).sum()
    west, south, east, north = model.findings["extent"]
    grid = model.predict("EPSG:3035:100km", "2020-03-02")
    assert grid.sizes["x"] * grid.sizes["y"] < 40 * 40  # the area of use has 70 by 61 such cells
    assert float(grid.latitude.min()) <= south + 1 and float(grid.latitude.max()) >= north - 1


def test_times_by_a_word_are_those_of_the_observation_period(ds, model):
    hours = model.predict("bbox:-5,35,5,45:5", "6-hourly").time.values
    first, last = (drift.parse_time(t) if isinstance(t, str) else t for t in model.findings["time_days"])
    assert len(hours) == int(last * 4) - int(np.ceil(first * 4)) + 1 and len(hours) > 1
    assert (np.diff(hours) == np.timedelta64(6, "h")).all()


def test_the_grid_of_an_xarray_object(ds, model):
    want = model.predict("bbox:-20,40,0,50:2", "2020-03-02")
    axes = {"lat": ("lat", want.latitude.values[::-1], {"units": "degrees_north"}), "lon": ("lon", want.longitude.values)}
    bare = xr.Dataset(coords=axes)
    array = xr.DataArray(np.full((2, 5, 10), np.nan), dims=("time", "lat", "lon"), coords=axes, name="sst")
    projected = model.predict("EPSG:3035:200km:2600,2000,5000,4400", "2020-03-02")
    for given in (bare, array, array.to_dataset(), want):
        same_but_history(model.predict(given, "2020-03-02"), want.copy())
    same_but_history(model.predict(projected, "2020-03-02"), projected)
    with pytest.raises(drift.UsageError, match="latitude is not evenly spaced"):
        model.predict(bare.isel(lat=[0, 1, 3]), "2020-03-02")


def test_positions_of_any_shape_give_results_of_that_shape(ds, networks):
    lon, lat = np.meshgrid(np.linspace(-20, 0, 4), np.linspace(40, 50, 3))
    flat = networks.predict_at(lon.ravel(), lat.ravel(), "2020-03-02", members=True)
    for at in (networks.predict_at(lon, lat, "2020-03-02", members=True), networks.predict_at(lon[:1], lat[:, :1], "2020-03-02", members=True)):
        assert at[ds.name].shape == (3, 4) and at[ds.name + "_members"].shape == (3, 3, 4)
        for name, values in flat.items():
            np.testing.assert_array_equal(at[name].reshape(values.shape), values)
    times = np.datetime64("2020-03-02") + np.arange(12).reshape(3, 4).astype("timedelta64[h]")
    np.testing.assert_array_equal(
        networks.predict_at(lon, lat, times)[ds.name].ravel(), networks.predict_at(lon.ravel(), lat.ravel(), times.ravel())[ds.name]
    )


def test_data_arrays_give_a_dataset_along_their_dimensions(ds, networks):
    lon = xr.DataArray(np.linspace(-20, 0, 4), dims="x", coords={"x": [1, 2, 3, 4]})
    lat = xr.DataArray(np.linspace(40, 50, 3), dims="y")
    time = xr.DataArray(pd.to_datetime(["2020-03-02", "2020-03-03"]), dims="time")
    at = networks.predict_at(lon, lat, time, members=True)
    assert dict(at[ds.name].sizes) == {"x": 4, "y": 3, "time": 2} and list(at.x) == [1, 2, 3, 4]
    assert at[ds.name + "_members"].dims == ("member", "x", "y", "time")
    of_map = networks.predict("bbox:-5,35,5,45:5", "2020-03-02")[ds.name].attrs
    assert at[ds.name].attrs["long_name"] and at[ds.name].attrs.items() <= {k: v for k, v in of_map.items() if isinstance(v, str)}.items()
    one = networks.predict_at(float(lon[2]), float(lat[1]), "2020-03-03")[ds.name][0]
    assert float(at[ds.name][2, 1, 1]) == pytest.approx(one, rel=1e-5)  # networks are summed in single precision
    along = networks.predict_at(lon, np.linspace(40, 43, 4), "2020-03-02")  # an array beside a DataArray lies along its dimensions
    np.testing.assert_array_equal(along[ds.name], networks.predict_at(lon.values, np.linspace(40, 43, 4), "2020-03-02")[ds.name])
    with pytest.raises(drift.UsageError, match="positions and times do not fit together"):
        networks.predict_at(lon, lon.assign_coords(x=[1, 2, 3, 5]), "2020-03-02")


def test_where_a_time_is_missing_so_is_the_field(ds, model):
    missing = np.datetime64("NaT")
    two = model.predict_at([0.0, 0.0], [40.0, 40.0], np.array([missing, np.datetime64("2020-03-02")]))[ds.name]
    assert np.isnan(two[0]) and np.isfinite(two[1])
    assert np.isnan(model.predict_at([0.0, 1.0], [40.0, 40.0], missing)[ds.name]).all()


def test_the_accessor_of_what_is_no_field_says_so():
    for empty in (xr.Dataset(), xr.Dataset({"a": ("n", [1.0])})):
        assert "no drift field: the dataset has no variable on a grid" in repr(empty.drift)
        assert "no drift field" in empty.drift._repr_html_()


def test_a_standard_name_that_is_none_is_refused_or_left_out():
    with pytest.raises(drift.UsageError, match="'ssh' is no standard name of CF; did you mean 'sea_surface_height_above_mean_sea_level'"):
        drift.Dataset([0.0, 1.0], [0.0, 1.0], [1.0, 2.0], standard_name="ssh")
    array = xr.DataArray([1.0, 2.0], dims="n", name="h", attrs={"standard_name": "ssh"}).assign_coords(lon=("n", [0.0, 1.0]), lat=("n", [0.0, 1.0]))
    with pytest.warns(UserWarning, match="so it is ignored; standard_name sets the right one"):
        assert drift.Dataset.from_xarray(array)._data.standard_name == ""


def test_times_of_every_kind_are_the_same(model, ds):
    days = {
        "text": "2020-03-02",
        "texts": ["2020-03-02"],
        "datetime64": np.datetime64("2020-03-02"),
        "timestamp": pd.Timestamp("2020-03-02"),
        "index": pd.DatetimeIndex(["2020-03-02"]),
        "array": xr.DataArray([np.datetime64("2020-03-02", "ns")], dims="t"),
    }
    want = model.predict_at([0.0], [40.0], "2020-03-02")[ds.name]
    grid = model.predict("bbox:-5,35,5,45:5", "2020-03-02")[ds.name]
    for kind, time in days.items():
        np.testing.assert_array_equal(model.predict_at([0.0], [40.0], time)[ds.name], want, kind)
        np.testing.assert_array_equal(model.predict("bbox:-5,35,5,45:5", time)[ds.name], grid, kind)


def test_a_dataframe_gives_a_dataframe(networks, points, ds):
    lon, lat, when = points
    frame = pd.DataFrame({"id": 1, "lon": lon, "lat": lat, "time": when}, index=np.arange(200) + 7)
    out = networks.predict_at(frame, members=True)
    assert list(out.index) == list(frame.index)
    arrays = networks.predict_at(lon, lat, when, members=True)
    np.testing.assert_array_equal(out[ds.name], arrays[ds.name])
    np.testing.assert_array_equal(out[f"{ds.name}_members_2"], arrays[f"{ds.name}_members"][1])


def test_what_a_gradient_does_not_bring_has_a_reason(tmp_path):
    rng = np.random.default_rng(1)
    lon, lat = rng.uniform(0, 10, 300), rng.uniform(40, 50, 300)
    ds = drift.Dataset(lon, lat, np.sin(lon), name="sst", unit="K")
    model = drift.fit(ds, method="nngp:neighbours=8")
    for predict in (lambda: model.predict("bbox:0,40,10,50:5", gradient=True), lambda: model.predict_at([5.0], [45.0], gradient=True)):
        with pytest.warns(UserWarning) as caught:
            predict()
        said = " ".join(str(warning.message) for warning in caught)
        assert "no geostrophic currents: 'sst' is not a height of the sea surface" in said
        assert "no standard deviations of gradients: the method nngp:neighbours=8 gives its errors at single points" in said


def test_points_that_the_models_plane_does_not_reach_have_no_value():
    rng = np.random.default_rng(1)
    lon, lat = rng.uniform(12, 18, 300), rng.uniform(45, 50, 300)
    model = drift.fit(drift.Dataset(lon, lat, np.sin(lon), name="h"), method="process", domain="plane", crs="EPSG:32633")
    with pytest.warns(UserWarning, match="1 point lies beyond the reach of the model's projection"):
        at = model.predict_at([15.0, 105.0], [48.0, 0.0])
    assert np.isfinite(at["h"][0]) and np.isnan(at["h"][1])


def test_members_and_gradients_on_request(networks, points, ds):
    plain, more = networks.predict_at(*points), networks.predict_at(*points, members=True, gradient=True, gradient_scale=0.0)
    assert not any("members" in name or "gradient" in name for name in plain)
    members = more[f"{ds.name}_members"]
    assert members.shape == (3, 200)
    np.testing.assert_allclose(members.mean(axis=0), more[ds.name], rtol=1e-4, atol=1e-5)  # the mean of float32 members
    # The gradient is that of the mean, per km: finite differences of float32 are good to a few per cent of a large slope.
    lon, lat, when = points
    step = 0.05
    north = networks.predict_at(lon, lat + step, when)[ds.name] - networks.predict_at(lon, lat - step, when)[ds.name]
    slope, want = more[f"{ds.name}_gradient_north"], north / (2 * step * 111.195)
    assert np.corrcoef(slope, want)[0, 1] > 0.99
    over = networks.predict_at(*points, gradient=True, gradient_scale=2 * step * 111.195)
    assert np.corrcoef(over[f"{ds.name}_gradient_north"], want)[0, 1] > 0.999
    assert np.isfinite(over[f"{ds.name}_gradient_north_uncertainty"]).all()
    assert not any("gradient_north_uncertainty" in name for name in more)


def test_missing_positions_give_missing_values(model, ds):
    out = model.predict_at([0.0, np.nan], [40.0, 40.0], "2020-03-02")
    assert np.isfinite(out[ds.name][0]) and np.isnan(out[ds.name][1])


def test_positions_of_every_layout_give_the_same(model, ds):
    lon, lat = np.linspace(-20, 0, 50), np.full(50, 40.0)
    want = model.predict_at(lon, lat, "2020-03-02")[ds.name]
    for frozen in (lon, lat):
        frozen.setflags(write=False)
    np.testing.assert_array_equal(model.predict_at(lon, lat, "2020-03-02")[ds.name], want)
    single = model.predict_at(lon.astype(np.float32), lat.astype(np.float32), "2020-03-02")[ds.name]
    np.testing.assert_allclose(single, want, atol=1e-4)
    np.testing.assert_array_equal(model.predict_at(np.repeat(lon, 2)[::2], lat, "2020-03-02")[ds.name], want)


def test_contiguous_float64_positions_are_not_copied(networks):
    """By the memory that NumPy takes meanwhile: that of the results is the library's own. float32 is copied, and shows."""
    n = 100_000
    lon, lat = np.linspace(-20, 0, n), np.full(n, 40.0)

    def taken(*positions):
        when = np.full(1, 25628.0)
        tracemalloc.start()
        networks.predict_at(*positions, when)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    taken(lon[:10], lat[:10])
    assert taken(lon, lat) < 0.1 * lon.nbytes
    lon.setflags(write=False)
    lat.setflags(write=False)
    assert taken(lon, lat) < 0.1 * lon.nbytes
    assert taken(lon.astype(np.float32), lat) > 0.9 * lon.nbytes


def test_predicting_leaves_no_reference_to_positions_times_or_results(model, ds):
    lon, lat, when = np.linspace(-20, 0, 50), np.full(50, 40.0), np.full(50, 25628.0)
    before = [sys.getrefcount(a) for a in (lon, lat, when)]
    for _ in range(30):
        out = model.predict_at(lon, lat, when)
    assert [sys.getrefcount(a) for a in (lon, lat, when)] == before
    ending = weakref.ref(out[ds.name])
    del out
    gc.collect()
    assert ending() is None


@pytest.mark.parametrize("uncertainty", ["variational", "dropout"])
def test_draws_are_members_of_maps_and_of_points(ds, small, points, uncertainty):
    few = {**small, "members": 1}
    model = drift.fit(ds, uncertainty=uncertainty, draws=4, **few)
    at = model.predict_at(*points, members=True)
    draws = at[f"{ds.name}_members"]
    assert draws.shape == (4, 200) and len(np.unique(draws[:, 0])) == 4
    np.testing.assert_allclose(draws.mean(axis=0), at[ds.name], rtol=1e-4, atol=1e-5)
    field = model.predict("bbox:-20,40,0,50:5", "2020-03-02", members=True)
    assert field[f"{ds.name}_members"].sizes["member"] == 4


def test_members_of_a_blend_are_its_networks_without_the_process(ds, blend, points):
    at = blend.predict_at(*points, members=True)
    members = at[f"{ds.name}_members"]
    assert members.shape == (5, 200)
    assert np.abs(members.mean(axis=0) - at[ds.name]).max() > 0.01 * np.std(ds.value)


def test_results_outlive_the_model_and_each_other(ds, small):
    model = drift.fit(ds, **small)
    out = model.predict_at(np.linspace(-20, 0, 5000), np.full(5000, 40.0), "2020-03-02")
    field = model.predict("bbox:-20,40,0,50:1", "2020-03-02")
    kept, copies = out[ds.name], (out[ds.name].copy(), field[ds.name].copy(deep=True))
    array = field[ds.name]
    del model, out, field
    gc.collect()
    [np.empty(5000, np.float32) for _ in range(20)]
    np.testing.assert_array_equal(kept, copies[0])
    np.testing.assert_array_equal(array, copies[1])


def test_two_threads_predict_with_one_model_at_once(blend, ds):
    """With all of the machine's cores each, and at once: the same bits as one after the other."""
    rng = np.random.default_rng(1)
    places = [(rng.uniform(-28, 8, 3000), rng.uniform(32, 58, 3000)) for _ in range(4)]
    want = [blend.predict_at(lon, lat, "2020-03-02")[ds.name] for lon, lat in places]
    got = [None] * len(places)

    def work(i):
        for _ in range(2):
            got[i] = blend.predict_at(*places[i], "2020-03-02")[ds.name]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(places))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(want, got):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (([0.0, 1.0], [40.0], "2020-03-02"), "2 longitudes but 1 latitudes"),
        (([0.0], [40.0]), "1 positions but 0 times; the model varies in time"),
        (([0.0], [40.0], ["2020-03-02"] * 3), "1 positions but 3 times"),
        ((["zero"], [40.0], "2020-03-02"), "lon must hold numbers"),
        (([0.0], [40.0], "noon"), "time 'noon': must be a time"),
        (([0.0],), "predict_at needs lon and lat"),
    ],
)
def test_wrong_points_get_one_clear_exception(model, arguments, sentence):
    with pytest.raises(drift.UsageError, match=sentence):
        model.predict_at(*arguments)


def test_wrong_maps_get_one_clear_exception(model):
    for options, sentence in [
        ({"grid": "globe:1"}, "globe"),
        ({"mask": "land"}, "mask 'land': must be"),
        ({"time": ["2020-03-02", "2020-03-01"]}, "ascending order"),
        ({"backend": "gpu"}, "backend gpu: must be one of"),
        ({"attributes": {"history": "mine"}}, "attribute 'history' is drift's own"),
        ({"members": True}, "has no members"),
    ]:
        with pytest.raises(drift.UsageError, match=sentence):
            model.predict(**{"grid": "bbox:-5,35,5,45:5", **options})


@pytest.mark.parametrize("call", [lambda m, x, y, t: m.predict(f"bbox:{x - 5},{y - 5},{x + 5},{y + 5}:5", t), lambda m, x, y, t: m.predict_at([x], [y], t)])
def test_times_outside_the_observations_and_points_far_from_them_are_warned_of(model, call):
    with pytest.warns(UserWarning, match="a time lies 36.* days after the last observation") as heard:
        call(model, 0.0, 40.0, "2021-03-02")
    assert heard[0].filename == __file__  # the user's line, not drift's
    with pytest.warns(UserWarning, match="days before the first observation"):
        call(model, 0.0, 40.0, "2019-03-02")
    with pytest.warns(UserWarning, match="of . points lie more than .* km from any observation"):
        call(model, 100.0, -40.0, "2020-03-02")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(model, 0.0, 40.0, "2020-03-02")


def test_scores_on_other_observations(model, ds):
    others = drift.simulate(days=3, observations=400, bbox=(-30, 30, 10, 60), platforms=["Sentinel-3B"], seed=2)
    scores = model.score(others)
    assert scores["count"] == len(others) and scores["trained_share"] == 0.0
    assert model.score(ds, by="none")["trained_share"] > 0.5
    out = model.predict_at(others.lon, others.lat, others.time)
    again = drift.score(others.value, out[ds.name], out[f"{ds.name}_total_uncertainty"])
    assert abs(again["rmse"] - scores["rmse"]) < 1e-6
    with pytest.raises(drift.UsageError, match="by week: must be one of none, platform, day, region"):
        model.score(others, by="week")


def test_scores_of_observations_that_do_not_go_with_the_model(model, ds):
    lon, lat, value = [0.0, 1.0], [40.0, 41.0], [0.1, 0.2]
    numbers = drift.Dataset(lon, lat, value, [1.0, 2.0], name=ds.name, unit=ds.unit, calendar_time=False)
    with pytest.raises(drift.UsageError, match="the model's times are dates"):
        model.score(numbers)
    early = drift.Dataset(lon, lat, value, np.array(["1995-01-01", "1995-01-02"], "datetime64[s]"), name=ds.name, unit=ds.unit)
    with pytest.warns(UserWarning, match="days before the first observation"):
        model.score(early)


def test_a_model_whose_scores_also_calibrated_says_so(model):
    text = repr(model)
    assert ("also calibrated" in text) == model.scores["scores_also_calibrated"]
    assert "out_of_fold" in model.scores


def test_messages_name_settings_by_keyword():
    with pytest.raises(drift.UsageError, match="whole tracks together.*use split block instead"):
        drift.fit(drift.Dataset(np.linspace(0, 9, 200), np.linspace(40, 49, 200), np.sin(np.arange(200.0))), split="track")
