import builtins

builtins.enso_corpus_site = True
