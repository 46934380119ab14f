import type { Device } from '../backend'
import { caseId, type BenchmarkCase } from '../case'
import { findOp } from '../ops/registry'
import { canonicalParams } from '../ops/define'
import { SIZE_FORMS } from '../ops/forms'
import { isHiddenFamily, type Op } from '../ops/types'
import { joinBoxes, type Box } from './boxes'
import { sameLanes, type Lane } from './lanes'
import { measureOptionTexts } from './measure-options'
import { parseSizes, sizeParams, sizeText } from './sizes'
import type { SweepSpec } from './types'

/** How the cases of a sweep are measured. */
export type How = Pick<SweepSpec, 'preset' | 'measure' | 'repeats'>

/** Commands that measure cases again, and the cases that no command can ask for. */
export interface CommandLines {
  lines: string[]
  left: { case: BenchmarkCase; reason: string }[]
}

/** The dimensions of a line; each case is one value of each. */
const DIMENSIONS = ['op', 'size', 'dtype', 'lane', 'mode'] as const
type Dimension = (typeof DIMENSIONS)[number]

/** A size text may have 4,000 characters (core/sweep/types.ts). */
const MOST_SIZE_CHARACTERS = 3800

const quoted = (text: string) => (/^[\w.:,=+@/%-]+$/.test(text) ? text : `'${text}'`)

/** `sum:axis=last`: an op with the attributes that the case names. */
const opWord = (op: Op, c: BenchmarkCase) => [op.id, ...Object.keys(op.attributes).flatMap((name) => (c.params[name] === undefined ? [] : [`${name}=${String(c.params[name])}`]))].join(':')

/** Why no line can ask for this case; undefined where one can. */
function whyNot(op: Op | undefined, c: BenchmarkCase): string | undefined {
  if (!op) return `${c.op} is no operation of Opscope`
  if (isHiddenFamily(op.family)) return `${c.op} is measured with the ceilings, not picked`
  if (!op.dtypes.includes(c.dtype)) return `${c.op} is not defined for ${c.dtype}`
  const reason = `its parameters are not a size and attributes of ${c.op}`
  const read = parseSizes(op.size, sizeText(op.size, c.params))
  const attributes = Object.fromEntries(Object.keys(op.attributes).flatMap((name) => (c.params[name] === undefined ? [] : [[name, c.params[name]]])))
  const params = read.ok && read.sizes.length === 1 ? { ...sizeParams(op.size, read.sizes[0]!), ...attributes } : undefined
  if (!params || !op.params.safeParse(params).success) return reason
  return caseId({ ...c, params: canonicalParams(op, params) }) === caseId(c) ? undefined : reason
}

/**
 * The commands that measure exactly these cases again, in as few lines as joining finds: each line is a product of
 * operations, sizes, dtypes, devices with implementations and threads, and modes, and no case is in two lines. (The
 * fewest lines possible would be a search over all partitions.) `devices`, where known, lets implementations of
 * different devices share a line; without them a line never relies on what a device lacks.
 */
export function commandLines(cases: readonly BenchmarkCase[], how: How, devices: readonly Device[] = []): CommandLines {
  const left: CommandLines['left'] = []
  const lanes = new Map<string, Lane>()
  const byForm = new Map<string, Box<Dimension>[]>()
  for (const c of new Map(cases.map((one) => [caseId(one), one])).values()) {
    const op = findOp(c.op)
    const reason = whyNot(op, c)
    if (!op || reason !== undefined) {
      left.push({ case: c, reason: reason! })
      continue
    }
    const lane = `${c.device}|${c.impl}|${c.threads ?? ''}`
    lanes.set(lane, { device: c.device, impl: c.impl, ...(c.threads === undefined ? {} : { threads: c.threads }) })
    const box = { op: [opWord(op, c)], size: [sizeText(op.size, c.params)], dtype: [c.dtype], lane: [lane], mode: [c.mode] }
    const boxes = byForm.get(op.size.id)
    if (boxes) boxes.push(box)
    else byForm.set(op.size.id, [box])
  }
  const fits = (dimension: Dimension, values: readonly string[]) =>
    dimension === 'lane' ? sameLanes(values.map((value) => lanes.get(value)!), devices) : dimension === 'size' ? values.join(', ').length <= MOST_SIZE_CHARACTERS : true
  const forms = [...byForm].map(([form, boxes]) => ({ form, boxes: joinBoxes(boxes, DIMENSIONS, fits) }))
  return { lines: sharedLines(forms).map((parts) => lineOf(parts, lanes, how)), left }
}

interface Part {
  form: string
  box: Box<Dimension>
}

/** Boxes of different size forms that agree in all but op and size go into one line, at most one of each form. */
function sharedLines(forms: readonly { form: string; boxes: readonly Box<Dimension>[] }[]): Part[][] {
  const lines: { key: string; parts: Part[] }[] = []
  for (const { form, boxes } of forms) {
    for (const box of boxes) {
      const key = JSON.stringify([box.dtype, box.lane, box.mode].map((values) => [...values].sort()))
      const line = lines.find((one) => one.key === key && !one.parts.some((part) => part.form === form))
      if (line) line.parts.push({ form, box })
      else lines.push({ key, parts: [{ form, box }] })
    }
  }
  return lines.map(({ parts }) => parts)
}

function lineOf(parts: readonly Part[], lanes: ReadonlyMap<string, Lane>, how: How): string {
  const { box } = parts[0]!
  const own = box.lane.map((lane) => lanes.get(lane)!)
  const list = (values: readonly (string | number)[]) => [...new Set(values)].join(',')
  const threads = own.flatMap((lane) => lane.threads ?? [])
  const sizes = parts.length === 1 ? box.size.join(', ') : SIZE_FORMS.flatMap(({ id }) => parts.filter((part) => part.form === id).map((part) => `${id}: ${part.box.size.join(', ')}`)).join('; ')
  const options: [name: string, value: string][] = [
    ['ops', list(parts.flatMap((part) => part.box.op))],
    ['sizes', sizes],
    ['dtypes', list(box.dtype)],
    ['devices', list(own.map(({ device }) => device))],
    ['impls', list(own.map(({ impl }) => impl))],
    ['modes', list(box.mode)],
    ...(threads.length > 0 ? [['threads', list(threads)] as [string, string]] : []),
    ['preset', how.preset],
    ...measureOptionTexts(how),
  ]
  return `npm run opscope -- run ${options.map(([name, value]) => `--${name} ${quoted(value)}`).join(' ')}`
}
