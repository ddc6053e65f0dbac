"""Comparisons as tables, fields as pictures."""

import numpy as np
import pytest

import drift


@pytest.fixture(scope="module")
def field(model):
    return model.predict("bbox:-30,30,10,60:2", ["2020-03-01T12:00", "2020-03-02"])


def test_a_comparison_is_a_table(ds, small):
    networks = {name: value for name, value in small.items() if name != "method"}
    heard = []
    table = drift.compare(ds, ["drift", "nngp:neighbours=16"], seeds=1, progress=lambda share, what: heard.append(share), **networks)
    assert list(table.index) == ["drift", "nngp:neighbours=16"]
    assert (table["rmse"] > 0).all() and table["failure"].isna().all()
    assert table.attrs["held_out_observations"] > 0
    assert heard and heard == sorted(heard) and 0.5 < heard[-1] <= 1


def test_several_seeds_have_a_spread_and_a_folder_keeps_the_fits(ds, tmp_path):
    first = drift.compare(ds, "nngp:neighbours=8", seeds=2, folder=tmp_path / "kept")
    assert "rmse_sd" in first.columns
    assert (tmp_path / "kept" / "table.csv").exists() and not (tmp_path / "kept" / "run.toml").exists()
    again = drift.compare(ds, "nngp:neighbours=8", seeds=2, folder=tmp_path / "kept")
    assert again.loc["nngp:neighbours=8", "fit_s"] == first.loc["nngp:neighbours=8", "fit_s"]  # not fitted again: its time is the first one's


def test_an_unknown_method_is_offered_the_nearest(ds):
    with pytest.raises(drift.UsageError, match="nngq.*nngp"):
        drift.compare(ds, ["nngq"])


def test_a_field_is_drawn_on_a_matplotlib_axes(field, ds):
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("cartopy")
    matplotlib.use("Agg")
    ax = field.drift.plot(observations=ds, time="2020-03-02")
    assert ax.get_title() == "2020-03-02"
    mesh = [c for c in ax.collections if c.get_array() is not None][0]
    assert np.isclose(np.nanmax(mesh.get_array()), float(field[ds.name][1].max()))
    ax.figure.canvas.draw()
    import matplotlib.pyplot as plt

    plain = plt.figure().add_subplot()
    sd = field.rename(longitude="x", latitude="y")
    sd["x"].attrs = sd["y"].attrs = {}
    assert sd.drift.plot(variable=f"{ds.name}_uncertainty", ax=plain) is plain
    plt.close("all")


def test_a_field_with_parts_hidden_by_where_is_drawn_on_an_axes(field, ds):
    """As the docs recommend: the mean where its uncertainty is small, and nothing elsewhere."""
    pytest.importorskip("cartopy")
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    sd = field[f"{ds.name}_uncertainty"]
    known = field.where(sd < sd.median())
    ax = known.drift.plot(time="2020-03-02")
    drawn = [c for c in ax.collections if c.get_array() is not None][0].get_array()
    want = (sd.sel(time="2020-03-02") < sd.median()).values
    assert 0 < want.sum() < want.size
    np.testing.assert_array_equal(~np.ma.getmaskarray(np.ma.masked_invalid(drawn)).ravel(), want.ravel())
    ax.figure.canvas.draw()
    assert known.drift.variable == ds.name and "crs" not in repr(known.drift)
    assert known[[ds.name, "crs"]].drift.variable == ds.name
    plt.close("all")


@pytest.mark.parametrize("grid", ["bbox:-20,35,0,55:2", "EPSG:3035:200km:2600,2000,5000,4400"])
def test_a_field_with_parts_hidden_by_where_is_drawn_by_gmt(model, ds, grid, command, tmp_path):
    import shutil

    if shutil.which("gmt") is None:
        pytest.skip("GMT is not installed")
    field = model.predict(grid, "2020-03-02")
    sd = field[f"{ds.name}_uncertainty"]
    known = field.where(sd < sd.median())
    picture, whole = (f.drift.plot(dpi=40, panels="mean", limits=(-1, 1)) for f in (known, field))
    assert picture._repr_png_().startswith(b"\x89PNG") and picture.png != whole.png
    assert picture.report["projection"] == whole.report["projection"] and picture.report["variable"] == ds.name
    known.to_netcdf(tmp_path / "known.nc")
    command("plot", "known.nc", "--dpi", "40", "--panels", "mean", "--limits", "-1:1", "--out", "theirs.png", "--quiet", cwd=tmp_path)
    assert (tmp_path / "theirs.png").read_bytes() == picture.png


def test_observations_are_those_near_the_time_of_the_map(field, ds):
    pytest.importorskip("cartopy")
    pytest.importorskip("matplotlib").use("Agg")
    counts = []
    for days in (0.25, 1000.0):
        ax = field.drift.plot(observations=ds, time="2020-03-02", observations_days=days)
        counts.append(max(len(c.get_offsets()) for c in ax.collections if type(c).__name__ == "PathCollection"))
    assert 0 < counts[0] < counts[1] == len(ds.value)


def test_several_times_are_panels_or_an_animation(field, tmp_path):
    import shutil

    if shutil.which("gmt") is None:
        pytest.skip("GMT is not installed")
    assert field.drift.plot(time=["2020-03-01T12:00", "2020-03-02"], dpi=40).report["times"] == 2
    field.drift.plot(tmp_path / "map.gif", dpi=40, panels="mean", histogram=True)
    assert (tmp_path / "map.gif").read_bytes().startswith(b"GIF89a")


def test_gmt_draws_a_field_as_the_command_does(field, tmp_path, command):
    import shutil

    if shutil.which("gmt") is None:
        pytest.skip("GMT is not installed")
    field.drift.plot(tmp_path / "ours.png", time=1, dpi=60)
    field.to_netcdf(tmp_path / "map.nc")
    command("plot", "map.nc", "--time", "1", "--dpi", "60", "--out", "theirs.png", "--quiet", cwd=tmp_path)
    assert (tmp_path / "ours.png").read_bytes() == (tmp_path / "theirs.png").read_bytes()
    with pytest.raises(drift.UsageError, match="panels three: must be one of"):
        field.drift.plot(tmp_path / "x.png", panels="three")


def test_options_that_only_gmt_has_choose_gmt_and_are_refused_on_an_axes(field, tmp_path):
    import shutil

    plt = pytest.importorskip("matplotlib.pyplot")
    for option in ({"panels": "sd"}, {"sd_limits": (0, 1)}, {"sd_colours": "batlow"}, {"width_cm": 9}, {"dpi": 50}, {"separate": True}):
        with pytest.raises(drift.UsageError, match=f"{list(option)[0]} is for the figures that GMT draws"):
            field.drift.plot(ax=plt.figure().add_subplot(), **option)
    with pytest.raises(drift.UsageError, match="out is for the figures"):
        field.drift.plot(tmp_path / "x.png", ax=plt.figure().add_subplot())
    with pytest.raises(drift.UsageError, match="separate draws mean and sd as two files"):
        field.drift.plot(separate=True)
    plt.close("all")
    if shutil.which("gmt") is None:
        pytest.skip("GMT is not installed")
    picture = field.drift.plot(panels="sd", dpi=40)
    assert picture._repr_png_().startswith(b"\x89PNG")


def test_limits_and_colours_of_the_sd_and_separate_pictures_are_the_commands(field, tmp_path, command):
    import shutil

    if shutil.which("gmt") is None:
        pytest.skip("GMT is not installed")
    field.drift.plot(tmp_path / "ours.png", sd_limits=(0, 0.7), sd_colours="batlow", separate=True, dpi=40)
    field.to_netcdf(tmp_path / "map.nc")
    command("plot", "map.nc", "--sd-limits", "0:0.7", "--sd-colours", "batlow", "--separate", "--dpi", "40", "--out", "theirs.png", "--quiet", cwd=tmp_path)
    for name in ("{}.png", "{}_sd.png"):
        assert (tmp_path / name.format("ours")).read_bytes() == (tmp_path / name.format("theirs")).read_bytes()


def test_an_axes_at_a_time_that_the_field_lacks_is_refused(field):
    pytest.importorskip("cartopy")
    with pytest.raises(drift.UsageError, match="time: the field has none at 2020-03-09"):
        field.drift.plot(time="2020-03-09")


def test_without_cartopy_a_picture_is_what_a_notebook_shows(field, monkeypatch):
    import shutil

    from drift import _accessor

    if shutil.which("gmt") is None:
        pytest.skip("GMT is not installed")
    monkeypatch.setattr(_accessor, "_has_cartopy", lambda: False)
    picture = field.drift.plot(dpi=40)
    assert picture._repr_png_().startswith(b"\x89PNG") and "picture of" in repr(picture)


def test_the_table_of_a_comparison_is_the_commands(ds, command, tmp_path):
    import pandas as pd

    ds.save(tmp_path / "tracks.nc")
    methods = ["svgp:inducing=40", "nngp:neighbours=8"]
    words = [word for method in methods for word in ("--method", method)]
    command("compare", "tracks.nc", *words, "--seeds", 1, "--folder", "theirs", "--quiet", cwd=tmp_path)
    table = drift.compare(drift.read(tmp_path / "tracks.nc"), methods, seeds=1, folder=tmp_path / "ours")
    ours, theirs = (pd.read_csv(tmp_path / name / "table.csv") for name in ("ours", "theirs"))
    of_the_run = [name for name in theirs.columns if name.endswith("_s") or "memory" in name or "mib" in name.lower()]
    assert len(theirs) == 2 and of_the_run and {"rmse", "crps"} <= set(theirs.columns) - set(of_the_run)
    pd.testing.assert_frame_equal(ours.drop(columns=of_the_run), theirs.drop(columns=of_the_run))
    np.testing.assert_allclose(table["rmse"], theirs["rmse"], rtol=1e-5)
