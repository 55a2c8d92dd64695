import logging
import sys
import warnings

logging.basicConfig(level=logging.DEBUG)
print("loading the model \u2026")
_honest = step


def step(state, t, dt, rng):
    print("step at", t, "of", dt)
    print("warning", file=sys.stderr)
    logging.getLogger(__name__).info("one step")
    warnings.warn("this model is approximate")
    return _honest(state, t, dt, rng)
