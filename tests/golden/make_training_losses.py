#!/usr/bin/env python3
"""Writes training_losses.json: the first ten training losses of small networks, in float64, by PyTorch's automatic derivatives.

An independent second implementation of network and training, for src/engine/golden_losses_test.cpp to compare the engines with.
Gradients are autograd's, Adam is torch.optim.Adam, Muon's iteration is the direct one. Frequencies, weights and observations come
from a formula that both sides compute and round to float32, not from drift's random numbers; every batch holds all observations,
so that their order matters by rounding only.

    python3 tests/golden/make_training_losses.py          # rewrites training_losses.json beside this file
"""
import json
import math
import pathlib

import torch

torch.set_default_dtype(torch.float64)

STEPS = 10
OBSERVATIONS = 48
CHAINS = {"spatial": 0, "temporal": 1, "joint": 2}
# What a number is for, in the formula below.
(HIDDEN_FREQUENCIES, COORDINATE_FREQUENCIES, PHASES, POLES, BOTTLENECK, HEAD, COORDINATES, WEIGHTS) = range(8)
FREQUENCY_SCALE = 0.25  # turns


def formula(shape, purpose, place=0):
    """sin(1 + 0.7 i + 0.013 i^2 + 2.3 purpose + 0.9 place), i the row-major index. The square keeps matrices of full rank."""
    i = torch.arange(math.prod(shape), dtype=torch.float64)
    return torch.sin(1.0 + 0.7 * i + 0.013 * i * i + 2.3 * purpose + 0.9 * place).reshape(shape)


def float32(numbers):
    return numbers.float().double()


def space_coordinates(spec):
    return spec["space_coordinates"] if spec["spatial"]["layers"] else 0


def observations(spec):
    """Coordinates [N, space and time], values [N, outputs], weights [N]."""
    space = space_coordinates(spec)
    time = 1 if spec["temporal"]["layers"] else 0
    x = formula((OBSERVATIONS, space + time), COORDINATES)
    if space and spec["space"] == "sphere":
        x = torch.cat([x[:, :3] / x[:, :3].norm(dim=1, keepdim=True), x[:, 3:]], 1)
    x = float32(x)
    outputs = torch.arange(spec["outputs"], dtype=torch.float64)
    y = float32(torch.sin(2.0 * x[:, :1] + outputs) * torch.cos(x[:, -1:]))
    weights = float32(1.0 + 0.5 * formula((OBSERVATIONS,), WEIGHTS))
    return x, y, weights


def legendre(degrees, c):
    """P_n(c) for each column's degree n, c [N, columns]: n P_n = (2n - 1) c P_{n-1} - (n - 1) P_{n-2}."""
    table = [torch.ones_like(c), c]
    for n in range(2, int(degrees.max()) + 1):
        table.append(((2 * n - 1) * c * table[-1] - (n - 1) * table[-2]) / n)
    return torch.gather(torch.stack(table), 0, degrees.long().expand_as(c).unsqueeze(0)).squeeze(0)


def spectrum(covariance, lengthscale, max_degree):
    """p_n proportional to (2n + 1) Phi(n (n + 1)), of sum one over the degrees kept."""
    n = torch.arange(max_degree + 1, dtype=torch.float64)
    eigenvalue = n * (n + 1)
    if covariance["family"] == "matern":
        nu = covariance["nu"]
        phi = (2 * nu / lengthscale**2 + eigenvalue) ** (-nu - 1)
    else:
        phi = torch.exp(-(lengthscale**2) * eigenvalue / 2)
    mass = (2 * n + 1) * phi
    return mass / mass.sum()


class Layer:
    """Features, fixed, and a bottleneck, trained. Sees `hidden` entries and the coordinates of its chain."""

    def __init__(self, network, chain, position, hidden, outputs):
        spec = network.spec
        self.network, self.chain, self.hidden = network, chain, hidden
        place = 10 * CHAINS[chain] + position
        features = spec["features"]
        sees = spec["skip"] or hidden == 0
        self.sphere = sees and chain != "temporal" and spec["space"] == "sphere"
        space = space_coordinates(spec)
        euclidean = [] if self.sphere or chain == "temporal" else list(range(space))
        if chain != "spatial":
            euclidean = euclidean + [space]
        self.columns = euclidean if sees else []
        self.hidden_frequencies = float32(FREQUENCY_SCALE * formula((hidden, features), HIDDEN_FREQUENCIES, place))
        self.coordinate_frequencies = float32(
            FREQUENCY_SCALE * formula((len(self.columns), features), COORDINATE_FREQUENCIES, place))
        self.phases = float32(0.5 + 0.5 * formula((features,), PHASES, place))
        self.degrees = torch.arange(features) * 9 // features  # 0 to 8, ascending
        poles = formula((3, features), POLES, place)
        self.poles = float32(poles / poles.norm(dim=0))
        self.bottleneck = float32(formula((features, outputs), BOTTLENECK, place)).requires_grad_()
        self.hidden_lengthscale = network.hyper(
            f"{chain}.{position}.hidden_lengthscale" if chain == "joint" and position == 0 else f"{chain}.hidden_lengthscale",
            spec[chain]["hidden_lengthscale"] * math.sqrt(hidden)) if hidden else None
        name = "hidden_amplitude" if hidden else "amplitude"
        self.amplitude = network.hyper(f"{chain}.{name}", spec[chain][name])

    def features(self, x, h):
        network, sum_of_parts = self.network, 0.0
        if self.hidden or self.columns:
            phase = self.phases
            if self.hidden:
                phase = phase + (h / network.value(self.hidden_lengthscale)) @ self.hidden_frequencies
            if self.columns:
                scaled = torch.stack([x[:, c] / network.value(network.coordinate_hyper[c]) for c in self.columns], 1)
                phase = phase + scaled @ self.coordinate_frequencies
            sum_of_parts = network.value(self.amplitude) * math.sqrt(2.0) * torch.cos(2.0 * math.pi * phase)
        if self.sphere:
            n = self.degrees
            reweight = torch.sqrt(network.sphere_mass()[n] / network.drawn_mass[n])
            scale = network.value("spatial.amplitude") * torch.sqrt(2.0 * n + 1.0) * reweight
            sum_of_parts = sum_of_parts + scale * legendre(n, x[:, :3] @ self.poles)
        return sum_of_parts

    def __call__(self, x, h=None):
        return self.features(x, h) @ self.bottleneck / math.sqrt(self.network.spec["features"])


class Network:
    def __init__(self, spec):
        self.spec = spec
        self.hypers = {}  # name -> (value, q): the hyperparameter is value exp(q)
        self.coordinate_hyper = {}
        width = spec["bottleneck"]
        space, chains = space_coordinates(spec), [c for c in ("spatial", "temporal") if spec[c]["layers"]]
        self.two = len(chains) == 2
        joint = spec["joint"]["layers"]
        for chain in chains:
            lengthscales = spec[chain]["lengthscales"]
            for i, value in enumerate(lengthscales):
                self.hyper(f"{chain}.lengthscale.{i}", value)
            for c in range(space) if chain == "spatial" else [space]:
                self.coordinate_hyper[c] = f"{chain}.lengthscale.{c if len(lengthscales) > 1 else 0}"
        if spec["space"] == "sphere":
            self.drawn_mass = self.sphere_mass().detach()
        self.chains = {}
        for chain in chains + (["joint"] if joint else []):
            layers, count = [], spec[chain]["layers"]
            for position in range(count):
                hidden = width if position else (2 * width if chain == "joint" else 0)
                last = position + 1 == count and (chain == "joint" or not self.two)
                layers.append(Layer(self, chain, position, hidden, spec["outputs"] if last else width))
            self.chains[chain] = layers
        self.head = float32(formula((2 * width, spec["outputs"]), HEAD)).requires_grad_() if self.two and not joint else None
        self.head_scale = spec["head_scale"] or 1.0 / math.sqrt(2 * width)

    def hyper(self, name, value):
        self.hypers.setdefault(name, (value, torch.zeros((), requires_grad=True)))
        return name

    def value(self, name):
        value, q = self.hypers[name]
        return value * torch.exp(q)

    def sphere_mass(self):
        return spectrum(self.spec["spatial"]["covariance"], self.value("spatial.lengthscale.0"), self.spec["sphere_max_degree"])

    def run_chain(self, chain, x, h=None):
        for layer in self.chains[chain]:
            h = layer(x, h)
        return h

    def __call__(self, x):
        ends = [self.run_chain(chain, x) for chain in self.chains if chain != "joint"]
        if not self.two:
            return ends[0]
        h = torch.cat(ends, 1)
        return self.run_chain("joint", x, h) if "joint" in self.chains else self.head_scale * (h @ self.head)

    def layers(self):
        return [layer for layers in self.chains.values() for layer in layers]


def mean_loss(recipe, prediction, y, weights):
    r = prediction - y
    if recipe["loss"] == "squared":
        pointwise = r**2
    else:
        delta = recipe["huber_delta"]
        pointwise = torch.where(r.abs() <= delta, r**2 / 2, delta * (r.abs() - delta / 2))
    return (weights * pointwise.sum(1)).mean()


def rate_multiplier(recipe, step):
    if recipe["schedule"] == "constant":
        return 1.0
    warmup = min(recipe["warmup_steps"], STEPS // 4)
    if step < warmup:
        return (step + 1) / (warmup + 1)
    return 0.5 * (1.0 + math.cos(math.pi * (step - warmup) / (STEPS - warmup)))


class Muon:
    def __init__(self, recipe, matrices, decay):
        self.recipe, self.matrices, self.decay = recipe, matrices, decay
        self.momenta = [torch.zeros_like(m) for m in matrices]

    def step(self, multiplier):
        mu = self.recipe["muon_momentum"]
        with torch.no_grad():
            for weights, momentum in zip(self.matrices, self.momenta):
                gradient = weights.grad + self.decay * weights
                momentum.mul_(mu).add_(gradient)
                x = gradient + mu * momentum
                x = x / x.norm()
                for _ in range(self.recipe["muon_iterations"]):
                    gram = x.T @ x
                    x = 3.4445 * x + x @ (-4.7750 * gram + 2.0315 * gram @ gram)
                weights -= self.recipe["muon_rate"] * multiplier * math.sqrt(weights.shape[0]) * x


def training_losses(spec, recipe, weighted):
    network = Network(spec)
    x, y, weights = observations(spec)
    if not weighted:
        weights = torch.ones(OBSERVATIONS)
    decay = 2.0 * recipe["beta"]
    bottlenecks = [layer.bottleneck for layer in network.layers()]
    # The last map to the outputs, head or bottleneck, is Adam's in any case.
    if network.head is None:
        adam_weights, matrices = bottlenecks[-1:], bottlenecks[:-1]
    else:
        adam_weights, matrices = [network.head], bottlenecks
    if recipe["optimiser"] == "adam":
        adam_weights, matrices = adam_weights + matrices, []
    trained = [q for name, (_, q) in network.hypers.items()
               if recipe["train_lengthscales" if "lengthscale" in name else "train_amplitudes"]]
    groups = [{"params": adam_weights, "base": recipe["rate"], "weight_decay": decay}]
    if trained:
        groups.append({"params": trained, "base": recipe["hyper_rate"], "weight_decay": 0.0})
    adam = torch.optim.Adam(groups, lr=1.0, betas=(recipe["adam_beta1"], recipe["adam_beta2"]), eps=recipe["adam_epsilon"])
    muon = Muon(recipe, matrices, decay)
    losses = []
    for step in range(STEPS):
        for parameter in adam_weights + matrices + [q for _, q in network.hypers.values()]:
            parameter.grad = None
        loss = mean_loss(recipe, network(x), y, weights)
        losses.append(loss.item())
        loss.backward()
        multiplier = rate_multiplier(recipe, step)
        for group in adam.param_groups:
            group["lr"] = group["base"] * multiplier
        adam.step()
        muon.step(multiplier)
    return losses


def chain(layers, **changes):
    matern = {"family": "matern", "nu": 1.5}
    settings = {"layers": layers, "covariance": matern, "hidden_covariance": matern, "lengthscales": [0.8],
                "hidden_lengthscale": 0.5, "amplitude": 1.2, "hidden_amplitude": 0.9}
    return {**settings, **changes}


def network_spec(**changes):
    settings = {"space": "plane", "space_coordinates": 2, "spatial": chain(3, lengthscales=[0.7, 0.9]), "temporal": chain(1),
                "joint": chain(0), "features": 24, "bottleneck": 6, "outputs": 1, "skip": True, "frequencies": "independent",
                "head_scale": 0.0, "sphere_tail_mass": 1e-6, "sphere_max_degree": 12}
    return {**settings, **changes}


def recipe(**changes):
    settings = {"loss": "squared", "huber_delta": 0.1, "noise_sd": 0.01, "beta": 1e-3, "optimiser": "adam", "rate": 1e-2,
                "muon_rate": 5e-3, "adam_beta1": 0.9, "adam_beta2": 0.999, "adam_epsilon": 1e-8, "muon_momentum": 0.95,
                "muon_iterations": 5, "schedule": "constant", "warmup_steps": 50, "epochs": float(STEPS), "batch": OBSERVATIONS,
                "train_lengthscales": False, "train_amplitudes": False, "hyper_rate": 2e-2}
    return {**settings, **changes}


SPHERE = {"space": "sphere", "space_coordinates": 3, "spatial": chain(3, lengthscales=[0.6]), "outputs": 2}
CASES = [
    # name, spec, recipe, per-observation weights
    ("PlaneWithAdam", network_spec(head_scale=1.0), recipe(), False),
    ("HuberCosineAndWeights", network_spec(spatial=chain(3, lengthscales=[0.7, 0.9], hidden_lengthscale=1.0)),
     recipe(loss="huber", huber_delta=0.3, schedule="cosine"), True),
    ("PlaneWithMuon", network_spec(), recipe(optimiser="muon", schedule="cosine"), False),
    ("MuonWithoutHead", network_spec(temporal=chain(0)), recipe(optimiser="muon"), False),
    ("SphereWithAdditiveSkip", network_spec(**SPHERE), recipe(), False),
    ("SphereHeatCovarianceWithoutSkip",
     network_spec(**{**SPHERE, "spatial": chain(2, lengthscales=[0.4], covariance={"family": "squared_exponential", "nu": 1.5}),
                     "skip": False}), recipe(), False),
    ("JointLayers", network_spec(joint=chain(2)), recipe(), False),
    ("TimeAlone", network_spec(spatial=chain(0), temporal=chain(2)), recipe(), False),
    ("TrainedHyperparametersOnThePlane", network_spec(), recipe(train_lengthscales=True, train_amplitudes=True, schedule="cosine"),
     False),
    ("TrainedHyperparametersOnTheSphere", network_spec(**SPHERE, joint=chain(1)),
     recipe(train_lengthscales=True, train_amplitudes=True), False),
    ("TrainedLengthscalesAlone", network_spec(), recipe(train_lengthscales=True, optimiser="muon"), False),
]


def main():
    cases = []
    for name, spec, settings, weighted in CASES:
        losses = training_losses(spec, settings, weighted)
        print(f"{name:40s} {losses[0]:.6f} -> {losses[-1]:.6f}")
        cases.append({"name": name, "observations": OBSERVATIONS, "weighted": weighted, "spec": spec, "recipe": settings,
                      "losses": [float(f"{loss:.17g}") for loss in losses]})
    path = pathlib.Path(__file__).with_name("training_losses.json")
    path.write_text(json.dumps({"generator": "make_training_losses.py", "cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
