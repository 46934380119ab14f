import { spawn, type ChildProcess } from 'node:child_process'
import { CaseError, caseErrorCodeSchema, problemInputs, problemOutputs, type Backend, type Device, type Impl, type PreparedCase, type Problem } from '@core/backend'
import { DTYPES, STORAGE_BYTES, STORAGE_TYPES, type Dtype } from '@core/case'
import { decode } from '@core/values/numbers'
import { fillWords } from '@core/values/random'
import { partsOf, withComposites } from '../../main/backends/native/backend'

const ROLES = ['in', 'out', 'inout'] as const

/** A program that answers one request after the other (native/test/serve.cc). */
class Served {
  readonly #child: ChildProcess
  /** What was received and not taken. Joined when it is taken: outputs come in thousands of chunks. */
  #chunks: Buffer[] = []
  #size = 0
  #told = ''
  #ended: string | undefined
  #wake: () => void = () => undefined

  constructor([program, ...args]: readonly [string, ...string[]], env: Readonly<Record<string, string>>) {
    this.#child = spawn(program, [...args, 'serve'], { env: { ...process.env, ...env }, stdio: 'pipe' })
    const chunks = (chunk: Buffer) => {
      this.#chunks.push(chunk)
      this.#size += chunk.length
      this.#wake()
    }
    this.#child.stdout!.on('data', chunks)
    this.#child.stderr!.on('data', (chunk: Buffer) => (this.#told = (this.#told + chunk.toString()).slice(-20_000)))
    this.#child.stdin!.on('error', () => undefined)
    const end = (why: string) => {
      this.#ended = why
      this.#wake()
    }
    this.#child.on('error', (error) => end(error.message))
    this.#child.on('close', (code, signal) => end(`ended with ${signal ?? code}`))
  }

  /** Waits until `find` returns something of what was received. Throws with what the program said where it ended. */
  async #until<T>(find: () => T | undefined): Promise<T> {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      if (this.#ended !== undefined) throw new Error(`The program of the kernels ${this.#ended}.\n${this.#told}`)
      await new Promise<void>((done) => (this.#wake = done))
    }
  }

  #take(bytes: number): Buffer {
    const received = Buffer.concat(this.#chunks)
    this.#chunks = [received.subarray(bytes)]
    this.#size -= bytes
    return received.subarray(0, bytes)
  }

  /** The next line, without its end. */
  #takeLine(): string | undefined {
    const at = this.#chunks.findIndex((chunk) => chunk.includes(10))
    if (at < 0) return undefined
    const before = this.#chunks.slice(0, at).reduce((sum, { length }) => sum + length, 0)
    return this.#take(before + this.#chunks[at]!.indexOf(10) + 1).toString().trimEnd()
  }

  /** The words of the answer after `ok`. Throws a CaseError for an error. */
  async ask(...words: readonly (string | number)[]): Promise<string[]> {
    this.#child.stdin!.write(`${words.join(' ')}\n`)
    const [verdict, ...rest] = (await this.#until(() => this.#takeLine())).split(' ')
    if (verdict === 'ok') return rest
    throw new CaseError(caseErrorCodeSchema.parse(rest[0]), rest.slice(1).join(' '))
  }

  /** So many bytes, and the end of their line. */
  async bytes(count: number): Promise<ArrayBuffer> {
    const taken = await this.#until(() => (this.#size > count ? this.#take(count + 1) : undefined))
    return new Uint8Array(taken.subarray(0, count)).buffer
  }

  end() {
    this.#child.stdin!.end()
  }
}

const fillsOf = (problem: Problem, seed: number): number[][] =>
  problemInputs(problem).map(({ fill }, stream) => {
    const { kind, factor, key0, key1, low, below } = fillWords(fill!, seed, stream)
    return [kind, factor, key0, key1, low, below]
  })

const listed = (list: readonly number[]) => [list.length, ...list]

/** The scratch buffers and parts of a composite case; none of others. */
function partWords(problem: Problem): (string | number)[] {
  const { parts = [], scratchBytes = [] } = partsOf(problem)
  const words = parts.flatMap(({ name, op, dims, scalars, tensors }) => {
    const each = tensors.flatMap((tensor) => [tensor.name, tensor.elements, STORAGE_TYPES.indexOf(tensor.storage), ROLES.indexOf(tensor.role), tensor.buffer])
    return [name, op, ...listed(dims), ...listed(scalars), tensors.length, ...each]
  })
  return [...listed(scratchBytes), parts.length, ...words]
}

async function opened(served: Served, problem: Problem): Promise<PreparedCase> {
  const { case: c, dims, scalars, tensors, seed } = problem
  const fills = fillsOf(problem, seed)
  const words = tensors.flatMap(({ name, elements, storage, role, stream }) => [name, elements, STORAGE_TYPES.indexOf(storage), ROLES.indexOf(role), ...(stream === undefined ? [] : fills[stream]!)])
  const [caseBytes] = await served.ask('open', c.op, c.impl, DTYPES.indexOf(c.dtype as (typeof DTYPES)[number]), c.threads ?? 1, ...listed(dims), ...listed(scalars), tensors.length, ...words, ...partWords(problem))
  const ask = async (...request: (string | number)[]) => void (await served.ask(...request))
  return {
    timer: 'steady-clock',
    tickNs: 1,
    notes: [],
    refill: (again) => ask('refill', problemInputs(problem).length, ...fillsOf(problem, again).flat()),
    poison: () => ask('poison'),
    run: () => ask('run'),
    scan: async () => {
      const numbers = (await served.ask('scan')).map(Number)
      return problemOutputs(problem).map((_, i) => ({ unwritten: numbers[2 * i]!, nonFinite: numbers[2 * i + 1]! }))
    },
    read: async (output, start, count) => {
      const { storage } = problemOutputs(problem)[output]!
      await ask('read', output, start, count)
      return decode(await served.bytes(count * STORAGE_BYTES[storage]), storage)
    },
    sample: () => Promise.reject(new Error('Nothing is timed through a pipe.')),
    memory: () => ({ caseBytes: Number(caseBytes) }),
    dispose: () => ask('close'),
  }
}

/** The CPU backend of a native test program, and its device. Cases are opened one at a time. */
export async function pipedBackend(name: string, command: readonly [string, ...string[]], env: Readonly<Record<string, string>> = {}): Promise<{ backend: Backend; device: Device; end(): void }> {
  const served = new Served(command, env)
  const words = await served.ask('devices')
  const next = () => words.shift()!
  const times = <T>(count: number, read: () => T): T[] => Array.from({ length: count }, read)
  const threads = times(Number(next()), () => Number(next()))
  const impls: Impl[] = []
  while (words.length > 0) {
    const id = next()
    const kernels = Object.fromEntries(times(Number(next()), () => [next(), times(Number(next()), () => DTYPES[Number(next())]! as Dtype)]))
    impls.push({ id, title: id, available: { ok: true }, preferred: false, kernels: withComposites(kernels) })
  }
  const device: Device = { backend: 'cpu', id: 'cpu', name, available: { ok: true }, impls, modes: ['hot'], threads, memoryBytes: 2 ** 30, software: true, facts: [], warnings: [] }
  return { backend: { id: 'cpu', devices: () => Promise.resolve([device]), open: (problem) => opened(served, problem) }, device, end: () => served.end() }
}
