"""Mutated resources: the server always returns a valid resource, and never status 500."""

import copy
import random

import pytest

from tests.service.fhir_checks import check
from tests.service.test_fhir import NEXT, begun, finished

JUNK = [
    None,
    True,
    0,
    -1,
    1e308,
    "",
    "x",
    "#",
    "\u0000",
    "é",
    [],
    {},
    [[]],
    [None],
    {"linkId": 3},
    {"resourceType": "Bundle"},
    "9" * 500,
]


@pytest.mark.parametrize("seed", range(3))
def test_mutations(service, seed):
    canonical = service.client.get("/fhir/Questionnaire/triage").json()["url"]
    rng = random.Random(seed)
    seeds = [begun(canonical), *finished(service, canonical)]
    seeds += [
        {"resourceType": "Parameters", "parameter": [{"name": "questionnaire-response", "resource": each}]}
        for each in seeds
    ]
    statuses = set()
    for _ in range(150):
        resource = copy.deepcopy(rng.choice(seeds))
        for _ in range(rng.choice((1, 1, 2, 4))):
            resource = mutated(resource, rng)
        answer = service.client.post(NEXT, json=resource)
        assert answer.status_code in (200, 404, 409, 422), resource
        check(answer.json())
        statuses.add(answer.status_code)
    assert {200, 422} <= statuses


def mutated(resource, rng):
    """The resource with one place changed: removed, doubled, or replaced by something else."""
    places = []

    def visit(value):
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            places.append((value, key))
            visit(value[key])

    visit(resource)
    if not places:
        return rng.choice(JUNK)
    holder, key = rng.choice(places)
    what = rng.randrange(4)
    if what == 0:
        del holder[key]
    elif what == 1 and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    elif what == 2:
        other, name = rng.choice(places)
        holder[key] = copy.deepcopy(other[name]) if _has(other, name) else None
    else:
        holder[key] = copy.deepcopy(rng.choice(JUNK))
    return resource


def _has(holder, key):
    return key in holder if isinstance(holder, dict) else key < len(holder)


def test_deep_nesting(service):
    form = service.client.get("/fhir/Questionnaire/triage").json()
    resource = begun(f"{form['url']}|{form['version']}")
    item = {"linkId": "x"}
    for _ in range(300):
        item = {"linkId": "x", "item": [item]}
    resource["item"] = [item]
    assert service.client.post(NEXT, json=resource).status_code == 422
    resource["item"] = []
    resource["contained"][0]["item"] = [item]
    assert service.client.post(NEXT, json=resource).status_code == 200
