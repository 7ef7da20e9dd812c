import tomllib
from pathlib import Path

from askless.exceptions import ParameterError
from askless.methods.base import REQUIREMENTS, needed
from tests.coded import raises


def test_a_missing_package_is_named_with_what_to_install():
    with raises(
        ParameterError, "missing_package", name="lassonet", package="lassonet", requirement=REQUIREMENTS["lassonet"]
    ) as caught:
        needed("not_there.at.all", "lassonet", "lassonet")
    assert str(caught.value).endswith("needs the package lassonet: pip install 'lassonet>=0.0.21,<0.1'")


def test_requirements_are_those_of_the_project():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert sorted(REQUIREMENTS.values()) == sorted(project["optional-dependencies"]["baselines"])
