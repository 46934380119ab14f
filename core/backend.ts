import { z } from 'zod'
import { dtypeSchema, modeSchema, type BenchmarkCase, type Mode } from './case'
import type { Values } from './values/numbers'
import { LIMITS, tensorsOf } from './ops/define'
import type { Op, Tensor } from './ops/types'

/** Whether something can be used, and if not, why and what would help, in one sentence. */
export const availabilitySchema = z.discriminatedUnion('ok', [z.object({ ok: z.literal(true) }), z.object({ ok: z.literal(false), reason: z.string() })])
export type Availability = z.infer<typeof availabilitySchema>

/** One implementation a device offers, and the ops it has kernels for (a missing op is a hole in the support table). */
export const implSchema = z.object({
  id: z.string(),
  title: z.string(),
  available: availabilitySchema,
  /** op id -> dtypes with a kernel. */
  kernels: z.record(z.string(), z.array(dtypeSchema)),
  /** Picked when the user has not chosen. */
  preferred: z.boolean(),
})
export type Impl = z.infer<typeof implSchema>

/** A Python the user has, and what it can compute with. */
export const interpreterSchema = z.object({
  /** The program, as found. Shown; left out of files that are shared. */
  path: z.string(),
  /** `3.11.2`; absent where it could not be asked. */
  version: z.string().optional(),
  /** Where it was found, in words: `PATH`, `virtual environment`, `conda`, `pyenv`, `settings`, `system`. */
  source: z.string(),
  packages: z.array(
    z.object({
      name: z.string(),
      /** Absent where the package is missing or cannot be used. */
      version: z.string().optional(),
      /** What it can do here: `2 threads`, `CUDA 13.0, 1 GPU`, `CPU only`. */
      detail: z.string().optional(),
      /** Why it cannot be used. */
      problem: z.string().optional(),
      /** Command that would install what is missing. */
      install: z.string().optional(),
    }),
  ),
})
export type Interpreter = z.infer<typeof interpreterSchema>

/** One device of one backend, as shown in the Devices view and used by the planner. */
export const deviceSchema = z.object({
  backend: z.string(),
  /** Logical id as in BenchmarkCase.device. */
  id: z.string(),
  /** The machine it is in, where that is not the one of the session; the id then begins with it (core/fleet/place.ts). */
  host: z.string().max(40).optional(),
  /** `NVIDIA H200`, `AMD EPYC`, `SwiftShader`. */
  name: z.string(),
  available: availabilitySchema,
  impls: z.array(implSchema),
  modes: z.array(modeSchema),
  /** Thread counts to choose from, smallest first; empty where there is no choice. */
  threads: z.array(z.number().int().positive()),
  /** Bytes a case may take on this device, all inputs and outputs together: of the memory that is free when it is asked. */
  memoryBytes: z.number().nonnegative(),
  /** Largest single tensor in bytes, where the device limits it. */
  maxTensorBytes: z.number().positive().optional(),
  /** Operations whose tensors may be larger than that, up to `bytes`: their kernels take a tensor in parts. */
  largerTensors: z.object({ ops: z.array(z.string()), bytes: z.number().positive() }).optional(),
  /** True where the device is emulated in software, so that its figures say nothing about hardware. */
  software: z.boolean(),
  /** Version of the driver behind the device, where there is one: ceilings belong to a device and driver. */
  driver: z.string().optional(),
  /** Caches that a case on the whole device can use, smallest first; bytes of all instances together (L1 of every core). */
  caches: z.array(z.object({ name: z.string(), bytes: z.number().positive() })).optional(),
  /** False where it has no energy counter that can be read; absent where that is not known. */
  energyCounter: z.boolean().optional(),
  /** How many times as long as estimated its cases took on this machine, by kind (core/sweep/estimate.ts); not kept with sessions. */
  paces: z.record(z.string(), z.number().positive()).optional(),
  /** A processor of a virtual machine: other guests may share its cores and caches. */
  virtual: z.boolean().optional(),
  /** What disturbs the device at this moment: other processes on it (name, memory), a display. One sentence each. */
  disturbances: z.array(z.string()).optional(),
  /** The device of another backend that is this very hardware: its measured ceilings are this one's too. */
  sameHardwareAs: z.object({ backend: z.string(), id: z.string(), name: z.string() }).optional(),
  /** The program whose libraries compute here, where that is not Opscope itself. */
  interpreter: interpreterSchema.optional(),
  /** Facts to show and keep with a session: driver, clocks, caches, limits. Values carry their unit. */
  facts: z.array(z.object({ name: z.string(), value: z.string() })),
  /** Things the user should know before trusting a figure, in plain words. */
  warnings: z.array(z.string()),
})
export type Device = z.infer<typeof deviceSchema>

/** Device condition during one batch of samples. Absent fields could not be read. */
export const deviceStateSchema = z.object({
  smClockMhz: z.number().optional(),
  memClockMhz: z.number().optional(),
  temperatureC: z.number().optional(),
  powerW: z.number().optional(),
  energyJ: z.number().optional(),
  /** NVML throttle reasons that were set, in words; `idle` is left out. */
  throttle: z.array(z.string()).optional(),
  /** Other processes computing on the device. */
  foreignProcesses: z.number().int().optional(),
  /** CPU: times the system took a processor from a measuring thread, and ms that a hypervisor took, during the batch. */
  involuntarySwitches: z.number().int().nonnegative().optional(),
  stealMs: z.number().nonnegative().optional(),
  /** CPU: best time in ns of the fixed work beside the samples (SampleBatch.probeNs) that this process has seen with as many threads. */
  probeBestNs: z.number().positive().optional(),
})
export type DeviceState = z.infer<typeof deviceStateSchema>

/** How a sample was timed. */
export const timerSchema = z.enum(['steady-clock', 'cuda-event', 'timestamp-query', 'wall-clock', 'scripted'])
export type Timer = z.infer<typeof timerSchema>

export interface SampleRequest {
  mode: Mode
  /** Samples wanted; a backend may return fewer, never none. */
  count: number
  /** Calls per sample wanted; SampleBatch says how many were made. Cold samples have one. */
  inner: number
}

export interface SampleBatch {
  /** Nanoseconds per call (elapsed / inner), in the order taken. */
  samplesNs: Float64Array
  /** Calls in each of these samples: fewer than asked for where the device's queue takes no more, more where shorter samples are lost in noise. */
  inner: number
  state: DeviceState
  /** SM clock around each sample in MHz, from the device's own counters; one per sample. */
  clockMhz?: Float64Array
  /**
   * Time in ns of a fixed piece of work run beside each sample, the slower of before and after; one per sample. On a CPU it
   * leaves little of a core unused, so that a lower clock and another program on the same core both lengthen it.
   */
  probeNs?: Float64Array
  /** Time in ns that the host took to issue one call, where calls are queued and it is not in the samples. */
  hostCallNs?: number
}

/**
 * How one kernel of a call is launched, and what it takes of a multiprocessor by the driver's own figures. Absent fields could
 * not be read.
 */
export const kernelLaunchSchema = z.object({
  kernel: z.string().max(200),
  /** Of a composite operation: the part that it computes, or whose strided views it copies. */
  part: z.string().max(40).optional(),
  /** Blocks of the grid along x, y and z. */
  grid: z.tuple([z.number().int().positive(), z.number().int().positive(), z.number().int().positive()]),
  /** Threads of a block. */
  threads: z.number().int().positive(),
  /** Blocks of a cluster, where they are launched in clusters. */
  cluster: z.number().int().positive().optional(),
  /** Registers of a thread. */
  registers: z.number().int().nonnegative().optional(),
  /** Shared memory of a block in bytes, static and dynamic. */
  sharedBytes: z.number().nonnegative().optional(),
  /** Local memory of a thread in bytes: what its registers have no room for (spills, indexed arrays). */
  localBytes: z.number().nonnegative().optional(),
  /** Blocks that fit on one multiprocessor at a time (cudaOccupancyMaxActiveBlocksPerMultiprocessor; clusters are not counted in). */
  blocksPerSm: z.number().int().positive().optional(),
  /** Theoretical occupancy from 0 to 1: warps of these blocks by the warps that a multiprocessor has room for. */
  occupancy: z.number().nonnegative().max(1).optional(),
  /** Blocks of the grid by those that fit on the whole device at a time. */
  waves: z.number().nonnegative().optional(),
})
export type KernelLaunch = z.infer<typeof kernelLaunchSchema>

/** The launch of a call that starts the most threads: the one that figures of the call as a whole are about. */
export function largestLaunch(launches: readonly KernelLaunch[] | undefined): KernelLaunch | undefined {
  const threadsOf = ({ grid, threads }: KernelLaunch) => grid.reduce((product, blocks) => product * blocks, threads)
  return launches?.reduce<KernelLaunch | undefined>((largest, one) => (largest && threadsOf(largest) >= threadsOf(one) ? largest : one), undefined)
}

/** What the processor counted of one call in user space, by perf_event_open; absent where it has no such counter. */
export const callCountersSchema = z.object({
  /** Why nothing was counted, or which counters are absent and why, in one sentence. */
  reason: z.string().max(1000).optional(),
  instructions: z.number().nonnegative().optional(),
  cycles: z.number().nonnegative().optional(),
  /** Reads of the first data cache and how many of them missed; of the last cache likewise. */
  l1Reads: z.number().nonnegative().optional(),
  l1Misses: z.number().nonnegative().optional(),
  llcReads: z.number().nonnegative().optional(),
  llcMisses: z.number().nonnegative().optional(),
})
export type CallCounters = z.infer<typeof callCountersSchema>

/** Share of the reads of a cache that hit, 0 to 1; undefined where it was not counted or nothing was read. */
export const hitRatio = (reads: number | undefined, misses: number | undefined): number | undefined =>
  reads === undefined || misses === undefined || !(reads > 0) ? undefined : Math.min(1, Math.max(0, 1 - misses / reads))

export interface MemoryUse {
  /** Bytes of this case's inputs, outputs and workspace on the device. */
  caseBytes: number
  /** Drop of the device's free memory while the case was open, where it can be read. */
  deviceDeltaBytes?: number
  /** Most bytes that the computing library itself held during a call, by its own counter, beyond what the case holds. */
  libraryPeakBytes?: number
}

/** What a backend needs to make a case ready: derived from the op once, the same for every backend. */
export interface Problem {
  case: BenchmarkCase
  seed: number
  /** Integers and real numbers for the kernels, in the order the op's doc comment states. */
  dims: readonly number[]
  scalars: readonly number[]
  /** Every tensor of a call, in the op's order. Inputs are those with a fill, outputs those that are not `in`. */
  tensors: readonly Tensor[]
  /** One thread may compute on whichever processor is least disturbed at the moment: all that it is compared with does so too. */
  quietest?: boolean
}

/** The tensors that are filled before a call, in the order of their streams. */
export const problemInputs = ({ tensors }: Pick<Problem, 'tensors'>): Tensor[] => tensors.filter(({ role }) => role !== 'out')

/** The tensors that a call writes; `output` everywhere counts these. */
export const problemOutputs = ({ tensors }: Pick<Problem, 'tensors'>): Tensor[] => tensors.filter(({ role }) => role !== 'in')

/** What a search of one whole output on the device finds. */
export interface OutputScan {
  /** Elements that still hold the sentinel, over every set of buffers that calls have used since `poison`. */
  unwritten: number
  /** NaN and infinite elements over the whole output of the set used last; 0 for integers. Absent where the backend cannot count them. */
  nonFinite?: number
}

/** What a counter of energy said while a meter ran. Times in ms since `EnergyMeter.start`. */
export interface EnergyTrace {
  /** The counter, in words: `NVML total energy`, `RAPL package domains`. */
  source: string
  /** When the counter changed, and to what, in joules from any origin. */
  tickMs: Float64Array
  joules: Float64Array
  /** Power as the driver tells it, in watts; empty where it does not. */
  powerMs: Float64Array
  watts: Float64Array
}

/** Reads a counter of energy in the background, between `start` and `stop`. */
export interface EnergyMeter {
  /** Whether the device takes calls in graphs, which keep it busy however long the host needs to issue one. */
  graphs: boolean
  start(): Promise<void>
  stop(): Promise<EnergyTrace>
}

/** A case with its buffers allocated and inputs filled by the rule in core/values/random.ts. All methods may throw a CaseError. */
export interface PreparedCase {
  readonly timer: Timer
  /** Smallest time difference the timer can show, in ns. */
  readonly tickNs: number
  /** How long the clock of the processor may take to follow the instructions of another case, in seconds; 0 or absent where it does not depend on them. */
  readonly clockSettlesSeconds?: number
  /** Facts about how this case is measured that belong on the result, e.g. a timer fallback. */
  readonly notes: readonly string[]
  /** Fill the inputs anew, as for a Problem with this seed. The timed inputs differ from those first verified, so that a kernel that remembers its output is found out. */
  refill(seed: number): Promise<void>
  /** Fill every `out` tensor with the sentinel (core/values/numbers.ts), of every set of buffers in mode rotated. `inout` tensors keep their state. */
  poison(): Promise<void>
  /** Run the op once, untimed, and wait. */
  run(): Promise<void>
  /** Searches every output, in order, for elements that were never written or are no finite number. */
  scan(): Promise<OutputScan[]>
  /** Elements [start, start + count) of an output, of the set of buffers used last. */
  read(output: number, start: number, count: number): Promise<Values>
  /** Several such ranges at once, in the order asked for, where that is cheaper than one by one. */
  readRanges?(output: number, ranges: readonly { start: number; count: number }[]): Promise<Values[]>
  /** Ranges of one stretch of an output, in order and one after the other in the result, where their elements cost more to move than to read. */
  readWithin?(output: number, stretch: { start: number; count: number }, ranges: readonly { start: number; count: number }[]): Promise<Values>
  sample(request: SampleRequest): Promise<SampleBatch>
  /** Runs `calls` calls back to back without timing any. For backends whose `sample` makes other calls beside those that it reports; `nsPerCall` sizes the submissions. */
  runCalls?(calls: number, nsPerCall: number): Promise<void>
  memory(): MemoryUse
  /** The kernels of one call in their order, where the backend launches its own on a GPU. */
  launches?(): KernelLaunch[]
  /** The energy counter of the device that computes, or why it cannot be read. Absent where the backend has no way to one. */
  energyMeter?(): EnergyMeter | { reason: string }
  /** What the processor counts of a call, from `calls` calls that are not timed; undefined where the backend counts nothing. */
  counters?(mode: Mode, calls: number): Promise<CallCounters | undefined>
  dispose(): Promise<void>
}

/** A way to compute. core never asks which one it has. Lives in the measurement process or page. */
export interface Backend {
  readonly id: string
  /** Devices with what each can do; one that is missing is listed with the reason. */
  devices(): Promise<Device[]>
  /**
   * `alive` is to be called now and then while opening takes long (a compiler, an import), so that nobody takes it for hung. `beside`: an
   * open case of the same tensors and seed, whose memory this one uses too where the backend can do that.
   */
  open(problem: Problem, alive?: () => void, beside?: PreparedCase): Promise<PreparedCase>
}

/** Why a case ended without a measurement. */
export const caseErrorCodeSchema = z.enum(['unsupported', 'out-of-memory', 'device-lost', 'kernel-failed', 'internal'])
export type CaseErrorCode = z.infer<typeof caseErrorCodeSchema>

/** Ends one case, not the run. `message` is for the user; `detail` holds the driver's own words. */
export class CaseError extends Error {
  constructor(
    readonly code: CaseErrorCode,
    message: string,
    readonly detail?: string,
  ) {
    super(message)
    this.name = 'CaseError'
  }
}

/** The problem a case poses: tensors and kernel arguments, from the op's definition. Throws a CaseError where the op exceeds what backends have room for. */
export function problemOf(op: Op, c: BenchmarkCase, seed: number): Problem {
  const params = op.params.parse(c.params)
  const problem = { case: c, seed, dims: op.dims(params), scalars: op.scalars(params), tensors: tensorsOf(op, params, c.dtype) }
  for (const name of ['tensors', 'dims', 'scalars'] as const) {
    const count = problem[name].length
    if (count > LIMITS[name]) throw new CaseError('unsupported', `${op.id} has ${count} ${name}; at most ${LIMITS[name]} are passed to a kernel.`)
  }
  return problem
}
