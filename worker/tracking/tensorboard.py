"""Attempts in TensorBoard: a run each, in a folder of its study."""

from pathlib import Path
from typing import Final

from tensorboardX import SummaryWriter
from tensorboardX.summary import hparams

from worker.tracking.tracking import Began, Ended, Reported, place

FLUSH_SECONDS: Final = 5  # curves are looked at while they grow


class TensorBoard:
    """Writes event files: scalars as they come, and at the end the config beside the outcome."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder).expanduser().resolve()
        self._writers: dict[str, SummaryWriter] = {}  # by lease

    def begin(self, began: Began) -> None:
        lease = began.lease
        folder = self._folder / place(lease) / f"trial-{lease.trial}" / f"attempt-{lease.attempt}"
        self._writers[lease.lease_id] = SummaryWriter(str(folder), flush_secs=FLUSH_SECONDS)

    def report(self, reported: Reported) -> None:
        writer = self._writers.get(reported.lease.lease_id)
        if writer is not None:
            for name, value in reported.point.metrics.items():
                writer.add_scalar(name, float(value), reported.point.step, walltime=reported.at)

    def end(self, ended: Ended) -> None:
        writer = self._writers.pop(ended.lease.lease_id, None)
        if writer is None:
            return
        config = {name: str(each) if each is None else each for name, each in ended.lease.config.items()}
        value = {} if ended.value is None else {"value": ended.value}
        for summary in hparams({**config, "outcome": ended.outcome}, value):
            writer.file_writer.add_summary(summary, walltime=ended.at)
        for name, each in value.items():
            writer.add_scalar(name, each, walltime=ended.at)
        writer.add_text("outcome", f"{ended.outcome} {ended.message}".rstrip(), walltime=ended.at)
        writer.close()
