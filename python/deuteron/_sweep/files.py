# SPDX-License-Identifier: Apache-2.0
"""Files that are written whole or not at all, in a folder or at an address that fsspec knows ("s3://bucket/cache")."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import time
from typing import Any, Protocol

from .need import need

_STALE_SECONDS = 24 * 3600  # no write takes a day: what is older is of a process that was killed
_MARK = ".deuteron"  # in a folder for unfinished files that we made: nothing is deleted in another
_UNFINISHED = re.compile(r"\.[0-9]+-[0-9a-f]{16}\.unfinished")


class NotRegular(Exception):
    """What lies in the place of a file is none, or is larger than it may be."""


class Files(Protocol):
    def read(self, name: str, most: int) -> bytes | None:
        """None: it is not there. NotRegular: it is no regular file, or has more than `most` bytes."""

    def write(self, name: str, content: bytes) -> None: ...

    def has(self, name: str) -> bool: ...


class LocalFiles:
    """A folder. A file is written beside its place and renamed, so two writers of one name do not disturb each other.

    >>> import tempfile
    >>> files = LocalFiles(tempfile.mkdtemp())
    >>> files.write("a/b", b"content")
    >>> files.read("a/b", 100), files.read("a/c", 100), files.has("a/c")
    (b'content', None, False)
    """

    def __init__(self, folder: str, beside: bool = False) -> None:
        """`beside`: what is unfinished lies in the folder itself, not in one of its own."""
        self.folder = os.path.abspath(folder)
        self._beside = beside
        self._unfinished = self.folder if beside else os.path.join(self.folder, "unfinished")
        if not beside:
            self._remove_stale()

    def read(self, name: str, most: int) -> bytes | None:
        try:
            # A pipe that nobody writes to is opened, not waited for.
            fd = os.open(os.path.join(self.folder, name), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as e:  # no right to read it, a loop of links, a device without a driver
            raise NotRegular(e.strerror or str(e)) from e
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise NotRegular("no regular file")
        with os.fdopen(fd, "rb", buffering=0) as file:
            content = bytearray()
            while len(content) <= most and (piece := file.read(min(most + 1 - len(content), 1 << 24))):
                content += piece
        if len(content) > most:
            raise NotRegular(f"more than {most} bytes")
        return bytes(content)

    def has(self, name: str) -> bool:
        return os.path.isfile(os.path.join(self.folder, name))

    def write(self, name: str, content: bytes) -> None:
        self._make_unfinished()
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

    def _make_unfinished(self) -> None:
        if os.path.isdir(self._unfinished):
            return
        if self._beside:
            return os.makedirs(self._unfinished, exist_ok=True)
        os.makedirs(self.folder, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # another process was quicker: it leaves the mark
            os.mkdir(self._unfinished)
            os.close(os.open(os.path.join(self._unfinished, _MARK), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))

    def _remove_stale(self) -> None:
        """Of our own files alone, and never through a link."""
        try:
            folder = os.open(self._unfinished, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return
        try:
            names = os.listdir(folder)
            for name in names if _MARK in names else []:
                if not _UNFINISHED.fullmatch(name):
                    continue
                with contextlib.suppress(OSError):  # another process was quicker, or it is another user's
                    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_mtime < time.time() - _STALE_SECONDS:
                        os.unlink(name, dir_fd=folder)
        finally:
            os.close(folder)


class RemoteFiles:
    """What fsspec reaches. Object stores put an object whole; elsewhere checksums find what is not (store.py)."""

    def __init__(self, url: str) -> None:
        self._fs, self._root = filesystem(url)

    def read(self, name: str, most: int) -> bytes | None:
        place = f"{self._root}/{name}"
        try:
            if not self._fs.isfile(place):
                if self._fs.exists(place):
                    raise NotRegular("no file")
                return None
            content: bytes = self._fs.cat_file(place, 0, most + 1)
        except FileNotFoundError:
            return None
        if len(content) > most:
            raise NotRegular(f"more than {most} bytes")
        return content

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
