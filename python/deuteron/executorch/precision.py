# SPDX-License-Identifier: Apache-2.0
"""Which operators a quantizer takes: what the user says of modules, operators and nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, Optional, get_args

from torch.fx import GraphModule, Node

from .._diagnostics import error

Precision = Literal["int8", "float"]


class Choices:
    def __init__(self) -> None:
        self.everywhere = True
        self.operators: dict[Any, bool] = {}
        self.types: dict[str, bool] = {}
        self.names: dict[str, bool] = {}
        self.wanted: Optional[Callable[[Node], bool]] = None

    def set_global(self, precision: Optional[Precision]) -> None:
        self.everywhere = self.checked(precision)

    @staticmethod
    def checked(precision: Optional[Precision]) -> bool:
        allowed = get_args(Precision)
        if precision is not None and precision not in allowed:
            raise ValueError(f'a precision is "{allowed[0]}" or "{allowed[1]}", not {precision!r}')
        return precision == "int8"

    def takes(self, node: Node) -> bool:
        return self._named(node) and (self.wanted is None or bool(self.wanted(node)))

    def _named(self, node: Node) -> bool:
        modules = list(modules_of(node))
        named = [n for n in self.names if any(is_within(path, n) for path, _ in modules)]
        if named:
            return self.names[max(named, key=len)]
        for _, module_type in reversed(modules):  # the innermost one
            if module_type in self.types:
                return self.types[module_type]
        packet = getattr(node.target, "overloadpacket", None)
        return self.operators.get(node.target, self.operators.get(packet, self.everywhere))

    def check_names(self, model: GraphModule) -> None:
        there = {path for node in model.graph.nodes for path, _ in modules_of(node) if path}
        for name in self.names:
            if not any(is_within(path, name) for path in there):
                known = ", ".join(sorted(there)[:8]) or "none: it has no modules"
                raise error(
                    f"module `{name}`",
                    "has no operator in the model",
                    "quantizer.module",
                    f"modules of the model: {known}",
                )


def is_within(path: str, module: str) -> bool:
    return path == module or path.startswith(module + ".")


def modules_of(node: Node) -> Iterator[tuple[str, str]]:
    """The modules that an operator comes from, with their classes, the outermost first."""
    for path, module_type in (node.meta.get("nn_module_stack") or {}).values():
        if isinstance(module_type, type):
            module_type = f"{module_type.__module__}.{module_type.__qualname__}"
        yield path.removeprefix("L['self']").removeprefix("."), module_type
