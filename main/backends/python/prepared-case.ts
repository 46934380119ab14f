import { CaseError, type MemoryUse, type PreparedCase, type Problem, type SampleBatch, type SampleRequest } from '@core/backend'
import { DTYPE_BYTES } from '@core/case'
import { decode } from '@core/numbers'
import { getOp } from '@core/ops/registry'
import { fillFactor, streamKeys } from '@core/random'
import { MOST_PAYLOAD_BYTES, type Answer } from './protocol'
import type { Patience, PythonWorker, Request } from './worker-process'

type Open = Extract<Request, { do: 'open' }>
type Batch = Omit<SampleBatch, 'state' | 'hostCallNs'>

const fillsOf = ({ inputs }: Problem, seed: number) => inputs.map(({ fill }, stream) => ({ positive: fill.kind === 'positive', factor: fillFactor(fill), ...streamKeys(seed, stream) }))

/** What a worker is asked to open for a problem. */
export function openRequest(problem: Problem): Open {
  const { case: c, dims, outputElements } = problem
  const op = getOp(c.op)
  const params = op.params.parse(c.params)
  const shapes = op.inputs(params).map((input) => [...input.shape])
  return {
    do: 'open', op: c.op, impl: c.impl, dtype: c.dtype, rotated: c.mode === 'rotated', params, dims: [...dims], outputShape: [...op.outputShape(params)], outputElements,
    ...(c.threads === undefined ? {} : { threads: c.threads }),
    inputs: fillsOf(problem, problem.seed).map((fill, i) => ({ ...fill, shape: shapes[i]!, elements: problem.inputs[i]!.elements })),
  }
}

/** Once open, a worker is silent for as long as its library computes. The runner knows how long that may be and ends this whole process much sooner. */
const STEP: Patience = { silenceMs: 600_000 }

/** The case that a worker has open. `release` is called once, with whether the worker may be used further. */
export class PythonPreparedCase implements PreparedCase {
  readonly timer
  readonly tickNs
  readonly notes
  #libraryPeakBytes: number | undefined
  #sound = true
  #released = false

  constructor(
    private readonly worker: PythonWorker,
    private readonly problem: Problem,
    private readonly opened: Answer<'open'>,
    private readonly release: (sound: boolean) => void,
    private readonly step: Patience = STEP,
  ) {
    this.timer = opened.timer
    this.tickNs = opened.tickNs
    this.notes = opened.notes
  }

  async refill(seed: number) {
    await this.#guarded(() => this.worker.ask({ do: 'refill', inputs: fillsOf(this.problem, seed) }, this.step))
  }

  async poison() {
    await this.#guarded(() => this.worker.ask({ do: 'poison' }, this.step))
  }

  async run() {
    const { answer } = await this.#guarded(() => this.worker.ask({ do: 'run' }, this.step))
    const { libraryPeakBytes } = answer
    if (libraryPeakBytes !== undefined) this.#libraryPeakBytes = Math.max(libraryPeakBytes, this.#libraryPeakBytes ?? 0)
  }

  async countUnwritten() {
    const { answer } = await this.#guarded(() => this.worker.ask({ do: 'countUnwritten' }, this.step))
    return answer.count
  }

  async read(start: number, count: number) {
    const { dtype } = this.problem.case
    const most = MOST_PAYLOAD_BYTES / DTYPE_BYTES[dtype]
    const all = new Float32Array(count)
    for (let done = 0; done < count; done += most) {
      const part = Math.min(most, count - done)
      const { payload } = await this.#guarded(() => this.worker.ask({ do: 'read', start: start + done, count: part }, this.step))
      if (payload.length !== part * DTYPE_BYTES[dtype]) this.#refuse(`answered a read of ${part} ${dtype} elements with ${payload.length} bytes`)
      all.set(decode(ownBytes(payload), dtype), done)
    }
    return all
  }

  async sample({ mode, count, inner }: SampleRequest): Promise<SampleBatch> {
    const { answer, payload } = await this.#guarded(() => this.worker.ask({ do: 'sample', mode, count, inner }, this.step))
    const { arrays, count: taken, state, hostCallNs } = answer
    const bytes = taken * Float64Array.BYTES_PER_ELEMENT
    if (taken > count) this.#refuse(`answered with ${taken} samples when ${count} were asked for`)
    if (new Set(arrays).size !== arrays.length || !arrays.includes('samplesNs')) this.#refuse(`answered with the arrays ${arrays.join(', ') || 'none'}; expected samplesNs and each once`)
    if (payload.length !== arrays.length * bytes) this.#refuse(`answered with ${payload.length} bytes for ${taken} samples of ${arrays.join(', ')}`)
    const batch = Object.fromEntries(arrays.map((name, i) => [name, new Float64Array(ownBytes(payload.subarray(i * bytes, (i + 1) * bytes)))])) as unknown as Batch
    const odd = batch.samplesNs.findIndex((ns) => !Number.isFinite(ns))
    if (odd >= 0) this.#refuse(`answered with ${batch.samplesNs[odd]} ns as sample ${odd}`)
    return { ...batch, state, ...(hostCallNs === undefined ? {} : { hostCallNs }) }
  }

  memory(): MemoryUse {
    const { caseBytes, deviceDeltaBytes } = this.opened
    return { caseBytes, ...(deviceDeltaBytes === undefined ? {} : { deviceDeltaBytes }), ...(this.#libraryPeakBytes === undefined ? {} : { libraryPeakBytes: this.#libraryPeakBytes }) }
  }

  async dispose() {
    if (this.#released) return
    this.#released = true
    try {
      // What a failed call leaves behind in a library, nobody knows: such a worker goes with its case.
      if (this.#sound) await this.#guarded(() => this.worker.ask({ do: 'close' }, this.step))
    } finally {
      this.release(this.#sound)
    }
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      this.#sound = false
      throw error
    }
  }

  #refuse(what: string): never {
    this.#sound = false
    throw new CaseError('internal', `the Python worker ${what}`)
  }
}

/** A copy that begins where its type needs it to. */
const ownBytes = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer
