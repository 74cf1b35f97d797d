"""Propose the next config of a study: read what is known, think with no transaction open."""

from app.domain.study import Study
from app.domain.trial import Cause, Observation, TrialState
from app.storage import Store, Transaction, observations, trials
from thiessen.search import Landscape, Proposal, Stream
from thiessen.search.settings import strategy_from_json


def propose(store: Store, study: Study) -> Proposal:
    """Return the proposal for the study's next trial number. Raises Exhausted."""
    landscape = store.read(lambda tx: known_landscape(tx, study))
    strategy = strategy_from_json(study.spec.strategy)
    turn = study.trials
    return strategy.propose(study.spec.space, landscape, turn, Stream(study.spec.seed, turn))


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
