import { numbers, THREADS } from '../../../wgsl/header'

/** Digits from the highest: how far each is shifted, and its bits. */
export const DIGITS = [{ shift: 21, bits: 11 }, { shift: 10, bits: 11 }, { shift: 0, bits: 10 }] as const
export const BINS = 2 ** DIGITS[0].bits

/** Loads of a thread that are on their way together. */
const AT_ONCE = 8

/** dims: rows, length, parts, elements of a part, first. */
export const PLACE = `  let row = group / dim(2u);
  if (row >= dim(0u)) { return; }
  let begin = group % dim(2u) * dim(3u);
  let end = min(begin + dim(3u), dim(1u));
  let base = row * dim(1u);`

const each = (text: (k: number) => string): string => numbers(AT_ONCE).map((k) => `    ${text(k)}`).join('\n')

/** Every key of the part, `use` of which sees its number; those behind the part are left out. */
export const keys = (use: (k: number) => string): string => `  for (var i = begin + lane; i < end; i += ${AT_ONCE * THREADS}u) {
${each((k) => `let key${k} = key_of(f32(x[base + min(i + ${k * THREADS}u, end - 1u)]));`)}
${each((k) => `if (i + ${k * THREADS}u < end) { ${use(k)} }`)}
  }`
