"""Fits the coefficients in math.h, math512.h and activations.h: iteratively reweighted least squares towards the least maximum relative error.
Needs numpy and mpmath. Prints the coefficients, lowest power first, and the largest relative error before rounding."""

import math

import numpy as np
from mpmath import erfc, exp, log1p, mpf, sqrt


def nodes(count, low, high):
    return (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(count) + 0.5) / count)


def fit_exp(degree=4):
    """P in e^r = 1 + r + r^2 P(r), |r| <= ln 2 / 2 and a little more."""
    r = nodes(400, -0.505 * math.log(2), 0.505 * math.log(2))
    r = r[np.abs(r) > 1e-3]
    target, weight = (np.exp(r) - 1 - r) / r**2, np.ones_like(r)
    for _ in range(60):
        rows = np.vander(r, degree + 1, increasing=True) * (weight * r**2)[:, None]
        p = np.linalg.lstsq(rows, weight * r**2 * target, rcond=None)[0]
        error = np.abs((np.polyval(p[::-1], r) - target) * r**2 / np.exp(r))
        weight *= (error / error.max()) ** 0.3 + 1e-3
        weight /= weight.max()
    return p, error.max()


def fit_log(degree=8):
    """P in log(1 + f) = f - f^2 / 2 + f^3 P(f), 1 + f from sqrt(1/2) to sqrt(2) and a little more."""
    f = nodes(600, math.sqrt(0.5) * 0.999 - 1, math.sqrt(2) * 1.001 - 1)
    f = f[np.abs(f) > 2e-2]
    target = np.array([float((log1p(mpf(v)) - mpf(v) + mpf(v) ** 2 / 2) / mpf(v) ** 3) for v in f])
    weight = np.ones_like(f)
    for _ in range(60):
        scale = f**3 / np.log1p(f)
        rows = np.vander(f, degree + 1, increasing=True) * (weight * scale)[:, None]
        p = np.linalg.lstsq(rows, weight * scale * target, rcond=None)[0]
        error = np.abs((np.polyval(p[::-1], f) - target) * scale)
        weight *= (error / error.max()) ** 0.3 + 1e-3
        weight /= weight.max()
    return p, error.max()


def fit_log_rest(degree=3):
    """P in log(1 + r) = r + r^2 P(r), r from -1/32 to 1/16: what a table of sixteen logarithms leaves."""
    r = nodes(600, -0.032, 0.0626)
    r = r[np.abs(r) > 1e-3]
    target = np.array([float((log1p(mpf(v)) - mpf(v)) / mpf(v) ** 2) for v in r])
    weight, scale = np.ones_like(r), r**2 / np.log1p(r)
    for _ in range(60):
        rows = np.vander(r, degree + 1, increasing=True) * (weight * scale)[:, None]
        p = np.linalg.lstsq(rows, weight * scale * target, rcond=None)[0]
        error = np.abs((np.polyval(p[::-1], r) - target) * scale)
        weight *= (error / error.max()) ** 0.3 + 1e-3
        weight /= weight.max()
    return p, error.max()


def log_table():
    """For m of each of sixteen ranges (1 .. 1.5 by sixteenths, then 0.75 .. 1 by half of that): 1 / m to eight bits, and minus its
    logarithm as a multiple of 2^-14 and a rest. One for both ranges that end at 1, whose logarithms then keep their digits."""
    middles = [1 + (k + 0.5) / 16 for k in range(8)] + [0.75 + (k + 0.5) / 32 for k in range(8)]
    shares = [1.0 if k in (0, 15) else round(256 / m) / 256 for k, m in enumerate(middles)]
    high = [round(-math.log(c) * 2**14) / 2**14 for c in shares]
    return shares, high, [-math.log(c) - h for c, h in zip(shares, high)]


def fit_tail(limit, p_degree, q_degree, near=math.inf, beyond=1.0):
    """P, Q in Phi(-a) = e^(-a^2 / 2) P(a) / Q(a), 0 <= a <= limit, Phi the normal distribution function; the fit is made in a / limit.
    Beyond `near` the error may be `beyond` times as large; the one returned is that up to there."""
    a = nodes(900, 0.0, limit)
    allowed = np.where(a <= near, 1.0, beyond)
    target = np.array([float(erfc(mpf(v) / sqrt(2)) / 2 * exp(mpf(v) ** 2 / 2)) for v in a])
    s, q_values, emphasis, best = a / limit, np.ones_like(a), np.ones_like(a), None
    for _ in range(400):
        rows = np.hstack([np.vander(s, p_degree + 1, increasing=True), -target[:, None] * np.vander(s, q_degree + 1, increasing=True)[:, 1:]])
        weight = np.sqrt(emphasis) / np.abs(q_values) / target / allowed
        found = np.linalg.lstsq(rows * weight[:, None], target * weight, rcond=None)[0]
        p, q = found[: p_degree + 1], np.concatenate([[1.0], found[p_degree + 1 :]])
        q_values = np.polyval(q[::-1], s)
        error = np.abs(np.polyval(p[::-1], s) / q_values - target) / target / allowed
        if best is None or error.max() < best[2]:
            best = p, q, error.max()
        emphasis *= error / error.max() + 1e-3
        emphasis /= emphasis.max()
    p, q, error = best
    powers = limit ** np.arange(max(p_degree, q_degree) + 1.0)
    return p / powers[: p.size], q / powers[: q.size], error


if __name__ == "__main__":
    print("exp", *fit_exp())
    print("log", *fit_log())
    print("log, AVX-512", *fit_log_rest())
    print("log, AVX-512: table", *log_table(), sep="\n")
    print("normal distribution", *fit_tail(13.5, 4, 5))
    print("normal distribution, AVX-512", *fit_tail(14, 3, 4, 3.3, 10.0))
    print("normal distribution, AVX-512, coarse", *fit_tail(14, 2, 3, 3.5, 10.0))
