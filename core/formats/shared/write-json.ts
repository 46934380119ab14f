/** Shortest decimal text that reads back to the same bits; JSON.stringify alone drops the sign of -0. */
const number = (value: number) => (Object.is(value, -0) ? '-0' : JSON.stringify(value))

/** JSON on one line. Maps of parameters and variants are sorted, so that equal sessions give equal text. */
export function writeJson(value: unknown, sorted = false): string {
  if (typeof value === 'number') return number(value)
  if (Array.isArray(value)) {
    // Samples are nearly all of a file; the engine writes them an order of magnitude faster.
    if (value.every((item) => typeof item === 'number' && (item !== 0 || !Object.is(item, -0)))) return JSON.stringify(value)
    return `[${value.map((item) => writeJson(item)).join(',')}]`
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined)
    if (sorted) entries.sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${writeJson(item, key === 'params' || key === 'variants' || key === 'kernels')}`).join(',')}}`
  }
  return JSON.stringify(value)
}
