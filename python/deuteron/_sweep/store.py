# SPDX-License-Identifier: Apache-2.0
"""The cache of a sweep: results by the hash of what they are computed from, and contents (models, samples, programs) by their own hash."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import warnings
from collections.abc import Callable
from typing import Any, Optional

from .._diagnostics import DeuteronWarning, error
from .files import NotRegular, is_remote, open_files

KEY_FILE = "DEUTERON_CACHE_KEY_FILE"  # in the environment: the file of the key that results of a shared cache are signed with
_MOST_RESULT, _MOST_CONTENT, _MOST_KEY = 1 << 20, 1 << 32, 1 << 16  # bytes
_LEAST_KEY = 16

#: Whether what an entry holds is a value of its kind: checked.py.
Check = Callable[[Any], bool]


class Store:
    """Results and contents, in a folder or at an address of fsspec. What is damaged is as if it were not there, with a warning.

    Nothing that lies there is believed before it is checked; docs/python.md says what a cache is trusted with.

    >>> import tempfile
    >>> store = Store(tempfile.mkdtemp())
    >>> store.keep("ab12", {"ram_bytes": 6512})
    >>> store.result("ab12", bool), store.result("ab13", bool)
    ({'ram_bytes': 6512}, None)
    >>> store.content(store.keep_content(b"a model"))
    b'a model'
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        if not is_remote(self.path):
            self.path = os.path.abspath(self.path)  # a worker stands in another folder
        self.said: set[str] = set()  #: warnings, each once
        self._key = signing_key()
        self._files = open_files(self.path)

    def result(self, key: str, is_valid: Check) -> dict[str, Any] | None:
        content = self._read(result_name(key), _MOST_RESULT)
        if content is None:
            return None
        checksum, _, body = content.partition(b"\n")
        if hmac.compare_digest(checksum, self._sum_of(body)):
            value = value_of(body, key)
            if value is not None and is_valid(value):
                return value
        self._say_damaged(result_name(key))
        return None

    def keep(self, key: str, value: dict[str, Any]) -> None:
        body = json.dumps({"key": key, "value": value}, separators=(",", ":")).encode()
        self._files.write(result_name(key), self._sum_of(body) + b"\n" + body)

    def content(self, sha: str) -> bytes | None:
        content = self._read(content_name(sha), _MOST_CONTENT)
        if content is not None and hash_of(content) != sha:
            self._say_damaged(content_name(sha))
            return None
        return content

    def _read(self, name: str, most: int) -> bytes | None:
        try:
            return self._files.read(name, most)
        except NotRegular as e:
            self._say_damaged(name, f" ({e})")
            return None

    def _sum_of(self, body: bytes) -> bytes:
        if self._key is None:
            return hash_of(body).encode()
        return b"hmac-sha256 " + hmac.new(self._key, body, hashlib.sha256).hexdigest().encode()

    def has_content(self, sha: str) -> bool:
        """Whether it is there; not whether it is whole."""
        return self._files.has(content_name(sha))

    def keep_content(self, content: bytes) -> str:
        sha = hash_of(content)
        if self.content(sha) is None:
            self._files.write(content_name(sha), content)
        return sha

    def _say_damaged(self, name: str, why: str = "") -> None:
        text = f"{self.path}/{name}: is damaged and is made again{why}  [sweep.damaged]"
        if text not in self.said:
            self.said.add(text)
            warnings.warn(DeuteronWarning(text), stacklevel=3)


def signing_key() -> Optional[bytes]:
    path = os.environ.get(KEY_FILE)
    if not path:
        return None
    try:
        with open(path, "rb") as file:
            key = file.read(_MOST_KEY)
    except OSError as e:
        raise error(path, f"the key of the cache cannot be read: {e.strerror}", "sweep.key", f"{KEY_FILE} names it") from e
    if len(key) < _LEAST_KEY:
        raise error(path, "the key of the cache is too short", "sweep.key", "head -c 32 /dev/urandom > FILE", measured=str(len(key)),
                    limit=str(_LEAST_KEY))
    return key


def no_number(text: str) -> Any:
    raise ValueError(text)  # NaN and infinities, which JSON does not have


def value_of(body: bytes, key: str) -> dict[str, Any] | None:
    """Of an entry, whatever its bytes are; None: it is none of this key."""
    try:
        entry = json.loads(body, parse_constant=no_number)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or entry.get("key") != key or not isinstance(entry.get("value"), dict):
        return None
    value: dict[str, Any] = entry["value"]
    return value


def hash_of(content: bytes | memoryview) -> str:
    return hashlib.sha256(content).hexdigest()


def result_name(key: str) -> str:
    return f"results/{key[:2]}/{key}"


def content_name(sha: str) -> str:
    return f"contents/{sha[:2]}/{sha}"
