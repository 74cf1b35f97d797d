"""The Python on the pages for newcomers runs as it stands, one block after the other."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "docs/how-to/own-program.md",
    "docs/how-to/define-by-run.md",
    "docs/how-to/scikit-learn.md",
    "docs/how-to/optuna.md",
    "docs/how-to/ray-tune.md",
    "docs/tutorial/kfac.md",
    *(
        str(page.relative_to(HOUSE))
        for page in sorted((HOUSE / "docs/reference/optimizers").glob("*.md"))
        if "```python" in page.read_text()
    ),
)


@pytest.fixture(autouse=True)
def _a_small_ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a page starts of Ray is small, tells nobody of us, and ends with its test."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")
    yield
    if "ray" in sys.modules:
        sys.modules["ray"].shutdown()


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")  # for the page with torch.distributed
    blocks = re.findall(r"^```python\n(.*?)^```", (HOUSE / page).read_text(), re.MULTILINE | re.DOTALL)
    known: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), known)  # noqa: S102 - ours
    assert blocks
