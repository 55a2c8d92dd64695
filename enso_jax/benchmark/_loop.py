"""How fast could one core run fable-5.1? A loop written by hand, compiled by numba.

The equations of Appendix E.1 of the paper once more, in nondimensional variables and with
everything done for speed that a programmer would do for this one model: the seasonal
coefficients are tabulated for the 360 steps of a year, each with its factor dt or sqrt(dt);
the state is five local scalars; normals are drawn a month at a time, into the first-level
cache; members of an ensemble are stepped side by side, so that the compiler can use vector
instructions; one thread, float64, `fastmath`. It keeps the means that are scored, and neither
spreads nor innovations, and is lost at the first NaN. The engine is measured against it. Needs
numba.
"""

import math
from typing import Final

import numba
import numpy as np

from enso_jax.benchmark._normals import fill
from enso_jax.state import MONTHS_PER_YEAR, TIME_SCALE_MONTHS, VARIABLES

STEPS: Final = 30
_D: Final = 1.0 / STEPS / TIME_SCALE_MONTHS
_ROOT: Final = math.sqrt(_D)
_BOUND: Final = 3.0
SCALES: Final = np.array([variable.scale for variable in VARIABLES])


def _season_table() -> np.ndarray:
    """What varies with the season, a row for each step of the year; see `_step` for the names."""
    t = np.arange(MONTHS_PER_YEAR * STEPS) / STEPS
    angle = 2.0 * np.pi * (t - 0.5) / MONTHS_PER_YEAR
    c1, c2, c3 = (np.cos(k * angle) for k in (1, 2, 3))
    s1, s2, s3 = (np.sin(k * angle) for k in (1, 2, 3))
    drift = [
        0.1073 + 0.01866 * c1 + 0.03 * s1,
        -0.25 + 0.09 * c1 - 0.24 * s1,
        0.05899 + 0.1 * s1,
        -0.151 - 0.006228 * c1 - 0.27 * s1 - 0.12 * c2 - 0.15 * s2,
        0.505 - 0.606 * s1,
        -0.164 + 0.1044 * c1 - 0.08738 * s1,
        0.85 + 0.17 * c1 + 0.425 * s1,
    ]
    noise = [
        0.037 * (1 - 0.6 * c1 + 0.4 * s1 - 0.3 * c2),
        0.024 * (1 + 0.2 * c1),
        0.094 * (1 - 0.1 * c1 + 0.03 * s1 - 0.15 * c2 + 0.15 * s2),
        0.45 * (1 + 0.13 * c1 - 0.05 * s1 - 0.08 * c2 + 0.2 * s2 - 0.2 * c3 - 0.1 * s3),
    ]
    return np.stack([_D * row for row in drift] + [_ROOT * row for row in noise], axis=1)


_SEASON = _season_table()


@numba.njit(inline="always")
def _season(step):
    row = _SEASON[step]
    return row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9], row[10]


@numba.njit(inline="always")
def _clip(x):
    return min(max(x, -_BOUND), _BOUND)


@numba.njit(inline="always")
def _step(T_C, T_E, h_W, u, tau, season, n_C, n_E, n_h, n_u, n_tau):
    """The nondimensional state a step later."""
    C_h, C_C, E_h, E_E, E_sat, h_h, u_h, g_E, g_h, g_u, g_tau = season
    warm = T_E * T_E
    # warm / (1 + warm / a) for a = 0.35^2 and a = 0.4^2 by a single division.
    share = warm / ((0.1225 + warm) * (0.16 + warm))
    sat_E = 0.1225 * (0.16 + warm) * share
    sat_h = 0.16 * (0.1225 + warm) * share
    central = T_C * T_C
    a_C = max(1.0 - 2.0 * T_C, 0.2) * max(1.0 - 30.0 * central, 0.2)
    a_E = min(max(1.0 + 5.5 * T_E, 0.2), 2.5)
    new_C = (
        T_C
        + _D * (0.1628 * u + 0.121 * T_E + 0.0853 * tau + 0.004)
        + C_h * h_W
        + C_C * T_C
        - _D * (central * (1.02 + 7.181 * T_C) + 0.75 * T_C * max(T_C, 0.0))
        + 0.03 * _ROOT * a_C * n_C
    )
    new_E = (
        T_E
        + _D * (0.2403 * u - 0.1399 * T_C + 0.1285 * tau - 0.00626 - 1.038 * warm * T_E)
        + E_h * h_W
        + E_E * T_E
        + E_sat * sat_E
        + g_E * a_E * n_E
    )
    new_h = (
        h_W
        + _D * (0.09686 * T_C - 0.15 * T_E - 0.164 * u - 0.07482 * tau + 0.00484)
        - _D * (0.3 * sat_h + 1.184 * h_W * h_W * h_W)
        + h_h * h_W
        + g_h * max(1.0 - 4.0 * h_W, 0.2) * n_h
    )
    new_u = u + _D * (0.26 * T_E - 0.402 * T_C - 0.917 * u + 0.114 * tau) + u_h * h_W + g_u * n_u
    new_tau = (
        tau
        + _D * (3.062 * T_C - 1.118 * T_E - 0.2758 * h_W + 0.3296 * u - 0.9918 * tau)
        + g_tau * max(1.0 + 0.8 * T_C, 0.2) * n_tau
    )
    return _clip(new_C), _clip(new_E), _clip(new_h), _clip(new_u), _clip(new_tau)


@numba.njit(fastmath=True, error_model="numpy")
def advance(state, month, normals):
    """Carries one state (5,) in place through the month that begins at `month`.

    `normals` is ``(step, 5)``; the state is nondimensional.
    """
    T_C, T_E, h_W, u, tau = state[0], state[1], state[2], state[3], state[4]
    first = month % MONTHS_PER_YEAR * STEPS
    for number in range(STEPS):
        n = normals[number]
        T_C, T_E, h_W, u, tau = _step(
            T_C, T_E, h_W, u, tau, _season(first + number), n[0], n[1], n[2], n[3], n[4]
        )
    state[0], state[1], state[2], state[3], state[4] = T_C, T_E, h_W, u, tau


@numba.njit(fastmath=True, error_model="numpy")
def step_ensemble(ensemble, season_step, normals):
    """One step, in place, of an ensemble (5, N) with normals (5, N)."""
    season = _season(season_step)
    C, E, h, u, tau = ensemble[0], ensemble[1], ensemble[2], ensemble[3], ensemble[4]
    n_C, n_E, n_h, n_u, n_tau = normals[0], normals[1], normals[2], normals[3], normals[4]
    for m in range(len(C)):
        C[m], E[m], h[m], u[m], tau[m] = _step(
            C[m], E[m], h[m], u[m], tau[m],
            season, n_C[m], n_E[m], n_h[m], n_u[m], n_tau[m],
        )  # fmt: skip


@numba.njit(fastmath=True, error_model="numpy")
def free_run(months, words):
    """The states (month, 5) of a run from zero, nondimensional."""
    states = np.zeros((months, 5))
    state = np.zeros(5)
    normals = np.empty((STEPS, 5))
    for month in range(months):
        fill(normals.reshape(-1), words)
        advance(state, month, normals)
        states[month] = state
    return states


@numba.njit(fastmath=True, error_model="numpy")
def forecasts(initial, start_months, leads, members, words):
    """The ensemble means (start, lead, 5) from each of the states `initial` (start, 5)."""
    means = np.zeros((len(initial), leads, 5))
    ensemble = np.empty((5, members))
    normals = np.empty((5, members))
    for start in range(len(initial)):
        for variable in range(5):
            ensemble[variable] = initial[start, variable]
        for lead in range(leads):
            first = (start_months[start] + 1 + lead) % MONTHS_PER_YEAR * STEPS
            for number in range(STEPS):
                fill(normals.reshape(-1), words)
                step_ensemble(ensemble, first + number, normals)
            for variable in range(5):
                means[start, lead, variable] = ensemble[variable].mean()
    return means


@numba.njit(fastmath=True, error_model="numpy")
def smooth(tests, error, lag, members, words):
    """The smoothed means (test, month, 5) of all tests, whose members share their noise.

    Args:
        tests: what each assimilates, ``(test, month, 5)``, nondimensional; the error is NaN-free.
        error: standard deviations (5,) of the observation error.
        lag, members: of the smoother.
        words: the generator's state.
    """
    count, months = tests.shape[0], tests.shape[1]
    smoothed = np.zeros((count, months, 5))
    # A ring: the ensemble of month m lies at m modulo its length.
    ring = lag + 1
    windows = np.zeros((count, ring, 5, members))
    normals = np.empty((5, members))
    for month in range(months):
        now, before = month % ring, (month - 1) % ring
        windows[:, now] = windows[:, before]
        first = month % MONTHS_PER_YEAR * STEPS
        for number in range(STEPS):
            fill(normals.reshape(-1), words)
            for test in range(count):
                step_ensemble(windows[test, now], first + number, normals)
        fill(normals.reshape(-1), words)
        for variable in range(5):
            normals[variable] -= normals[variable].mean()
        for test in range(count):
            revise(windows[test], now, tests[test, month], error, normals)
            for back in range(min(ring, month + 1)):
                for variable in range(5):
                    mean = windows[test, (month - back) % ring, variable].mean()
                    smoothed[test, month - back, variable] = mean
    return smoothed


@numba.njit(fastmath={"nsz", "arcp", "contract", "afn", "reassoc"}, error_model="numpy")
def revise(window, now, observed, error, perturbations):
    """The analysis, in place, of the months in `window` (lag + 1, 5, N), of which one is `now`.

    Only what was observed takes part, by a Cholesky factor of its covariance.

    Args:
        window: the ensembles of this month and of the lag's, in any order.
        now: which of them is this month's.
        observed: (5,), NaN where not observed.
        error: (5,) standard deviations.
        perturbations: (5, N) normals of mean zero.
    """
    seen = np.flatnonzero(np.isfinite(observed))
    size, members = len(seen), window.shape[2]
    anomaly, departure = np.empty((size, members)), np.empty((size, members))
    for row, variable in enumerate(seen):
        ensemble = window[now, variable]
        anomaly[row] = ensemble - ensemble.mean()
        departure[row] = observed[variable] + error[variable] * perturbations[variable] - ensemble
    covariance = np.empty((size, size))
    for row in range(size):
        for column in range(row + 1):
            total = _dot(anomaly[row], anomaly[column]) / (members - 1)
            covariance[row, column] = total + (row == column) * error[seen[row]] ** 2
    _solve(covariance, departure)
    for back in range(window.shape[0]):
        for variable in range(5):
            for row in range(size):
                gain = _dot(window[back, variable], anomaly[row]) / (members - 1)
                covariance[row, 0] = gain
            for row in range(size):
                _add(window[back, variable], covariance[row, 0], departure[row])


@numba.njit(fastmath=True)
def _dot(a, b):
    total = 0.0
    for m in range(len(a)):
        total += a[m] * b[m]
    return total


@numba.njit(fastmath=True)
def _add(a, factor, b):
    for m in range(len(a)):
        a[m] += factor * b[m]


@numba.njit(fastmath=True)
def _solve(covariance, right):
    """Solves in place for `right` with the lower triangle of a positive definite matrix."""
    size = len(right)
    for row in range(size):
        for column in range(row + 1):
            total = covariance[row, column]
            for k in range(column):
                total -= covariance[row, k] * covariance[column, k]
            if row == column:
                covariance[row, row] = math.sqrt(total)
            else:
                covariance[row, column] = total / covariance[column, column]
    for row in range(size):
        for k in range(row):
            _add(right[row], -covariance[row, k], right[k])
        right[row] /= covariance[row, row]
    for row in range(size - 1, -1, -1):
        for k in range(row + 1, size):
            _add(right[row], -covariance[k, row], right[k])
        right[row] /= covariance[row, row]
