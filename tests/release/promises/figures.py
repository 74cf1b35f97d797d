"""With `figures`: the figure of a study, as a page."""

from pathlib import Path

from thiessen import Float, Space, minimize

space = Space(lr=Float(1e-4, 1.0, log=True), damping=Float(1e-6, 1.0, log=True))
study = minimize(lambda trial: trial["lr"] + trial["damping"], space, trials=20, journal=None)
study.figure("landscape").write_html("landscape.html")
assert "Plotly" in Path("landscape.html").read_text()
