import { type Backend, CaseError, type Device } from '@core/backend'
import { openCase } from './case'
import { createGpuHolder, type Gpu, guarded } from './gpu/gpu'
import { maxTensorBytes } from './gpu/tensors'
import { type Implementation, implementationsOf, KERNELS, supportedKernels } from './kernels/registry'
import { type Clock, type ClockOptions, createClock, type LastLevel } from './timing/clock'
import { findLibraries } from './libraries/find'
import { ADAPTER_CHOICES, distinctChoices, isSoftware, memoryOf, nameOf, SUBGROUP_MATRIX, wordsOf, type AdapterChoice, type DeviceOptions } from './gpu/adapter'

const base = { backend: 'webgpu', modes: ['cold', 'hot', 'rotated'], threads: [] } satisfies Partial<Device>

const impls = (implementations: readonly Implementation[], available: Device['available'], shaderF16: boolean): Device['impls'] =>
  implementations.map(({ id, title, preferred, kernels, available: own }) => ({ id, title, available: available.ok ? (own ?? available) : available, kernels: supportedKernels(shaderF16, kernels), preferred: preferred(shaderF16) }))

/** The entry that says why an adapter, or WebGPU as a whole, cannot be used. */
export function unavailableDevice(reason: string, implementations: readonly Implementation[], { id }: AdapterChoice = ADAPTER_CHOICES[0]): Device {
  const available = { ok: false, reason } as const
  return { ...base, id, name: 'WebGPU', available, impls: impls(implementations, available, false), memoryBytes: 0, software: false, facts: [], warnings: [] }
}

const ns = (value: number) => `${+value.toPrecision(4)} ns`

const mebibytes = (bytes: number) => `${+(bytes / 2 ** 20).toPrecision(4)} MiB`

/** The last-level cache as it was measured or assumed, and the rates it was read from. */
function cacheFacts({ bytes, assumed, sweep, measuredAt }: LastLevel): Device['facts'] {
  const last = { name: 'Last-level cache', value: assumed === undefined ? `at most ${mebibytes(bytes)}, measured by reads${measuredAt === undefined ? '' : ` on ${measuredAt.slice(0, 10)}`}` : `${mebibytes(bytes)} assumed: ${assumed}` }
  if (sweep.length === 0) return [last]
  return [last, { name: 'Reads of cached sizes', value: `${mebibytes(sweep[0]!.bytes)} to ${mebibytes(sweep.at(-1)!.bytes)}, two an octave: ${sweep.map(({ rate }) => +rate.toPrecision(3)).join(', ')} GB/s` }]
}

/** What subgroups multiply with matrices, as Chromium says it, or why kernels do without. */
function matrixWords({ adapter, matrices }: Gpu): string {
  if (!(adapter.features as ReadonlySet<string>).has(SUBGROUP_MATRIX)) return 'not offered'
  return matrices ? matrices.map(({ component, result, m, n, k }) => `${component} with sums in ${result}, ${m}x${n}x${k}`).join('; ') : 'offered; not used'
}

/** The device with its limits, features and the marks of its clock. */
export function describeDevice(gpu: Gpu, clock: Clock, implementations: readonly Implementation[], choice: AdapterChoice = ADAPTER_CHOICES[0]): Device {
  const words = wordsOf(gpu.adapter)
  const { limits, features } = gpu.device
  const memory = memoryOf(words, limits, gpu.software)
  const most = maxTensorBytes(gpu)
  const inParts = maxTensorBytes(gpu, true)
  const fact = (name: string, value: string | undefined) => (value ? [{ name, value }] : [])
  const warnings: string[] = []
  if (isSoftware(words)) warnings.push('This is a software adapter, which computes on the CPU: its figures say nothing about a GPU.')
  if (clock.quantized) warnings.push('Chromium rounds its timestamps to 65.536 µs here; short calls can only be measured many at a time. Start Opscope without own Chromium switches to lift this.')
  if (clock.timer === 'wall-clock') warnings.push('The adapter has no timestamp queries: times are taken with the page\'s clock and contain the way to the device and back.')
  return {
    ...base,
    id: choice.id,
    modes: [...base.modes],
    threads: [],
    name: nameOf(words),
    available: { ok: true },
    impls: impls(implementations, { ok: true }, features.has('shader-f16')),
    memoryBytes: memory.bytes,
    maxTensorBytes: most,
    ...(inParts > most ? { largerTensors: { ops: [...KERNELS].flatMap(([op, { elementwise }]) => (elementwise ? [op] : [])), bytes: inParts } } : {}),
    software: gpu.software,
    ...(words.driver ? { driver: words.driver } : {}),
    facts: [
      ...fact('Adapter', choice.title),
      ...fact('Vendor', words.vendor),
      ...fact('Architecture', words.architecture),
      ...fact('Driver', words.driver),
      ...fact('API', words.backend),
      ...fact('Features', [...features].sort().join(', ')),
      ...fact('Memory size', memory.known ? undefined : 'estimated; the browser does not report it'),
      ...fact('Subgroups', gpu.subgroups === undefined ? 'not used' : `${gpu.subgroups} threads or more`),
      ...fact('Subgroup matrices', matrixWords(gpu)),
      ...fact('Workgroup memory', `${limits.maxComputeWorkgroupStorageSize} B`),
      ...fact('Timestamp period', clock.timer === 'timestamp-query' ? ns(clock.tickNs) : undefined),
      ...fact('Cost of a compute pass', clock.passCostNs === undefined ? undefined : `${+(clock.passCostNs / 1000).toPrecision(3)} µs`),
      ...cacheFacts(clock.cache),
      ...fact('Cache flush', `${clock.flushBytes / 2 ** 20} MiB written, as many others read`),
      ...fact('Browser', navigator.userAgent.match(/Chrome\/[\d.]+/)?.[0]),
    ],
    warnings,
  }
}

export interface WebgpuOptions extends DeviceOptions, ClockOptions {
  /** Also offer kernels that cheat (red-team/kernels.ts), to see that none of them is believed. */
  redTeam?: boolean
}

/** The options in the query of the page's address: `red-team`, `subgroups=on|off`, `matrices=off`, `limits=default`, `binding=BYTES`, `sweep=again`. */
export function optionsIn(query: string): WebgpuOptions {
  const words = new URLSearchParams(query)
  const subgroups = words.get('subgroups')
  const bindingBytes = Number(words.get('binding') ?? 0)
  return { redTeam: words.has('red-team'), ...(words.get('matrices') === 'off' ? { matrices: 'off' as const } : {}), defaultLimits: words.get('limits') === 'default', sweepAgain: words.get('sweep') === 'again', ...(bindingBytes > 0 ? { bindingBytes } : {}), ...(subgroups === 'on' || subgroups === 'off' ? { subgroups } : {}) }
}

/** An adapter in use: its device, and how that tells time. */
interface Opened {
  gpu: Gpu
  clock: Clock
}

/** Opens the adapter of a choice when it is first needed, and again after its device was lost. */
function opener(options: WebgpuOptions, choice: AdapterChoice): () => Promise<Opened | { reason: string }> {
  const holder = createGpuHolder(options, choice)
  const clocks = new WeakMap<Gpu, Clock>()
  return async () => {
    const gpu = await holder.get()
    if ('reason' in gpu) return gpu
    const clock = clocks.get(gpu) ?? (await guarded(gpu, 'being prepared', () => createClock(gpu, options)))
    clocks.set(gpu, clock)
    return { gpu, clock }
  }
}

/** WebGPU in this Chromium: a device for each adapter that the browser tells apart. */
export function createWebgpuBackend(options: WebgpuOptions = {}): Backend {
  let found: Promise<readonly Implementation[]> | undefined
  const implementationsHere = () => (found ??= findLibraries().then((libraries) => [...implementationsOf(options.redTeam ?? false), ...libraries]))
  const openers = new Map(ADAPTER_CHOICES.map((choice) => [choice.id, opener(options, choice)]))

  async function described(choice: AdapterChoice, implementations: readonly Implementation[]): Promise<Device> {
    try {
      const opened = await openers.get(choice.id)!()
      return 'reason' in opened ? unavailableDevice(opened.reason, implementations, choice) : describeDevice(opened.gpu, opened.clock, implementations, choice)
    } catch (error) {
      const detail = error instanceof CaseError && error.detail ? ` ${error.detail}` : ''
      return unavailableDevice(`${error instanceof Error ? error.message : String(error)}${detail}`, implementations, choice)
    }
  }

  return {
    id: 'webgpu',
    async devices() {
      const implementations = await implementationsHere()
      const devices: Device[] = []
      // One after the other: what is measured of one must not be disturbed by another.
      for (const choice of await distinctChoices()) devices.push(await described(choice, implementations))
      return devices
    },
    async open(problem) {
      const { device, impl } = problem.case
      const ready = openers.get(device)
      if (!ready) throw new CaseError('unsupported', `There is no WebGPU device "${device}"; there are ${[...openers.keys()].join(', ')}.`)
      const implementations = await implementationsHere()
      const implementation = implementations.find(({ id }) => id === impl)
      if (!implementation) throw new CaseError('unsupported', `WebGPU has no implementation "${impl}"; it has ${implementations.map(({ id }) => id).join(', ')}.`)
      if (implementation.available?.ok === false) throw new CaseError('unsupported', implementation.available.reason)
      const attempt = async () => {
        const opened = await ready()
        if ('reason' in opened) throw new CaseError('unsupported', opened.reason)
        return openCase(opened.gpu, opened.clock, implementation, problem)
      }
      // A device that was lost between two cases may not have said so yet; that is not the fault of this case.
      return attempt().catch((error: unknown) => {
        if (error instanceof CaseError && error.code === 'device-lost') return attempt()
        throw error
      })
    },
  }
}
