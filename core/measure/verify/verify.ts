import { type OutputScan, type PreparedCase } from '../../backend'
import type { BenchmarkCase, Params } from '../../case'
import { outputsOf } from '../../ops/define'
import type { MatrixProduct, Op, Tensor, Tolerance } from '../../ops/types'
import type { Verification } from '../../result'
import { verificationOf, type Findings } from './outcome'
import { chunksOf, COST, sampleRanges, sampleRuns, wholeCost, wholeRanges, type Range } from './plan'
import { attendedPool, inlinePool, type VerifyPool } from './pool'
import { checkProduct } from './check-product'
import { chooseBlocks, type Blocks } from './product'
import { compareRanges, hashOf, nonFiniteOf, OutputReader, type Check } from './read'
import type { ReferenceProblem } from './reference'

export interface Verifier {
  /** Compares the outputs as they are now. A random op is run a second time `before` timing. Never throws for a wrong output. */
  check(prepared: PreparedCase, when: 'before' | 'after', pause: () => Promise<void>): Promise<Verification>
}

export interface VerifierOptions {
  /** Default: in the calling thread. */
  pool?: VerifyPool
  /** Seed of samples and projections. A new one each session finds what the last one missed; a given one makes the check again. */
  sampleSeed?: number
}

/** Of the work, what a sample may take where everything is too much. The rest of the wall time goes into reading. */
const SAMPLE_SHARE = 1 / 2
const PROJECTION_SHARE = 3 / 4
const RUNS_SHARE = 1 / 8

/** Chunks of an output by which two runs of a random op are compared: 2^26 elements. Whole outputs of thousands of millions of elements take minutes to read. */
const REPEATED_CHUNKS = 256

/** How one output is checked. */
type Plan = { kind: 'whole'; ranges: Range[] } | { kind: 'sample'; ranges: Range[]; coverage: number } | { kind: 'product'; ranges: Range[]; product: MatrixProduct; blocks: Blocks }

interface Output {
  problem: ReferenceProblem
  tensor: Tensor
  tolerance: Tolerance
  plan: Plan
}

/** Checks outputs of one case against the op's float64 reference, within `work` units (about one ns each) of every thread. */
export function createVerifier(op: Op, c: BenchmarkCase, seed: number, work: number, { pool = inlinePool, sampleSeed = seed }: VerifierOptions = {}): Verifier {
  const params: Params = op.params.parse(c.params)
  const tensors = outputsOf(op, params, c.dtype)
  const share = (work * pool.lanes) / Math.max(1, tensors.length)
  const outputs = tensors.map((tensor, output): Output => ({
    problem: { op, params, dtype: c.dtype, seed, output },
    tensor,
    tolerance: op.tolerance(params, c.dtype, output),
    plan: planOf(op, params, tensor, output, share, pool.lanes, sampleSeed),
  }))
  return {
    async check(prepared, when, pause) {
      const reader = new OutputReader(prepared)
      const scans = await prepared.scan()
      const found: Findings[] = []
      for (const [i, output] of outputs.entries()) found.push(await findingsOf(output, i, reader, scans[i], { pool: attendedPool(pool, pause), work: share, pause }))
      if (op.keepRate && when === 'before') {
        const same = await repeats(prepared, reader, tensors, pause)
        found.forEach((findings, i) => (findings.repeats = same[i]!))
      }
      const sampled = outputs.some(({ plan }) => plan.kind !== 'whole') ? { sampleSeed } : {}
      const verdicts = found.map((findings, i) => ({ ...verificationOf(findings, outputs[i]!.tolerance), ...methodOf(outputs[i]!.plan), ...sampled }))
      return combined(verdicts, tensors)
    },
  }
}

function planOf(op: Op, params: Params, tensor: Tensor, output: number, work: number, lanes: number, sampleSeed: number): Plan {
  const { elements, shape } = tensor
  const granule = Math.max(1, Math.min(op.granule(params, output), elements))
  const product = op.product?.(params, output)
  const costPerElement = wholeCost(op, params, output)
  if (elements * costPerElement <= work || elements <= granule) return { kind: 'whole', ranges: wholeRanges({ elements, granule, costPerElement }, lanes) }
  const costOfSampled = COST.element + op.referenceCostAlone(params, output) * COST.unit
  const blocks = product && chooseBlocks(product, work * PROJECTION_SHARE, sampleSeed)
  if (product && blocks) return { kind: 'product', product, blocks, ranges: sampleRuns({ elements, granule }, (work * RUNS_SHARE) / costOfSampled, sampleSeed) }
  return { kind: 'sample', ...sampleRanges({ elements, granule, shape }, (work * SAMPLE_SHARE) / costOfSampled, sampleSeed) }
}

async function findingsOf({ problem, tensor, plan }: Output, output: number, reader: OutputReader, scan: OutputScan | undefined, check: Check): Promise<Findings> {
  const { op, params } = problem
  const findings: Findings = {
    compared: await compareRanges(problem, reader, plan.ranges, check),
    total: tensor.elements,
    unwritten: scan?.unwritten ?? 0,
    nonFinite: scan?.nonFinite ?? 0,
    scale: op.outputScale(params, output),
    coverage: plan.kind === 'sample' ? plan.coverage : 1,
    ...(op.keepRate ? { keepRate: op.keepRate(params) } : {}),
  }
  if (plan.kind === 'product') {
    const { nonFinite, ...product } = await checkProduct(problem, plan, reader, check)
    Object.assign(findings, product, { nonFinite: Math.max(nonFinite, findings.nonFinite) })
  } else if (plan.kind === 'sample' && scan?.nonFinite === undefined) {
    findings.nonFinite = await nonFiniteOf(reader, output, tensor.elements, check.pause)
  }
  return findings
}

/** Runs a random op again on the same inputs. For each output, whether its bits are the same: all of them, or of a very large one an even choice. */
async function repeats(prepared: PreparedCase, reader: OutputReader, tensors: readonly Tensor[], pause: () => Promise<void>): Promise<boolean[]> {
  const hashes = async () => {
    const list: number[] = []
    for (const [i, { elements }] of tensors.entries()) list.push((await hashOf(reader, i, chunksOf(elements, REPEATED_CHUNKS), pause)).hash)
    return list
  }
  const before = await hashes()
  await prepared.poison()
  await prepared.run()
  const after = await hashes()
  return before.map((hash, i) => hash === after[i])
}

function methodOf(plan: Plan): Pick<Verification, 'method' | 'blockElements'> {
  if (plan.kind === 'product') return { method: 'projection', blockElements: plan.blocks.tall * plan.blocks.wide }
  return { method: plan.kind === 'whole' ? 'all' : 'sample' }
}

/** The verdict on a case: that of the output in the worst state, with one line for each where there are several. */
function combined(verdicts: readonly Verification[], tensors: readonly Tensor[]): Verification {
  const worst = verdicts.find((v) => !v.ok && !v.inaccurate) ?? verdicts.find((v) => !v.ok) ?? verdicts[0]!
  if (verdicts.length === 1) return worst
  const name = tensors[verdicts.indexOf(worst)]!.name
  const outputs = verdicts.map(({ ok, inaccurate, relL2, tolerance, checkedElements, totalElements }, i) => ({
    name: tensors[i]!.name, ok, tolerance, checkedElements, totalElements, ...(inaccurate ? { inaccurate } : {}), ...(relL2 === undefined ? {} : { relL2 }),
  }))
  return { ...worst, outputs, ...(worst.message === undefined ? {} : { message: `Output ${name}: ${worst.message}` }) }
}
