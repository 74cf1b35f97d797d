"""Which parameters of a model form one block of its curvature, and what the layers did in a forward pass.

    blocks = find_blocks(model)
    with recording(model, blocks) as uses:
        outputs = model(inputs)

Every trained parameter is in a block. One whose layers no rule knows, or know by different forms, is a block
by itself, of which the diagonal is known.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias, final

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.nn.functional import linear

from optimizers.curvature.forms import Affine, Form, Whole
from optimizers.curvature.network import forwards_replaced
from optimizers.errors import UnsupportedModelError
from optimizers.layers import listening
from optimizers.rules import RULES, Rule

Rules: TypeAlias = Mapping[type[nn.Module], Rule]


@final
@dataclass(frozen=True, kw_only=True)
class Block:
    """Parameters whose curvature is one matrix; names alone, so that it outlives copies of the model."""

    name: str
    form: Form
    params: tuple[str, ...]  # as the model names those of the form
    parts: tuple[tuple[str, str], ...] = ()  # the layers that use them, each with the name of its part

    def matrix(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Return the block's matrix V of tensors by the parameters' names, such as gradients."""
        return self.form.matrix(self._own(tensors))

    def put(self, matrix: Tensor, tensors: Mapping[str, Tensor]) -> None:
        """Write V to where it belongs in tensors by the parameters' names: the way back."""
        self.form.put(matrix, self._own(tensors))

    def _own(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {own: tensors[name] for own, name in zip(self.form.names, self.params, strict=True)}


@final
@dataclass(frozen=True, kw_only=True)
class Use:
    """One call of a layer, or of a part of one."""

    layer: nn.Module
    inputs: Tensor
    edge: GradientEdge  # where a backward pass delivers the gradient at its outputs
    origin: GradientEdge | None  # where its inputs come from


@final
@dataclass(frozen=True, kw_only=True)
class Uses:
    """What the layers did while it was open."""

    blocks: Mapping[str, Block]
    parameters: Mapping[str, Tensor]  # of all the blocks
    calls: dict[str, list[Use]] = field(default_factory=dict)  # by block, in the order of the calls


def find_blocks(
    model: nn.Module, trained: Collection[Tensor] | None = None, *, rules: Rules = RULES
) -> dict[str, Block]:
    """Return the blocks by name, that hold every trained parameter; all that require gradients, unless told.

    Raises UnsupportedModelError for gradients that are not dense.
    """
    among = set(model.parameters() if trained is None else trained)
    names: dict[Tensor, str] = {
        p: name for name, p in model.named_parameters() if p.requires_grad and p in among
    }
    blocks = _agreed(list(_claims(model, names, rules)))
    claimed = {name for block in blocks for name in block.params}
    blocks += [diagonal_block(name) for name in names.values() if name not in claimed]
    order = {name: number for number, name in enumerate(names.values())}
    return {block.name: block for block in sorted(blocks, key=lambda block: order[block.params[0]])}


def diagonal_block(name: str) -> Block:
    """Return the block of one parameter of whose curvature the diagonal is known."""
    return Block(name=name, form=Whole(name=name), params=(name,))


def _claims(model: nn.Module, names: Mapping[Tensor, str], rules: Rules) -> Iterator[Block]:
    """Return what each layer would have as blocks."""
    for path, layer in model.named_modules():
        rule = rules.get(type(layer))
        if rule is None:
            continue
        if getattr(layer, "sparse", False):
            raise UnsupportedModelError(
                path, "has sparse gradients, which make no matrix", "Make it with sparse=False."
            )
        own = {own: names[p] for own, p in layer.named_parameters() if p in names}
        for part, whole in rule.forms(layer).items():
            form = whole.only(own)
            if form is not None:
                params = tuple(own[name] for name in form.names)
                yield Block(name=_joined(path, part), form=form, params=params, parts=((path, part),))


def _agreed(claims: list[Block]) -> list[Block]:
    """Return one block for all layers that claim the same parameters alike; none where they disagree."""
    alike: dict[tuple[tuple[str, ...], Form], list[Block]] = {}
    layers: dict[str, set[str]] = {}  # by parameter
    for claim in claims:
        alike.setdefault((claim.params, claim.form), []).append(claim)
        for name in claim.params:
            layers.setdefault(name, set()).update(path for path, _ in claim.parts)
    disputed = {
        name for (params, _), found in alike.items() for name in params if len(layers[name]) != len(found)
    }
    return [
        Block(
            name=found[0].name,
            form=form,
            params=params,
            parts=tuple(part for claim in found for part in claim.parts),
        )
        for (params, form), found in alike.items()
        if disputed.isdisjoint(params)
    ]


def _joined(path: str, part: str) -> str:
    return f"{path}.{part}" if path else part


@contextmanager
def recording(model: nn.Module, blocks: Mapping[str, Block], *, rules: Rules = RULES) -> Iterator[Uses]:
    """Record every use of the blocks while the context is open; passes without gradients are not recorded.

    Layers whose rule has a forward of its own run by that: recurrent layers step by step. Compiled models
    run without being compiled. No hook outlives the context.
    """
    modules, names = dict(model.named_modules()), {name for block in blocks.values() for name in block.params}
    parameters = {name: parameter for name, parameter in model.named_parameters() if name in names}
    uses = Uses(blocks=blocks, parameters=parameters)
    by_layer: dict[str, dict[str, str]] = {}
    for block in blocks.values():
        for path, part in block.parts:
            by_layer.setdefault(path, {})[part] = block.name

    with ExitStack() as watches:
        if any(
            hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None)
            for module in modules.values()
        ):
            watches.enter_context(torch.compiler.set_stance("force_eager"))
        for path, parts in by_layer.items():
            layer = modules[path]
            tell = partial(_told, uses, layer, parts)
            watches.enter_context(_watching(layer, rules[type(layer)], tell))
        yield uses


def _told(
    uses: Uses, layer: nn.Module, parts: Mapping[str, str], part: str, inputs: Tensor, outputs: Tensor
) -> None:
    if part in parts and torch.is_grad_enabled() and outputs.requires_grad:
        # Edges rather than tensors: an in-place activation may overwrite the outputs later.
        use = Use(
            layer=layer,
            inputs=inputs.detach(),
            edge=get_gradient_edge(outputs),
            origin=get_gradient_edge(inputs) if inputs.requires_grad else None,
        )
        uses.calls.setdefault(parts[part], []).append(use)


@contextmanager
def _watching(layer: nn.Module, rule: Rule, tell: Callable[[str, Tensor, Tensor], None]) -> Iterator[None]:
    forms = rule.forms(layer)
    if rule.forward is not None:
        affine = partial(_affine, layer, forms, tell)
        with forwards_replaced({layer: partial(rule.forward, layer, affine)}):
            yield
        return

    def heard(name: str, layer: nn.Module, inputs: Tensor, outputs: Tensor) -> None:
        del name, layer
        for part in forms:
            tell(part, inputs, outputs)

    with listening({"": layer}, heard):
        yield


def _affine(
    layer: nn.Module, forms: Mapping[str, Form], tell: Callable[..., None], part: str, inputs: Tensor
) -> Tensor:
    form = forms[part]
    if not isinstance(form, Affine) or form.weight is None:
        raise TypeError(
            f"The forward of a rule asks for part {part!r}, whose form is not Affine with a weight."
        )
    outputs = linear(
        inputs, *(piece.in_layer(layer) for piece in (form.weight, form.bias) if piece is not None)
    )
    tell(part, inputs, outputs)
    return outputs
