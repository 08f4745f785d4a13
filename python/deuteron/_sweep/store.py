# SPDX-License-Identifier: Apache-2.0
"""The cache of a sweep: results by the hash of what they are computed from, and contents (models, samples, programs) by their own hash."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from typing import Any

from .._diagnostics import DeuteronWarning
from .files import is_remote, open_files


class Store:
    """Results and contents, in a folder or at an address of fsspec. What is damaged is as if it were not there, with a warning.

    >>> import tempfile
    >>> store = Store(tempfile.mkdtemp())
    >>> store.keep("ab12", {"ram_bytes": 6512})
    >>> store.result("ab12"), store.result("ab13")
    ({'ram_bytes': 6512}, None)
    >>> store.content(store.keep_content(b"a model"))
    b'a model'
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        if not is_remote(self.path):
            self.path = os.path.abspath(self.path)  # a worker stands in another folder
        self._files = open_files(self.path)

    def result(self, key: str) -> dict[str, Any] | None:
        content = self._files.read(result_name(key))
        if content is None:
            return None
        checksum, _, body = content.partition(b"\n")
        if checksum.decode(errors="replace") == hash_of(body):
            entry = json.loads(body)
            if entry["key"] == key:
                value: dict[str, Any] = entry["value"]
                return value
        self._say_damaged(result_name(key))
        return None

    def keep(self, key: str, value: dict[str, Any]) -> None:
        body = json.dumps({"key": key, "value": value}, separators=(",", ":")).encode()
        self._files.write(result_name(key), hash_of(body).encode() + b"\n" + body)

    def content(self, sha: str) -> bytes | None:
        content = self._files.read(content_name(sha))
        if content is not None and hash_of(content) != sha:
            self._say_damaged(content_name(sha))
            return None
        return content

    def has_content(self, sha: str) -> bool:
        """Whether it is there; not whether it is whole."""
        return self._files.has(content_name(sha))

    def keep_content(self, content: bytes) -> str:
        sha = hash_of(content)
        if self.content(sha) is None:
            self._files.write(content_name(sha), content)
        return sha

    def _say_damaged(self, name: str) -> None:
        warnings.warn(DeuteronWarning(f"{self.path}/{name}: is damaged and is made again  [sweep.damaged]"), stacklevel=3)


def hash_of(content: bytes | memoryview) -> str:
    return hashlib.sha256(content).hexdigest()


def result_name(key: str) -> str:
    return f"results/{key[:2]}/{key}"


def content_name(sha: str) -> str:
    return f"contents/{sha[:2]}/{sha}"
