import type { BenchmarkCase } from './case'
import { attributeWords } from './ops/attributes'
import { findOp } from './ops/registry'

/** Files of other tools may have any number of parameters: what is beyond is left out. */
const MAX_WORDS = 4
const MAX_CHARACTERS = 80

interface Words {
  shape: string
  variant: string
}

const known = new WeakMap<BenchmarkCase, Words>()

/** Of an op that is not one of ours: words as they stand, everything else by its name. */
function plainWords({ params }: BenchmarkCase): Words {
  const entries = Object.entries(params)
  return {
    shape: entries.filter(([, value]) => typeof value !== 'string').map(([name, value]) => `${name}=${String(value)}`).join(' ').slice(0, MAX_CHARACTERS),
    variant: entries.flatMap(([, value]) => (typeof value === 'string' ? [value] : [])).slice(0, MAX_WORDS).join(' '),
  }
}

function wordsOf(c: BenchmarkCase): Words {
  let words = known.get(c)
  if (!words) {
    const op = findOp(c.op)
    const parsed = op?.params.safeParse(c.params)
    const plain = plainWords(c)
    words = op ? { shape: parsed?.success ? op.shapeLabel(parsed.data) : plain.shape, variant: attributeWords(op.attributes, c.params).slice(0, MAX_WORDS).join(' ') } : plain
    known.set(c, words)
  }
  return words
}

/** A case's sizes as its op labels them (`16Mi`, `4096x4096`); `n=3 k=7` where the op is not one of ours, or another tool means it otherwise. */
export const shapeText = (c: BenchmarkCase): string => wordsOf(c).shape

/** Attributes that have no default or differ from it: `last`, `causal`, `eps=0.001`. Empty for most cases. */
export const variantText = (c: BenchmarkCase): string => wordsOf(c).variant

/** `sum last`, `gelu`. */
export const operationText = (c: BenchmarkCase): string => [c.op, variantText(c)].filter(Boolean).join(' ')

/** `8 threads`; empty without a choice of threads. */
export const threadText = ({ threads }: Pick<BenchmarkCase, 'threads'>): string => (threads === undefined ? '' : `${threads} ${threads === 1 ? 'thread' : 'threads'}`)

/**
 * What was computed, and by whom: `sum last 4096x4096 f32 cuda kernel cold`.
 * @param inside the sides of a comparison say by whom
 * @param by what stands for the device: its backend, or its id
 */
export const caseText = (c: BenchmarkCase, inside = false, by: string = c.backend): string => [operationText(c), shapeText(c), c.dtype, ...(inside ? [] : [by, c.impl]), c.mode, threadText(c)].filter(Boolean).join(' ')
