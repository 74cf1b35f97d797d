"""Propose the next config of a study: read what is known, think with no transaction open."""

from functools import partial
from time import perf_counter

from app import meters
from app.domain.errors import StrategyUnavailable
from app.domain.study import Study
from app.domain.trial import Cause, Observation, TrialState
from app.lifecycle.borrow import THINKERS, Think, Unready
from app.storage import Store, Transaction, observations, trials
from thiessen.integrations import KNOWN
from thiessen.search import Exhausted, Landscape, Proposal, Stream
from thiessen.search.settings import strategy_from_json
from thiessen.search.strategy import StrategyError


def propose(store: Store, study: Study) -> Proposal:
    """Return the proposal for the study's next trial number. Raises Exhausted, StrategyUnavailable."""
    try:
        strategy = strategy_from_json(study.spec.strategy, KNOWN)
    except StrategyError as error:  # stored by another version
        raise StrategyUnavailable(study.spec.name, f"is not known to this server: {error}") from error
    landscape = store.read(lambda tx: known_landscape(tx, study))
    turn = study.trials
    stream = Stream(study.spec.seed, turn)
    think = partial(strategy.propose, study.spec.space, landscape, turn, stream)
    began = perf_counter()
    proposal = think() if strategy.replayable else _borrowed(store, study, think)
    meters.PROPOSAL_SECONDS.labels(strategy.name).observe(perf_counter() - began)
    return proposal


def _borrowed(store: Store, study: Study, think: Think) -> Proposal:
    """Return what a strategy of another package proposes, whatever may go wrong in there."""
    try:
        return THINKERS.ask((store, study.id), study.trials, think)
    except Exhausted:
        raise
    except Unready as unready:
        raise StrategyUnavailable(study.spec.name, f"has no proposal yet: {unready}. Ask again") from None
    except Exception as error:
        reason = f"failed: {type(error).__name__}: {error}"
        raise StrategyUnavailable(study.spec.name, reason) from error


def known_landscape(tx: Transaction, study: Study) -> Landscape:
    """Return what was known when `study` was read: exactly its counters, whatever was committed since."""
    landscape = Landscape(study.spec.space)
    known = observations.known_to(tx, study)
    ended = {observation.trial for observation in known}
    for number, config in enumerate(trials.configs(tx, study)):
        landscape.take(config)
        if number not in ended:
            landscape.pend(number, config)
    for observation in known:
        if _speaks_of_its_config(observation):
            landscape.observe(observation.trial, observation.config, observation.loss)
    landscape.watermark = study.observations
    return landscape


def _speaks_of_its_config(observation: Observation) -> bool:
    """Workers that vanished say nothing about a config; training that broke in every attempt does."""
    return not (observation.outcome is TrialState.FAILED and observation.cause is Cause.ATTEMPTS_USED_UP)
