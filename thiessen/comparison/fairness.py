"""What a fair comparison has, and whether this one has it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from thiessen.comparison.bands import FEWEST
from thiessen.comparison.incumbents import Incumbent
from thiessen.comparison.pairs import LEVEL, least_p
from thiessen.comparison.searched import ArmFound
from thiessen.comparison.values import listed
from thiessen.contract import Check, ComparisonSpec
from thiessen.figures.text import count, short


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What was found out of an arm."""

    arm: ArmFound
    incumbents: Mapping[int, Incumbent]  # by replicate
    unconfirmed: Sequence[int]  # replicates whose best was not trained again


def checks(spec: ComparisonSpec, found: Sequence[Evidence]) -> list[Check]:
    """Return each thing that a fair comparison has, with what there is."""
    arms = [each.arm for each in found]
    return [
        _budget(spec, found),
        _space(arms),
        _one_difference(arms),
        _replicates(spec, found),
        _versions(arms),
        _fresh_seeds(spec, found),
        _one_at_a_time(spec),
    ]


def _budget(spec: ComparisonSpec, found: Sequence[Evidence]) -> Check:
    """Whether every search has spent all that it may."""
    most, unit = spec.budget.most, spec.budget.unit
    short_of = [
        f"{each.arm.label} {replicate} ({short(incumbent.total)})"
        for each in found
        for replicate, incumbent in each.incumbents.items()
        if incumbent.total < most
    ]
    begun = sum(len(each.incumbents) for each in found)
    absent = spec.replicates * len(spec.arms) - begun
    if not short_of and absent <= 0:
        return Check(name="equal budget", is_met=True, told=f"each search has spent its {short(most)} {unit}")
    told = [f"{absent} of {spec.replicates * len(spec.arms)} searches have not begun"] if absent > 0 else []
    if short_of:
        more = f" and {len(short_of) - 3} more" if len(short_of) > 3 else ""
        told.append(f"less than {short(most)} {unit} spent: {', '.join(short_of[:3])}{more}")
    return Check(name="equal budget", is_met=False, told="; ".join(told))


def _space(arms: Sequence[ArmFound]) -> Check:
    """Whether what several arms search is declared alike in all of them."""
    shared = [name for name in arms[0].dimensions if all(name in arm.dimensions for arm in arms)]
    for name in sorted({name for arm in arms for name in arm.dimensions}):
        declared = {arm.dimensions[name]: arm.label for arm in arms if name in arm.dimensions}
        if len(declared) > 1:
            whose = listed([f"{how} in {label}" for how, label in declared.items()])
            return Check(name="equal space", is_met=False, told=f"{name} is {whose}")
    told = f"{listed(shared)} alike in all arms" if shared else "no dimension is declared in two ways"
    return Check(name="equal space", is_met=True, told=told)


def _one_difference(arms: Sequence[ArmFound]) -> Check:
    """Whether the arms differ in their strategies, or in what they train, not in both."""
    strategies = {arm.strategy: arm.label for arm in arms}
    name = "one strategy"
    if len(strategies) == 1:
        return Check(name=name, is_met=True, told=f"all arms search by {arms[0].strategy}")
    if differing := list(_differing(arms)):
        told = f"strategies differ, and so do {listed(differing)}: it cannot be told which of them matters"
        return Check(name=name, is_met=False, told=told)
    told = "strategies are what is compared: task, settings and space are alike"
    return Check(name=name, is_met=True, told=told)


def _differing(arms: Sequence[ArmFound]) -> Iterator[str]:
    """Yield what else is not alike."""
    first = arms[0]
    if any(arm.task != first.task for arm in arms):
        yield "tasks"
    if any(dict(arm.settings) != dict(first.settings) for arm in arms):
        yield "settings"
    if any(dict(arm.dimensions) != dict(first.dimensions) for arm in arms):
        yield "spaces"


def _replicates(spec: ComparisonSpec, found: Sequence[Evidence]) -> Check:
    """Whether there are enough for a verdict, with so many pairs of arms."""
    many = min(len(each.incumbents) for each in found)
    of_arms = len(spec.arms) * (len(spec.arms) - 1) // 2
    told = f"{count(many, 'replicate')}, each with a seed of its own"
    if many < FEWEST:
        told = f"{count(many, 'replicate')}: below {FEWEST} there are neither bands nor verdicts"
    elif least_p(many) * of_arms > LEVEL:
        told = f"{many} replicates cannot show any of {of_arms} differences, however large they are"
    is_met = many >= FEWEST and least_p(many) * of_arms <= LEVEL
    return Check(name="enough replicates", is_met=is_met, told=told)


def _versions(arms: Sequence[ArmFound]) -> Check:
    """Whether each task was trained in one version."""
    versions: dict[str, set[str]] = {}
    for arm in arms:
        versions.setdefault(arm.task, set()).update(arm.versions)
    told = "; ".join(f"{task} {listed(sorted(each)) or 'untrained'}" for task, each in versions.items())
    return Check(name="one task version", is_met=all(len(each) <= 1 for each in versions.values()), told=told)


def _fresh_seeds(spec: ComparisonSpec, found: Sequence[Evidence]) -> Check:
    """Whether the best of every search was trained again."""
    if spec.confirm is None:
        told = "nothing was trained again: the best of a search was chosen for its luck too"
        return Check(name="fresh seeds", is_met=False, told=told)
    searches = sum(len(each.incumbents) for each in found)
    lacking = sum(len(each.unconfirmed) for each in found)
    if lacking or not searches:
        told = f"the best configs of {lacking} of {searches} searches were not trained again"
        return Check(name="fresh seeds", is_met=False, told=told)
    times = count(spec.confirm.seeds, "fresh seed")
    return Check(name="fresh seeds", is_met=True, told=f"the best of each search was trained with {times}")


def _one_at_a_time(spec: ComparisonSpec) -> Check:
    """Whether a search knew all its trials before it proposed the next, so that it can be repeated."""
    told = "each search trains one trial at a time"
    if spec.parallel > 1:
        told = f"up to {spec.parallel} trials of a search at once: it cannot be repeated exactly"
    return Check(name="one trial at a time", is_met=spec.parallel == 1, told=told)
