#!/usr/bin/env bash
# Grades runs on a SLURM cluster: this job is the client, which asks for the workers it needs.
#
#   sbatch scripts/grade_on_slurm.sh runs/*
#
# Killed, or at the end of its time, it loses only what was being computed: submit it again.
# How the jobs of the workers look is written in ~/.config/dask/jobqueue.yaml (docs/runs.md).
#SBATCH --job-name=enso-jax
#SBATCH --cpus-per-task=2
#SBATCH --mem=8G
#SBATCH --time=04:00:00
set -euo pipefail

if [ $# = 0 ]; then
  echo "usage: sbatch scripts/grade_on_slurm.sh RUN..." >&2
  exit 2
fi
exec enso-jax grade-run "$@" \
  --store "${ENSO_JAX_STORE:-store}" \
  --replicates "${ENSO_JAX_REPLICATES:-8}" \
  --scheduler "slurm:${ENSO_JAX_JOBS:-20}"
