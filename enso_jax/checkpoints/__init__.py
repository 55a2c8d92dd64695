"""The checkpoints of whole runs: found, graded, and kept where nothing is graded twice."""

from enso_jax.checkpoints._grading import GradedRuns as GradedRuns
from enso_jax.checkpoints._grading import Request as Request
from enso_jax.checkpoints._grading import grade_runs as grade_runs
from enso_jax.checkpoints._grading import request_of as request_of
from enso_jax.checkpoints._models import GraderError as GraderError
from enso_jax.checkpoints._models import ModelGrader as ModelGrader
from enso_jax.checkpoints._run_folder import AgentRun as AgentRun
from enso_jax.checkpoints._run_folder import Checkpoint as Checkpoint
from enso_jax.checkpoints._run_folder import RunError as RunError
from enso_jax.checkpoints._run_folder import read_run as read_run
from enso_jax.checkpoints._schedulers import Scheduler as Scheduler
from enso_jax.checkpoints._schedulers import SchedulerError as SchedulerError
from enso_jax.checkpoints._schedulers import ThisProcess as ThisProcess
from enso_jax.checkpoints._schedulers import scheduler as scheduler
from enso_jax.checkpoints._store import GradedCheckpoint as GradedCheckpoint
from enso_jax.checkpoints._store import GradedRun as GradedRun
from enso_jax.checkpoints._store import Settings as Settings
from enso_jax.checkpoints._store import Store as Store
from enso_jax.checkpoints._store import StoreError as StoreError
from enso_jax.checkpoints._store import engine_digest as engine_digest
from enso_jax.checkpoints._store import open_store as open_store
from enso_jax.checkpoints._store import result_key as result_key
from enso_jax.checkpoints._store import settings_of as settings_of
from enso_jax.checkpoints._store import unreadable_digest as unreadable_digest
