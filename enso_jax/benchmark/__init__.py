"""How fast is the engine, beside what else could do its work on the same machine?"""

from enso_jax.benchmark._report import PARTS as PARTS
from enso_jax.benchmark._report import SCHEMA_VERSION as SCHEMA_VERSION
from enso_jax.benchmark._report import Report as Report
from enso_jax.benchmark._report import run_benchmark as run_benchmark
from enso_jax.benchmark._setting import Setting as Setting
from enso_jax.benchmark._tables import report_tables as report_tables
