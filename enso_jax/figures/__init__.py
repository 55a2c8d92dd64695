"""Pictures: what a grade rests on, what a reduction cost, and what the record looks like.

Figures are plain `matplotlib` figures on the Agg canvas. Nothing here needs a display,
keeps a figure open or changes the settings of the caller's own figures.
"""

from enso_jax.figures._record import record_figure as record_figure
from enso_jax.figures._scorecard import scorecard as scorecard
from enso_jax.figures._simplification import PathPoint as PathPoint
from enso_jax.figures._simplification import simplification as simplification
from enso_jax.figures._style import save as save
