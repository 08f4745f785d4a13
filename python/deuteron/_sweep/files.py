# SPDX-License-Identifier: Apache-2.0
"""Files that are written whole or not at all, in a folder or at an address that fsspec knows ("s3://bucket/cache")."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from typing import Any, Protocol

from .need import need

_STALE_SECONDS = 24 * 3600  # no write takes a day: what is older is of a process that was killed


class Files(Protocol):
    def read(self, name: str) -> bytes | None: ...

    def write(self, name: str, content: bytes) -> None: ...

    def has(self, name: str) -> bool: ...


class LocalFiles:
    """A folder. A file is written beside its place and renamed, so two writers of one name do not disturb each other.

    >>> import tempfile
    >>> files = LocalFiles(tempfile.mkdtemp())
    >>> files.write("a/b", b"content")
    >>> files.read("a/b"), files.read("a/c"), files.has("a/c")
    (b'content', None, False)
    """

    def __init__(self, folder: str, beside: bool = False) -> None:
        """`beside`: what is unfinished lies in the folder itself, not in one of its own."""
        self.folder = os.path.abspath(folder)
        self._unfinished = self.folder if beside else os.path.join(self.folder, "unfinished")
        if not beside:
            self._remove_stale()

    def read(self, name: str) -> bytes | None:
        try:
            fd = os.open(os.path.join(self.folder, name), os.O_RDONLY | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        with os.fdopen(fd, "rb", buffering=0) as file:
            return file.readall()

    def has(self, name: str) -> bool:
        return os.path.exists(os.path.join(self.folder, name))

    def write(self, name: str, content: bytes) -> None:
        os.makedirs(self._unfinished, exist_ok=True)
        scratch = os.path.join(self._unfinished, f".{os.getpid()}-{secrets.token_hex(8)}.unfinished")
        place = os.path.join(self.folder, name)
        try:
            with open(scratch, "xb") as file:
                file.write(content)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.replace(scratch, place)
        except BaseException:  # Ctrl-C too
            if os.path.exists(scratch):
                os.unlink(scratch)
            raise

    def _remove_stale(self) -> None:
        if not os.path.isdir(self._unfinished):
            return
        with os.scandir(self._unfinished) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # another process was quicker
                    if entry.stat().st_mtime < time.time() - _STALE_SECONDS:
                        os.unlink(entry.path)


class RemoteFiles:
    """What fsspec reaches. Object stores put an object whole; elsewhere checksums find what is not (store.py)."""

    def __init__(self, url: str) -> None:
        self._fs, self._root = filesystem(url)

    def read(self, name: str) -> bytes | None:
        try:
            content: bytes = self._fs.cat_file(f"{self._root}/{name}")
            return content
        except FileNotFoundError:
            return None

    def has(self, name: str) -> bool:
        return bool(self._fs.exists(f"{self._root}/{name}"))

    def write(self, name: str, content: bytes) -> None:
        place = f"{self._root}/{name}"
        self._fs.makedirs(place.rsplit("/", 1)[0], exist_ok=True)
        self._fs.pipe_file(place, content)


def filesystem(url: str) -> tuple[Any, str]:
    fs, path = need("fsspec.core", f"the address {url}").url_to_fs(url)
    return fs, str(path).rstrip("/")


def is_remote(path: str) -> bool:
    return "://" in path


def open_files(path: str) -> Files:
    return RemoteFiles(path) if is_remote(path) else LocalFiles(path)
