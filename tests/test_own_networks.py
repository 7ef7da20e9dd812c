"""Networks of a user's script: fitted, saved, loaded with their function, and refused where they do not fit."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from askless import DynamicClassifier, DynamicRegressor, load
from askless.checks import example_table
from askless.exceptions import CheckpointError, ModelFileError, ParameterError
from askless.methods import CmiMarginal, FixedOrder, Greedy, Value
from askless.model_file import read_model, write_model
from askless.models import NetPolicy, NetPredictor, Network, NetworkLike
from tests.coded import raises
from tests.model_files import forged, opened

SHORT = {"pretrain_epochs": 2, "epochs": 2, "batch_size": 64}


class Attention(nn.Module):
    """One attention block over a token for each feature. Features have one column each, or the mask would not fit."""

    def __init__(self, n_columns, n_features, n_outputs, width=8):
        super().__init__()
        self.values = nn.Linear(n_columns, n_features * width)
        self.known, self.place = nn.Parameter(torch.zeros(width)), nn.Parameter(torch.zeros(n_features, width))
        self.block = nn.TransformerEncoderLayer(width, 2, 16, dropout=0.1, batch_first=True)
        self.head = nn.Linear(width, n_outputs)

    def forward(self, values, mask):
        tokens = self.values(values).view(len(values), *self.place.shape)
        return self.head(self.block(tokens + self.place + mask[:, :, None] * self.known).mean(dim=1))


class Plain(nn.Module):
    """A perceptron with batch normalisation, so that it has buffers."""

    def __init__(self, n_columns, n_features, n_outputs, width=16):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_columns + n_features, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, n_outputs)
        )

    def forward(self, values, mask):
        return self.layers(torch.cat([values, mask], dim=1))


def fitted(method, task="classification"):
    X, y = example_table(task)
    kind = DynamicClassifier if task == "classification" else DynamicRegressor
    return kind(3, method=method, random_state=0).fit(X, y), X


@pytest.mark.parametrize("network", [Attention, Plain])
@pytest.mark.parametrize("method", [Greedy, Value])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_fit_save_and_load(network, method, task, tmp_path):
    model, X = fitted(method(**SHORT, network=network), task)
    asked = []

    def factory(n_columns, n_features, n_outputs):
        asked.append((n_columns, n_features, n_outputs))
        return network(n_columns, n_features, n_outputs)

    model.save(tmp_path / "m.askless")
    state = torch.random.get_rng_state()
    again = load(tmp_path / "m.askless", network=factory)
    assert torch.equal(torch.random.get_rng_state(), state)
    schema = model.model_.schema
    outputs = 1 if task == "regression" else len(model.classes_)
    assert {shape[:2] for shape in asked} == {(schema.n_columns, len(schema))}
    assert {shape[2] for shape in asked} == {len(schema), outputs}
    one, two = model.rollout(X), again.rollout(X)
    np.testing.assert_array_equal(one.order, two.order)
    np.testing.assert_array_equal(one.predictions, two.predictions)
    assert again.method.network is factory
    again.save(tmp_path / "again.askless")
    assert (tmp_path / "again.askless").read_bytes() == (tmp_path / "m.askless").read_bytes()
    again.fit(*example_table(task))  # with the same network


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    model, _ = fitted(Greedy(**SHORT, network=Plain))
    path = tmp_path_factory.mktemp("models") / "m.askless"
    model.save(path)
    return path


def test_a_file_holds_the_weights_by_their_names(path):
    tensors, manifest, _ = opened(path.read_bytes())
    for part in ("policy", "predictor"):
        assert manifest[part]["config"]["network"]["kind"] == "custom"
        names = {name.removeprefix(f"{part}.module.") for name in tensors if name.startswith(f"{part}.module.")}
        assert names == set(Plain(2, 2, 2).state_dict())
    assert manifest["settings"]["method"]["params"]["network"] == "custom"


def test_without_the_function_the_error_says_how_to_pass_it(path):
    with raises(ModelFileError, "required", name="network", path=str(path)) as caught:
        load(path)
    assert "askless.load(path, network=...)" in str(caught.value)
    with raises(ModelFileError, "required", name="network", path=str(path)):
        read_model(path)


@pytest.mark.parametrize(
    ("factory", "code"),
    [
        (lambda *sizes: Plain(*sizes, width=5), "wrong_shape"),
        (Attention, "wrong_shape"),
        (lambda columns, features, outputs: Plain(columns, features, outputs + 1), "wrong_shape"),
        (lambda *sizes: "a network", "wrong_type"),
    ],
)
def test_a_function_that_does_not_fit_the_file_is_refused(factory, code, path):
    with raises(ModelFileError, code, name="network", path=str(path)):
        load(path, network=factory)


def test_a_file_without_a_network_of_its_own_takes_no_function(tmp_path):
    model, _ = fitted(Greedy(**SHORT, hidden=(8,)))
    model.save(tmp_path / "m.askless")
    with raises(ParameterError, "not_supported", name="network"):
        load(tmp_path / "m.askless", network=Plain)


@pytest.mark.parametrize(
    ("factory", "code"),
    [
        (lambda *sizes: None, "wrong_type"),
        (lambda columns, features, outputs: Plain(columns, features, 7), "wrong_shape"),
        ("resnet", "invalid_choice"),
    ],
)
def test_a_function_that_makes_no_network_is_refused_at_fit(factory, code):
    with raises(ParameterError, code, name="network"):
        fitted(Greedy(**SHORT, network=factory))


def test_methods_that_take_dense_layers_apart_refuse_other_networks():
    with raises(ParameterError, "invalid_choice", name="network"):
        fitted(CmiMarginal(epochs=1, network=Plain))


def test_a_function_that_makes_another_network_each_time_cannot_be_saved(tmp_path):
    made = []

    def factory(*sizes):
        made.append(sizes)
        return Plain(*sizes, width=8 + len(made))

    model, _ = fitted(Greedy(**SHORT, network=factory))
    with raises(ParameterError, "cannot_save") as caught:
        model.save(tmp_path / "m.askless")
    assert "another network" in str(caught.value)
    assert not (tmp_path / "m.askless").exists()


class Foreign(NetworkLike):
    """A network of no known kind."""

    n_features, n_outputs = 6, 6

    def outputs(self, state):
        return np.zeros(state.known.shape, dtype=np.float32)

    def config(self):
        return {}

    def arrays(self):
        return Network(np.zeros((11, 1)), np.zeros((6, 1)), (np.zeros(1), np.zeros(6)), (np.zeros((1, 6)),)).arrays()


class OwnPolicy(NetPolicy):
    """A class that askless does not export."""


class OwnPredictor(NetPredictor):
    """A class that askless does not export."""


def test_anything_else_of_a_user_is_refused_with_the_reason(path, tmp_path):
    model = read_model(path, network=Plain)
    own = OwnPredictor(model.predictor.network, classes=True, prior=model.predictor.prior)
    for changed, reason in (
        (replace(model, policy=OwnPolicy(model.policy.network)), "only classes that askless.models exports"),
        (replace(model, predictor=own), "only classes that askless.models exports"),
        (replace(model, policy=NetPolicy(Foreign())), "policy.network is a Foreign, which would be loaded as a"),
    ):
        with raises(ParameterError, "cannot_save") as caught:
            write_model(changed, tmp_path / "m.askless")
        assert reason in str(caught.value)


@pytest.mark.parametrize("wrong", [{"kind": "other"}, {"outputs": 4}, {"outputs": "two"}])
def test_a_forged_description_is_refused(path, tmp_path, wrong):
    file = tmp_path / "m.askless"
    content = forged(path.read_bytes(), lambda manifest: manifest["predictor"]["config"]["network"].update(wrong))
    file.write_bytes(content)
    with pytest.raises(ModelFileError):
        load(file, network=Plain)


def test_static_methods_and_more_networks(tmp_path):
    model, X = fitted(FixedOrder(epochs=2, network=Attention))
    model.save(tmp_path / "m.askless")
    again = load(tmp_path / "m.askless", network=Attention)
    np.testing.assert_array_equal(again.rollout(X).predictions, model.rollout(X).predictions)
    assert again.interview().question is not None


def test_a_checkpoint_of_another_network_is_refused(tmp_path, monkeypatch):
    from askless.training import Checkpoint

    X, y = example_table("classification")
    model, file = DynamicClassifier(2, Greedy(**SHORT, network=Plain)), tmp_path / "fit.part"
    save = Checkpoint.save

    def once(self, snapshot):
        save(self, snapshot)
        raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "save", once)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, checkpoint=file)
    monkeypatch.undo()
    with raises(CheckpointError, "other_fit"):
        model.set_params(method__network=Attention).fit(X, y, checkpoint=file)
    model.set_params(method__network=Plain).fit(X, y, checkpoint=file)


def test_a_dense_model_is_loaded_and_asked_without_torch(tmp_path):
    model, _ = fitted(Value(**SHORT, hidden=(8,)))
    model.save(tmp_path / "m.askless")
    code = f"""
import sys
from askless.model_file import read_model
model = read_model({str(tmp_path / "m.askless")!r})
assert model.interview().question is not None
print("torch" in sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
