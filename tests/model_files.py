"""Model files taken apart, forged and damaged. Run as a script, it reads 1,000 damaged files and reports."""

from __future__ import annotations

import hashlib
import json
import random
import struct
import sys
import tempfile
import time
from pathlib import Path

NO_DIGEST = "0" * 64


def opened(content):
    """A file's header, manifest and tensor bytes."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    return header, json.loads(header["__metadata__"]["askless"]), content[8 + length :]


def stamped(header, text, data):
    """A file with a valid checksum, whatever its header, manifest (as text) and tensor bytes say."""
    header = {**header, "__metadata__": {"askless": text, "sha256": NO_DIGEST}}
    raw = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    content = len(raw).to_bytes(8, "little") + raw + data
    digest = hashlib.sha256(content).hexdigest()
    return content.replace(f'"sha256":"{NO_DIGEST}"'.encode(), f'"sha256":"{digest}"'.encode(), 1)


def forged(content, change):
    """The file with a manifest that `change` edits in place or returns, and a valid checksum."""
    header, manifest, data = opened(content)
    changed = change(manifest)
    manifest = manifest if changed is None else changed
    return stamped(header, manifest if isinstance(manifest, str) else json.dumps(manifest, sort_keys=True), data)


def damaged(content, other, rng):
    """The content with one kind of damage, drawn at random; `other` is another valid model file."""
    header = 8 + int.from_bytes(content[:8], "little")
    digest = content.index(b'"sha256":"') + 10
    while True:
        result = rng.choice(DAMAGE)(content, other, rng, header, digest)
        if result not in (content, other):
            return result


def flip(content, low, high, rng):
    position = rng.randrange(low, high)
    return content[:position] + bytes([content[position] ^ (1 << rng.randrange(8))]) + content[position + 1 :]


def span(content, rng):
    a, b = sorted(rng.sample(range(len(content) + 1), 2))
    return a, b


def zeroed(content, rng):
    a, b = span(content, rng)
    return content[:a] + bytes(b - a) + content[b:]


def scrambled(content, rng):
    a, b = span(content, rng)
    return content[:a] + rng.randbytes(b - a) + content[b:]


def cut_out(content, rng):
    a, b = span(content, rng)
    return content[:a] + content[b:]


def doubled(content, rng):
    a, b = span(content, rng)
    return content[:b] + content[a:]


def swapped_blocks(content, rng):
    a, b, c = sorted(rng.sample(range(len(content) + 1), 3))
    return content[:a] + content[b:c] + content[a:b] + content[c:]


def halves(content, other, rng):
    cut = rng.randrange(1, min(len(content), len(other)))
    return content[:cut] + other[cut:]


def other_length(content, rng):
    return struct.pack("<Q", rng.choice([0, 1, 2**31, 2**40, 2**63, 2**64 - 1, rng.randrange(2**16)])) + content[8:]


DAMAGE = [
    lambda c, o, rng, header, digest: flip(c, 0, len(c), rng),
    lambda c, o, rng, header, digest: flip(c, 0, 8, rng),
    lambda c, o, rng, header, digest: flip(c, 8, header, rng),
    lambda c, o, rng, header, digest: flip(c, digest, digest + 64, rng),
    lambda c, o, rng, header, digest: c[: rng.randrange(len(c))],
    lambda c, o, rng, header, digest: c[: rng.randrange(header)],
    lambda c, o, rng, header, digest: c + rng.randbytes(rng.randrange(1, 5000)),
    lambda c, o, rng, header, digest: c + bytes(rng.choice([1, 8, 10**6])),
    lambda c, o, rng, header, digest: zeroed(c, rng),
    lambda c, o, rng, header, digest: scrambled(c, rng),
    lambda c, o, rng, header, digest: cut_out(c, rng),
    lambda c, o, rng, header, digest: doubled(c, rng),
    lambda c, o, rng, header, digest: swapped_blocks(c, rng),
    lambda c, o, rng, header, digest: halves(c, o, rng),
    lambda c, o, rng, header, digest: c[:header] + o[8 + int.from_bytes(o[:8], "little") :],
    lambda c, o, rng, header, digest: other_length(c, rng),
]


def main(first, second, count):
    """Read `count` damaged files; print what happened as JSON."""
    from askless.exceptions import ModelFileError
    from askless.model_file import read_model

    contents = [Path(first).read_bytes(), Path(second).read_bytes()]
    rng = random.Random(20240501)
    kinds, slowest, wrong = set(), 0.0, []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.askless")
        for i in range(count):
            rng.shuffle(contents)
            path.write_bytes(damaged(*contents, rng))
            start = time.perf_counter()
            try:
                read_model(path)
                wrong.append(f"{i}: it loaded")
            except ModelFileError as error:
                kinds.add(str(error).replace(str(path), "it")[:40])
            except BaseException as error:  # the very thing to find
                wrong.append(f"{i}: {error!r}")
            slowest = max(slowest, time.perf_counter() - start)
    print(json.dumps({"wrong": wrong, "slowest": slowest, "peak": peak_memory(), "kinds": sorted(kinds)}))


def peak_memory():
    """The most memory that this process ever had, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux's getrusage counts what the process was forked from as well
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
