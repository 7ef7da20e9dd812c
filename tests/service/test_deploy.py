"""The short list of what serving needs is right: all that a running service loads, and nothing beside."""

import json
import re
import subprocess
import sys
from importlib.metadata import packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
FEATURES = ROOT / "docs" / "examples" / "triage.features.json"
LOADED = """
import json, sys, threading, time, urllib.request
from importlib.abc import MetaPathFinder

class Refuse(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in refused:
            raise ModuleNotFoundError(f"{name} is not on the list", name=name)

refused = set(json.loads(sys.argv[3]))
sys.meta_path.insert(0, Refuse())
from askless.service.models import read_models
from askless.service.server import make_server
from askless.service.settings import Settings
server = make_server(read_models([sys.argv[1]], sys.argv[2]), Settings(port=0))
thread = threading.Thread(target=server.run)
thread.start()
while not server.started:
    time.sleep(0.01)
url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
pages = ("/", "/api/models", "/fhir/metadata", "/api/openapi.json", "/metrics")
for path, body in (*((page, None) for page in pages), ("/models/triage/interviews", b""),
                   ("/api/models/triage/predict", b'{"records": [{"age": 50}]}')):
    urllib.request.urlopen(url + path, data=body).read()
server.should_exit = True
thread.join()
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def distributions(modules):
    """What one would install to have these modules."""
    known = packages_distributions()
    return {normal(name) for module in modules for name in known.get(module, ())} - {"askless"}


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def listed():
    lines = (ROOT / "deploy" / "requirements.txt").read_text().splitlines()
    return {normal(Requirement(line).name): Requirement(line) for line in lines if line and not line.startswith("#")}


def with_their_own(names):
    """The packages, and those that they bring."""
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        needed = (Requirement(text) for text in requires(name) or ())
        waiting += [
            normal(each.name) for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})
        ]
    return found


def test_a_service_runs_with_what_is_on_the_list_and_nothing_else(model_file):
    allowed = with_their_own(listed()) | {"askless"}
    refused = [
        module for module, names in packages_distributions().items() if not allowed & {normal(n) for n in names}
    ]
    assert {"torch", "sklearn", "pandas", "scipy"} <= set(refused)
    command = [sys.executable, "-W", "ignore", "-c", LOADED, str(model_file), str(FEATURES), json.dumps(refused)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    loaded = distributions(json.loads(ran.stdout.splitlines()[-1]))
    assert set(listed()) - loaded == set(), "deploy/requirements.txt lists something that is not needed"


def test_the_list_asks_for_the_same_versions_as_the_package():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"], *project["optional-dependencies"]["serve"]]
    asked = {normal(Requirement(text).name): Requirement(text).specifier for text in texts}
    assert {name: each.specifier for name, each in listed().items()} == {name: asked[name] for name in listed()}
    assert {normal(Requirement(text).name) for text in project["optional-dependencies"]["serve"]} <= set(listed())


def test_the_image_has_what_it_copies():
    for line in (ROOT / "deploy" / "Dockerfile").read_text().splitlines():
        if line.startswith("COPY"):
            for source in line.split()[1:-1]:
                assert (ROOT / source).exists(), source
