"""`kill -9` while answers come in: what was acknowledged is there, and the database is intact."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

TIMES = int(os.environ.get("ASKLESS_TEST_KILLS", "3"))  # twenty in the full check


def started(model, database):
    """The service in a process of its own."""
    command = [sys.executable, "-m", "askless", "serve", str(model), "--port", "0", "--keep", str(database)]
    log = database.with_suffix(".log")
    with log.open("w") as file:
        process = subprocess.Popen(command, stderr=file)
    for _ in range(2000):
        found = re.search(r'"url":"([^"]+)"', log.read_text())
        if found:
            break
        time.sleep(0.02)
    url = found.group(1)
    for _ in range(400):
        try:
            if httpx.get(f"{url}/readyz", trust_env=False).status_code == 200:
                return process, url
        except httpx.HTTPError:
            time.sleep(0.02)
    raise AssertionError("the service does not answer")


def test_nothing_acknowledged_is_lost(model_file, tmp_path):
    database = tmp_path / "kept.db"
    acknowledged: dict[str, list[int]] = {}
    for _ in range(TIMES):
        process, url = started(model_file, database)
        check(url, acknowledged)
        with httpx.Client(base_url=url, trust_env=False) as client:
            ids = [client.post("/api/models/triage/interviews", json={}).json()["id"] for _ in range(16)]
        acknowledged.update({each: [] for each in ids})
        enough = threading.Event()

        def lead(interview, url=url, enough=enough):
            with httpx.Client(base_url=url, trust_env=False) as client:
                for number in range(1000 // 16 + 1):
                    try:
                        answer = client.post(
                            f"/api/interviews/{interview}/tell", json={"feature": "age", "value": number}
                        )
                    except httpx.HTTPError:
                        return
                    assert answer.status_code == 200
                    acknowledged[interview].append(number)
                    if number >= 8:
                        enough.set()

        with ThreadPoolExecutor(16) as pool:
            futures = [pool.submit(lead, each) for each in ids]
            assert enough.wait(60)
            process.send_signal(signal.SIGKILL)
            process.wait(10)
            for future in futures:
                future.result()
        with sqlite3.connect(database) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.close()
    process, url = started(model_file, database)
    check(url, acknowledged)
    process.terminate()
    assert process.wait(20) in (0, -signal.SIGTERM)
    assert any(acknowledged.values())


def check(url, acknowledged):
    """Every acknowledged answer is there, in order; at most one more that was on its way."""
    with httpx.Client(base_url=url, trust_env=False) as client:
        for interview, numbers in acknowledged.items():
            history = client.get(f"/api/interviews/{interview}").json()["history"]
            values = [event["value"] for event in history]
            assert values[: len(numbers)] == numbers
            assert len(values) <= len(numbers) + 1


@pytest.mark.parametrize("method", ["terminate", "interrupt"])
def test_a_signal_ends_it_in_order(model_file, tmp_path, method):
    process, url = started(model_file, tmp_path / "kept.db")
    httpx.post(f"{url}/api/models/triage/interviews", json={}, trust_env=False)
    process.send_signal(signal.SIGTERM if method == "terminate" else signal.SIGINT)
    process.wait(20)
    assert not (tmp_path / "kept.db-wal").exists() or not (tmp_path / "kept.db-wal").stat().st_size
