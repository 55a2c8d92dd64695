def spread(state:
    return state.std(axis=0)
