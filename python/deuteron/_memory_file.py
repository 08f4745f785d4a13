# SPDX-License-Identifier: Apache-2.0
"""Files in memory: how models, samples and results go to the compiler and back without touching a disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType

import numpy as np

from ._diagnostics import error


class MemoryFile:
    """A file without a name, which the system takes away with its last user, however that ends. `path` opens it in this process."""

    def __init__(self, name: str, content: bytes = b"") -> None:
        self.name = name  # what messages call it
        self._file = os.fdopen(os.memfd_create("deuteron"), "w+b", buffering=0)
        self.path = f"/proc/self/fd/{self._file.fileno()}"
        if content:
            self.write(content)

    def write(self, content: bytes | memoryview) -> None:
        view = memoryview(content).cast("B")
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError as e:  # no memory left
            raise error(self.name, f"cannot be kept in memory: {e.strerror}", "memory.file") from e

    def read(self) -> bytes:
        return os.pread(self._file.fileno(), os.fstat(self._file.fileno()).st_size, 0)

    @contextmanager
    def opened(self) -> Iterator[object]:
        """As a Python file, for libraries that write to one."""
        with os.fdopen(os.dup(self._file.fileno()), "w+b") as file:
            yield file

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> MemoryFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class ArrayFile(MemoryFile):
    """A `.npy` of samples that is written as they come; its header, when their number is known."""

    HEADER = 128

    def __init__(self, name: str, dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> None:
        super().__init__(name)
        self.dtype, self.shape, self.count = dtype, shape, 0
        self.write(bytes(self.HEADER))

    def append(self, samples: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> None:
        if samples.size:
            self.write(samples.reshape(-1).view(np.uint8).data)
        self.count += samples.shape[0]

    def finish(self) -> None:
        text = repr({"descr": self.dtype.str, "fortran_order": False, "shape": (self.count, *self.shape)})
        room = self.HEADER - 10
        if len(text) >= room:
            raise error(self.name, "has too many axes", "input.shape", measured=str(len(self.shape)), limit="16")
        header = b"\x93NUMPY\x01\x00" + room.to_bytes(2, "little") + text.ljust(room - 1).encode() + b"\n"
        os.pwrite(self._file.fileno(), header, 0)


class MemoryFiles(ExitStack):
    """The files of one call: closed with it, and called by their names in what the call says."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, str] = {}

    def add(self, name: str, content: bytes = b"") -> MemoryFile:
        return self.keep(MemoryFile(name, content))

    def keep(self, file: MemoryFile) -> MemoryFile:
        self.enter_context(file)
        self.names[file.path] = file.name
        return file
