# SPDX-License-Identifier: Apache-2.0
"""The backend `DeuteronBackend` of ExecuTorch: a part of an edge program becomes a program of ours.
Needs torch and executorch."""

from __future__ import annotations

import json
import re
from typing import Any

from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from torch.export import ExportedProgram
from torch.fx import Node

from .._compile import compile
from .._diagnostics import InternalError
from .._program import Program
from .aten import as_aten

_SOURCE = re.compile(r"(\w+) \(")  # "conv2d_1 (aten.conv2d.default), relu (aten.relu.default)"


def specs_of(target: str, options: dict[str, Any], is_open: bool = False) -> list[CompileSpec]:
    """What goes along with a part, into the file too: the backend on the device says for which
    target the blob is. `is_open`: it is for one sample of a batch."""
    specs = {"target": target.encode(), "options": json.dumps(options).encode()}
    if is_open:
        specs["batch"] = b"open"
    return [CompileSpec(key, value) for key, value in specs.items()]


class DeuteronBackend(BackendDetails):  # type: ignore[misc]
    @classmethod
    def copy_exported_program_for_preprocess(
        cls, edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> ExportedProgram:
        return edge_program  # it is only read

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        given = {spec.key: spec.value for spec in compile_specs}
        made = as_aten(edge_program)
        if made is None:
            raise InternalError("a part without results is to be compiled")
        program = compile(
            made.program, target=given["target"].decode(), **json.loads(given["options"])
        )
        return PreprocessResult(
            processed_bytes=program.bytes,
            debug_handle_map=handles_of(program, made.nodes),
            _delegate_info_meta=program,
        )


def sources_of(row: dict[str, Any]) -> list[str]:
    """The names of the model's own operators in a row of the report."""
    return _SOURCE.findall(row["source"])


def handles_of(program: Program, nodes: dict[str, Node]) -> dict[int, tuple[int, ...]]:
    """By the number of a call in our program: the debug handles of the operators that it
    computes."""
    found = {}
    for k, row in enumerate(program.report.json["operators"]):
        handles = {
            nodes[name].meta.get("debug_handle") for name in sources_of(row) if name in nodes
        }
        flat = {
            h
            for handle in handles
            if handle
            for h in (handle if isinstance(handle, tuple) else (handle,))
        }
        if flat:
            found[k] = tuple(sorted(flat))
    return found
