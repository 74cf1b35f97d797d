"""With `pandas`: results as a data frame."""

from thiessen import Float, Space, minimize

study = minimize(lambda trial: trial["lr"], Space(lr=Float(0, 1)), trials=10, journal=None)
assert study.dataframe()["value"].min() == study.best.value
