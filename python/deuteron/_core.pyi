# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Sequence

__version__: str

RawDiagnostic = tuple[str, str, str, str, str, str, str]
RawSpec = tuple[str, str, tuple[int, ...]]
# values (name, cluster, dtype, symmetric, fixed (scale, zero point)); constants (name, reader, dtype, low, high, axis, symmetric); names of
# identities and of operators in parts; operators in float (name, target, module); whether the model was quantized
RawAnnotations = tuple[
    list[tuple[str, int, str, bool, tuple[float, int] | None]],
    list[tuple[str, str, str, int, int, int, bool]],
    list[str],
    list[str],
    list[tuple[str, str, str]],
    bool,
]
ProgressCallback = Callable[[str, int, int], object]

def run_verb(
    arguments: Sequence[bytes], progress: ProgressCallback | None
) -> tuple[int, bytes, bytes, str, list[RawDiagnostic]]: ...
def options_of(verb: str) -> list[tuple[str, str, str, str, bool, bool, bool, bool]]: ...
def model_inputs(path: bytes) -> tuple[list[RawSpec], bool, list[RawDiagnostic]]: ...
def annotations(model: bytes, target: str) -> tuple[RawAnnotations, list[RawDiagnostic]]: ...
def write_whole(path: bytes, content: bytes) -> list[RawDiagnostic]: ...

class HostRun:
    @staticmethod
    def open(name: bytes, content: bytes, verify_key: bytes) -> tuple[HostRun | None, list[RawDiagnostic]]: ...
    def inputs(self) -> list[RawSpec]: ...
    def outputs(self) -> list[RawSpec]: ...
    def whole(self) -> bytes | None: ...
    def run(
        self, arrays: Sequence[tuple[str, int, tuple[int, ...], bytes]], progress: ProgressCallback | None
    ) -> tuple[list[bytes], int, bool, list[RawDiagnostic]]: ...
