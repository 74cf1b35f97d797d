"""A new trial for a study: its strategy is asked for the config."""

import asyncio
from functools import partial

from app.domain.errors import StrategyUnavailable
from app.domain.study import Duplicates, Ending, Standing, Study, StudyId
from app.domain.trial import Origin, Result, TrialState
from app.lifecycle.borrow import THINKERS, Unready
from app.lifecycle.memory import Memory, history_of
from app.lifecycle.move import born, settle
from app.storage import Store, Transaction, studies, trials
from app.storage.trials import Given, NewLease, Place
from thiessen.integrations import KNOWN
from thiessen.search import Exhausted, Proposal, Stream
from thiessen.search.asking import proposed
from thiessen.search.settings import strategy_from_json

Thought = tuple[int, Proposal | None]
"""What a borrowed strategy proposes for the trial of a number; nothing when every config has its trial."""


def newborn(
    tx: Transaction,
    memory: Memory,
    standing: Standing,
    lease: NewLease,
    *,
    who: str,
    gpus: int,
    thought: Thought | None,
) -> tuple[Place, Given] | None:
    """Store the next trial of a study whose row is locked, leased; None when there is nothing to train of it.

    The strategy is asked here, in the transaction: what it proposes is for the next number, and nobody else
    can take that number meanwhile. Only borrowed strategies, which may be slow, have been asked before.
    Raises Behind.
    """
    study = memory.study(standing.id)
    if thought is not None and thought[0] != standing.trials:
        return None  # others were faster, and it knew less than they
    try:
        proposal = memory.propose(tx, standing) if thought is None else _told(thought)
    except Exhausted:
        studies.settle(tx, standing.id, standing.state, Ending.EXHAUSTED)
        settle(tx, studies.standing(tx, standing.id), "server")
        return None
    result, is_repeat = _repeated(tx, study, proposal)
    place, given, _ = born(
        tx,
        study,
        standing,
        proposal.config,
        origin=Origin.PROPOSED if result is None else Origin.MEMOISED,
        who=who,
        result=result,
        is_repeat=is_repeat,
        proposal=proposal,
        lease=lease if result is None else None,
        gpus=gpus if result is None else 0,
    )
    return (place, given) if result is None else None


async def think_apart(store: Store, study_id: StudyId) -> Thought:
    """Ask a strategy of another package, whatever may go wrong in there. Raises StrategyUnavailable."""
    study = await store.seen(partial(studies.numbered, study_id=study_id))
    history = await asyncio.to_thread(history_of, store.read, study)
    strategy = strategy_from_json(study.spec.strategy, KNOWN)
    stream = Stream(study.spec.seed, study.standing.trials)
    think = partial(proposed, strategy, history.landscape, study.standing.turns, stream)
    number = study.standing.trials
    try:
        return number, await asyncio.to_thread(THINKERS.ask, (store, study_id), number, think)
    except Exhausted:
        return number, None
    except Unready as unready:
        raise StrategyUnavailable(study.spec.name, f"has no proposal yet: {unready}. Ask again") from None
    except Exception as error:
        reason = f"failed: {type(error).__name__}: {error}"
        raise StrategyUnavailable(study.spec.name, reason) from error


def _told(thought: Thought) -> Proposal:
    _, proposal = thought
    if proposal is None:
        raise Exhausted
    return proposal


def _repeated(tx: Transaction, study: Study, proposal: Proposal) -> tuple[Result | None, bool]:
    """Return the result that is known of a config, if repeats get it, and whether it is a repeat at all."""
    if study.spec.space.is_open:
        return None, True  # it is not known yet what its trial will ask for
    if study.spec.duplicates is Duplicates.FORBID:
        return None, False
    if study.spec.duplicates is Duplicates.ALLOW:
        return None, True
    first = trials.of_config(tx, study.id, proposal.config)
    if first is None:
        return None, False
    if first.state not in {TrialState.SUCCEEDED, TrialState.DIVERGED}:
        return None, True
    return Result(state=first.state, loss=trials.loss(tx, first.id)), True
