/*
 * The digits of figures, in one place. Times, energies and rates: four significant digits in a column, whose neighbours are compared, three
 * where they stand alone. Ratios: `formatRatio` in figures, `ratioWords` in sentences. Shares: three digits, at most two decimals.
 */

/** What stands where there is no number. */
export const ABSENT = '–'

interface Separators {
  decimal: string
  /** Between thousands. */
  group: string
}

/** Of files, reports and the command line, whose readers are programs too. */
const PLAIN: Separators = { decimal: '.', group: ',' }
let separators = PLAIN

/**
 * Writes numbers as this locale (a BCP 47 tag) does from now on, in this process: what people read in the window, and in the texts that main makes
 * for it. What is stored, exported or compared keeps to `withoutLocale`. An unsupported tag is ignored. Digits stay 0 to 9, and sizes (64Ki,
 * 1.5M, 4096x4096) stay as they are typed.
 */
export function setNumberLocale(tag: string): void {
  try {
    const parts = new Intl.NumberFormat([tag, 'en'], { numberingSystem: 'latn', useGrouping: true }).formatToParts(1234567.5)
    const part = (type: string) => parts.find((one) => one.type === type)?.value
    separators = { decimal: part('decimal') ?? PLAIN.decimal, group: part('group') ?? PLAIN.group }
  } catch {
    // Not a tag at all.
  }
}

/** What `write` gives with numbers of no locale: for files and for the clipboard. */
export function withoutLocale<T>(write: () => T): T {
  const before = separators
  separators = PLAIN
  try {
    return write()
  } finally {
    separators = before
  }
}

/** The decimal point of the locale. */
export const localPoint = (): string => separators.decimal

/** A number that stands as `1,234.5`, in the locale. */
export const localNumber = (text: string): string => (separators === PLAIN ? text : text.replace(/[.,](?=\d)/g, (sign) => (sign === '.' ? separators.decimal : separators.group)))

/** 9170 -> "9,170": a count in full. */
export const formatInteger = (n: number): string => localNumber(n.toLocaleString('en-US', { maximumFractionDigits: 0 }))

const trim = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)
const known = (value: number | undefined): value is number => value !== undefined && Number.isFinite(value)

/** 16777216 -> "16.8M", 65536 -> "65.5K", 1000 -> "1K": three significant digits, SI letters. */
export const formatCount = (n: number): string => localNumber(plainCount(n))

function plainCount(n: number): string {
  if (!Number.isFinite(n)) return ABSENT
  for (const [size, letter] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'K']] as const) {
    if (Math.abs(n) >= size) return `${trim((n / size).toPrecision(3))}${letter}`
  }
  return trim(n.toPrecision(3))
}

/** Counts of fewer digits than this stand in full. */
const EXACT_BELOW = 100_000

const BINARY = [[2 ** 40, 'Ti'], [2 ** 30, 'Gi'], [2 ** 20, 'Mi'], [2 ** 10, 'Ki']] as const

/**
 * A number of elements, exactly, so that no two read alike: multiples of 2^10, 2^20 and 2^30 as 64Ki, 16Mi, 1Gi; others in
 * full below 100,000 and where three digits do not say them exactly (1234567), else with SI letters (1.5M).
 */
export function formatSize(n: number): string {
  if (!Number.isSafeInteger(n)) return formatSizeTick(n)
  const unit = BINARY.find(([size]) => n >= size && n % size === 0)
  if (unit) return `${n / unit[0]}${unit[1]}`
  return n >= EXACT_BELOW && Number(n.toPrecision(3)) === n ? plainCount(n) : String(n)
}

/** A position on a size axis to three digits in the letters of `formatSize`: 16777216 -> "16Mi", 1e6 -> "977Ki". */
export function formatSizeTick(n: number): string {
  if (!Number.isFinite(n)) return ABSENT
  for (const [size, letter] of BINARY) if (n >= size) return `${Number((n / size).toPrecision(3))}${letter}`
  return String(Number(n.toPrecision(3)))
}

/** A unit and how many base units (ns, bytes, bytes/s, FLOP/s) make one of it. */
export interface Unit {
  name: string
  size: number
}

const TIME: readonly Unit[] = [{ name: 'ns', size: 1 }, { name: 'µs', size: 1e3 }, { name: 'ms', size: 1e6 }, { name: 's', size: 1e9 }]
const ENERGY: readonly Unit[] = [{ name: 'nJ', size: 1e-9 }, { name: 'µJ', size: 1e-6 }, { name: 'mJ', size: 1e-3 }, { name: 'J', size: 1 }, { name: 'kJ', size: 1e3 }]
const BYTES: readonly Unit[] = [{ name: 'B', size: 1 }, { name: 'KiB', size: 2 ** 10 }, { name: 'MiB', size: 2 ** 20 }, { name: 'GiB', size: 2 ** 30 }, { name: 'TiB', size: 2 ** 40 }]
const perSecond = (name: string): Unit[] => ['', 'K', 'M', 'G', 'T', 'P'].map((letter, i) => ({ name: `${letter}${name}`, size: 1000 ** i }))
const BANDWIDTH: readonly Unit[] = perSecond('B/s')
const FLOPS: readonly Unit[] = perSecond('FLOP/s')
const FLOPS_PER_JOULE: readonly Unit[] = perSecond('FLOP/J')
const BYTES_PER_JOULE: readonly Unit[] = perSecond('B/J')

/** The largest unit that leaves at least one whole; the smallest where nothing is known. */
function choose(units: readonly Unit[], value: number | undefined): Unit {
  if (!known(value)) return units[0]!
  return units.findLast((unit) => Math.abs(value) >= unit.size) ?? units[0]!
}

/** One unit for a column of times, from its median in ns. */
export const chooseTimeUnit = (medianNs: number | undefined): Unit => choose(TIME, medianNs)
/** One unit for a column of energies in joules, of work and of traffic per joule. */
export const chooseEnergyUnit = (medianJoules: number | undefined): Unit => choose(ENERGY, medianJoules)
export const chooseFlopsPerJouleUnit = (median: number | undefined): Unit => choose(FLOPS_PER_JOULE, median)
export const chooseBytesPerJouleUnit = (median: number | undefined): Unit => choose(BYTES_PER_JOULE, median)
/** One unit for a column of sizes, from its median in bytes. */
export const chooseByteUnit = (medianBytes: number | undefined): Unit => choose(BYTES, medianBytes)
/** One unit for a column of bandwidths, from its median in bytes per second. */
export const chooseBandwidthUnit = (medianBytesPerSecond: number | undefined): Unit => choose(BANDWIDTH, medianBytesPerSecond)
/** One unit for a column of rates, from its median in FLOP/s. */
export const chooseFlopsUnit = (medianFlops: number | undefined): Unit => choose(FLOPS, medianFlops)

/** Most decimals ever shown, so that one tiny value does not widen its column. */
const MAX_DECIMALS = 4

/** `14171.5` -> `14,171.5`: separators from five digits before the point on. */
export function grouped(text: string): string {
  const point = text.indexOf('.')
  const whole = point < 0 ? text : text.slice(0, point)
  return localNumber(/^-?\d{5,}$/.test(whole) ? whole.replace(/\B(?=(\d{3})+$)/g, ',') + text.slice(whole.length) : text)
}

/** A value (in base units) as a number in `unit` with so many significant digits: "36.80", "1234", "14,171", "0.0123"; "–" when absent. */
export const formatIn = (value: number | undefined, unit: Unit, significant = 4): string => grouped(plainIn(value, unit, significant))

function plainIn(value: number | undefined, unit: Unit, significant: number): string {
  if (!known(value)) return ABSENT
  const scaled = value / unit.size
  if (scaled === 0) return '0'
  if (Math.abs(scaled) >= 1e9) return scaled.toExponential(significant - 1)
  const leading = Math.floor(Math.log10(Math.abs(scaled)))
  const wanted = significant - 1 - leading
  const decimals = Math.min(MAX_DECIMALS, Math.max(0, wanted))
  const text = scaled.toFixed(decimals)
  if (Number(text) === 0) return `${scaled < 0 ? '>-' : '<'}${(10 ** -MAX_DECIMALS).toFixed(MAX_DECIMALS)}`
  // 9.9996 rounds up to 10.000: take the digit back that the carry added.
  const carried = Math.abs(Number(text)) >= 10 ** (leading + 1) && decimals > 0 && decimals === wanted
  return carried ? scaled.toFixed(decimals - 1) : text
}

/** A mean and its deviation (in base units) with the decimals of the mean: "403 ± 6", "12.4 ± 0.2"; a smaller deviation has one digit: "12.4 ± 0.03". */
export function formatSpread(mean: number, deviation: number, unit: Unit): string {
  const text = plainIn(mean, unit, 3)
  const decimals = text.split('.')[1]?.length ?? 0
  const rounded = (deviation / unit.size).toFixed(decimals)
  return `${grouped(text)} ± ${Number(rounded) === 0 ? formatIn(deviation, unit, 1) : grouped(rounded)}`
}

/** A number cut at its decimal point, so that a table can right-align `whole` and left-align `fraction` (".80" or ""). */
export function splitDecimal(text: string): { whole: string; fraction: string } {
  const point = text.indexOf(separators.decimal)
  return point < 0 ? { whole: text, fraction: '' } : { whole: text.slice(0, point), fraction: text.slice(point) }
}

function withUnit(units: readonly Unit[], value: number | undefined): string {
  if (!known(value)) return ABSENT
  const unit = choose(units, value)
  const text = plainIn(value, unit, 3)
  // 999.9 ns is "1000 ns" at three digits; the next unit says it better.
  const next = units[units.indexOf(unit) + 1]
  if (next && Math.abs(Number(text)) * unit.size >= next.size) return `${formatIn(next.size * Math.sign(value), next, 3)} ${next.name}`
  return `${grouped(text)} ${unit.name}`
}

/** 36800 -> "36.8 µs". `ns` is a time in nanoseconds. */
export const formatTime = (ns: number | undefined): string => withUnit(TIME, ns)
/** 3.65e12 -> "3.65 TB/s"; SI, as the field gives bandwidth. */
export const formatBandwidth = (bytesPerSecond: number | undefined): string => withUnit(BANDWIDTH, bytesPerSecond)
/** 6.65e14 -> "665 TFLOP/s". */
export const formatFlops = (flopsPerSecond: number | undefined): string => withUnit(FLOPS, flopsPerSecond)
/** 0.1457 -> "146 mJ"; `joules` as it says. */
export const formatEnergy = (joules: number | undefined): string => withUnit(ENERGY, joules)
/** 9.4e11 -> "940 GFLOP/J". */
export const formatFlopsPerJoule = (value: number | undefined): string => withUnit(FLOPS_PER_JOULE, value)
/** 6.9e8 -> "690 MB/J"; SI, as bandwidth. */
export const formatBytesPerJoule = (value: number | undefined): string => withUnit(BYTES_PER_JOULE, value)
/** 1610612736 -> "1.50 GiB"; binary, as the field gives memory. */
export const formatBytes = (bytes: number | undefined): string => withUnit(BYTES, bytes)

/** The smallest share that is written, in percent. */
const LEAST_PERCENT = 0.01

/** A share in percent without its sign, to three digits and at most two decimals: 0.873 -> "87.3", 0.0031 -> "0.31", 1.04 -> "104", 0.00001 -> "<0.01". */
export function percentNumber(fraction: number): string {
  const percent = fraction * 100
  const magnitude = Math.abs(percent)
  if (magnitude === 0) return '0'
  if (magnitude < LEAST_PERCENT / 2) return localNumber(percent < 0 ? `>-${LEAST_PERCENT}` : `<${LEAST_PERCENT}`)
  if (magnitude >= 1e6) return localNumber(percent.toExponential(1))
  return grouped(percent.toFixed(magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2))
}

/** 0.873 -> "87.3 %", 0.0031 -> "0.31 %", 1.04 -> "104 %". */
export const formatPercent = (fraction: number | undefined): string => (known(fraction) ? `${percentNumber(fraction)} %` : ABSENT)

/** Half the width of an interval as a share of its middle value: "±0.31 %". Samples that a timer cannot tell apart give "<±0.01 %", not zero. */
export function formatInterval(middle: number | undefined, low: number | undefined, high: number | undefined): string {
  if (!known(middle) || !known(low) || !known(high) || middle <= 0) return ABSENT
  return formatHalfWidth((high - low) / 2 / middle)
}

/** The same of half a width that is a share already. */
export function formatHalfWidth(share: number | undefined): string {
  if (!known(share)) return ABSENT
  return share * 100 < LEAST_PERCENT / 2 ? localNumber(`<±${LEAST_PERCENT} %`) : `±${formatPercent(share)}`
}

/**
 * Decimals of a ratio, the same for neighbours in a column: three up to 10, so that 0.999x stands beside 1.000x, then four significant
 * digits; three significant digits below 0.1.
 */
export function ratioPlaces(ratio: number): number {
  const magnitude = Math.abs(ratio)
  if (magnitude < 0.1) return magnitude < 0.01 ? 5 : 4
  return magnitude < 9.9995 ? 3 : magnitude < 99.995 ? 2 : magnitude < 999.95 ? 1 : 0
}

/** A ratio of times, rates or energies without its unit: 1.2345 -> "1.234", 0.0842 -> "0.0842". */
export const ratioNumber = (ratio: number, places = ratioPlaces(ratio)): string => grouped(ratio.toFixed(places))

/** A ratio as tables, tooltips, reports and the command line write it: 1.2345 -> "1.234x", 1234.5 -> "1235x". In sentences: `ratioWords`. */
export const formatRatio = (ratio: number | undefined): string => (known(ratio) ? `${ratioNumber(ratio)}x` : ABSENT)

/** Both ends of an interval of ratios with the decimals of the lower one: "0.990 to 1.010"; "–" when absent. */
export const formatRatioRange = (low: number | undefined, high: number | undefined): string => (known(low) && known(high) ? `${ratioNumber(low)} to ${ratioNumber(high, ratioPlaces(low))}` : ABSENT)

/** A ratio in a sentence, shorter: two decimals up to 10, else three significant digits: "1.04x", "0.98x", "12.3x", "0.0458x". */
export const ratioWords = (ratio: number | undefined): string => (known(ratio) ? localNumber(plainRatio(ratio)) : ABSENT)
function plainRatio(ratio: number): string {
  const magnitude = Math.abs(ratio)
  return `${magnitude >= 0.0995 && magnitude < 9.995 ? ratio.toFixed(2) : magnitude < 999.5 ? ratio.toPrecision(3) : ratio.toFixed(0)}x`
}

/** Waves of a grid: 0.0312 -> "0.031", 1.5 -> "1.5", 248.4 -> "248". */
export const formatWaves = (waves: number | undefined): string => (known(waves) ? (waves >= 100 ? grouped(waves.toFixed(0)) : localNumber(String(Number(waves.toPrecision(2))))) : ABSENT)

/** A speedup (above 1 is faster) in words: 1.04 -> "1.04x faster", 0.5 -> "2.00x slower", 1.001 -> "as fast". */
export function speedupWords(speedup: number | undefined): string {
  if (!known(speedup) || speedup <= 0) return ABSENT
  const times = plainRatio(Math.max(speedup, 1 / speedup))
  return times === '1.00x' ? 'as fast' : `${localNumber(times)} ${speedup > 1 ? 'faster' : 'slower'}`
}

/** An estimate in words: "about 42 s", "under 1 s". */
export const aboutDuration = (seconds: number | undefined): string => formatDuration(seconds).replace(/^(?=\d)/, 'about ')

/** Wall time in words: "under 1 s", "42 s", "2 min 5 s", "1 h 3 min". */
export function formatDuration(seconds: number | undefined): string {
  if (!known(seconds) || seconds < 0) return ABSENT
  if (seconds < 1) return 'under 1 s'
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return whole % 60 ? `${minutes} min ${whole % 60} s` : `${minutes} min`
  const rest = Math.round(whole / 60) % 60
  return `${Math.floor(Math.round(whole / 60) / 60)} h${rest ? ` ${rest} min` : ''}`
}
