#!/usr/bin/env python3
"""OSS Vizier's service with everything in RAM, and the study of the benchmark in it."""

import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from vizier.service import clients, pyvizier, servers

from benchmarks.service.space import SPACE

OWNER, STUDY, LOSS = "bench", "bench", "loss"


def main() -> None:
    """Serve until killed."""
    server = servers.DefaultVizierServer(database_url=None)
    clients.environment_variables.server_endpoint = server.endpoint
    study = pyvizier.StudyConfig()
    study.algorithm = "RANDOM_SEARCH"
    goal = pyvizier.ObjectiveMetricGoal.MINIMIZE
    study.metric_information.append(pyvizier.MetricInformation(name=LOSS, goal=goal))
    for name, dimension in SPACE.items():
        _add(study.search_space.root, name, dimension)
    clients.Study.from_study_config(study, owner=OWNER, study_id=STUDY)
    print(f"Serving at http://127.0.0.1:{server.endpoint.rpartition(':')[2]}", flush=True)
    threading.Event().wait()


def _add(root: pyvizier.SearchSpaceSelector, name: str, dimension: dict[str, object]) -> None:
    if dimension["type"] == "categorical":
        root.add_categorical_param(name, dimension["choices"])
        return
    scale = pyvizier.ScaleType.LOG if dimension.get("log") else pyvizier.ScaleType.LINEAR
    add = root.add_int_param if dimension["type"] == "int" else root.add_float_param
    add(name, dimension["low"], dimension["high"], scale_type=scale)


if __name__ == "__main__":
    main()
