"""Arguments of wrong types: one sentence each that names the argument, what it must be, and what it is."""

import inspect

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import drift

GRID = "bbox:-5,35,5,45:5"


@pytest.fixture(scope="module")
def frame(ds):
    return ds.to_pandas()


@pytest.fixture(scope="module")
def field(model):
    return model.predict(GRID, "2020-03-02")


CALLS = {
    "score takes observations": (lambda c: c.model.score(c.frame), "score: the observations must be a drift.Dataset, not a DataFrame"),
    "score by a text": (lambda c: c.model.score(c.ds, by=3), r"by must be a text, not 3 \(int\)"),
    "with_test takes observations": (lambda c: c.ds.with_test(c.frame), "with_test: the test set must be a drift.Dataset, not a DataFrame"),
    "platforms are texts": (lambda c: c.ds.with_test_platforms([1]), r"platforms must be a text or a list of texts, not \[1\] \(list\)"),
    "plot draws observations": (lambda c: c.field.drift.plot(observations=c.frame), "plot: the observations must be a drift.Dataset, not a DataFrame"),
    "plot limits": (lambda c: c.field.drift.plot(limits=3), r"limits must be two numbers, not 3 \(int\)"),
    "from_pandas takes a table": (lambda c: drift.Dataset.from_pandas(5), r"from_pandas: the table must be a pandas DataFrame, not 5 \(int\)"),
    "from_pandas takes names": (lambda c: drift.Dataset.from_pandas(c.frame, lon=3), r"lon must be a text, not 3 \(int\)"),
    "from_xarray takes xarray": (lambda c: drift.Dataset.from_xarray(5), "from_xarray takes a Dataset or a DataArray, not a int"),
    "unit is a text": (lambda c: drift.Dataset([0.0], [0.0], [0.0], unit=3), r"unit must be a text, not 3 \(int\)"),
    "lon is an array": (lambda c: drift.Dataset(None, [0.0], [0.0]), r"lon must be an array of numbers, not None \(NoneType\)"),
    "gap is a number": (lambda c: drift.Dataset([0.0], [0.0], [0.0], track_gap_s="long"), r"track_gap_s must be a number, not 'long' \(str\)"),
    "read takes paths": (lambda c: drift.read(5), r"files must be a path, not 5 \(int\)"),
    "read takes paths, all of them": (lambda c: drift.read(["a.nc", None]), r"files must be a path, not None \(NoneType\)"),
    "load takes a path": (lambda c: drift.load(5), r"path must be a path, not 5 \(int\)"),
    "verify takes a path": (lambda c: drift.verify(None), r"path must be a path, not None \(NoneType\)"),
    "save takes a path": (lambda c: c.model.save(5), r"path must be a path, not 5 \(int\)"),
    "dataset saves to a path": (lambda c: c.ds.save(5), r"path must be a path, not 5 \(int\)"),
    "fit takes observations": (lambda c: drift.fit(c.frame), "fit: the dataset must be a drift.Dataset, not a DataFrame"),
    "fit's checkpoint": (lambda c: drift.fit(c.ds, checkpoint=5), r"checkpoint must be a path, not 5 \(int\)"),
    "fit's progress": (lambda c: drift.fit(c.ds, progress="yes"), r"progress must be True, False or a function, not 'yes' \(str\)"),
    "fit afresh": (lambda c: drift.fit(c.ds, fresh="yes"), r"fresh must be True or False, not 'yes' \(str\)"),
    "predict's grid": (lambda c: c.model.predict(grid=5), r"grid must be a text such as 'global:0.25', a path or an xarray object, not 5 \(int\)"),
    "predict's mask": (lambda c: c.model.predict(GRID, "2020-03-02", mask=None), r"mask must be a text or a list of texts, not None \(NoneType\)"),
    "predict's threads": (lambda c: c.model.predict(GRID, "2020-03-02", threads="x"), r"threads must be a whole number, not 'x' \(str\)"),
    "predict's members": (lambda c: c.model.predict(GRID, "2020-03-02", members=3), r"members must be True or False, not 3 \(int\)"),
    "predict's attributes": (lambda c: c.model.predict(GRID, "2020-03-02", attributes={"license": 4}), "attributes must be a dictionary of texts"),
    "predict's time": (lambda c: c.model.predict(GRID, object()), "time must hold times or numbers, but one entry is a object"),
    "predict_at's threads": (lambda c: c.model.predict_at([0.0], [40.0], "2020-03-02", threads=1.5), r"threads must be a whole number, not 1.5 \(float\)"),
    "predict_at's positions": (lambda c: c.model.predict_at("here", "there", "2020-03-02"), "lon must hold numbers"),
    "predict_at's latitude": (lambda c: c.model.predict_at([0.0, 0.0], [40.0, 95.0], "2020-03-02"), "position 1: longitude 0, latitude 95: longitudes must lie"),
    "predict_at's shapes": (lambda c: c.model.predict_at(np.zeros((2, 3)), np.zeros((3, 3)), "2020-03-02"), r"the shapes \(2, 3\) and \(3, 3\), which do not fit"),
    "predict's grid of 2-D positions": (lambda c: c.model.predict(c.swath, "2020-03-02"), "its grid cannot be used: .* two-dimensional longitudes"),
    "a misspelt argument": (lambda c: drift.Dataset([0.0], [0.0], [0.0], unti="m"), "Dataset has no argument 'unti'; did you mean 'unit'"),
    "a misspelt column": (lambda c: drift.Dataset.from_pandas(c.frame, vlue="x"), "from_pandas has no argument 'vlue'; did you mean 'value'"),
    "a misspelt variable": (lambda c: drift.Dataset.from_xarray(c.field, sigm="x"), "from_xarray has no argument 'sigm'; did you mean 'sigma'"),
    "a misspelt grid": (lambda c: c.model.predict(grdi=GRID), "predict has no argument 'grdi'; did you mean 'grid'"),
    "compare's methods": (lambda c: drift.compare(c.ds, methods=[5]), r"methods must be a text or a list of texts, not \[5\] \(list\)"),
    "compare's folder": (lambda c: drift.compare(c.ds, "nngp", folder=5), r"folder must be a path, not 5 \(int\)"),
    "simulate's box": (lambda c: drift.simulate(bbox=(1, 2)), r"bbox must be four numbers, not \(1, 2\) \(tuple\)"),
    "simulate's seed": (lambda c: drift.simulate(seed=-1), r"simulate cannot take seed=-1 \(int\): a number is out of range"),
    "score's columns": (lambda c: drift.score(1.0, 2.0), "observed has 0 dimensions"),
}  # fmt: skip


class Context:
    def __init__(self, **all):
        self.__dict__.update(all)


@pytest.mark.parametrize("name", CALLS)
def test_an_argument_of_a_wrong_type_gets_one_clear_sentence(name, ds, model, frame, field):
    call, sentence = CALLS[name]
    place = {name: (("y", "x"), np.arange(6.0).reshape(2, 3)) for name in ("lon", "lat")}
    swath = xr.Dataset({"sst": (("y", "x"), np.zeros((2, 3)))}, coords=place)
    with pytest.raises(drift.UsageError, match=sentence):
        call(Context(ds=ds, model=model, frame=frame, field=field, swath=swath))


def test_no_type_error_of_the_extension_module_reaches_a_user(ds, model):
    """Whatever stands for an argument that has a type of its own, what comes out is drift's."""
    calls = {
        drift.Dataset: ([0.0], [0.0], [0.0]), model.predict: (), model.predict_at: ([0.0], [40.0], "2020-03-02"), model.score: (ds,),
        drift.simulate: (),
    }  # fmt: skip
    tried = 0
    for function, needed in calls.items():
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.annotation in ("str", "bool", "int", "float", "Progress") and parameter.kind is parameter.KEYWORD_ONLY:
                with pytest.raises(drift.UsageError, match=f"^{name} must be"):
                    function(*needed, **{name: [object()]})
                tried += 1
    assert tried > 20


def test_messages_name_the_users_own_columns(frame):
    table = frame.rename(columns={"lon": "LONGITUDE", "lat": "latitude", "time": "when", "synthetic": "sla"})
    names = {"value": "sla", "time": "when"}
    for column, broken, sentence in [
        ("latitude", np.nan, "the column 'latitude' is nan in row 2"),
        ("LONGITUDE", np.inf, "the column 'LONGITUDE' is inf in row 2"),
        ("sigma", -1.0, "the column 'sigma' is -1 in row 2"),
    ]:
        wrong = table.copy()
        wrong.iloc[2, wrong.columns.get_loc(column)] = broken
        with pytest.raises(drift.UsageError, match=sentence):
            drift.Dataset.from_pandas(wrong, **names)
    with pytest.raises(drift.UsageError, match="when has the time zone Asia/Tokyo"):
        drift.Dataset.from_pandas(table.assign(when=table["when"].dt.tz_localize("Asia/Tokyo")), **names)
    along = xr.Dataset({"ssh": ("n", [1.0, 2.0])}, coords={"nav_lon": ("n", [0.0, 1.0]), "nav_lat": ("n", [40.0, 95.0])})
    with pytest.warns(UserWarning, match=r"1 of 2 entries were left out: latitude beyond 90 degrees \(1\)") as heard:
        assert len(drift.Dataset.from_xarray(along)) == 1
    assert heard[0].filename == __file__
    plane = pd.DataFrame({"x": [0.0, 1.0], "y": [np.nan, 1.0], "h": [0.0, 1.0]})
    with pytest.raises(drift.UsageError, match="the column 'y' is nan in row 0"):
        drift.Dataset.from_pandas(plane, value="h")


@pytest.mark.parametrize("time", [pd.Timestamp("2020-03-02", tz="Europe/Paris"), pd.Timestamp("2020-03-02", tz="Europe/Paris").to_pydatetime()])
def test_a_single_time_with_a_zone_is_refused_as_a_column_is(model, field, time):
    for call in (lambda: model.predict_at([0.0], [40.0], time), lambda: model.predict(GRID, time), lambda: field.drift.plot(time=time)):
        with pytest.raises(drift.UsageError, match="time has the time zone"):
            call()


def test_a_single_time_in_utc_is_taken(model, ds):
    want = model.predict_at([0.0], [40.0], "2020-03-02")[ds.name]
    for time in (pd.Timestamp("2020-03-02", tz="UTC"), xr.DataArray(np.datetime64("2020-03-02", "ns"))):
        np.testing.assert_array_equal(model.predict_at([0.0], [40.0], time)[ds.name], want)
