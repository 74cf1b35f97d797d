"""The Python on the pages for newcomers runs as it stands, one block after the other."""

import re
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "docs/how-to/own-program.md",
    "docs/how-to/scikit-learn.md",
    "docs/how-to/optuna.md",
    "docs/tutorial/kfac.md",
    *(
        str(page.relative_to(HOUSE))
        for page in sorted((HOUSE / "docs/reference/optimizers").glob("*.md"))
        if "```python" in page.read_text()
    ),
)


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")  # for the page with torch.distributed
    blocks = re.findall(r"^```python\n(.*?)^```", (HOUSE / page).read_text(), re.MULTILINE | re.DOTALL)
    known: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), known)  # noqa: S102 - ours
    assert blocks
