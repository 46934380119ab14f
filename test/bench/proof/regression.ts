export interface Line {
  slope: number
  intercept: number
}

/**
 * The line y = intercept + slope x that minimises the sum of |y - intercept - slope x| / x: least absolute deviations with
 * weights 1/x, so that every rung of a ladder counts by its relative error and one bad rung moves nothing. Some line
 * through two of the points attains the minimum (Bloomfield and Steiger 1983, section 1.3), so all pairs are tried; x > 0.
 * Undefined for fewer than two different x.
 */
export function robustLine(points: readonly { x: number; y: number }[]): Line | undefined {
  let best: (Line & { loss: number }) | undefined
  points.forEach((p, i) => {
    for (const q of points.slice(i + 1)) {
      if (p.x === q.x) continue
      const slope = (q.y - p.y) / (q.x - p.x)
      const intercept = p.y - slope * p.x
      const loss = points.reduce((sum, { x, y }) => sum + Math.abs(y - intercept - slope * x) / x, 0)
      if (!best || loss < best.loss) best = { slope, intercept, loss }
    }
  })
  return best && { slope: best.slope, intercept: best.intercept }
}
