import type { Program, Step } from '../kernels/types'
import { THREADS } from './header'

/**
 * Rewrites modules that use `shader-f16` for adapters without it: two halves lie in a u32 and arithmetic is in f32, as in
 * every kernel. Vectors of four halves are two words of one invocation. A single half shares its word with a neighbour:
 * either one invocation computes both (PAIRED), or its bits are exchanged atomically.
 */
const DECLARATION = /var<storage, (read|read_write)> (\w+): array<(f16|vec4<f16>)>;/g

/** A storage buffer of halves. */
interface Halves {
  name: string
  /** Elements of one access. */
  width: 1 | 4
  written: boolean
}

/** The end of the bracket that opens at `open`. */
function closing(text: string, open: number): number {
  let depth = 0
  for (let at = open; at < text.length; at++) {
    if (text[at] === '[') depth++
    else if (text[at] === ']' && --depth === 0) return at
  }
  throw new Error(`the module has a bracket without its end: ${text.slice(open, open + 40)}`)
}

/** Replaces each `name[index]` by what `load` makes of it, and each `name[index] = value;` by what `store` makes of it. */
function replaceAccesses(text: string, name: string, load: (index: string) => string, store: (index: string, value: string) => string): string {
  const access = new RegExp(`\\b${name}\\[`, 'g')
  let made = ''
  let from = 0
  for (let found = access.exec(text); found; found = access.exec(text)) {
    const open = found.index + name.length
    const close = closing(text, open)
    // An index may itself read a buffer of halves.
    const index = replaceAccesses(text.slice(open + 1, close), name, load, store)
    const assigned = /^\s*=(?!=)/.exec(text.slice(close + 1))
    made += text.slice(from, found.index)
    if (assigned) {
      const begin = close + 1 + assigned[0].length
      const end = text.indexOf(';', begin)
      made += store(index, replaceAccesses(text.slice(begin, end).trim(), name, load, store))
      from = end
    } else {
      made += load(index)
      from = close + 1
    }
    access.lastIndex = from
  }
  return made + text.slice(from)
}

/** The helpers of one buffer; their names and parameters are none that a kernel uses. */
function accessors({ name, width, written }: Halves, atomic: boolean): string {
  if (width === 4) {
    const load = `fn halves_of_${name}(at: u32) -> vec4<f32> { let words = ${name}[at]; return vec4<f32>(unpack2x16float(words.x), unpack2x16float(words.y)); }\n`
    return written ? `${load}fn put_halves_${name}(at: u32, given: vec4<f32>) { ${name}[at] = vec2<u32>(pack2x16float(given.xy), pack2x16float(given.zw)); }\n` : load
  }
  const word = atomic ? `atomicLoad(&${name}[at / 2u])` : `${name}[at / 2u]`
  const load = `fn halves_of_${name}(at: u32) -> f32 { return unpack2x16float(${word} >> (16u * (at % 2u))).x; }\n`
  // The halves of a word change one after the other, each without touching the other.
  return atomic
    ? `${load}fn put_halves_${name}(at: u32, given: f32) { let shift = 16u * (at % 2u); atomicAnd(&${name}[at / 2u], 0xffff0000u >> shift); atomicOr(&${name}[at / 2u], pack2x16float(vec2<f32>(given, 0.0)) << shift); }\n`
    : load
}

/** The body of a kernel with one invocation for each element `i` (wgsl/mapped.ts). */
const PER_ELEMENT = new RegExp(`let i = group \\* ${THREADS}u \\+ lane;\\n  if \\(i >= dim\\(0u\\)\\) \\{ return; \\}\\n([\\s\\S]*)\\n\\}\\n$`)

/** PAIRED: where each invocation writes element `i` alone, one invocation does two neighbours and writes their word. Undefined where that is not so. */
function paired(text: string, { name }: Halves): string | undefined {
  const body = PER_ELEMENT.exec(text)?.[1]
  if (body === undefined || /\breturn\b/.test(body)) return undefined
  const stores: string[] = []
  const kept = replaceAccesses(body, name, () => 'read', (index, value) => {
    stores.push(index)
    return `both[place] = ${value}`
  })
  if (stores.length !== 1 || stores[0] !== 'i' || kept.includes('read')) return undefined
  return text.replace(PER_ELEMENT, () => `let word_index = group * ${THREADS}u + lane;
  if (2u * word_index >= dim(0u)) { return; }
  var both = vec2<f32>(0.0);
  for (var place = 0u; place < 2u; place++) {
  let i = 2u * word_index + place;
  if (i < dim(0u)) {
${kept}
  }
  }
  ${name}[word_index] = pack2x16float(both);
}
`)
}

/** A step of `shader-f16` as one that needs no feature; others stay as they are. */
export function withoutShaderF16(step: Step): Step {
  if (!step.wgsl.startsWith('enable f16;')) return step
  const buffers = [...step.wgsl.matchAll(DECLARATION)].map(([, access, name, type]): Halves => ({ name: name!, width: type === 'f16' ? 1 : 4, written: access === 'read_write' }))
  const start = step.wgsl.lastIndexOf('var<storage')
  const split = step.wgsl.indexOf('\n', start)
  const single = buffers.filter(({ width, written }) => width === 1 && written)
  const rest = step.wgsl.slice(split)
  const whole = single.length === 1 ? paired(rest, single[0]!) : undefined
  const atomic = (buffer: Halves) => whole === undefined && single.includes(buffer)
  const declared = step.wgsl.slice('enable f16;\n'.length, split).replace(DECLARATION, (_all, access: string, name: string, type: string) => {
    const buffer = buffers.find((known) => known.name === name)!
    return `var<storage, ${access}> ${name}: array<${type !== 'f16' ? 'vec2<u32>' : atomic(buffer) ? 'atomic<u32>' : 'u32'}>;`
  })
  let text = whole ?? rest
  for (const buffer of buffers) {
    if (whole !== undefined && single.includes(buffer)) continue
    text = replaceAccesses(text, buffer.name, (index) => `halves_of_${buffer.name}(${index})`, (index, value) => `put_halves_${buffer.name}(${index}, ${value})`)
  }
  const wgsl = `${declared}\n${buffers.map((buffer) => accessors(buffer, atomic(buffer))).join('')}${text.replaceAll('f16', 'f32')}`
  return { ...step, wgsl, groups: whole === undefined ? step.groups : Math.ceil(step.groups / 2) }
}

/** A program of `shader-f16` as one that needs no feature. */
export const programWithoutShaderF16 = (program: Program): Program => ({ scratchBytes: program.scratchBytes, steps: program.steps.map(withoutShaderF16) })
