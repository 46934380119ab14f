import { describeLabels, labelledMask } from '../../../measure/result/labels'
import type { Status, SampleLabel } from '../../../result'
import { noiseFloorText } from '../../../session/environment'
import { formatInterval, formatPercent, formatRatio, formatTime, ratioWords } from '../../../units'
import { andOthers, caseWords, groupBy, isMeasured, rivals, type MeasuredRow } from '../group'
import type { AdviceRule } from '../types'

const WORDS: Readonly<Partial<Record<Status, string>>> = { wrong: 'failed verification', inaccurate: 'exceeded the error bounds (not ranked)', failed: 'failed', crashed: 'crashed', timeout: 'timed out' }

/** Cases that are not ranked: verification failed, inaccurate, failed, crashed or hung. Skipped ones were not tried and say why themselves. */
const notRight: AdviceRule = {
  id: 'not-right',
  title: 'Failed or inaccurate',
  find: ({ rows }) =>
    groupBy(rows.filter(({ status }) => WORDS[status] !== undefined), ({ status, case: c }) => [status, c.op, c.dtype, c.backend, c.device, c.impl].join('|')).map((group) => {
      const row = group[0]!
      return {
        rule: notRight.id,
        severity: 'problem',
        rows: group.map(({ id }) => id),
        sentence: `${caseWords(row.case)}${andOthers(group.length - 1, 'such case', 'such cases')} ${WORDS[row.status]!}: ${brief(row.message ?? 'no message recorded')}`,
        evidence: [{ name: 'Status', value: row.status }, ...(group.length > 1 ? [{ name: 'Cases', value: String(group.length) }] : [])],
      }
    }),
}

const MAX_MESSAGE = 300
const brief = (text: string) => (text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE - 1)}…` : text)

/** Cases whose sampling ended before the interval reached its target width. */
const notConverged: AdviceRule = {
  id: 'not-converged',
  title: 'Not converged',
  find: ({ rows, details }) => {
    const width = (row: (typeof rows)[number]) => ((row.ciHighNs ?? Infinity) - (row.ciLowNs ?? 0)) / (row.medianNs ?? 1)
    const found = rows.filter((row) => isMeasured(row) && details?.get(row.id)?.converged === false)
    return groupBy(found, ({ case: c }) => `${c.backend}|${c.device}`).map((group) => {
      const ordered = [...group].sort((a, b) => width(b) - width(a))
      const row = ordered[0]!
      const { stopReason } = details?.get(row.id) ?? {}
      return {
        rule: notConverged.id,
        severity: 'warning',
        rows: ordered.map(({ id }) => id),
        sentence: `${caseWords(row.case)}${andOthers(group.length - 1)} on this device did not reach the target 95 % CI; the widest is ${formatInterval(row.medianNs, row.ciLowNs, row.ciHighNs)}. Raise the time limit or the target.`,
        evidence: [{ name: 'Sampling ended', value: stopReason ?? 'no reason recorded' }, { name: '95 % CI', value: formatInterval(row.medianNs, row.ciLowNs, row.ciHighNs) }],
      }
    })
  },
}

/** MAD over median from which the grade calls a case noisy. */
const MAX_MAD = 0.05
/** Standard deviation over mean from which the tail is heavy, even where the median is steady. */
const MAX_STDDEV = 0.25

interface Spread {
  row: MeasuredRow
  share: number
}

function spreadOf(row: MeasuredRow): Spread[] {
  const mad = (row.madNs ?? 0) / row.medianNs
  const deviation = row.meanNs === undefined || row.meanNs === 0 ? 0 : (row.stddevNs ?? 0) / row.meanNs
  return mad > MAX_MAD || deviation > MAX_STDDEV ? [{ row, share: Math.max(mad, deviation) }] : []
}

/** Cases whose samples vary so much that a single figure is unreliable. */
const highVariance: AdviceRule = {
  id: 'high-variance',
  title: 'High variance',
  find: ({ rows }) =>
    groupBy(rows.filter(isMeasured).flatMap(spreadOf), ({ row }) => `${row.case.backend}|${row.case.device}`).map((group) => {
      const ordered = [...group].sort((a, b) => b.share - a.share)
      const { row } = ordered[0]!
      const tail = (row.madNs ?? 0) <= MAX_MAD * row.medianNs
      return {
        rule: highVariance.id,
        severity: 'warning',
        rows: ordered.map((one) => one.row.id),
        sentence: `High variance in ${caseWords(row.case)}${andOthers(group.length - 1)} on this device: ${tail ? `the standard deviation is ${formatPercent(ordered[0]!.share)} of the mean` : `the MAD is ${formatPercent((row.madNs ?? 0) / row.medianNs)} of the median`}. Close other programs, lock the clocks, or take more samples.`,
        evidence: [
          { name: 'Median', value: formatTime(row.medianNs) },
          ...(row.p05Ns !== undefined && row.p95Ns !== undefined ? [{ name: '5 to 95 % of the samples', value: `${formatTime(row.p05Ns)} to ${formatTime(row.p95Ns)}` }] : []),
          ...(row.meanNs !== undefined && row.stddevNs !== undefined ? [{ name: 'Mean and standard deviation', value: `${formatTime(row.meanNs)} ± ${formatTime(row.stddevNs)}` }] : []),
        ],
      }
    }),
}

/** Largest share of labelled samples that needs no remark; the grade uses the same limit. */
const MAX_SHARE = 0.1

const CURES: Readonly<Record<SampleLabel['kind'], string>> = {
  throttled: 'Cool the device or raise its power limit, then measure again.',
  'slow-clock': 'Lock the clocks, or give the device more warm-up.',
  'host-slowed': 'Close other programs that use the processor.',
  disturbed: 'Close the other program on the device.',
}

/** Cases with samples taken while the device was throttled, slow or shared. */
const disturbed: AdviceRule = {
  id: 'disturbed',
  title: 'Throttled or disturbed',
  find: ({ rows, details }) => {
    const found = rows.filter(isMeasured).flatMap((row) => {
      const { labels = [], taken = 0 } = details?.get(row.id) ?? {}
      return [...new Set(labels.map(({ kind }) => kind))].flatMap((kind) => {
        const own = labels.filter((label) => label.kind === kind)
        const share = labelledMask(own, taken).reduce((sum, one) => sum + one, 0) / taken
        return share > MAX_SHARE ? [{ row, kind, share, words: describeLabels(own, taken) }] : []
      })
    })
    return groupBy(found, ({ row, kind }) => `${row.case.backend}|${row.case.device}|${kind}`).map((group) => {
      const ordered = [...group].sort((a, b) => b.share - a.share)
      const { row, kind, words } = ordered[0]!
      return {
        rule: disturbed.id,
        severity: 'warning',
        rows: ordered.map((one) => one.row.id),
        sentence: `${caseWords(row.case)}${andOthers(group.length - 1)} on this device: ${words.slice(0, 200)} samples. ${CURES[kind]}`,
        evidence: [{ name: 'Samples of the first case', value: words.slice(0, 400) }],
      }
    })
  },
}

/** Cases timed by the wall clock: their times include launch and wait. */
const wallClock: AdviceRule = {
  id: 'wall-clock',
  title: 'Timed by the wall clock',
  find: ({ rows, details }) => {
    const found = rows.filter(isMeasured).filter((row) => details?.get(row.id)?.timer === 'wall-clock')
    return groupBy(found, ({ case: c }) => `${c.backend}|${c.device}`).map((group) => {
      const row = group.reduce((least, one) => (one.medianNs < least.medianNs ? one : least))
      return {
        rule: wallClock.id,
        severity: 'warning',
        rows: [row, ...group.filter((one) => one !== row)].map(({ id }) => id),
        sentence: `${caseWords(row.case)}${andOthers(group.length - 1)} on this device: timed by the wall clock, because the device has no timer. Times include launch and wait. Do not compare them with device times.`,
        evidence: [{ name: 'Timer', value: 'wall clock' }, { name: 'Shortest median', value: formatTime(row.medianNs) }],
      }
    })
  },
}

/** Implementations that differ by less than the noise floor of the device, however narrow the intervals are. */
const noiseFloor: AdviceRule = {
  id: 'noise-floor',
  title: 'Difference below the noise floor',
  find: ({ rows, environment }) => {
    const { noiseFloors = [] } = environment ?? {}
    const found = rivals(rows).flatMap(({ row, other, speedup }) => {
      const floor = noiseFloors.find((one) => one.backend === row.case.backend && one.device === row.case.device)
      const seems = speedup.low !== undefined && speedup.low > 1
      return floor && seems && speedup.ratio - 1 < floor.ratioP95 ? [{ row, other, speedup, floor }] : []
    })
    return groupBy(found, ({ row }) => `${row.case.backend}|${row.case.device}`).map((group) => {
      const { row, other, speedup, floor } = group[0]!
      return {
        rule: noiseFloor.id,
        severity: 'info',
        rows: [...new Set(group.flatMap((pair) => [pair.row.id, pair.other.id]))],
        sentence: `${caseWords(row.case)}: ${other.case.impl} measured ${ratioWords(speedup.ratio)} faster, which is below the noise floor of ${formatPercent(floor.ratioP95)} on this device. Do not rely on this difference${andOthers(group.length - 1, 'difference', 'differences')} before an interleaved (ABBA) measurement confirms it.`,
        evidence: [
          { name: 'Ratio of medians', value: `${formatRatio(speedup.ratio)} (${formatRatio(speedup.low)} to ${formatRatio(speedup.high)})` },
          { name: 'Noise floor', value: noiseFloorText(floor) },
        ],
      }
    })
  },
}

export default [notRight, notConverged, highVariance, disturbed, wallClock, noiseFloor]
