import { CaseError, type MemoryUse, type OutputScan, type PreparedCase, problemInputs, problemOutputs, type Problem, type SampleBatch, type SampleRequest } from '@core/backend'
import { STORAGE_BYTES } from '@core/case'
import { decode, type Values } from '@core/values/numbers'
import { getOp } from '@core/ops/registry'
import { fillWords } from '@core/values/random'
import { MAX_PAYLOAD_BYTES, type Answer } from './protocol'
import type { Patience, PythonWorker, Request } from './worker-process'

type Open = Extract<Request, { do: 'open' }>
type Range = { start: number; count: number }
type Batch = Omit<SampleBatch, 'state' | 'hostCallNs'>

const fillsOf = (problem: Problem, seed: number) =>
  problemInputs(problem).map(({ name, fill, stream }) => {
    if (!fill || stream === undefined) throw new CaseError('internal', `${name} of ${problem.case.op} has no fill`)
    return fillWords(fill, seed, stream)
  })

/** What a worker is asked to open for a problem. */
export function openRequest(problem: Problem): Open {
  const { case: c, dims, scalars, seed } = problem
  const fills = fillsOf(problem, seed)
  return {
    do: 'open', op: c.op, impl: c.impl, dtype: c.dtype, rotated: c.mode === 'rotated', seed, params: getOp(c.op).params.parse(c.params), dims: [...dims], scalars: [...scalars],
    ...(c.threads === undefined ? {} : { threads: c.threads }),
    tensors: problem.tensors.map(({ name, shape, elements, storage, role, stream }) => ({ name, shape: [...shape], elements, storage, role, ...(stream === undefined ? {} : { fill: fills[stream]! }) })),
  }
}

/** The request that fills the tensors of a problem for another seed. */
export const refillRequest = (problem: Problem, seed: number) => ({ do: 'refill', seed, fills: fillsOf(problem, seed) }) as const

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
    await this.#guarded(() => this.worker.ask(refillRequest(this.problem, seed), this.step))
  }

  async poison() {
    await this.#guarded(() => this.worker.ask({ do: 'poison' }, this.step))
  }

  async run() {
    const { answer } = await this.#guarded(() => this.worker.ask({ do: 'run' }, this.step))
    const { libraryPeakBytes } = answer
    if (libraryPeakBytes !== undefined) this.#libraryPeakBytes = Math.max(libraryPeakBytes, this.#libraryPeakBytes ?? 0)
  }

  async scan(): Promise<OutputScan[]> {
    const { answer } = await this.#guarded(() => this.worker.ask({ do: 'scan' }, this.step))
    const outputs = problemOutputs(this.problem).length
    if (answer.outputs.length !== outputs) this.#refuse(`answered a scan of ${outputs} outputs with ${answer.outputs.length}`)
    return answer.outputs.map(({ unwritten, nonFinite }) => ({ unwritten, ...(nonFinite === undefined ? {} : { nonFinite }) }))
  }

  async read(output: number, start: number, count: number): Promise<Values> {
    const size = STORAGE_BYTES[this.#storageOf(output)]
    const most = MAX_PAYLOAD_BYTES / size
    const all = new Uint8Array(count * size)
    for (let done = 0; done < count; done += most) {
      const part = Math.min(most, count - done)
      all.set(await this.#readPart(output, part, { start: start + done, count: part }), done * size)
    }
    return decode(all.buffer, this.#storageOf(output))
  }

  /** What is not asked for stays in the worker: a pipe takes longer than the device. */
  async readWithin(output: number, { start, count }: Range, ranges: readonly Range[]): Promise<Values> {
    const elements = ranges.reduce((sum, range) => sum + range.count, 0)
    const payload = await this.#readPart(output, elements, { start, count, pieces: ranges.map((range): [number, number] => [range.start - start, range.count]) })
    return decode(ownBytes(payload), this.#storageOf(output))
  }

  async #readPart(output: number, elements: number, part: Omit<Extract<Request, { do: 'read' }>, 'do' | 'output'>): Promise<Buffer> {
    const { payload } = await this.#guarded(() => this.worker.ask({ do: 'read', output, ...part }, this.step))
    const storage = this.#storageOf(output)
    if (payload.length !== elements * STORAGE_BYTES[storage]) this.#refuse(`answered a read of ${elements} ${storage} elements with ${payload.length} bytes`)
    return payload
  }

  #storageOf = (output: number) => problemOutputs(this.problem)[output]!.storage

  async sample({ mode, count, inner }: SampleRequest): Promise<SampleBatch> {
    const { answer, payload } = await this.#guarded(() => this.worker.ask({ do: 'sample', mode, count, inner }, this.step))
    const { arrays, count: taken, inner: made, state, hostCallNs } = answer
    const bytes = taken * Float64Array.BYTES_PER_ELEMENT
    if (taken > count) this.#refuse(`answered with ${taken} samples when ${count} were asked for`)
    if (new Set(arrays).size !== arrays.length || !arrays.includes('samplesNs')) this.#refuse(`answered with the arrays ${arrays.join(', ') || 'none'}; expected samplesNs and each once`)
    if (payload.length !== arrays.length * bytes) this.#refuse(`answered with ${payload.length} bytes for ${taken} samples of ${arrays.join(', ')}`)
    const batch = Object.fromEntries(arrays.map((name, i) => [name, new Float64Array(ownBytes(payload.subarray(i * bytes, (i + 1) * bytes)))])) as unknown as Batch
    const odd = batch.samplesNs.findIndex((ns) => !Number.isFinite(ns))
    if (odd >= 0) this.#refuse(`answered with ${batch.samplesNs[odd]} ns as sample ${odd}`)
    return { ...batch, inner: made, state, ...(hostCallNs === undefined ? {} : { hostCallNs }) }
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
