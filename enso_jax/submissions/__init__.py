"""How a folder of someone's code becomes a model, without being trusted."""

from enso_jax.submissions._contract import CATEGORIES as CATEGORIES
from enso_jax.submissions._contract import CHECKPOINT as CHECKPOINT
from enso_jax.submissions._contract import MODEL as MODEL
from enso_jax.submissions._contract import REQUIRED_FILES as REQUIRED_FILES
from enso_jax.submissions._contract import Category as Category
from enso_jax.submissions._contract import Form as Form
from enso_jax.submissions._contract import InvalidSubmission as InvalidSubmission
from enso_jax.submissions._contract import NoSuchFolder as NoSuchFolder
from enso_jax.submissions._contract import Patience as Patience
from enso_jax.submissions._contract import printable as printable
from enso_jax.submissions._folder import SubmissionFolder as SubmissionFolder
from enso_jax.submissions._folder import faults as faults
from enso_jax.submissions._folder import name_of as name_of
from enso_jax.submissions._folder import read_files as read_files
from enso_jax.submissions._folder import read_folder as read_folder
from enso_jax.submissions._isolation import ISOLATIONS as ISOLATIONS
from enso_jax.submissions._isolation import IsolationUnavailable as IsolationUnavailable
from enso_jax.submissions._isolation import available as available
from enso_jax.submissions._isolation import choose as choose
from enso_jax.submissions._isolation import end_sandboxes as end_sandboxes
from enso_jax.submissions._program import Program as Program
from enso_jax.submissions._program_step import ProgramStep as ProgramStep
from enso_jax.submissions._starter import write_starter as write_starter
from enso_jax.submissions._worker import Examination as Examination
from enso_jax.submissions._worker import examine as examine
from enso_jax.submissions._worker import open_worker as open_worker
