"""All data sets by name: what `load_dataset` takes."""

from askless.datasets.base import Entry
from askless.datasets.sets import (
    bundled,
    diabetes130,
    exact,
    heart,
    images,
    miniboone,
    nhanes,
    physionet2012,
    spam,
    syn,
    thyroid,
    triage,
)

_FAMILIES = (bundled, diabetes130, exact, heart, images, miniboone, nhanes, physionet2012, spam, syn, thyroid, triage)

SETS: dict[str, Entry] = {
    entry.info.name: entry for family in _FAMILIES for entry in vars(family).values() if isinstance(entry, Entry)
}
