import inspect

_signature = inspect.signature(step)


def step(state, t):
    return state


step.__signature__ = _signature
