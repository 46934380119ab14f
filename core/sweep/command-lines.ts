import type { Device } from '../backend'
import { caseId, type BenchmarkCase } from '../case'
import { canonicalParams } from '../ops/define'
import { SIZE_FORMS } from '../ops/forms'
import { findOp } from '../ops/registry'
import { isHiddenFamily, type Op } from '../ops/types'
import { measureOptionTexts } from './measure-options'
import { parseSizes, sizeParams, sizeText } from './sizes'
import type { SweepSpec } from '../session/sweep-spec'

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

/** A size text may have 4,000 characters (core/session/sweep-spec.ts). */
const MAX_SIZE_CHARACTERS = 3800

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
  const lanes = new Map<string, ImplementationChoice>()
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
    dimension === 'lane' ? sameChoices(values.map((value) => lanes.get(value)!), devices) : dimension === 'size' ? values.join(', ').length <= MAX_SIZE_CHARACTERS : true
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

function lineOf(parts: readonly Part[], lanes: ReadonlyMap<string, ImplementationChoice>, how: How): string {
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

/** A product of sets: one list of values for each dimension. */
type Box<D extends string> = Record<D, readonly string[]>

/** Above this many boxes only a few orders of the dimensions are tried. */
const FEW = 300

/**
 * Joins boxes that differ in one dimension only, until none do, for several orders of the dimensions, and returns the
 * smallest cover found. The boxes must not overlap; neither do the joined ones. `fits` says whether values of a
 * dimension may stand together.
 */
function joinBoxes<D extends string>(boxes: readonly Box<D>[], dimensions: readonly D[], fits: (dimension: D, values: readonly string[]) => boolean): Box<D>[] {
  const orders = boxes.length <= FEW ? permutations(dimensions) : dimensions.map((_, i) => [...dimensions.slice(i), ...dimensions.slice(0, i)])
  let best: Box<D>[] = [...boxes]
  for (const order of orders) {
    let joined: Box<D>[] = [...boxes]
    for (let before = Infinity; joined.length < before; ) {
      before = joined.length
      for (const dimension of order) joined = joinAlong(joined, dimension, dimensions, fits)
    }
    if (joined.length < best.length) best = joined
    if (best.length <= 1) break
  }
  return best
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item, i) => permutations([...items.slice(0, i), ...items.slice(i + 1)]).map((rest) => [item, ...rest]))
}

function joinAlong<D extends string>(boxes: readonly Box<D>[], dimension: D, dimensions: readonly D[], fits: (dimension: D, values: readonly string[]) => boolean): Box<D>[] {
  const groups = new Map<string, Box<D>[]>()
  for (const box of boxes) {
    const key = JSON.stringify(dimensions.filter((other) => other !== dimension).map((other) => [...box[other]].sort()))
    const group = groups.get(key)
    if (group) group.push(box)
    else groups.set(key, [box])
  }
  return [...groups.values()].flatMap((group) => {
    const whole = group.flatMap((box) => box[dimension])
    if (fits(dimension, whole)) return [{ ...group[0]!, [dimension]: whole }]
    return inPairs(group.map((box) => box[dimension]), (values) => fits(dimension, values)).map((values) => ({ ...group[0]!, [dimension]: values }))
  })
}

/** Joins lists two at a time as long as some two fit together. */
function inPairs(lists: readonly (readonly string[])[], fits: (values: readonly string[]) => boolean): (readonly string[])[] {
  const left = [...lists]
  for (let i = 0; i < left.length; ) {
    const j = left.findIndex((other, at) => at > i && fits([...left[i]!, ...other]))
    if (j < 0) i++
    else {
      left[i] = [...left[i]!, ...left[j]!]
      left.splice(j, 1)
      // What did not fit with an earlier list may now.
      i = 0
    }
  }
  return left
}

/** An implementation of a device with its thread count, where the device has a choice. */
interface ImplementationChoice {
  device: string
  impl: string
  threads?: number
}

/**
 * Whether naming the devices, implementations and thread counts of these lanes on one command line means just these
 * lanes. A command takes every named implementation that a named device has, with every named thread count that it has
 * a choice of. A device that is not known is taken to have them all.
 */
function sameChoices(lanes: readonly ImplementationChoice[], known: readonly Device[]): boolean {
  const impls = [...new Set(lanes.map(({ impl }) => impl))]
  const threads = [...new Set(lanes.flatMap((lane) => lane.threads ?? []))]
  let meant = 0
  for (const id of new Set(lanes.map(({ device }) => device))) {
    const own = lanes.filter(({ device }) => device === id)
    const device = known.find((one) => one.id === id && one.available.ok)
    const having = device ? impls.filter((impl) => device.impls.some((one) => one.id === impl)) : impls
    const threaded = own.some((lane) => lane.threads !== undefined)
    // A count that this device does not have is refused by the command.
    if (threaded && device && threads.some((count) => !device.threads.includes(count))) return false
    meant += having.length * (threaded ? threads.length : 1)
  }
  return meant === lanes.length
}
