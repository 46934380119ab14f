/** Parts of at most `most` that differ by one at most: how many, and the longest. */
export function evenly(length: number, most: number): { count: number; size: number } {
  const count = Math.ceil(length / most)
  return { count, size: Math.ceil(length / count) }
}
