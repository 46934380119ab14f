const trim = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)

/** 16777216 -> "16.8M", 65536 -> "65.5K", 1000 -> "1K": three significant digits, SI letters. */
export function formatCount(n: number): string {
  if (!Number.isFinite(n)) return '–'
  for (const [size, letter] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'K']] as const) {
    if (Math.abs(n) >= size) return `${trim((n / size).toPrecision(3))}${letter}`
  }
  return String(n)
}
