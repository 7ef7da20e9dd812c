import pytest

from askless.methods import Fitted, Method, list_methods
from askless.methods.static import StaticMethod


def test_every_method_has_a_kind():
    kinds = {name: method.kind for name, method in list_methods().items()}
    assert kinds["auto"] == kinds["greedy"] == "dynamic"
    assert kinds["sage"] == kinds["forward_selection"] == "static"
    assert kinds["random"] == kinds["oracle_order"] == kinds["center_crop"] == "control"
    assert set(kinds.values()) == {"dynamic", "static", "control"}


def test_a_method_without_a_kind_is_refused():
    with pytest.raises(TypeError, match="Own must set `kind`"):

        class Own(Method):
            def _fit(self, problem, seed, progress, checkpoint):
                return Fitted(None, None)


def test_a_kind_that_does_not_exist_is_refused():
    with pytest.raises(TypeError, match="Own must set `kind`"):

        class Own(StaticMethod):
            kind = "sometimes"
