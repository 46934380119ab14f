import { entry, header, numbers, step, storage } from '../../wgsl/header'
import type { Program } from '../types'
import type { Sorted, Source } from './network'

/** Longest row that a thread keeps, and rows of a workgroup, whose elements fit workgroup memory. */
const LONGEST = 32
const ROWS = 64
/** Shorter rows are counted from memory, as are rows that are too few for a thread each to fill a device. */
const SHORTEST = 9
const FEWEST_ROWS = 2 ** 16
/** Elements of a thread that are on their way together. */
const AT_ONCE = 8

/** Whether a thread sorts a row. */
export const isShort = (rows: number, cols: number): boolean => cols >= SHORTEST && cols <= LONGEST && rows >= FEWEST_ROWS

/** Every number below `count`, of which neighbouring threads take neighbours. Loads of `value` are on their way together. */
const each = (count: string, value: (i: string) => string, store: (i: string, value: string) => string): string => {
  const lines = (text: (u: number) => string) => numbers(AT_ONCE).map(text).join('\n')
  return `  for (var i = lane; i < ${count}; i += ${AT_ONCE * ROWS}u) {
${lines((u) => `    let value_${u} = ${value(`min(i + ${u * ROWS}u, ${count} - 1u)`)};`)}
${lines((u) => `    if (i + ${u * ROWS}u < ${count}) { ${store(`(i + ${u * ROWS}u)`, `value_${u}`)} }`)}
  }`
}

/**
 * The first of each row, where a thread has a whole row: it compares each pair once, and the place of an element is the number of those in front
 * of it. Rows come and go through workgroup memory, where their lengths are odd: threads that read their rows in step meet different banks.
 */
export function sortShort(descending: boolean, rows: number, cols: number, first: number, { x, type }: Source, to: Sorted): Program {
  const stride = cols | 1
  const own = numbers(cols)
  const place = (i: string, length: number) => `memory[${i} / ${length}u * ${stride}u + ${i} % ${length}u]`
  const put = (text: (k: number) => string) => own.map((k) => `  ${first < cols ? `if (place_${k} < ${first}.0) ` : ''}{ memory[lane * ${stride}u + u32(place_${k})] = ${text(k)}; }`).join('\n')
  const pairs = own.flatMap((j) => numbers(j).map((i) => `  { let after = select(0.0, 1.0, value_${j} ${descending ? '>' : '<'} value_${i}); place_${i} += after; place_${j} -= after; }`))
  const wgsl = `${header([{ name: 'x', type: storage(type, 1) }, { name: 'values', type: storage(to.type, 1), write: true }, { name: 'indices', type: 'i32', write: true }], type === 'f16' || to.type === 'f16')}
var<workgroup> memory: array<u32, ${ROWS * stride}>;
${entry(`  let row = group * ${ROWS}u;
  if (row >= dim(0u)) { return; }
  let all = min(${ROWS}u, dim(0u) - row);
${each(`all * ${cols}u`, (i) => `bitcast<u32>(f32(x[row * ${cols}u + ${i}]))`, (i, value) => `${place(i, cols)} = ${value};`)}
  workgroupBarrier();
${own.map((k) => `  let value_${k} = bitcast<f32>(memory[lane * ${stride}u + ${k}u]);\n  var place_${k} = ${k}.0;`).join('\n')}
${pairs.join('\n')}
  workgroupBarrier();
${put((k) => `bitcast<u32>(value_${k})`)}
  workgroupBarrier();
${each(`all * ${first}u`, (i) => place(i, first), (i, value) => `values[row * ${first}u + ${i}] = ${storage(to.type, 1)}(bitcast<f32>(${value}));`)}
  workgroupBarrier();
${put((k) => `${k}u`)}
  workgroupBarrier();
${each(`all * ${first}u`, (i) => place(i, first), (i, value) => `indices[row * ${first}u + ${i}] = i32(${value});`)}`, ROWS)}`
  return { scratchBytes: [], steps: [step(wgsl, [x, to.values, to.places], [rows], Math.ceil(rows / ROWS))] }
}
