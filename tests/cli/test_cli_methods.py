"""`askless fit --help` lists every method under its kind."""

import re

import pytest

from askless.cli.fit import EPILOG
from askless.methods import list_methods


@pytest.mark.parametrize(("heading", "kind"), [("dynamic", "dynamic"), ("static", "static"), ("controls", "control")])
def test_the_help_of_fit_lists_the_methods_by_kind(heading, kind):
    listed = re.search(rf"^  {heading}: (.*(?:\n   .*)*)", EPILOG, re.MULTILINE)[1]
    names = re.findall(r"[a-z_]+", re.sub(r"\(.*?\)", "", listed))
    methods = {name for name, method in list_methods().items() if method.kind == kind}
    assert sorted(names) == sorted(methods - {"auto"})  # auto is the default and has its own line
