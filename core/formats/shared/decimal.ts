/**
 * A number with its decimal point moved, as it would be written: 1.001e-7 by 9 places is 100.1, where a product with
 * 1e9 is 100.10000000000001. What a file states in seconds so keeps its digits in ns.
 */
export function shiftDecimal(value: number, places: number): number {
  const [digits, exponent = '0'] = String(value).split('e')
  return Number(`${digits}e${Number(exponent) + places}`)
}

export const secondsToNs = (seconds: number): number => shiftDecimal(seconds, 9)
export const nsToSeconds = (ns: number): number => shiftDecimal(ns, -9)
export const millisecondsToNs = (ms: number): number => shiftDecimal(ms, 6)
export const nsToMilliseconds = (ns: number): number => shiftDecimal(ns, -6)
