import json
from pathlib import Path

P = json.loads((Path(__file__).parents[1] / "params.json").read_text())
