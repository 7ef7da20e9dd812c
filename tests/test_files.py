"""A file is the old one or the new one, never a half."""

import os
import stat
import subprocess
import sys

import pytest

from askless.files import is_device, write_atomic


def names(folder):
    return sorted(os.listdir(folder))


def test_a_new_file_and_an_old_one(tmp_path):
    path = tmp_path / "file"
    write_atomic(path, b"one")
    assert path.read_bytes() == b"one"
    write_atomic(str(path), b"")
    assert path.read_bytes() == b""
    assert names(tmp_path) == ["file"]


def test_in_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_atomic("file", b"here")
    assert (tmp_path / "file").read_bytes() == b"here"


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_umask_is_respected_and_left_alone(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write_atomic(tmp_path / "file", b"x")
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_who_may_read_a_file_stays_as_it_was(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step, error):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*args):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_content_that_is_no_bytes(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(TypeError):
        write_atomic(tmp_path / "file", "text")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_nowhere_to_write(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"there is no such folder: '{tmp_path / 'no'}'$"):
        write_atomic(tmp_path / "no" / "file", b"x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomic(tmp_path / "folder", b"x")
    assert names(tmp_path) == ["folder"]


@pytest.mark.parametrize("step", ["open", "replace"])
def test_an_error_names_the_file_that_was_asked_for(tmp_path, monkeypatch, step):
    def full(*args):
        raise OSError(28, "No space left on device", *args[:1])

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match=f"No space left on device: '{tmp_path / 'file'}'$"):
        write_atomic(tmp_path / "file", b"x")


def test_the_content_is_on_the_disk_before_the_name_is(tmp_path, monkeypatch):
    done = []
    for step in ("fsync", "replace"):
        real = getattr(os, step)
        monkeypatch.setattr(os, step, lambda *args, step=step, real=real: (done.append(step), real(*args)))
    write_atomic(tmp_path / "file", b"x")
    assert done == ["fsync", "replace", "fsync"]  # the content, the name, the folder


def test_a_link_stays_one_and_what_it_names_is_replaced(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    file, link = tmp_path / "elsewhere" / "model", tmp_path / "link"
    file.write_bytes(b"old")
    link.symlink_to(file)
    write_atomic(link, b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert [entry.name for entry in tmp_path.rglob("*.part")] == []


def test_a_link_to_a_file_that_is_not_there_yet(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_atomic(tmp_path / "link", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are of POSIX")
def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert is_device(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomic(pipe, b"content")
        assert os.read(reader, 100) == b"content"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_files_and_folders_are_no_devices(tmp_path):
    (tmp_path / "file").touch()
    assert not any(map(is_device, (tmp_path, tmp_path / "file", tmp_path / "missing")))


def write_from_a_process(path, out, **options):
    """Say something, write to `path`, say something more: all of it to `out`."""
    script = (
        "import sys; from askless.files import write_atomic; print('before', flush=True); "
        "write_atomic(sys.argv[1], b'content\\n'); print('after')"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], stdout=out, check=True, timeout=60, **options)


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="of POSIX")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
@pytest.mark.parametrize(("mode", "kept"), [("ab", "old\n"), ("wb", "")])
def test_standard_output_that_goes_to_a_file_is_gone_on_with(tmp_path, name, mode, kept):
    path, log = tmp_path / name, tmp_path / "log"  # an absolute name stays as it is
    log.write_text("old\n")
    if name == "link":
        path.symlink_to("/dev/stdout")
    if not path.is_symlink():
        pytest.skip(f"there is no {path}")
    with log.open(mode) as out:
        write_from_a_process(path, out)
    assert log.read_text() == f"{kept}before\ncontent\nafter\n"
    assert path.is_symlink()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="of Linux")
def test_a_file_that_another_process_has_open_is_appended_to(tmp_path):
    log = tmp_path / "log"
    log.write_text("old\n")
    with log.open("ab") as file, (tmp_path / "out").open("wb") as out:
        write_from_a_process(f"/proc/{os.getpid()}/fd/{file.fileno()}", out)
    assert log.read_text() == "old\ncontent\n"


def test_links_in_a_circle_are_no_device(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert not is_device(tmp_path / "a")


def test_a_number_for_a_name_is_no_device(tmp_path):
    (tmp_path / "fd").mkdir()
    (tmp_path / "fd" / "1").touch()
    assert not is_device(tmp_path / "fd" / "1")
