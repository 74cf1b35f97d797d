"""What is heard of the usual loop, beyond what the battery checks through the optimizers."""

import copy
import gc
import pickle
import warnings
import weakref

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from optimizers import ACP, CrossEntropy, LocalCriterion
from optimizers.errors import NotHeardError
from optimizers.listening import Call, HeardUse, Listening
from optimizers.uses import affine_layers


def listening_to(model):
    return Listening(model, affine_layers(model))


def loss_of(model, batch):
    return CrossEntropy().loss(model(batch[0]), batch[1])


def test_a_backward_pass_tells_inputs_and_slopes_of_each_layer(a_network, a_batch, layer_rows):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)
    truth = layer_rows(model, *batch)
    listening = listening_to(model)
    (6 * loss_of(model, batch)).backward()

    for (inputs, slopes), uses in zip(truth, map(listening.uses().get, ["0", "2"]), strict=True):
        ((use, slope),) = uses.items()
        torch.testing.assert_close(use.inputs, inputs)
        torch.testing.assert_close(slope, slopes)
        assert not use.inputs.requires_grad


def test_the_call_of_the_model_whose_backward_pass_came_is_told_with_inputs_and_outputs(a_network, a_batch):
    model, batch, other = a_network(4, 5, 3), a_batch(6, 4, 3), a_batch(6, 4, 3, seed=2)
    listening = listening_to(model)
    loss, _ = loss_of(model, batch), loss_of(model, other)
    loss.backward()

    (call,) = listening.calls()
    assert call.args[0] is batch[0]
    assert torch.equal(call.outputs, model(batch[0]))
    assert not call.outputs.requires_grad


def test_two_backward_passes_through_one_forward_pass_add_their_slopes(a_network, a_batch):
    model, batch = a_network(4, 3), a_batch(6, 4, 3)
    listening = listening_to(model)
    outputs = model(batch[0])
    outputs.sum().backward(retain_graph=True)
    (2 * outputs.sum()).backward()

    ((_, slope),) = listening.uses()["0"].items()
    assert torch.equal(slope, torch.full_like(slope, 3.0))


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_layer_that_is_computed_anew_in_the_backward_pass_counts_once(a_network, a_batch, reentrant):
    model, (inputs, _) = a_network(4, 5, 3), a_batch(6, 4, 3)
    listening = listening_to(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own, of its older way
        outputs = checkpoint(model, inputs.requires_grad_(), use_reentrant=reentrant)
    outputs.sum().backward()

    assert {name: len(slopes) for name, slopes in listening.uses().items()} == {"0": 1, "2": 1}


def test_a_penalty_on_gradients_counts_the_forward_pass_once(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(6, 4, 3)
    listening = listening_to(model)
    loss = loss_of(model, (inputs.requires_grad_(), targets))
    (slope,) = torch.autograd.grad(loss, inputs, create_graph=True)
    (loss + slope.square().sum()).backward()

    assert [len(slopes) for slopes in listening.uses().values()] == [1, 1]


def left():
    return sum(type(thing) in {Call, HeardUse} for thing in gc.get_objects())


@pytest.mark.parametrize("transform", [torch.func.vmap, torch.func.jacfwd, torch.func.jacrev])
def test_what_torch_func_does_with_the_model_counts_nothing(a_network, a_batch, transform):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)
    listening = listening_to(model)
    transform(model)(batch[0])
    assert listening.uses() == {}
    loss_of(model, batch).backward()

    assert [len(slopes) for slopes in listening.uses().values()] == [1, 1]


def test_what_a_forward_pass_left_dies_with_its_graph(a_network, a_batch):
    model, (inputs, _) = a_network(4, 5, 3), a_batch(6, 4, 3)
    listening = listening_to(model)
    gc.disable()  # so that only reference counts can free it
    try:
        outputs = model(inputs)
        before = left()
        del outputs
        assert (before, left()) == (3, 0)
    finally:
        gc.enable()
    assert listening.uses() == {}


def test_a_graph_does_not_keep_the_listener_alive(a_network, a_batch):
    model, (inputs, _) = a_network(4, 5, 3), a_batch(6, 4, 3)
    listening = listening_to(model)
    outputs, alive = model(inputs), weakref.ref(listening)
    del listening
    outputs.sum().backward()

    assert alive() is None
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_an_error_in_the_forward_pass_ends_its_call(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)
    listening = listening_to(model)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        model(batch[0][:, :3])
    loss_of(model, batch).backward()

    (call,) = listening.calls()
    assert call.args[0] is batch[0]
    listening.forget()
    model[0](batch[0]).sum().backward()
    assert listening.calls() == []  # the layer was called without the model


def test_slopes_of_a_backward_pass_that_records_itself_hold_no_graph(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)
    listening = listening_to(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own, of the cycle that this makes
        loss_of(model, batch).backward(create_graph=True)
    model.zero_grad()

    assert not any(slope.requires_grad for slopes in listening.uses().values() for slope in slopes.values())


def test_what_was_reached_for_no_gradient_is_forgotten_at_the_next_forward_pass(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)
    listening = listening_to(model)
    torch.autograd.grad(loss_of(model, batch), list(model.parameters()))
    gc.disable()
    try:
        left_over = left()
        outputs = model(batch[0])
        assert (left_over, left()) == (3, 3)
        del outputs
        assert left() == 0
    finally:
        gc.enable()
    assert listening.uses() == {}


def test_a_step_on_a_batch_compiles_nothing(a_network, a_batch):
    compiled = []

    def backend(graph, inputs):
        compiled.append(inputs)
        return graph.forward

    model = a_network(4, 5, 3)
    model.compile(backend=backend)
    optimizer = LocalCriterion(model, CrossEntropy())
    for seed in range(3):
        optimizer.step(*a_batch(6, 4, 3, seed=seed))

    assert compiled == []


def test_what_listens_is_never_compiled(a_network, a_batch, monkeypatch):
    compiling = []
    monkeypatch.setattr(Listening, "used", lambda *_: compiling.append(torch.compiler.is_compiling()))
    model = a_network(4, 5, 3)
    listening = listening_to(model)
    torch.compiler.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the compiler's own
        torch.compile(model, backend="eager")(a_batch(6, 4, 3)[0])

    assert compiling == [False, False]
    assert listening.has_heard


def test_the_state_is_the_same_for_a_compiled_model(a_network, a_batch):
    states = []
    for compiled in (lambda model: model, lambda model: torch.compile(model, backend="eager")):
        optimizer = ACP(compiled(a_network(4, 5, 3)), CrossEntropy())
        optimizer.step(*a_batch(6, 4, 3))
        states.append(optimizer.state_dict()["layers"].keys())

    assert states[0] == states[1]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])  # noqa: S301
def test_a_copy_of_the_model_alone_is_not_heard(a_network, a_batch, copied):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)
    listening = listening_to(model)
    loss_of(copied(model), batch).backward()

    assert listening.uses() == {}


def test_a_model_in_eval_mode_is_heard_too(a_network, a_batch):
    model, batch = a_network(4, 5, 3).eval(), a_batch(6, 4, 3)
    listening = listening_to(model)
    loss_of(model, batch).backward()

    assert listening.uses().keys() == {"0", "2"}


def test_after_a_step_on_a_batch_the_usual_loop_is_refused_until_it_is_listened_to(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)
    optimizer = LocalCriterion(model, CrossEntropy())
    optimizer.step(*batch)
    loss_of(model, batch).backward()
    with pytest.raises(NotHeardError, match=r"LocalCriterion was closed.* Call listen\(\)"):
        optimizer.step()
    optimizer.listen()
    loss_of(model, batch).backward()

    assert optimizer.step().update_norm > 0


def test_gradients_from_elsewhere_are_refused(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)
    loss_of(model, batch).backward()
    with pytest.raises(NotHeardError, match="has heard no forward pass"):
        LocalCriterion(model, CrossEntropy()).step()


def test_a_step_without_any_gradient_changes_nothing(a_network):
    assert LocalCriterion(a_network(4, 5, 3), CrossEntropy()).step().update_norm == 0


@pytest.mark.parametrize(
    "names", [["inputs"], ["targets"], ["inputs", "closure"], ["inputs", "targets", "closure"]]
)
def test_half_a_batch_or_a_batch_and_a_closure_is_refused(a_network, a_batch, names):
    inputs, targets = a_batch(6, 4, 3)
    given = {"inputs": inputs, "targets": targets, "closure": lambda: 0.0}
    with pytest.raises(TypeError, match=r"takes a batch, step\(inputs, targets\), or a closure"):
        LocalCriterion(a_network(4, 5, 3), CrossEntropy()).step(**{name: given[name] for name in names})


def test_a_closure_can_be_given_by_its_name(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)

    def closure():
        loss = loss_of(model, batch)
        loss.backward()
        return loss

    expected = loss_of(model, batch).item()
    assert LocalCriterion(model, CrossEntropy()).step(closure=closure).loss == expected


def scaled(model, optimizer, batch, *, by_hand):
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**7)
    scaler.scale(loss_of(model, batch)).backward()
    if by_hand:
        scaler.unscale_(optimizer)
    scaler.step(optimizer)


@pytest.mark.parametrize("alpha", ["largest_slope", 0.5])
def test_a_scaled_loss_takes_the_same_step(a_network, a_batch, moves_of, alpha):
    batch, moves = a_batch(6, 4, 3), []
    for scales in (False, True):
        model = a_network(4, 5, 3)
        optimizer = ACP(model, CrossEntropy(), alpha=alpha)
        take = (
            (lambda m=model, o=optimizer: scaled(m, o, batch, by_hand=False))
            if scales
            else (lambda o=optimizer: o.step(*batch))
        )
        moves.append(moves_of(model, take))

    for ours, theirs in zip(*moves, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)


def test_slopes_whose_scale_is_forgotten_are_not_used(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)
    before = model[0].weight.detach().clone()
    with pytest.raises(ValueError, match=r"layer '.' are of a scaled loss.* choose a number for alpha"):
        scaled(model, ACP(model, CrossEntropy(), alpha="largest_slope"), batch, by_hand=True)

    assert torch.equal(model[0].weight, before)


def test_a_number_for_alpha_needs_no_slopes(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)
    before = model[0].weight.detach().clone()
    scaled(model, ACP(model, CrossEntropy(), alpha=0.5), batch, by_hand=True)

    assert not torch.equal(model[0].weight, before)
