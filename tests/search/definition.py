"""The landscape of a study by its definition: made anew of all that is stored."""

from thiessen.search import Landscape


def landscape_of(space, configs, observations, *, duplicates="forbid", failures_repel=True):
    """Return what is known when these are all trials and all observations."""
    landscape = Landscape(space)
    outcomes = {}
    for each in observations:
        outcomes[each.trial] = each.outcome
    for number, config in enumerate(configs):
        if duplicates == "forbid":
            landscape.take(config)
        if outcomes.get(number, "queued") == "queued":
            landscape.pend(number, config)
    for at, each in enumerate(observations):
        is_latest = each.trial not in {later.trial for later in observations[at + 1 :]}
        repels = failures_repel and each.outcome == "failed" and each.cause in {"error", "out_of_memory"}
        if is_latest and each.outcome == "pruned":
            landscape.observe_pruned(each.trial, configs[each.trial], each.loss)
        elif is_latest and (each.outcome in {"succeeded", "diverged"} or repels):
            landscape.observe(each.trial, configs[each.trial], each.loss)
    landscape.watermark = len(observations)
    return landscape
