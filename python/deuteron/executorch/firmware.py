# SPDX-License-Identifier: Apache-2.0
"""What firmware links for the parts of a program: the backend with the kernels that they call, and the call that
registers it. Needs torch and executorch."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

from executorch.exir import EdgeProgramManager

from .._data import Path
from .._diagnostics import error
from .._verbs import run_verb
from .backend import DeuteronBackend


def parts_for(manager: EdgeProgramManager, target: str) -> list[tuple[str, bytes]]:
    """(the name of its method, its program) for each part."""
    found = []
    for name in manager.methods:
        module = manager.exported_program(name).graph_module
        for node in module.graph.nodes:
            if "call_delegate" not in str(node.target):
                continue
            part = getattr(module, str(node.args[0].target))
            specs = {spec.key: spec.value for spec in part.compile_specs}
            if part.backend_id == DeuteronBackend.__name__ and specs["target"] == target.encode():
                found.append((name, bytes(part.processed_bytes)))
    return found


def write_backend(folder: Path, target: Path) -> Callable[[EdgeProgramManager], list[Any]]:
    """A step of a recipe: `edge_manager_transform_passes`."""

    def step(manager: EdgeProgramManager) -> list[Any]:
        parts = parts_for(manager, str(target))
        if not parts:
            hint = "leave firmware= out: the program needs nothing of ours"
            raise error(f"recipe for {target}", "has made no part", "backend.parts", hint)
        with tempfile.TemporaryDirectory(prefix="deuteron") as where:
            files = {}
            for k, (name, content) in enumerate(parts):
                path = os.path.join(where, f"{name}_{k}.pte")
                files[path] = f"part {k} of {name}"
                with open(path, "wb") as file:
                    file.write(content)
            words = ["--as=executorch", f"--target={target}", f"--output={os.fspath(folder)}"]
            run_verb(["firmware", *files, *words, "--force"], files)
        return []

    return step
