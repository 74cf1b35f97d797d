"""The alerts, their list and the runbook speak of the same things, and of metrics that there are."""

import re
from pathlib import Path

import pytest
import yaml
from prometheus_client import REGISTRY

from app import meters

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
[GROUP] = yaml.safe_load((HOW_TO / "alerts.yml").read_text())["groups"]
RULES = {rule["alert"]: rule for rule in GROUP["rules"]}
ASKED = re.compile(r"(thiessen_\w+)(?:\{([^}]*)\})?")
LABEL = re.compile(r'(\w+)(?:=~?|!=)"([^"]*)"')
SUFFIXES = re.compile("_(bucket|count|sum|total|info)$")
FAMILIES = {family.name: family for family in REGISTRY.collect()}


def labels_of(family):
    """Return the names of the labels of a metric, whether it was counted yet or not."""
    meter = next(each for each in vars(meters).values() if getattr(each, "_name", None) == family)
    return set(meter._labelnames) | ({"le"} if meter._type == "histogram" else set())


@pytest.mark.parametrize("alert", RULES)
def test_an_alert_has_a_section_of_the_runbook_with_all_that_it_needs(alert):
    runbook = (HOW_TO / "runbook.md").read_text()
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", runbook, re.MULTILINE | re.DOTALL))

    assert all(f"**{part}" in sections[alert] for part in ("Means.", "Look.", "Do.", "Over** when"))


def test_the_runbook_and_the_list_of_alerts_tell_of_no_other():
    told = re.findall(r"^## (Thiessen\w+)", (HOW_TO / "runbook.md").read_text(), re.MULTILINE)
    listed = re.findall(
        r"^\| \[`(\w+)`\]\(runbook\.md#(\w+)\)", (HOW_TO / "operate.md").read_text(), re.MULTILINE
    )

    assert told == [*RULES]
    assert listed == [(alert, alert.lower()) for alert in RULES]


@pytest.mark.parametrize("alert", RULES)
def test_an_alert_is_as_prometheus_wants_it(alert):
    assert RULES[alert].keys() == {"alert", "expr", "for", "annotations"}
    assert re.fullmatch(r"\d+m", RULES[alert]["for"])
    assert RULES[alert]["annotations"]["summary"].endswith(".")


@pytest.mark.parametrize("alert", [alert for alert in RULES if alert != "ThiessenServerAway"])
def test_an_alert_asks_for_metrics_and_labels_that_there_are(alert):
    asked = ASKED.findall(RULES[alert]["expr"])
    assert asked
    for name, conditions in asked:
        family = SUFFIXES.sub("", name)
        assert family in FAMILIES, name
        assert {label for label, _ in LABEL.findall(conditions)} <= labels_of(family)
