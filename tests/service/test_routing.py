"""Which handler answers."""

import pytest

from askless.service.errors import Problem
from askless.service.routing import Router, Routes


def router():
    routes = Routes("/a", "tag")

    def adding(method, path, name):
        @getattr(routes, method)(path, name)
        async def answer(request):
            return name

    for method, path, name in (
        ("get", "", "list"),
        ("get", "/$first", "first"),
        ("get", "/{one}", "one"),
        ("delete", "/{one}", "drop"),
        ("post", "/{one}/x.y", "dotted"),
        ("get", "/{one}/{rest:rest}", "rest"),
    ):
        adding(method, path, name)
    return Router(routes.all, lambda path, problem: None)


@pytest.mark.parametrize(
    ("method", "path", "name", "params"),
    [
        ("GET", "/a", "list", {}),
        ("GET", "/a/$first", "first", {}),
        ("GET", "/a/b", "one", {"one": "b"}),
        ("DELETE", "/a/b", "drop", {"one": "b"}),
        ("GET", "/a/b c\n", "one", {"one": "b c\n"}),
        ("POST", "/a/b/x.y", "dotted", {"one": "b"}),
        ("GET", "/a/b/", "rest", {"one": "b", "rest": ""}),
        ("GET", "/a/b/c/d", "rest", {"one": "b", "rest": "c/d"}),
    ],
)
def test_the_first_route_that_fits(method, path, name, params):
    scope = {"method": method, "path": path}
    assert router()._found(scope).operation == name
    assert scope["path_params"] == params


@pytest.mark.parametrize("path", ["", "/", "/a/", "a", "/A", "/b"])
def test_nothing_there(path):
    scope = {"method": "GET", "path": path}
    with pytest.raises(Problem) as caught:
        router()._found(scope)
    assert caught.value.status == 404
    assert "route" not in scope


def test_the_dot_of_a_pattern_is_a_dot():
    with pytest.raises(Problem) as caught:
        router()._found({"method": "POST", "path": "/a/b/xzy"})
    assert caught.value.headers["Allow"] == "GET"


def test_another_method_is_told_which_there_are():
    scope = {"method": "POST", "path": "/a/b"}
    with pytest.raises(Problem) as caught:
        router()._found(scope)
    assert caught.value.status == 405
    assert caught.value.headers["Allow"] == "GET, DELETE"
    assert scope["route"].path == "/a/{one}"
