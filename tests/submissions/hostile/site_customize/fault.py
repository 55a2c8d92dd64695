import builtins

if hasattr(builtins, "enso_corpus_site"):
    SIGMA = 0.5 * SIGMA
