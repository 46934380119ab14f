import type { Dtype } from '@core/case'
import type { BufferName } from '../../kernels/types'
import { ARRIVAL_FUNCTIONS, ARRIVALS, eachArrival } from '../arrivals'
import { entry, header, storage, type Binding } from '../header'
import type { RowOp, RowPass, RowTensor } from './types'
import { exchange, maxOf, reduction, sumOf, type RowPlan } from '../rows'

/** rows, vectors of a row, length, workgroups that share a row, vectors of each. */
export const ROW_DIMS = 5

/** Below every finite input, and e to the power of it is 0. */
export const LOWEST = '-1e30'

/** Vectors of a thread that are on their way together, by width, where it does not keep a row. */
const TOGETHER = { 1: 8, 4: 4 } as const

/** f32 of a thread for tensors that are the same for every row; more where elements are few, whose threads wait for memory rather than for registers. */
const MOST_OF_COLUMNS = { few: 32, many: 8 }
const FEW_ELEMENTS = 2 ** 22

const uses = (text: string, name: string): boolean => new RegExp(`\\b${name}\\b`).test(text)

/** Names of a pass's results. */
export const namesOf = (pass: RowPass): string[] => ('sums' in pass ? Object.keys(pass.sums) : 'moments' in pass ? [pass.sum, pass.squares] : [pass.highest, pass.total])

/** What a result of a pass is where there is nothing. */
const startOf = (pass: RowPass, name: string): string => (!('softmax' in pass) || name === pass.total ? '0.0' : LOWEST)

/** Text of the kernels of one operation for one plan. */
export class RowText {
  constructor(
    private readonly op: RowOp,
    private readonly plan: RowPlan,
    private readonly dtype: Dtype,
    private readonly parts: number,
    private readonly subgroups: number | undefined,
  ) {}

  /** Numbers of the vectors of a thread that are on their way together where it does not keep a row: one where it has no more than it would have on their way. */
  get #together(): readonly number[] {
    const { width, vectors, lanes } = this.plan
    const count = Math.ceil(vectors / this.parts / lanes)
    return Array.from({ length: Math.min(TOGETHER[width], count) }, (_, k) => k)
  }

  /**
   * `block` for some vectors of the row at a time, of what this thread has; `text` says which tensors. It sees them by `#named`, and is written out twice: for whole
   * blocks, and for the last one, where `live` is WGSL of whether there is such a vector.
   */
  #blocks(text: string, block: (live: (k: number) => string) => string, back = false): string {
    const { lanes } = this.plan
    const together = this.#together
    const size = `${together.length * lanes}u`
    const reads = (place: (k: number) => string) => together.map((k) => `      let at_${k} = ${place(k)}; ${this.#ofVectors(text).map(({ name, by }) => `let ${name}_${k} = VF(${name}_in[${by === 'row' ? 'base + ' : ''}at_${k}]);`).join(' ')}`).join('\n')
    const at = (k: number) => `first + ${k * lanes}u`
    const whole = `    for (var round = 0u; round < rounds; round++) {
      let first = begin + ${back ? '(rounds - 1u - round)' : 'round'} * ${size} + l;
${reads(at)}
${block(() => '')}
    }`
    if (together.length === 1) return `  for (var first = begin + l; first < end; first += ${size}) {\n${reads(at)}\n${block(() => '')}\n  }`
    const rest = `    let first = begin + rounds * ${size} + l;
    if (first < end) {
${reads((k) => `min(${at(k)}, end - 1u)`)}
${block((k) => (k === 0 ? '' : `${at(k)} < end`))}
    }`
    return `  {\n    let rounds = (max(begin, end) - begin) / ${size};\n${(back ? [rest, whole] : [whole, rest]).join('\n')}\n  }`
  }

  /** The vector of that number of a block as the text names it. */
  #named(text: string, k: number): string {
    return `let i = at_${k}; ${this.#loads(text, k)}`
  }

  /** What the text names, for the vector `i` of a row: from the registers of that number, or as it is read. */
  #loads(text: string, registers: number): string {
    const { kept } = this.plan
    const lines = this.#ofVectors(text).map(({ name, by }) => `let ${name} = ${kept === undefined || by === 'row' || this.#keepsColumns ? `${name}_${registers}` : `VF(${name}_in[i])`};`)
    if (uses(text, 'index')) lines.push(this.plan.width === 4 ? 'let index = VU(4u * i) + VU(0u, 1u, 2u, 3u);' : 'let index = i;')
    return lines.join(' ')
  }

  /** The tensors that the text names by vectors. */
  #ofVectors(text: string): readonly RowTensor[] {
    return this.op.tensors.filter(({ by, name }) => by !== 'raw' && uses(text, name))
  }

  /** `body` for every vector of the row that this thread has; it sees what it names. Of a row that is not kept, `back` begins with the last, which caches still hold. */
  #each(body: string, back = false): string {
    const { plan } = this
    if (plan.kept === undefined) return this.#blocks(body, (live) => this.#together.map((k) => `      ${live(k) ? `if (${live(k)}) ` : ''}{ ${this.#named(body, k)} ${body} }`).join('\n'), back)
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
    const together = this.#together
    /** A vector of a block, `otherwise` where it is behind the end. */
    const value = (k: number, expression: string, live: string, otherwise: string) => `      var value_${k} = ${otherwise}; ${live ? `if (${live}) ` : ''}{ ${this.#named(expression, k)} value_${k} = ${expression}; }`
    if ('moments' in pass) {
      // Those of a block are joined to those before: the row is read once.
      const { moments, sum, squares } = pass
      const block = (live: (k: number) => string) => `${together.map((k) => value(k, moments, live(k), 'VF(0.0)')).join('\n')}
      let count = ${together.map((k) => (live(k) ? `select(0.0, 1.0, ${live(k)})` : '1.0')).join(' + ')};
      let own = (${together.map((k) => `value_${k}`).join(' + ')}) / count;
      let share = count / (seen + count);
      let off = own - ${sum}_mean;
${together.map((k) => `      ${live(k) ? `if (${live(k)}) ` : ''}{ let off = value_${k} - own; ${squares}_sum += off * off; }`).join('\n')}
      ${squares}_sum += off * off * (seen * share); ${sum}_mean += off * share; seen += count;`
      return `  var seen = 0.0; var ${sum}_mean = VF(0.0); var ${squares}_sum = VF(0.0);\n${this.#blocks(moments, block)}\n  var ${sum}_part = seen * ${sumOf(`${sum}_mean`, width)};`
    }
    if ('sums' in pass) {
      const sums = Object.entries(pass.sums)
      const body = sums.map(([name, expression]) => `${name}_sum += ${expression};`).join(' ')
      return `${sums.map(([name]) => `  var ${name}_sum = VF(0.0);`).join('\n')}\n${this.#each(body)}\n${sums.map(([name]) => `  let ${name}_part = ${sumOf(`${name}_sum`, width)};`).join('\n')}`
    }
    const { softmax, highest, total } = pass
    if (kept !== undefined) return `  var top = VF(${LOWEST});\n${this.#each(`top = max(top, ${softmax});`)}\n  let ${highest}_part = ${maxOf('top', width)};`
    const block = (live: (k: number) => string) => `${together.map((k) => value(k, softmax, live(k), `VF(${LOWEST})`)).join('\n')}
      let next = max(${highest}_part, ${maxOf(`(${together.map((k) => `value_${k}`).reduce((all, one) => `max(${all}, ${one})`)})`, width)});
      ${total}_part = ${total}_part * exp(${highest}_part - next) + ${sumOf(`(${together.map((k) => `exp(value_${k} - next)`).join(' + ')})`, width)}; ${highest}_part = next;`
    return `  var ${highest}_part = ${LOWEST}; var ${total}_part = 0.0;\n${this.#blocks(softmax, block)}`
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

  /** `body` for every workgroup of a row: it sees what that left of a pass, as `<name>_left`, and its number `part`. */
  #ofParts(pass: RowPass, body: string): string {
    const left = namesOf(pass).filter((name) => uses(body, `${name}_left`)).map((name) => `let ${name}_left = ${this.#place(name, 'row * parts + part')};`)
    return `  for (var part = lane; part < parts; part += ${this.plan.threads}u) { ${left.join(' ')} ${body} }`
  }

  /** What the workgroups of a row left of a pass, joined. */
  #gathered(pass: RowPass): string {
    const summed = (name: string) => `  var ${name}_part = 0.0;\n${this.#ofParts(pass, `${name}_part += ${name}_left;`)}`
    if ('sums' in pass) return `${Object.keys(pass.sums).map(summed).join('\n')}\n${this.#joined(pass)}`
    if ('softmax' in pass) {
      const { highest, total } = pass
      return `  var ${highest}_part = ${LOWEST};\n${this.#ofParts(pass, `${highest}_part = max(${highest}_part, ${highest}_left);`)}
  let ${highest} = reduce_max(${highest}_part, lane);
  var ${total}_part = 0.0;
${this.#ofParts(pass, `${total}_part += ${total}_left * exp(${highest}_left - ${highest});`)}
  let ${total} = reduce_sum(${total}_part, lane);`
    }
    const { sum, squares } = pass
    return `${summed(sum)}
  let ${sum} = reduce_sum(${sum}_part, lane);
  var ${squares}_part = 0.0;
${this.#ofParts(pass, `if (part * dim(4u) < vectors) { let count = ${this.#elements('part * dim(4u)', 'min((part + 1u) * dim(4u), vectors)')}; let off = ${sum}_left / count - ${sum} / length; ${squares}_part += ${squares}_left + count * off * off; }`)}
  let ${squares} = reduce_sum(${squares}_part, lane);`
  }

  /** The elements of a part, as f32. */
  #elements(begin: string, end: string): string {
    return `f32(${this.plan.width}u * max(1u, ${end} - min(${begin}, ${end})))`
  }

  get #functions(): string {
    return this.op.functions?.(this.plan.width) ?? ''
  }

  #module(bindings: readonly Binding[], body: string, back = false): string {
    const { op, plan, dtype } = this
    const declared = this.#tensorsOf(body).map(({ name, by, type }): Binding => ({ name: by === 'raw' ? name : `${name}_in`, type: type ?? storage(dtype, by === 'raw' ? 1 : plan.width) }))
    return `${header([...declared, ...bindings], dtype === 'f16', this.subgroups !== undefined)}${plan.width === 4 ? 'alias VF = vec4<f32>; alias VU = vec4<u32>;\n' : 'alias VF = f32; alias VU = u32;\n'}${exchange(plan.threads)}
${reduction('max', plan.lanes, (a, b) => `max(${a}, ${b})`, this.subgroups)}${reduction('sum', plan.lanes, (a, b) => `${a} + ${b}`, this.subgroups)}${/\breduce_group\b/.test(body) ? reduction('group', plan.threads, (a, b) => `${a} + ${b}`, this.subgroups) : ''}${/\bis_last\b/.test(body) ? ARRIVAL_FUNCTIONS : ''}${this.#functions}
${entry(`${this.#places(back)}\n${op.before ?? ''}\n${body}`, plan.threads)}`
  }

  /** `back`: the last workgroups' parts first, which caches still hold. */
  #places(back: boolean): string {
    const { lanes, rowsPerGroup } = this.plan
    const common = `  let l = lane % ${lanes}u;
  let vectors = dim(1u);
  let length = f32(dim(2u));
  let parts = dim(3u);`
    if (this.parts > 1) return `${common}\n  let place = ${back ? 'select(group, dim(0u) * parts - 1u - group, group < dim(0u) * parts)' : 'group'};\n  let row = place / parts;\n  let live = row < dim(0u);\n  let begin = place % parts * dim(4u);\n  let end = select(0u, min(begin + dim(4u), vectors), live);\n  let base = row * vectors;`
    return `${common}\n  let wanted = group * ${rowsPerGroup}u + lane / ${lanes}u;\n  let live = wanted < dim(0u);\n  let row = min(wanted, dim(0u) - 1u);\n  let begin = 0u;\n  let end = select(0u, vectors, live);\n  let base = row * vectors;`
  }

  /** The tensors that a step with this body reads. */
  #tensorsOf(body: string): readonly RowTensor[] {
    const text = `${this.#functions}${this.op.before ?? ''}${body}`
    return this.op.tensors.filter(({ name, by }) => uses(text, by === 'raw' ? name : `${name}_in`))
  }

  #buffers(body: string, more: readonly BufferName[]): BufferName[] {
    return [...this.#tensorsOf(body).map(({ from }) => from), ...more]
  }

  /** The last lines: results of each element, or one of the row. */
  get #results(): { text: string; binding: Binding } {
    const { result } = this.op
    const scalarType = storage(this.dtype, 1)
    if ('each' in result) {
      const type = storage(this.dtype, this.plan.width)
      return { text: this.#each(`out[base + i] = ${type}(${result.each});`, true), binding: { name: 'out', type, write: true } }
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
    return { text: this.#module(pass ? [shared] : [shared, results.binding], body, !pass), buffers: this.#buffers(body, pass ? [scratch] : [scratch, this.op.result.to]) }
  }

  /** A pass joined over one workgroup, and left for the others. */
  #joinedOver(pass: RowPass): string {
    return `${this.#joined(pass, this.#elements('begin', 'end'))}\n  if (live && lane == 0u) { ${namesOf(pass).map((name) => `${this.#place(name, 'group')} = ${name};`).join(' ')} }`
  }
}
