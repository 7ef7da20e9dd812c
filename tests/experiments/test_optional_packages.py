"""Packages that only some experiments need."""

from askless.exceptions import ClusterError
from askless.experiments import clusters
from tests.coded import raises


def test_a_cluster_without_dask(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(clusters, "import_module", missing)
    with (
        raises(ClusterError, "missing_package", package="distributed") as caught,
        clusters.connected("tcp://nowhere"),
    ):
        raise AssertionError("there is no client")
    assert "pip install" in str(caught.value)
