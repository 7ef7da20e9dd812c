"""The files of the data home, for tests that need one."""

from importlib import import_module

import pytest

from askless.datasets import data_home


def needs(file):
    """Skip where the file is absent."""
    absent = not (data_home() / file).is_file()
    return pytest.mark.skipif(absent, reason=f"{file} is not in the data home; set ASKLESS_DATA")


def sets_module(name):
    """The module of a data set; the name itself is the data set's."""
    return import_module(f"askless.datasets.sets.{name}")
