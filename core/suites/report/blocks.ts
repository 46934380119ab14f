import { blockTimelines, type Timeline } from '../../analysis/block-timeline'
import { operationText, shapeText } from '../../case-words'
import type { SweepSpec } from '../../session/sweep-spec'
import { ABSENT, formatBandwidth, formatBytes, formatFlops, formatPercent, formatRatio } from '../../units'
import { about, dashText, implName, text, timesWriter, type Material, type SuiteCell, type SuitePart } from './material'

/** `avx2, f32, hot` */
export const timelineName = ({ case: c }: Timeline): string => `${implName(c)}, ${c.dtype}, ${c.mode}`

/** Total of the parts against the whole op, and the parts of each implementation. */
export function blocksParts({ results, ceilings }: Material, spec: Pick<SweepSpec, 'ops' | 'sizes' | 'parts'> | undefined): SuitePart[] {
  const timelines = spec?.parts ? blockTimelines(spec, results, ceilings) : []
  return timelines.length === 0 ? [] : [totalsPart(timelines), ...timelines.map(partsPart)]
}

function totalsPart(timelines: readonly Timeline[]): SuitePart {
  const against = ({ complete, forwardNs }: Timeline, base: number | undefined) => text(!complete || base === undefined ? ABSENT : formatRatio(base / forwardNs))
  const rows = timelines.map((one) => {
    const { time } = timesWriter([one.forwardNs, one.whole, one.torch].flatMap((part) => (part === undefined ? [] : [typeof part === 'number' ? part : part.ns])))
    const whole = (part: Timeline['whole']): SuiteCell => (part ? { text: time(part.ns), result: part.result } : text(ABSENT))
    return [
      text(one.work), text(timelineName(one)), text(time(one.forwardNs)), text(one.backwardNs === 0 ? ABSENT : time(one.backwardNs)), whole(one.whole), against(one, one.whole?.ns), whole(one.torch), against(one, one.torch?.ns),
      text(one.missing.length === 0 ? '' : one.missing.join(', ')),
    ]
  })
  return {
    title: 'Sum of parts', text: `Sum of the medians of the parts, each measured alone, beside the median of the whole forward pass and of PyTorch’s encoder layer.${dashText(rows, 'not measured in this session, or without a result of every part')}`,
    table: { heads: [{ title: 'operation', mono: true }, { title: 'implementation' }, { title: 'forward', numeric: true }, { title: 'backward', numeric: true }, { title: 'whole op', numeric: true }, { title: 'whole / parts', numeric: true }, { title: 'PyTorch', numeric: true }, { title: 'speedup over PyTorch', numeric: true }, { title: 'without a result', wide: true }], rows },
  }
}

function partsPart(timeline: Timeline): SuitePart {
  const { time } = timesWriter(timeline.parts.map(({ ns }) => ns))
  const rows = timeline.parts.map((part) =>
    [
      part.name, part.pass, `${operationText(part.case)} ${shapeText(part.case)}`, time(part.ns), formatPercent(part.share), formatBytes(part.bytes), formatBandwidth(part.bytesPerSecond), part.flops === 0 ? ABSENT : formatFlops(part.flopsPerSecond),
      part.bound ?? ABSENT, part.efficiency === undefined ? ABSENT : formatPercent(part.efficiency),
    ].map(about({ id: part.result })),
  )
  return {
    title: `Parts of ${timeline.work} (${timelineName(timeline)})`,
    short: `Parts (${timelineName(timeline)})`,
    table: { heads: [{ title: 'part', mono: true }, { title: 'pass' }, { title: 'operation', mono: true }, { title: 'median', numeric: true }, { title: 'share', numeric: true }, { title: 'bytes', numeric: true }, { title: 'bandwidth', numeric: true }, { title: 'compute', numeric: true }, { title: 'bound' }, { title: 'efficiency', numeric: true }], rows },
  }
}
