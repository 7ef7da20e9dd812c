"""How many requests a second the service answers, with wrk, and how much memory it takes.

    make service-load                    writes docs/results/service.json and its lines in docs/performance.md
    python benchmarks/service_load.py --seconds 5 --soak 10 --output DIR        a quick look

The service is a process of its own, with a model of the triage table and interviews kept on disk.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from askless.files import write_atomic

DOCS = Path(__file__).parent.parent / "docs"
CONNECTIONS, INTERVIEWS = 16, 256
BEGIN, END = "<!-- service -->", "<!-- /service -->"
NEXT = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"answers": {"age": 51, "complaint": "chest pain", "blood pressure": {"systolic": 150, "diastolic": 95}}}'
"""
# Every interview in turn is answered, then every one is taken back, and so on: each is an event on disk.
STORED = """
local ids = {%s}
local i = -1  -- wrk calls it once before it begins
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function()
  local id, back = ids[i %% #ids + 1], math.floor(i / #ids) %% 2 == 1
  i = i + 1
  if back then return wrk.format(nil, "/api/interviews/" .. id .. "/undo", nil, "") end
  return wrk.format(nil, "/api/interviews/" .. id .. "/unknown", nil, "{}")
end
"""


def main() -> None:
    """Measure, save, and write the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=30, help="of each run (default: 30)")
    parser.add_argument("--soak", type=int, default=600, help="seconds of the run that memory is watched in")
    parser.add_argument("--runs", type=int, default=3, help="runs of which the best is taken (default: 3)")
    parser.add_argument("--model", type=Path, help="a model of the triage table (default: one is trained)")
    parser.add_argument("--output", type=Path, default=DOCS)
    options = parser.parse_args()
    load = round(os.getloadavg()[0], 1)
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or trained(Path(folder) / "triage.askless")
        results = {**measure(model, Path(folder), options), "load before": load}
    (options.output / "results").mkdir(parents=True, exist_ok=True)
    write_atomic(options.output / "results" / "service.json", json.dumps(results, indent=1).encode())
    page = options.output / "performance.md"
    if page.exists():
        write_atomic(page, with_lines(page.read_text(), results).encode())
    print(json.dumps(results, indent=1))


def trained(path: Path) -> Path:
    """A model of the usual size; its quality does not matter here."""
    from askless import DynamicClassifier
    from askless.datasets import load_dataset
    from askless.methods import Greedy

    data = load_dataset("triage", n=3000)
    method = Greedy(epochs=2, pretrain_epochs=5)
    DynamicClassifier(8, method, groups=data.groups, costs=data.costs).fit(data.frame, data.target).save(path)
    return path


def measure(model: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    ready = min(start_up(model, folder) for _ in range(options.runs))
    process, url = started(model, folder)
    try:
        fresh = memory(process.pid)
        ask = f"{url}/api/models/{model.stem}/next"
        stateless = best(options.runs, folder, NEXT, ask, options.seconds, process.pid)
        ids = [post(f"{url}/api/models/{model.stem}/interviews", {})["id"] for _ in range(INTERVIEWS)]
        listed = ", ".join(f'"{each}"' for each in ids)
        stored = best(options.runs, folder, STORED % listed, url, options.seconds, process.pid)
        before = memory(process.pid)
        wrk(folder, NEXT, ask, options.soak, process.pid)
        after = memory(process.pid)
    finally:
        process.terminate()
        process.wait()
    return {
        "start-up, seconds": round(ready, 2),
        "next": stateless,
        "stored": stored,
        "MB at start": fresh,
        "MB before the long run": before,
        "MB after the long run": after,
        "long run, seconds": options.soak,
        "cores": os.cpu_count(),
    }


def start_up(model: Path, folder: Path) -> float:
    """Seconds from the command to the first answer of `/readyz`."""
    start = time.perf_counter()
    process, _ = started(model, folder)
    seconds = time.perf_counter() - start
    process.terminate()
    process.wait()
    return seconds


def started(model: Path, folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """The service, ready to answer."""
    log = folder / "service.log"
    command = [
        sys.executable,
        "-m",
        "askless",
        "serve",
        str(model),
        "--port",
        "0",
        "--keep",
        str(folder / "kept.db"),
    ]
    with log.open("wb") as file:
        process = subprocess.Popen(command, stderr=file)
    while True:
        found = re.search(r'"url":"([^"]+)"', log.read_text())
        try:
            if found and urllib.request.urlopen(f"{found[1]}/readyz").status == 200:
                return process, found[1]
        except OSError:
            pass
        time.sleep(0.01)


def best(runs: int, folder: Path, script: str, url: str, seconds: int, pid: int) -> dict[str, float]:
    """The best of several runs: others use this machine, too."""
    return max(
        (wrk(folder, script, url, seconds, pid) for _ in range(runs)), key=lambda run: run["requests a second"]
    )


def wrk(folder: Path, script: str, url: str, seconds: int, pid: int) -> dict[str, float]:
    """One run of wrk, and the processor time that the service took for a request."""
    path = folder / "script.lua"
    path.write_text(script)
    used = processor_seconds(pid)
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-s", str(path), url]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    used = processor_seconds(pid) - used
    if "Non-2xx" in text or "Socket errors" in text:
        raise SystemExit(f"wrk saw errors:\n{text}")
    count = int(re.search(r"(\d+) requests in", text)[1])
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
    return {
        "requests a second": round(float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])),
        "p99, ms": round(float(value) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit], 1),
        "processor ms a request": round(1000 * used / count, 3),
    }


def processor_seconds(pid: int) -> float:
    """What the process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> int:
    """Resident megabytes."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) // 1000


def post(url: str, body: Any) -> Any:
    """A JSON answer."""
    with urllib.request.urlopen(urllib.request.Request(url, data=json.dumps(body).encode())) as answer:
        return json.load(answer)


def with_lines(page: str, results: dict[str, Any]) -> str:
    """The performance page with the service's lines, in the place of older ones or at its end."""
    text = f"{BEGIN}\n{lines(results)}\n{END}"
    if BEGIN in page:
        return page[: page.index(BEGIN)] + text + page[page.index(END) + len(END) :]
    return page.rstrip() + f"\n\n{text}\n"


def lines(results: dict[str, Any]) -> str:
    """A section of Markdown."""
    before, after = results["MB before the long run"], results["MB after the long run"]
    grown = 100 * (after / before - 1)
    rows = [
        f"| {what} | {run['requests a second']:,} | {run['p99, ms']} ms | {run['processor ms a request']} ms |"
        for what, run in (
            ("stateless `next`, three answers", results["next"]),
            (f"changes of {INTERVIEWS} interviews, each on disk before it is acknowledged", results["stored"]),
        )
    ]
    return "\n".join(
        [
            "## The service",
            "",
            f"`make service-load` writes these lines: wrk with {CONNECTIONS} connections beside the service on",
            f"{results['cores']} cores, the best of several runs; the machine's load was {results['load before']}.",
            "Processor time is the service's own.",
            "",
            "| what | requests a second | p99 | processor time of a request |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
            f"Start-up: {results['start-up, seconds']} s. Memory: {results['MB at start']} MB at first, {before} MB",
            f"after these runs, {after} MB after {results['long run, seconds']} s more ({grown:+.1f} %).",
        ]
    )


if __name__ == "__main__":
    main()
