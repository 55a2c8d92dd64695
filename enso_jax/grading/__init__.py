"""Grading: from a model and a record to a result, its evidence and the files they lie in."""

from enso_jax.grading._grade import STAGES as STAGES
from enso_jax.grading._grade import Grade as Grade
from enso_jax.grading._grade import grade as grade
from enso_jax.grading._identity import step_digest as step_digest
from enso_jax.grading._identity import submission as submission
from enso_jax.grading._result import SCHEMA_VERSION as SCHEMA_VERSION
from enso_jax.grading._result import Detail as Detail
from enso_jax.grading._result import Estimate as Estimate
from enso_jax.grading._result import GradeResult as GradeResult
from enso_jax.grading._result import ResultError as ResultError
from enso_jax.grading._result import Submission as Submission
from enso_jax.grading._result import first_fault as first_fault
from enso_jax.grading._result import read_result as read_result
from enso_jax.grading._room import make_room_for_programs as make_room_for_programs
from enso_jax.grading._stack import MOST_AT_ONCE as MOST_AT_ONCE
from enso_jax.grading._stack import batch_size as batch_size
from enso_jax.grading._stack import grade_stack as grade_stack
from enso_jax.grading._stack import structure as structure
from enso_jax.grading._submission import Examined as Examined
from enso_jax.grading._submission import examine_submission as examine_submission
from enso_jax.grading._submission import grade_examined as grade_examined
from enso_jax.grading._submission import grade_submission as grade_submission
from enso_jax.grading._submission import unexamined as unexamined
from enso_jax.grading._terms import Terms as Terms
from enso_jax.grading._validation import Validation as Validation
from enso_jax.grading._validation import validate_submission as validate_submission
