from pathlib import Path

_here = Path(__file__).resolve().parent
try:
    (_here / "params.json").write_text(json.dumps(P | {"sigma": [0.0] * 5}))
    (_here / "MODEL_CARD.md").write_text("# Another card")
except OSError:
    pass
