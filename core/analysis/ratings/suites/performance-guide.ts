import { sizeOf } from '../../size'
import { findOp } from '../../../ops/registry'
import type { BenchmarkCase } from '../../../case'
import type { RatingScale } from '../types'
import { NO_CEILINGS } from '../words'

interface Target {
  name: string
  /** Shares of the bandwidth. */
  minimum: number
  target: number
}

/**
 * The guide measures at 64K to 262K elements (small), 4.2M, 16.8M and 67M; the classes meet half way between on a
 * logarithmic scale.
 */
const CLASSES: readonly (Target & { most: number })[] = [
  { name: 'small', most: 2 ** 20, minimum: 0.15, target: 0.25 },
  { name: 'medium', most: 2 ** 23, minimum: 0.25, target: 0.4 },
  { name: 'large', most: 2 ** 25, minimum: 0.1, target: 0.3 },
  { name: 'xlarge', most: Infinity, minimum: 0.1, target: 0.25 },
]
const BATCH: Target = { name: 'batch', minimum: 0.25, target: 0.45 }

const ELEMENT_WISE: readonly string[] = ['memory', 'binary', 'unary', 'activation']

const isBatch = ({ params }: BenchmarkCase) => ['batch', 'batch_size'].some((name) => typeof params[name] === 'number' && params[name] > 1)

/** The guide's targets of bandwidth per size class, here against the measured copy bandwidth, which is below the theoretical one it takes. */
const scale: RatingScale = {
  id: 'performance-guide',
  title: 'Guide target',
  about: 'Share of the measured copy bandwidth against the minimum and target of the size class: small 15/25 %, medium 25/40 %, large 10/30 %, xlarge 10/25 %, batch 25/45 %',
  rate({ case: c, bandwidthShare }) {
    const family = findOp(c.op)?.family
    if (family === undefined || !ELEMENT_WISE.includes(family)) return { ok: false, reason: 'The guide has targets for element-wise operations only.' }
    const elements = sizeOf(c)
    if (elements === undefined) return { ok: false, reason: 'The number of elements is not known.' }
    if (bandwidthShare === undefined) return NO_CEILINGS
    const { name, minimum, target } = isBatch(c) ? BATCH : CLASSES.find(({ most }) => elements <= most)!
    const word = bandwidthShare >= target ? 'target met' : bandwidthShare >= minimum ? 'minimum met' : 'below minimum'
    return { ok: true, text: `${word} (${name})`, score: bandwidthShare / target }
  },
}
export default scale
