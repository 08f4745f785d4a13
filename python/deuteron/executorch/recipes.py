# SPDX-License-Identifier: Apache-2.0
"""Recipes of ExecuTorch, one for each target, and one call for everything. Needs torch, torchao and
executorch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Optional, Union, cast

from executorch.export import BackendRecipeProvider, ExportRecipe, RecipeType, recipe_registry
from executorch.export.recipe import LoweringRecipe, QuantizationRecipe

from .._compile import targets
from .._data import Path
from .._diagnostics import error
from .partitioner import DeuteronPartitioner
from .quantizer import DeuteronQuantizer

Samples = Callable[[], Iterable[tuple[Any, ...]]]
BACKEND = "deuteron"


class _RecipeType(RecipeType):  # type: ignore[misc]
    @classmethod
    def get_backend_name(cls) -> str:
        return BACKEND


def name_of(target: str) -> str:
    """CORTEX_M0PLUS_INT8 for cortex-m0+."""
    name = target + "plus" if target.endswith("+") else target
    return (
        "".join(c if c.isalnum() else "_" for c in name).replace("_plus", "plus").upper() + "_INT8"
    )


TARGETS = {name_of(t.name): t.name for t in targets()}
DeuteronRecipeType: Any = cast(Any, _RecipeType)(
    "DeuteronRecipeType",
    {name: f"{target}-int8" for name, target in TARGETS.items()},
    module=__name__,
)


class DeuteronRecipeProvider(BackendRecipeProvider):  # type: ignore[misc]
    @property
    def backend_name(self) -> str:
        return BACKEND

    def get_supported_recipes(self) -> Sequence[Any]:
        return list(DeuteronRecipeType)

    def create_recipe(self, recipe_type: Any, **kwargs: Any) -> Optional[ExportRecipe]:
        if not isinstance(recipe_type, DeuteronRecipeType):
            return None
        return recipe_for(TARGETS[recipe_type.name], name=recipe_type.value, **kwargs)


def recipe_for(
    known: str,
    *,
    name: str,
    target: Optional[Path] = None,
    calibration_inputs_fn: Optional[Samples] = None,
    is_qat: bool = False,
    train_fn: Optional[Callable[[Any], None]] = None,
    dynamic_batch_size: Optional[bool] = None,
    firmware: Optional[Path] = None,
    **options: Any,
) -> ExportRecipe:
    """`target`: another one of the same kind, such as the path of a .toml file. `options`: of
    DeuteronPartitioner. With dialect="stock" parts become operators of ExecuTorch's own dialect.
    `firmware`: a folder for the backend with the kernels that the parts call, as of
    `deuteron firmware --as executorch`."""
    target = target or known
    if is_qat and train_fn is None:
        raise error(
            f"recipe {name}", "is_qat=True, and there is no train_fn", "recipe.train_fn",
            "give train_fn=, which trains the prepared model it is given",
        )  # fmt: skip
    quantization = QuantizationRecipe(
        quantizers=[DeuteronQuantizer(target, qat=is_qat, allow_float=True)],
        is_qat=is_qat,
        dynamic_batch_size=is_qat if dynamic_batch_size is None else dynamic_batch_size,
        calibration_inputs_fn=calibration_inputs_fn and not_empty(calibration_inputs_fn),
        train_fn=train_fn,
    )
    lowering = LoweringRecipe(partitioners=[DeuteronPartitioner(target, **options)])
    if options.get("dialect") == "stock":
        from .dialect import inline_parts

        lowering.edge_manager_transform_passes = [inline_parts]
    if firmware is not None:
        from .firmware import write_backend

        passes = [*(lowering.edge_manager_transform_passes or []), write_backend(firmware, target)]
        lowering.edge_manager_transform_passes = passes
    return ExportRecipe(name=name, quantization_recipe=quantization, lowering_recipe=lowering)


def not_empty(samples: Samples) -> Samples:
    def checked() -> Iterator[tuple[Any, ...]]:
        count = 0
        for count, sample in enumerate(samples(), 1):
            yield sample
        if count == 0:
            raise error(
                "calibration", "yields nothing, so no value has a range", "calibration.empty",
                "give at least one sample; 32 are often enough",
            )  # fmt: skip

    return checked


_CONFIGURATIONS: dict[str, list[Any]] = {
    "imxrt700cm": [DeuteronRecipeType.IMXRT700CM_INT8],
    "imxrt700cm-neutron-then-cortex-m": [
        DeuteronRecipeType.IMXRT700_INT8,
        DeuteronRecipeType.CORTEX_M33_INT8,
    ],
}


def get_imxrt700cm_recipe(target_config: str = "imxrt700cm", **kwargs: Any) -> ExportRecipe:
    """The i.MX RT700 with its Cortex-M33, as ExecuTorch's own functions for a phone.

    - "imxrt700cm": one part for both, whose compiler puts each operator where it costs least.
    - "imxrt700cm-neutron-then-cortex-m": parts for the NPU first, then parts for the CPU.

    >>> from deuteron.executorch import get_imxrt700cm_recipe
    >>> get_imxrt700cm_recipe().name
    'imxrt700cm-int8'
    """
    if target_config not in _CONFIGURATIONS:
        known = ", ".join(_CONFIGURATIONS)
        raise ValueError(
            f"Unsupported i.MX RT700 configuration: {target_config!r}. Supported: {known}"
        )
    recipes = [ExportRecipe.get_recipe(one, **kwargs) for one in _CONFIGURATIONS[target_config]]
    return ExportRecipe.combine(recipes, recipe_name=target_config)


def partitioners_of(recipe: ExportRecipe) -> list[DeuteronPartitioner]:
    found: Union[list[Any], dict[str, list[Any]]] = recipe.lowering_recipe.partitioners or []
    each = found if isinstance(found, list) else [p for one in found.values() for p in one]
    return [p for p in each if isinstance(p, DeuteronPartitioner)]


recipe_registry.register_backend_recipe_provider(DeuteronRecipeProvider())
