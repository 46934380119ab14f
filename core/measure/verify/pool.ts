import type { Dtype, Params, StorageType } from '../../case'
import type { Values } from '../../values/numbers'
import { outputsOf } from '../../ops/define'
import { SIGN_OF_LIFE_MS } from '../sampling/sampler'
import { getOp } from '../../ops/registry'
import { addDifference, noDifference, type Difference } from './difference'
import type { Range } from './plan'
import { projectRight, residuals, type ProductTask, type Residuals, type RightTask } from './product'
import { createReference, inputReader, type ReferenceProblem } from './reference'

/** Ranges of one output to compare with the reference; `values` holds their elements one after the other. */
export interface CompareTask {
  kind: 'compare'
  ranges: readonly Range[]
  values: Values
}

export type VerifyTask = CompareTask | RightTask | ProductTask

/** What a task gives, by its kind. */
export interface TaskResults {
  compare: Difference
  right: Float64Array
  product: Residuals
}

/** Threads that compare outputs with references. */
export interface VerifyPool {
  /** Tasks that run at the same time. */
  readonly lanes: number
  /** Runs a task. The same `lane` for the same part of the same problem finds the reference of last time kept. Takes `values` over: the caller must not use them afterwards. */
  run<T extends VerifyTask>(problem: ReferenceProblem, task: T, lane: number): Promise<TaskResults[T['kind']]>
}

/** A problem as it is sent to a thread. */
export interface SentProblem {
  op: string
  params: Params
  dtype: Dtype
  seed: number
  output: number
}

export const sentProblem = ({ op, params, dtype, seed, output }: ReferenceProblem): SentProblem => ({ op: op.id, params, dtype, seed, output })

/** What the program of a thread does with a message. */
export const runSent = ({ problem, task }: { problem: SentProblem; task: VerifyTask }): TaskResults[VerifyTask['kind']] => runTask({ ...problem, op: getOp(problem.op) }, task)

function runTask(problem: ReferenceProblem, task: VerifyTask): TaskResults[VerifyTask['kind']] {
  switch (task.kind) {
    case 'compare':
      return compare(problem, task)
    case 'right':
      return projectRight(productOf(problem), inputReader(problem), task)
    case 'product':
      return residuals(productOf(problem), inputReader(problem), storageOfOutput(problem), task)
  }
}

function compare(problem: ReferenceProblem, { ranges, values }: CompareTask): Difference {
  const { op, params, dtype, output } = problem
  const bound = op.tolerance(params, dtype, output).element
  const storage = storageOfOutput(problem)
  const reference = createReference(problem)
  const difference = noDifference()
  let from = 0
  for (const range of ranges) {
    const got = values.subarray(from, (from += range.count))
    addDifference(difference, got, reference(range, got), range.start, storage, bound)
  }
  return difference
}

const storageOfOutput = ({ op, params, dtype, output }: ReferenceProblem): StorageType => outputsOf(op, params, dtype)[output]!.storage

function productOf({ op, params, output }: ReferenceProblem) {
  const product = op.product?.(params, output)
  if (!product) throw new Error(`output ${output} of "${op.id}" is no matrix product`)
  return product
}

/** The same threads; while one of them works, `pause` is called every so often: a task may take minutes, and whoever waits for the case must hear of it. */
export const attendedPool = (pool: VerifyPool, pause: () => Promise<void>): VerifyPool => ({
  lanes: pool.lanes,
  run: (problem, task, lane) => {
    const answer = pool.run(problem, task, lane)
    // What a pause throws is thrown again by the next one between two tasks.
    const timer = setInterval(() => void pause().catch(() => undefined), SIGN_OF_LIFE_MS)
    const stop = () => clearInterval(timer)
    answer.then(stop, stop)
    return answer
  },
})

/** Compares in the calling thread: for tests, and where there are no threads. */
export const inlinePool: VerifyPool = {
  lanes: 1,
  run: (problem, task) => {
    try {
      return Promise.resolve(runTask(problem, task) as TaskResults[(typeof task)['kind']])
    } catch (error) {
      return Promise.reject(error)
    }
  },
}
