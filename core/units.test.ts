import { afterEach, describe, expect, it } from 'vitest'
import {
  ABSENT, aboutDuration, chooseBandwidthUnit, chooseByteUnit, chooseFlopsUnit, chooseTimeUnit, formatBandwidth, formatBytes, formatCount, formatDuration, formatFlops, formatHalfWidth, formatIn,
  formatInteger, formatInterval, formatPercent, formatRatio, formatRatioRange, formatSize, formatSpread, formatTime, ratioWords, setNumberLocale, speedupWords, splitDecimal, withoutLocale,
} from './units'

describe('a value with its own unit', () => {
  it.each([
    [0, '0 ns'], [0.5, '0.500 ns'], [57.8, '57.8 ns'], [999.4, '999 ns'], [999.96, '1.00 µs'], [36_800, '36.8 µs'], [1_234_567, '1.23 ms'], [9_999_999, '10.0 ms'], [2.5e9, '2.50 s'], [1.234e12, '1234 s'],
  ])('time %d ns', (ns, text) => expect(formatTime(ns)).toBe(text))

  it('bandwidth, rate and memory', () => {
    expect([formatBandwidth(3.65e12), formatBandwidth(15.4e9), formatFlops(6.65e14), formatFlops(0)]).toEqual(['3.65 TB/s', '15.4 GB/s', '665 TFLOP/s', '0 FLOP/s'])
    expect([formatBytes(1023), formatBytes(1536), formatBytes(1.5 * 2 ** 30), formatBytes(0)]).toEqual(['1023 B', '1.50 KiB', '1.50 GiB', '0 B'])
  })

  it.each([[16777216, '16.8M'], [65536, '65.5K'], [1000, '1K'], [127, '127'], [0, '0'], [2 ** 40, '1.1T']])('count %d', (n, text) => expect(formatCount(n)).toBe(text))

  it.each([[1000, '1000'], [1003, '1003'], [1024, '1Ki'], [1536, '1536'], [65536, '64Ki'], [131072, '128Ki'], [131000, '131K'], [131071, '131071'], [2 ** 24, '16Mi'], [3 * 2 ** 19, '1536Ki'], [2 ** 30, '1Gi'], [1_500_000, '1.5M'], [1_048_577, '1048577'], [1_050_000, '1.05M'], [16777216.4, '16Mi'], [NaN, '–']])(
    'size %d, never as another size', (n, text) => expect(formatSize(n)).toBe(text))
})

describe('a column', () => {
  it('takes the unit of its median', () => {
    expect([chooseTimeUnit(36_800), chooseByteUnit(5e6), chooseBandwidthUnit(4.2e12), chooseFlopsUnit(5e13)].map((u) => u.name)).toEqual(['µs', 'MiB', 'TB/s', 'TFLOP/s'])
    expect([chooseTimeUnit(undefined), chooseTimeUnit(NaN), chooseTimeUnit(0)].map((u) => u.name)).toEqual(['ns', 'ns', 'ns'])
  })

  it('shows every value in that unit with four significant digits, and at most four decimals', () => {
    const us = chooseTimeUnit(5000)
    expect([36_800, 1_234_567, 9.9996e3, 999.96, 12.3, 0.01, 0, 99_995].map((ns) => formatIn(ns, us))).toEqual(['36.80', '1235', '10.00', '1.000', '0.0123', '<0.0001', '0', '100.0'])
    expect(formatIn(0.06, us, 1)).toBe('0.0001')
    expect([formatIn(14_171_000, us), formatIn(1_234_567_890, us), formatTime(12_345e9)]).toEqual(['14,171', '1,234,568', '12,345 s'])
  })

  it('a value far beyond the column stays short', () => {
    expect([formatIn(5.0909e204, chooseTimeUnit(1)), formatPercent(9.3e200)]).toEqual(['5.091e+204', '9.3e+202 %'])
  })

  it('can be aligned on the decimal point', () => {
    expect([splitDecimal('36.80'), splitDecimal('1235'), splitDecimal(ABSENT)]).toEqual([{ whole: '36', fraction: '.80' }, { whole: '1235', fraction: '' }, { whole: '–', fraction: '' }])
  })
})

describe('shares and intervals', () => {
  it.each([[0.873, '87.3 %'], [0.0031, '0.31 %'], [1.04, '104 %'], [0, '0 %'], [0.00003, '<0.01 %'], [-0.00003, '>-0.01 %'], [0.99951, '100 %'], [0.099951, '10.0 %'], [-0.05, '-5.00 %']])('%d', (share, text) => expect(formatPercent(share)).toBe(text))

  it('an interval is half its width over the middle', () => {
    expect(formatInterval(100, 99.5, 100.5)).toBe('±0.50 %')
    expect(formatInterval(0, 0, 0)).toBe('–')
    expect([formatInterval(100, 99.999, 100.001), formatInterval(100, 100, 100), formatHalfWidth(0.135)]).toEqual(['<±0.01 %', '<±0.01 %', '±13.5 %'])
  })

  it('ratios have the decimals of their neighbours, and fewer in sentences', () => {
    expect([0.0046, 0.0842, 0.98765, 0.9996, 1, 1.2346, 9.9994, 12.345, 123.45, 1234.5678, 12_345].map(formatRatio)).toEqual(['0.00460x', '0.0842x', '0.988x', '1.000x', '1.000x', '1.235x', '9.999x', '12.35x', '123.5x', '1235x', '12,345x'])
    expect([formatRatioRange(0.99, 1.0101), formatRatioRange(9.98, 10.02), formatRatioRange(undefined, 1)]).toEqual(['0.990 to 1.010', '9.980 to 10.020', '–'])
    expect([0.0458, 0.976, 0.999, 1.04, 12.34, 1234.5].map(ratioWords)).toEqual(['0.0458x', '0.98x', '1.00x', '1.04x', '12.3x', '1235x'])
  })

  it('a deviation has the decimals of its mean', () => {
    const us = chooseTimeUnit(5000)
    expect([[403_000, 6000], [12_400, 185], [12_400, 31], [302, 4.6]].map(([mean, deviation]) => formatSpread(mean!, deviation!, us))).toEqual(['403 ± 6', '12.4 ± 0.2', '12.4 ± 0.03', '0.302 ± 0.005'])
  })
})

it('a speedup in words is always a number above 1', () => {
  expect([1.04, 0.5, 1.001, 0.998, 12.3, undefined].map(speedupWords)).toEqual(['1.04x faster', '2.00x slower', 'as fast', 'as fast', '12.3x faster', '–'])
})

it.each([[0.4, 'under 1 s'], [42.4, '42 s'], [59.7, '1 min'], [125, '2 min 5 s'], [3599.6, '1 h'], [3780, '1 h 3 min']])('a duration of %d s', (seconds, text) => expect(formatDuration(seconds)).toBe(text))

it('never shows NaN, infinity or undefined', () => {
  for (const absent of [undefined, NaN, Infinity, -Infinity]) {
    const texts = [formatTime, formatBandwidth, formatFlops, formatBytes, formatPercent, formatRatio, formatDuration].map((format) => format(absent))
    expect([...texts, formatIn(absent, chooseTimeUnit(1)), formatInterval(absent, 1, 2), formatInterval(1, absent, 2)]).toEqual(new Array(10).fill('–'))
  }
  expect(formatCount(NaN)).toBe('–')
})

describe('a locale', () => {
  afterEach(() => setNumberLocale('en'))

  it('decides the decimal point and the separator of thousands, and leaves sizes as they are typed', () => {
    setNumberLocale('de-DE')
    expect([formatTime(36_800), formatPercent(0.0031), formatRatio(1.2345), formatInteger(9170), formatIn(14_171_500, { name: 'µs', size: 1e3 }), formatCount(16_777_216), speedupWords(1.04)]).toEqual(['36,8 µs', '0,31 %', '1,234x', '9.170', '14.172', '16,8M', '1,04x faster'])
    expect([formatSize(1.5e6), formatSize(65_536)]).toEqual(['1.5M', '64Ki'])
    expect(splitDecimal(formatIn(36.8, { name: 'ns', size: 1 }))).toEqual({ whole: '36', fraction: ',80' })
  })

  it('is left out of what goes to a file, and comes back after it', () => {
    setNumberLocale('fr-FR')
    expect(withoutLocale(() => `${formatPercent(0.123)} ${formatInteger(1234)}`)).toBe('12.3 % 1,234')
    expect(() => withoutLocale(() => { throw new Error('disk full') })).toThrow('disk full')
    expect(formatPercent(0.123)).toBe('12,3 %')
  })

  it('that nobody knows is ignored', () => {
    setNumberLocale('not a tag')
    expect(formatInteger(1234)).toBe('1,234')
  })
})

it.each([[0.4, 'under 1 s'], [42.4, 'about 42 s'], [125, 'about 2 min 5 s']])('an estimate of %d s', (seconds, text) => expect(aboutDuration(seconds)).toBe(text))
