import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { CaseError, type Backend, type PreparedCase, problemOutputs } from '@core/backend'
import { decode } from '@core/values/numbers'
import { openRequest, refillRequest } from '../prepared-case'
import { answersSchema, FRAME_MAGIC, fromWorkerSchema, PROTOCOL_VERSION, probeSchema, type Answer, type ToWorker } from '../protocol'

/** The Python that tests use, and why the worker cannot be tested with it, if so. */
export const PYTHON = process.env.OPSCOPE_TEST_PYTHON ?? '/usr/bin/python3'
export const GUEST = resolve(import.meta.dirname, '../../../../native/build/libopscope_guest.so')
export const WORKER = import.meta.dirname
export function whyNot(): string | undefined {
  if (!existsSync(GUEST)) return 'libopscope_guest is not built'
  return spawnSync(PYTHON, ['-c', 'import numpy']).status === 0 ? undefined : `${PYTHON} has no NumPy`
}

/** One frame of protocol.ts; `magic` and `headerBytes` may lie. */
export function frame(header: string, { magic = FRAME_MAGIC, headerBytes = Buffer.byteLength(header), payloadBytes = 0 } = {}): Buffer {
  const prefix = Buffer.alloc(12)
  prefix.writeUInt32LE(magic, 0)
  prefix.writeUInt32LE(headerBytes, 4)
  prefix.writeUInt32LE(payloadBytes, 8)
  return Buffer.concat([prefix, Buffer.from(header)])
}

type Asked<T> = T extends unknown ? Omit<T, 'id'> : never
type Asking = Asked<ToWorker>

/** A worker process spoken to in frames, one request at a time. */
export class TestWorker {
  readonly env: NodeJS.ProcessEnv
  readonly child: ChildProcess
  readonly stdin: Writable
  printed = ''
  complaint = ''
  readonly ended: Promise<number | null>
  #received: Buffer = Buffer.alloc(0)
  #over = false
  #more: () => void = () => undefined
  #last = 0

  constructor(environment: NodeJS.ProcessEnv = {}) {
    this.env = { ...process.env, ...environment }
    this.child = spawn(PYTHON, [resolve(WORKER, 'worker.py')], { stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'], env: this.env })
    this.stdin = this.child.stdio[3] as Writable
    const answers = this.child.stdio[4] as Readable
    answers.on('data', (data: Buffer) => {
      this.#received = Buffer.concat([this.#received, data])
      this.#more()
    })
    answers.on('end', () => {
      this.#over = true
      this.#more()
    })
    this.child.stdout!.on('data', (data: Buffer) => (this.printed += data.toString()))
    this.child.stderr!.on('data', (data: Buffer) => (this.complaint += data.toString()))
    this.ended = new Promise((done) => this.child.on('close', done))
    this.stdin.on('error', () => undefined)
  }

  /** The answer, with its payload; a failure is thrown as a CaseError. */
  async ask<D extends ToWorker['do']>(request: Extract<Asking, { do: D }>): Promise<{ answer: Answer<D>; payload: Buffer }> {
    const id = ++this.#last
    this.stdin.write(frame(JSON.stringify({ id, ...request })))
    for (;;) {
      const prefix = await this.#take(12)
      if (prefix.readUInt32LE(0) !== FRAME_MAGIC) throw new Error('an answer without the magic number')
      const said = fromWorkerSchema.parse(JSON.parse((await this.#take(prefix.readUInt32LE(4))).toString()))
      const payload = await this.#take(prefix.readUInt32LE(8))
      if (said.id !== id) throw new Error(`an answer to ${said.id}, expected one to ${id}`)
      if (said.type === 'failure') throw new CaseError(said.code, said.message, said.detail)
      if (said.type === 'answer') return { answer: answersSchema[request.do].parse(said.answer) as Answer<D>, payload }
    }
  }

  hello = async () => (await this.ask<'hello'>({ do: 'hello', protocol: PROTOCOL_VERSION, hardware: 'cpu', ordinal: 0, guest: GUEST })).answer

  /** What a probe of the same Python finds to compute with on the CPU. */
  impls = () => probeSchema.parse(JSON.parse(spawnSync(PYTHON, [resolve(WORKER, 'probe.py')], { encoding: 'utf8', env: this.env }).stdout)).impls.cpu

  /** Ends it as its parent would. */
  async end(): Promise<number | null> {
    this.stdin.end()
    return this.ended
  }

  async #take(count: number): Promise<Buffer> {
    while (this.#received.length < count) {
      if (this.#over) throw new Error(`the worker ended: ${this.complaint}`)
      await new Promise<void>((more) => (this.#more = more))
    }
    const taken = this.#received.subarray(0, count)
    this.#received = this.#received.subarray(count)
    return taken
  }
}

/** A backend that is one worker, for the conformance harness: the thinnest layer over frames. */
export function backendOf(worker: TestWorker): Backend {
  return {
    id: 'python',
    devices: () => Promise.resolve([]),
    open: async (problem): Promise<PreparedCase> => {
      const { answer } = await worker.ask<'open'>(openRequest(problem))
      return {
        timer: answer.timer,
        tickNs: answer.tickNs,
        notes: answer.notes,
        refill: async (seed) => void (await worker.ask<'refill'>(refillRequest(problem, seed))),
        poison: async () => void (await worker.ask<'poison'>({ do: 'poison' })),
        run: async () => void (await worker.ask<'run'>({ do: 'run' })),
        scan: async () => (await worker.ask<'scan'>({ do: 'scan' })).answer.outputs.map(({ unwritten, nonFinite }) => ({ unwritten, ...(nonFinite === undefined ? {} : { nonFinite }) })),
        read: async (output, start, count) => decode(new Uint8Array((await worker.ask<'read'>({ do: 'read', output, start, count })).payload).buffer, problemOutputs(problem)[output]!.storage),
        sample: () => Promise.reject(new Error('not sampled through this')),
        memory: () => ({ caseBytes: answer.caseBytes }),
        dispose: async () => void (await worker.ask<'close'>({ do: 'close' })),
      }
    },
  }
}
