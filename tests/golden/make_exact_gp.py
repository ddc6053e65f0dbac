"""Golden numbers of exact Gaussian-process regression, by scikit-learn (Debian: python3-sklearn).

    python3 tests/golden/make_exact_gp.py > tests/golden/exact_gp.json

Each case: 40 points of three coordinates with a lengthscale each, values, parameters (lengthscales, amplitude and noise as
standard deviations), the log marginal likelihood, its gradient in the logarithms of those standard deviations, and mean and
standard deviation of the field at 15 other points. The points' formula is repeated in src/gp/exact_test.cpp only through the
file: all numbers stand in it.
"""

import json
import sys

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

LENGTHSCALES = [0.5, 0.9, 1.6]
AMPLITUDE = 1.3
NOISE = 0.2


def points(n, phase):
    i = np.arange(n)[:, None]
    d = np.arange(3)[None, :]
    return np.sin(phase + 0.7 * i + 1.9 * d * i + 0.013 * i * i)


def case(name, shape):
    x, new = points(40, 0.3), points(15, 1.1)
    y = np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.1 * np.cos(17 * np.arange(40))
    kernel = ConstantKernel(AMPLITUDE**2) * shape + WhiteKernel(NOISE**2)
    gp = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(x, y)
    value, gradient = gp.log_marginal_likelihood(gp.kernel_.theta, eval_gradient=True)
    # scikit-learn's theta: log amplitude^2, log lengthscales, log noise^2.
    by_sd = list(gradient[1:4]) + [2 * gradient[0], 2 * gradient[4]]
    mean, sd = gp.predict(new, return_std=True)
    field_sd = np.sqrt(sd**2 - NOISE**2)  # scikit-learn's is that of a new observation
    return {
        "name": name,
        "lengthscales": LENGTHSCALES,
        "amplitude": AMPLITUDE,
        "noise": NOISE,
        "points": x.tolist(),
        "values": y.tolist(),
        "new_points": new.tolist(),
        "log_evidence": value,
        "gradient": by_sd,
        "mean": mean.tolist(),
        "sd": field_sd.tolist(),
    }


CASES = [
    case("matern 1/2", Matern(LENGTHSCALES, nu=0.5)),
    case("matern 3/2", Matern(LENGTHSCALES, nu=1.5)),
    case("matern 5/2", Matern(LENGTHSCALES, nu=2.5)),
    case("squared exponential", RBF(LENGTHSCALES)),
]
json.dump(CASES, sys.stdout, indent=1)
