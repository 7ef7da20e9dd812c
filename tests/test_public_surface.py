"""What askless exports: all of it there, sorted, and with words."""

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import askless

SOURCE = Path(askless.__file__).parent
LONGEST = 500  # lines; split by meaning before that

PACKAGES = [
    "askless",
    *sorted(
        f"askless.{module.name}" for module in pkgutil.iter_modules(askless.__path__) if module.name != "__main__"
    ),
]
PUBLIC = [*PACKAGES, "askless.acquisition.costs", "askless.acquisition.stopping"]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(askless.__path__, "askless.")
    if not module.name.endswith("__main__")
)


def exported(name):
    module = importlib.import_module(name)
    return {item: getattr(module, item) for item in getattr(module, "__all__", ())}


def sorted_as_ruff_does(names):
    """Constants, then classes, then the rest, each in order."""
    kind = lambda name: 0 if name.isupper() and len(name) > 1 else 1 if name.lstrip("_")[:1].isupper() else 2  # noqa: E731
    return sorted(names, key=lambda name: (kind(name), name))


def test_the_front_door():
    assert askless.__all__ == ["DynamicClassifier", "DynamicRegressor", "__version__", "load"]
    assert dir(askless) == sorted(askless.__all__)
    public = {name for name in vars(askless) if not name.startswith("_")}
    modules = {name for name in public if inspect.ismodule(getattr(askless, name))}
    assert public - modules <= {*askless.__all__, "TYPE_CHECKING", "Any", "import_module"}


def test_the_version_is_the_project_s():
    from importlib.metadata import version

    assert askless.__version__ == version("askless")


@pytest.mark.parametrize("name", PUBLIC)
def test_every_list_of_names_is_sorted_and_resolves(name):
    module = importlib.import_module(name)
    names = list(getattr(module, "__all__", []))  # a top-level module may be private
    assert names == sorted_as_ruff_does(names)
    assert len(set(names)) == len(names)
    missing = [item for item in names if not hasattr(module, item)]
    assert missing == []


@pytest.mark.parametrize("name", [name for name in PACKAGES if name != "askless"])
def test_a_package_exports_exactly_what_it_brings_in(name):
    """A package's `__init__` that only gathers names from its own modules exports all of them."""
    module = importlib.import_module(name)
    own = {
        item: value.__module__
        for item, value in vars(module).items()
        if not item.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__.startswith(name)
    }
    if hasattr(module, "__path__") and name not in own.values():  # nothing is written in the `__init__` itself
        assert set(own) <= set(module.__all__)


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_exported_has_words(name):
    for item, value in exported(name).items():
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), f"{name}.{item} has no docstring"


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_is(name):
    assert importlib.import_module(name).__doc__, f"{name} has no docstring"


def test_functions_for_other_people_have_a_runnable_example():
    for item, value in exported("askless.checks").items():
        if inspect.isfunction(value):
            assert ">>>" in (value.__doc__ or ""), f"{item} needs an example in its docstring (>>> lines)"


def test_estimators_have_a_runnable_example():
    for item in ("DynamicClassifier", "DynamicRegressor"):
        assert ">>>" in getattr(askless, item).__doc__


@pytest.mark.parametrize("file", sorted(SOURCE.rglob("*.py")), ids=lambda file: str(file.relative_to(SOURCE)))
def test_no_file_is_too_long(file):
    assert len(file.read_text().splitlines()) < LONGEST
