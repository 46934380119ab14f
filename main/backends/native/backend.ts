import { z } from 'zod'
import { callCountersSchema, CaseError, caseErrorCodeSchema, deviceSchema, deviceStateSchema, implSchema, kernelLaunchSchema, timerSchema, type Backend, type CallCounters, type Device, type Impl, type PreparedCase, problemInputs, problemOutputs, type Problem, type SampleBatch, type SampleRequest } from '@core/backend'
import { STORAGE_BYTES, type Mode } from '@core/case'
import { joinedDtypes, planComposite } from '@core/ops/composite-plan'
import { tensorsOf } from '@core/ops/define'
import { ALL_OPS, findOp } from '@core/ops/registry'
import { decode } from '@core/values/numbers'
import { fillWords, type FillWords } from '@core/values/random'
import { energyMeter } from './energy'
import type { NativeAddon, NativeCase, NativeSpec } from './addon'

const thrownSchema = z.object({ code: caseErrorCodeSchema, message: z.string(), detail: z.string().optional().catch(undefined) })

/** What the addon threw, as the error that ends one case. */
function toCaseError(thrown: unknown): CaseError {
  const parsed = thrownSchema.safeParse(thrown)
  if (parsed.success) return new CaseError(parsed.data.code, parsed.data.message, parsed.data.detail)
  return new CaseError('internal', thrown instanceof Error ? thrown.message : String(thrown))
}

const guarded = <T>(work: () => T): T => {
  try {
    return work()
  } catch (thrown) {
    throw toCaseError(thrown)
  }
}

/** Lets messages in before a blocking call: a native call holds this thread until it is done. */
const breathe = () => new Promise<void>((done) => setImmediate(done))

/** `work`, again while NVRTC compiles a kernel that it needs: the addon throws then, and asks to be called again. */
async function whenCompiled<T>(work: () => T, alive: () => void = () => undefined): Promise<T> {
  for (;;) {
    await breathe()
    try {
      return work()
    } catch (thrown) {
      if (!isCompiling(thrown)) throw toCaseError(thrown)
      alive()
    }
  }
}

const isCompiling = (thrown: unknown) => thrown instanceof Error && 'code' in thrown && thrown.code === 'compiling'

/** Index of the device in its backend: `cpu` -> 0, `cuda:1` -> 1. */
function deviceIndex(id: string): number {
  const match = /^(?:cpu|cuda:(\d{1,4}))$/.exec(id)
  if (!match) throw new CaseError('unsupported', `no device is called "${id}"; expected cpu or cuda:0, cuda:1, ...`)
  return Number(match[1] ?? 0)
}

/** The words of every fill of a problem for one seed, by the rule in core/values/random.ts. */
const fillsOf = (problem: Problem, seed: number): FillWords[] =>
  problemInputs(problem).map(({ name, fill }, stream) => {
    if (!fill) throw new CaseError('internal', `${name} is read, but nothing states how it is filled.`)
    return fillWords(fill, seed, stream)
  })

/** The addon's description of a problem. */
function toSpec(backend: 'cpu' | 'cuda', problem: Problem): NativeSpec {
  const c = problem.case
  const fills = fillsOf(problem, problem.seed)
  return {
    backend,
    op: c.op,
    impl: c.impl,
    device: deviceIndex(c.device),
    dtype: c.dtype,
    threads: c.threads,
    dims: problem.dims,
    rotated: c.mode === 'rotated',
    scalars: problem.scalars,
    tensors: problem.tensors.map(({ name, elements, storage, role, stream }) => ({ name, elements, storage, role, ...(stream === undefined ? {} : { fill: fills[stream]! }) })),
    ...partsOf(problem),
  }
}

/** What a composite op runs; nothing where the op is none. */
export function partsOf({ case: { op: id, params, dtype }, tensors }: Problem): Pick<NativeSpec, 'parts' | 'scratchBytes'> {
  const op = findOp(id)
  if (!op?.parts) return {}
  const plan = planComposite(op, op.params.parse(params), dtype)
  const parts = plan.steps.map(({ name, op: part, params: p, buffers }) => {
    const buffered = tensorsOf(part, p, dtype).map((tensor, i) => {
      const at = buffers[i]!
      return { name: tensor.name, elements: tensor.elements, storage: tensor.storage, role: tensor.role, buffer: 'tensor' in at ? at.tensor : tensors.length + at.scratch }
    })
    return { name, op: part.id, dims: part.dims(p), scalars: part.scalars(p), tensors: buffered }
  })
  return { parts, scratchBytes: plan.scratchBytes }
}

/** `joins`: runs the parts of a composite op as one call. Absent in earlier builds. */
const nativeDeviceSchema = deviceSchema.extend({ impls: z.array(implSchema.extend({ joins: z.boolean().optional() })) })

/** What an implementation that runs parts as one call has kernels for, the composite ops included. */
export function withComposites(kernels: Impl['kernels']): Impl['kernels'] {
  const joined = ALL_OPS.filter(({ parts }) => parts).map((op) => [op.id, joinedDtypes(op, kernels)] as const)
  return { ...kernels, ...Object.fromEntries(joined.filter(([, dtypes]) => dtypes.length > 0)) }
}

const offered = ({ impls, ...device }: z.infer<typeof nativeDeviceSchema>): Device => ({ ...device, impls: impls.map(({ joins, ...impl }) => (joins ? { ...impl, kernels: withComposites(impl.kernels) } : impl)) })

class NativePreparedCase implements PreparedCase {
  readonly timer
  readonly tickNs
  readonly clockSettlesSeconds
  readonly notes

  constructor(
    readonly native: NativeCase,
    private readonly problem: Problem,
    readonly energyMeter: NonNullable<PreparedCase['energyMeter']>,
  ) {
    this.timer = timerSchema.parse(native.timer())
    this.tickNs = native.tickNs()
    this.clockSettlesSeconds = native.clockSettlesSeconds?.() ?? 0
    this.notes = native.notes()
  }

  async refill(seed: number) {
    await whenCompiled(() => this.native.refill(fillsOf(this.problem, seed)))
  }

  async poison() {
    await whenCompiled(() => this.native.poison())
  }

  async run() {
    await whenCompiled(() => this.native.run())
  }

  async scan() {
    return whenCompiled(() => this.native.scan())
  }

  async read(output: number, start: number, count: number) {
    const bytes = guarded(() => this.native.read(output, start, count))
    const { storage } = problemOutputs(this.problem)[output]!
    if (bytes.byteLength !== count * STORAGE_BYTES[storage]) throw new CaseError('internal', `read of ${count} ${storage} elements gave ${bytes.byteLength} bytes`)
    return decode(bytes, storage)
  }

  async sample({ mode, count, inner }: SampleRequest): Promise<SampleBatch> {
    const { state, ...samples } = await whenCompiled(() => this.native.sample(mode, count, inner))
    return { ...samples, state: deviceStateSchema.parse(state) }
  }

  memory() {
    const caseBytes = guarded(() => this.native.caseBytes())
    const deviceDeltaBytes = guarded(() => this.native.deviceDeltaBytes())
    return deviceDeltaBytes === undefined ? { caseBytes } : { caseBytes, deviceDeltaBytes }
  }

  launches() {
    return z.array(kernelLaunchSchema).parse(guarded(() => this.native.launches()))
  }

  async counters(mode: Mode, calls: number): Promise<CallCounters | undefined> {
    return callCountersSchema.optional().parse(await whenCompiled(() => this.native.counters?.(mode, calls)))
  }

  async dispose() {
    guarded(() => this.native.dispose())
  }
}

/** One half of the addon as a Backend. */
export class NativeBackend implements Backend {
  /** Whether a device has an energy counter, by id and name. */
  readonly #energyCounters = new Map<string, boolean>()

  constructor(
    private readonly addon: NativeAddon,
    readonly id: 'cpu' | 'cuda',
  ) {}

  async devices(): Promise<Device[]> {
    return z.array(nativeDeviceSchema).parse(guarded(() => this.addon.devices(this.id))).map(offered).map((device) => (device.available.ok && !this.#countsEnergy(device) ? { ...device, energyCounter: false } : device))
  }

  /** Devices are listed often, and opening a counter takes a while: asked once for each. */
  #countsEnergy({ id, name }: Device): boolean {
    const key = `${id} ${name}`
    const known = this.#energyCounters.get(key) ?? !('reason' in this.#energyMeter(deviceIndex(id)))
    this.#energyCounters.set(key, known)
    return known
  }

  #energyMeter(device: number) {
    return energyMeter(this.addon, this.id === 'cpu' ? { cpu: true } : { cuda: device }, this.id === 'cuda')
  }

  async open(problem: Problem, alive?: () => void, beside?: PreparedCase): Promise<PreparedCase> {
    const spec = toSpec(this.id, problem)
    if (this.id === 'cpu') this.addon.setQuietest?.(problem.quietest === true)
    const native = await whenCompiled(() => new this.addon.Case(spec, beside instanceof NativePreparedCase ? beside.native : undefined), alive)
    return new NativePreparedCase(native, problem, () => this.#energyMeter(spec.device))
  }
}
