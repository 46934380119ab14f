import type { Dtype } from '@core/case'
import type { BufferName, DeviceLimits, KernelShape, Program, Step } from '../kernels/types'
import { ARRIVAL_FUNCTIONS, arrivalBytes, ARRIVALS, eachArrival } from './arrivals'
import { entry, header, step, storage, THREADS, type Binding, type Width } from './header'
import { exchange, maxOf, planRows, reduction, sumOf, type RowPlan } from './rows'

/** A tensor that a row operation reads: by element of the row, by column (the same for every row), or as given (`raw`, under its own name). */
export interface RowTensor {
  name: string
  from: BufferName
  by: 'row' | 'column' | 'raw'
  /** WGSL type of an element where it is not the case's own. */
  type?: 'f32' | 'i32'
}

/**
 * What is found out about a row, as f32 names that later expressions use. Expressions see each tensor of the row as a VF (f32 or
 * vec4<f32>), `index` (the columns, a VU), `length` (f32), `row` (u32) and the results of earlier passes.
 * sums: several at once. softmax: the largest value and the sum of e^(value - largest), in one reading where the row is read again
 * for every pass (Milakov & Gimelshein 2018). moments: the sum, and the sum of squares around the mean, which workgroups that share a row, and threads
 * that do not keep it, take around the means of their parts and join (Chan, Golub & LeVeque 1979).
 */
export type RowPass = { sums: Readonly<Record<string, string>> } | { softmax: string; highest: string; total: string } | { moments: string; sum: string; squares: string }

/** One operation on rows of neighbouring elements. */
export interface RowOp {
  tensors: readonly RowTensor[]
  /** WGSL functions for rows of numbers or of vectors of four. */
  functions?: (width: Width) => string
  /** Lines before the passes, once for a row. */
  before?: string
  passes: readonly RowPass[]
  /** Lines after the passes, once for a row. */
  after?: string
  /** The results: a VF for each element, one f32 for each row, or their mean over all rows, which fits `isMeanInOne` and one pass. */
  result: { each: string; to: BufferName } | { once: string; to: BufferName; type: 'f32' | 'case' } | { mean: string; to: BufferName; arrivals: BufferName }
  /** Integers behind the row's own, from dim(ROW_DIMS) on. */
  dims?: readonly number[]
  scalars?: readonly number[]
  /** Most vectors of a row that a thread keeps in registers, where it is not the usual number. */
  kept?: number
}

/** rows, vectors of a row, length, workgroups that share a row, vectors of each. */
export const ROW_DIMS = 5

/** Below every finite input, and e to the power of it is 0. */
export const LOWEST = '-1e30'

/** Shortest part of a row that is worth a workgroup of its own, in vectors, and workgroups that fill any device known here. */
const SHORTEST_PART = 1024
const ENOUGH_GROUPS = 2048

/** Threads of a workgroup for short rows: small ones leave less of a device idle at the end, and wait for fewer. What a last workgroup joins comes from large ones. */
const LEAST_THREADS = 128

/** f32 of a thread for tensors that are the same for every row; more where elements are few, whose threads wait for memory rather than for registers. */
const MOST_OF_COLUMNS = { few: 32, many: 8 }
const FEW_ELEMENTS = 2 ** 22

/** Workgroups that share a row: only where rows are too long to keep and too few to fill the device. */
const partsOf = (rows: number, plan: RowPlan): number =>
  plan.kept !== undefined ? 1 : Math.max(1, Math.min(THREADS, Math.ceil(plan.vectors / SHORTEST_PART), Math.floor(ENOUGH_GROUPS / rows)))

const uses = (text: string, name: string): boolean => new RegExp(`\\b${name}\\b`).test(text)

/** Names of a pass's results. */
const namesOf = (pass: RowPass): string[] => ('sums' in pass ? Object.keys(pass.sums) : 'moments' in pass ? [pass.sum, pass.squares] : [pass.highest, pass.total])

/** What a result of a pass is where there is nothing. */
const startOf = (pass: RowPass, name: string): string => (!('softmax' in pass) || name === pass.total ? '0.0' : LOWEST)

/** Text of the kernels of one operation for one plan. */
class RowText {
  constructor(
    private readonly op: RowOp,
    private readonly plan: RowPlan,
    private readonly dtype: Dtype,
    private readonly parts: number,
    private readonly subgroups: number | undefined,
  ) {}

  /** Loads of what the text names, for the vector `i` of a row. */
  #loads(text: string, registers?: number): string {
    const { tensors } = this.op
    const lines = tensors.filter(({ by, name }) => by !== 'raw' && uses(text, name)).map(({ name, by }) => {
      if (registers !== undefined && (by === 'row' || this.#keepsColumns)) return `let ${name} = ${name}_${registers};`
      return `let ${name} = VF(${name}_in[${by === 'row' ? 'base + i' : 'i'}]);`
    })
    if (uses(text, 'index')) lines.push(this.plan.width === 4 ? 'let index = VU(4u * i) + VU(0u, 1u, 2u, 3u);' : 'let index = i;')
    return lines.join(' ')
  }

  /** `body` for every vector of the row that this thread has; it sees what it names. */
  #each(body: string): string {
    const { plan } = this
    if (plan.kept === undefined) return `  for (var i = begin + l; i < end; i += ${plan.lanes}u) { ${this.#loads(body)} ${body} }`
    return Array.from({ length: plan.kept }, (_, k) => `  { let i = l + ${plan.lanes * k}u; if (live && i < vectors) { ${this.#loads(body, k)} ${body} } }`).join('\n')
  }

  /** Whether what is the same for every row is read together with the row, before threads wait for each other: where that needs few registers. */
  get #keepsColumns(): boolean {
    const { plan: { kept, width, groups, rowsPerGroup, vectors }, op } = this
    const most = MOST_OF_COLUMNS[groups * rowsPerGroup * vectors * width <= FEW_ELEMENTS ? 'few' : 'many']
    return kept !== undefined && kept * width * op.tensors.filter(({ by }) => by === 'column').length <= most
  }

  /** The row's own tensors in registers, where it fits there. */
  get #kept(): string {
    const { plan, op } = this
    if (plan.kept === undefined) return ''
    const kept = op.tensors.filter(({ by }) => by === 'row' || (by === 'column' && this.#keepsColumns))
    return kept.flatMap(({ name, by }) => Array.from({ length: plan.kept! }, (_, k) => `  var ${name}_${k} = VF(0.0); if (live && l + ${plan.lanes * k}u < vectors) { ${name}_${k} = VF(${name}_in[${by === 'row' ? 'base + ' : ''}l + ${plan.lanes * k}u]); }`)).join('\n')
  }

  /** What this thread's part of a pass gives, as f32 `<name>_part`. */
  #partial(pass: RowPass): string {
    const { width, kept } = this.plan
    if ('moments' in pass && kept !== undefined) return this.#partial({ sums: { [pass.sum]: pass.moments } })
    if ('moments' in pass) {
      // Mean and squares around it as elements come (Welford 1962): the row is read once.
      const { moments, sum, squares } = pass
      const body = `seen += 1.0; let off = ${moments} - ${sum}_mean; ${sum}_mean += off * (1.0 / seen); ${squares}_sum += off * (${moments} - ${sum}_mean);`
      return `  var seen = 0.0; var ${sum}_mean = VF(0.0); var ${squares}_sum = VF(0.0);\n${this.#each(body)}\n  var ${sum}_part = seen * ${sumOf(`${sum}_mean`, width)};`
    }
    if ('sums' in pass) {
      const sums = Object.entries(pass.sums)
      const body = sums.map(([name, expression]) => `${name}_sum += ${expression};`).join(' ')
      return `${sums.map(([name]) => `  var ${name}_sum = VF(0.0);`).join('\n')}\n${this.#each(body)}\n${sums.map(([name]) => `  let ${name}_part = ${sumOf(`${name}_sum`, width)};`).join('\n')}`
    }
    const { softmax, highest, total } = pass
    if (kept !== undefined) return `  var top = VF(${LOWEST});\n${this.#each(`top = max(top, ${softmax});`)}\n  let ${highest}_part = ${maxOf('top', width)};`
    return `  var ${highest}_part = ${LOWEST}; var ${total}_part = 0.0;\n${this.#each(`let value = ${softmax}; let next = max(${highest}_part, ${maxOf('value', width)}); let e = exp(value - next); ${total}_part = ${total}_part * exp(${highest}_part - next) + ${sumOf('e', width)}; ${highest}_part = next;`)}`
  }

  /** The parts of all threads of a row joined under the pass's own names; `count` elements are those of a mean. */
  #joined(pass: RowPass, count = 'length'): string {
    if ('moments' in pass && this.plan.kept === undefined) {
      const { sum, squares } = pass
      const off = `(${sum}_mean - VF(${sum} / ${count}))`
      return `${this.#joined({ sums: { [sum]: '' } })}\n  let ${squares}_part = ${sumOf(`(${squares}_sum + seen * ${off} * ${off})`, this.plan.width)};\n${this.#joined({ sums: { [squares]: '' } })}`
    }
    if ('moments' in pass) {
      const around = `(${pass.moments} - VF(${pass.sum} / ${count}))`
      return [this.#joined({ sums: { [pass.sum]: '' } }), this.#partial({ sums: { [pass.squares]: `${around} * ${around}` } }), this.#joined({ sums: { [pass.squares]: '' } })].join('\n')
    }
    if ('sums' in pass) return Object.keys(pass.sums).map((name) => `  let ${name} = reduce_sum(${name}_part, lane);`).join('\n')
    const { softmax, highest, total } = pass
    const largest = `  let ${highest} = reduce_max(${highest}_part, lane);`
    if (this.plan.kept === undefined) return `${largest}\n  let ${total} = reduce_sum(${total}_part * exp(${highest}_part - ${highest}), lane);`
    return `${largest}\n  var ${total}_sum = VF(0.0);\n${this.#each(`${total}_sum += exp(${softmax} - ${highest});`)}\n  let ${total} = reduce_sum(${sumOf(`${total}_sum`, this.plan.width)}, lane);`
  }

  /** Reads what the workgroups of a row left of a pass, as `<name>_part`: one of them for each thread. */
  #collected(pass: RowPass): string {
    return namesOf(pass).map((name) => `  var ${name}_part = ${startOf(pass, name)}; if (lane < parts) { ${name}_part = ${this.#place(name, 'row * parts + lane')}; }`).join('\n')
  }

  /** What the workgroups of a row left of a pass, joined. */
  #gathered(pass: RowPass): string {
    const collected = this.#collected(pass)
    if (!('moments' in pass)) return `${collected}\n${this.#joined(pass)}`
    const { sum, squares } = pass
    return `${collected}
${this.#joined({ sums: { [sum]: '' } })}
  var ${squares}_moved = 0.0;
  if (lane < parts && lane * dim(4u) < vectors) { let count = ${this.#elements('lane * dim(4u)', 'min((lane + 1u) * dim(4u), vectors)')}; let off = ${sum}_part / count - ${sum} / length; ${squares}_moved = ${squares}_part + count * off * off; }
  let ${squares} = reduce_sum(${squares}_moved, lane);`
  }

  /** The elements of a part, as f32. */
  #elements(begin: string, end: string): string {
    return `f32(${this.plan.width}u * max(1u, ${end} - min(${begin}, ${end})))`
  }

  get #functions(): string {
    return this.op.functions?.(this.plan.width) ?? ''
  }

  #module(bindings: readonly Binding[], body: string): string {
    const { op, plan, dtype } = this
    const declared = this.#named(body).map(({ name, by, type }): Binding => ({ name: by === 'raw' ? name : `${name}_in`, type: type ?? storage(dtype, by === 'raw' ? 1 : plan.width) }))
    return `${header([...declared, ...bindings], dtype === 'f16', this.subgroups !== undefined)}${plan.width === 4 ? 'alias VF = vec4<f32>; alias VU = vec4<u32>;\n' : 'alias VF = f32; alias VU = u32;\n'}${exchange(plan.threads)}
${reduction('max', plan.lanes, (a, b) => `max(${a}, ${b})`, this.subgroups)}${reduction('sum', plan.lanes, (a, b) => `${a} + ${b}`, this.subgroups)}${/\breduce_group\b/.test(body) ? reduction('group', plan.threads, (a, b) => `${a} + ${b}`, this.subgroups) : ''}${/\bis_last\b/.test(body) ? ARRIVAL_FUNCTIONS : ''}${this.#functions}
${entry(`${this.#places}\n${op.before ?? ''}\n${body}`, plan.threads)}`
  }

  get #places(): string {
    const { lanes, rowsPerGroup } = this.plan
    const common = `  let l = lane % ${lanes}u;
  let vectors = dim(1u);
  let length = f32(dim(2u));
  let parts = dim(3u);`
    if (this.parts > 1) return `${common}\n  let row = group / parts;\n  let live = row < dim(0u);\n  let begin = group % parts * dim(4u);\n  let end = select(0u, min(begin + dim(4u), vectors), live);\n  let base = row * vectors;`
    return `${common}\n  let wanted = group * ${rowsPerGroup}u + lane / ${lanes}u;\n  let live = wanted < dim(0u);\n  let row = min(wanted, dim(0u) - 1u);\n  let begin = 0u;\n  let end = select(0u, vectors, live);\n  let base = row * vectors;`
  }

  /** The tensors that a step with this body reads. */
  #named(body: string): readonly RowTensor[] {
    const text = `${this.#functions}${this.op.before ?? ''}${body}`
    return this.op.tensors.filter(({ name, by }) => uses(text, by === 'raw' ? name : `${name}_in`))
  }

  #buffers(body: string, more: readonly BufferName[]): BufferName[] {
    return [...this.#named(body).map(({ from }) => from), ...more]
  }

  /** The last lines: results of each element, or one of the row. */
  get #results(): { text: string; binding: Binding } {
    const { result } = this.op
    const scalarType = storage(this.dtype, 1)
    if ('each' in result) {
      const type = storage(this.dtype, this.plan.width)
      return { text: this.#each(`out[base + i] = ${type}(${result.each});`), binding: { name: 'out', type, write: true } }
    }
    if ('mean' in result) return { text: this.#mean(result.mean), binding: { name: 'out', type: scalarType, write: true } }
    const type = result.type === 'f32' ? 'f32' : scalarType
    const first = this.parts > 1 ? 'live && lane == 0u && group % parts == 0u' : 'live && l == 0u'
    return { text: `  if (${first}) { out[row] = ${type}(${result.once}); }`, binding: { name: 'out', type, write: true } }
  }

  /** The only step where a workgroup has whole rows. */
  whole(): { text: string; buffers: BufferName[] } {
    const results = this.#results
    const body = [this.#kept, ...this.op.passes.flatMap((pass) => [this.#partial(pass), this.#joined(pass)]), this.op.after ?? '', results.text].join('\n')
    return this.#withArrivals(results.binding, body)
  }

  /** The only step where the last workgroup of a row joins its parts, and the last of all the mean. */
  meanOfParts(expression: string): { text: string; buffers: BufferName[] } {
    const [pass] = this.op.passes as [RowPass]
    const names = namesOf(pass)
    const behind = `dim(0u) * parts * ${names.length}u`
    const body = `  if (!live) { return; }
${this.#partial(pass)}
${this.#joined(pass, this.#elements('begin', 'end'))}
  if (lane == 0u) { ${names.map((name, j) => `leave(group * ${names.length}u + ${j}u, ${name});`).join(' ')} }
  if (is_last(${behind} + row, parts, lane)) {
    let place = (row * parts + lane) * ${names.length}u;
${names.map((name, j) => `    ${name}_part = ${startOf(pass, name)}; if (lane < parts) { ${name}_part = awaited(place + ${j}u, atomicLoad(&arrivals[place + ${j}u])); }`).join('\n')}
${this.#joined(pass)}
${this.op.after ?? ''}
    if (lane == 0u) { leave(${behind} + dim(0u) + row, ${expression}); }
${this.#meanOf(`${behind} + dim(0u)`, 'dim(0u)', 'reduce_sum')}
  }`
    return this.#withArrivals(this.#results.binding, body)
  }

  #withArrivals(result: Binding, body: string): { text: string; buffers: BufferName[] } {
    const { result: to } = this.op
    const shared = 'mean' in to && uses(body, 'is_last')
    return { text: this.#module([result, ...(shared ? [ARRIVALS] : [])], body), buffers: this.#buffers(body, [to.to, ...(shared ? [to.arrivals] : [])]) }
  }

  /** The mean of `expression` over the rows of all workgroups. */
  #mean(expression: string): string {
    const { lanes, threads, groups } = this.plan
    const reduce = lanes === threads ? 'reduce_sum' : 'reduce_group'
    const own = `  let of_row = ${expression};\n  let of_group = ${lanes === threads ? 'of_row' : `${reduce}(select(0.0, of_row, live && l == 0u), lane)`};`
    if (groups === 1) return `${own}\n  if (lane == 0u) { out[0] = ${storage(this.dtype, 1)}(of_group / f32(dim(0u))); }`
    const count = `dim(${this.#groupsAt}u)`
    return `${own}\n  if (group >= ${count}) { return; }\n  if (lane == 0u) { leave(group, of_group); }\n${this.#meanOf('0u', count, reduce)}`
  }

  get #groupsAt(): number {
    return ROW_DIMS + (this.op.dims?.length ?? 0)
  }

  /** The last of `count` workgroups adds up what they left from `at` on; their counter lies behind that. */
  #meanOf(at: string, count: string, reduce: string): string {
    return `  if (is_last(${at} + ${count}, ${count}, lane)) {
    var rest = 0.0;
${eachArrival('lane', count, `${this.plan.threads}u`, (i) => `${at} + ${i}`, (value) => `rest += ${value};`)}
    let all = ${reduce}(rest, lane);
    if (lane == 0u) { out[0] = ${storage(this.dtype, 1)}(all / f32(dim(0u))); }
  }`
  }

  /** Where the parts of a result lie: all results share one scratch buffer, because a step may bind only so many. */
  #place(name: string, at: string): string {
    return `shared_parts[${this.op.passes.flatMap(namesOf).indexOf(name)}u * dim(0u) * parts + ${at}]`
  }

  /** A step that leaves a pass's parts in the scratch buffer, or with `pass` undefined the last one. */
  part(done: readonly RowPass[], pass: RowPass | undefined, scratch: BufferName): { text: string; buffers: BufferName[] } {
    const earlier = done.map((before) => this.#gathered(before))
    const results = this.#results
    const last = pass ? [this.#partial(pass), this.#joinedOver(pass)] : [this.op.after ?? '', results.text]
    const body = [...earlier, ...last].join('\n')
    const shared: Binding = { name: 'shared_parts', type: 'f32', write: true }
    return { text: this.#module(pass ? [shared] : [shared, results.binding], body), buffers: this.#buffers(body, pass ? [scratch] : [scratch, this.op.result.to]) }
  }

  /** A pass joined over one workgroup, and left for the others. */
  #joinedOver(pass: RowPass): string {
    return `${this.#joined(pass, this.#elements('begin', 'end'))}\n  if (live && lane == 0u) { ${namesOf(pass).map((name) => `${this.#place(name, 'group')} = ${name};`).join(' ')} }`
  }
}

/** Workgroups whose results the last of them joins. */
const MOST_JOINED = 2048

/** Whether the mean over all rows is one step: as far as one workgroup can join the others' results. */
export function isMeanInOne(rows: number, length: number, { threads }: DeviceLimits): boolean {
  const plan = planRows(rows, length, { threads, singles: true })
  const parts = partsOf(rows, plan)
  return (parts > 1 ? rows * parts : plan.groups) <= MOST_JOINED
}

/** The steps of a row operation over `rows` rows of `length` elements. Scratch space is numbered from `scratchFrom`. */
export function rowSteps(op: RowOp, { dtype, subgroups, threads }: Pick<KernelShape, 'dtype'> & DeviceLimits, rows: number, length: number, scratchFrom = 0): Program {
  const plan = planRows(rows, length, { kept: op.kept, tensors: op.tensors.filter(({ by }) => by === 'row').length, threads, singles: true, ...('mean' in op.result ? {} : { written: true, least: LEAST_THREADS }) })
  const parts = partsOf(rows, plan)
  const dims = [rows, plan.vectors, length, parts, Math.ceil(plan.vectors / parts), ...(op.dims ?? []), ...('mean' in op.result ? [plan.groups] : [])]
  const text = new RowText(op, plan, dtype, parts, subgroups)
  const made = ({ text: wgsl, buffers }: { text: string; buffers: BufferName[] }): Step => step(wgsl, buffers, dims, parts > 1 ? rows * parts : plan.groups, op.scalars)
  if ('mean' in op.result) {
    const step = made(parts === 1 ? text.whole() : text.meanOfParts(op.result.mean))
    const results = parts === 1 ? plan.groups : rows * (parts * namesOf(op.passes[0]!).length + 1)
    return { scratchBytes: plan.groups === 1 && parts === 1 ? [] : [arrivalBytes(results, parts === 1 ? 1 : rows + 1)], steps: [step] }
  }
  if (parts === 1) return { scratchBytes: [], steps: [made(text.whole())] }
  const scratch = { scratch: scratchFrom }
  const steps = op.passes.map((pass, i) => made(text.part(op.passes.slice(0, i), pass, scratch)))
  return { scratchBytes: [4 * rows * parts * op.passes.flatMap(namesOf).length], steps: [...steps, made(text.part(op.passes, undefined, scratch))] }
}

/** Programs one after the other, as one: scratch space is numbered on. */
export function joinPrograms(programs: readonly Program[]): Program {
  const scratchBytes: number[] = []
  const steps: Step[] = []
  for (const program of programs) {
    const from = scratchBytes.length
    const moved = (name: BufferName): BufferName => (typeof name === 'object' && 'scratch' in name ? { scratch: from + name.scratch } : name)
    steps.push(...program.steps.map((one) => ({ ...one, buffers: one.buffers.map(moved) })))
    scratchBytes.push(...program.scratchBytes)
  }
  return { scratchBytes, steps }
}
