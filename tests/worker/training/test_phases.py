import pytest
import torch

from worker.training.phases import ConvergenceDetector


def noise(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def drift_after(gradients, **settings):
    detector = ConvergenceDetector(**settings)
    for gradient in gradients:
        detector.observe(gradient)
    return detector.drift


@pytest.mark.row(77)
@pytest.mark.parametrize("updates", [2, 30, 400])
def test_gradients_that_agree_are_all_drift(updates):
    assert drift_after([torch.full((3,), 0.7)] * updates, memory=0.9) == pytest.approx(1, abs=1e-5)


@pytest.mark.row(77)
@pytest.mark.parametrize("updates", [2, 30, 400])
def test_gradients_that_are_mere_noise_have_no_drift(updates):
    drift = drift_after(noise(0, updates, 5000), memory=0.9)

    assert abs(drift) < 0.05


@pytest.mark.row(77)
@pytest.mark.parametrize("signal", [0.5, 1.0, 2.0])
def test_drift_is_the_share_of_the_signal_in_the_mean_square(signal):
    drift = drift_after(signal + noise(0, 200, 5000), memory=0.9)

    assert drift == pytest.approx(signal**2 / (signal**2 + 1), abs=0.03)


def descent(updates, *, rate=0.05):
    """When SGD on ½‖θ‖² from far away is said to converge, and the path of ‖θ‖."""
    point, detector, path = (
        torch.full((100,), 30.0, dtype=torch.float64),
        ConvergenceDetector(memory=0.95),
        [],
    )
    for gradient_noise in noise(1, updates, 100):
        gradient = point + gradient_noise
        path.append((point.norm().item(), detector.observe(gradient)))
        point = point - rate * gradient
    return path


@pytest.mark.row(77)
def test_a_descent_explores_until_the_noise_is_all_that_is_left():
    path = descent(400)
    turn = next(update for update, (_, converging) in enumerate(path) if converging)

    assert path[turn][0] < 10  # it began at 300, and the noise of one gradient is 10
    assert turn < 250
    assert all(converging for _, converging in path[turn:])


@pytest.mark.row(77)
def test_training_that_converges_does_so_for_good():
    detector = ConvergenceDetector(memory=0.9)
    for gradient in [*noise(0, 20, 1000), *torch.ones(200, 1000)]:
        converging = detector.observe(gradient)

    assert detector.drift > 0.9
    assert converging


def test_a_detector_judges_only_after_as_many_updates_as_it_remembers():
    detector = ConvergenceDetector(memory=0.9)
    answers = [detector.observe(gradient) for gradient in noise(0, 12, 1000)]

    assert answers == [False] * 9 + [True] * 3


def test_a_detector_goes_on_from_its_state_as_if_nothing_had_happened():
    gradients, whole, first, second = noise(0, 40, 10), *(ConvergenceDetector(memory=0.9) for _ in range(3))
    for gradient in gradients:
        whole.observe(gradient)
    for gradient in gradients[:15]:
        first.observe(gradient)
    second.load_state_dict(first.state_dict())
    for gradient in gradients[15:]:
        second.observe(gradient)

    assert (second.drift, second.converging, second.updates) == (whole.drift, whole.converging, whole.updates)


def test_gradients_that_vanish_are_no_drift():
    assert drift_after([torch.zeros(3)] * 5) == 0


def test_one_gradient_contradicts_nothing():
    assert drift_after([torch.ones(3)]) == 1
