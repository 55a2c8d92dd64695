"""How is a model of terms written down? As JSON, as LaTeX, beside another, as a submission."""

from enso_jax.written._coefficients import CoefficientRow as CoefficientRow
from enso_jax.written._coefficients import coefficient_table as coefficient_table
from enso_jax.written._coefficients import coefficients_as_latex as coefficients_as_latex
from enso_jax.written._coefficients import coefficients_as_text as coefficients_as_text
from enso_jax.written._json import ModelFileError as ModelFileError
from enso_jax.written._json import term_model_from_json as term_model_from_json
from enso_jax.written._json import term_model_to_json as term_model_to_json
from enso_jax.written._latex import latex_equations as latex_equations
from enso_jax.written._submission import write_submission as write_submission
