import { z } from 'zod'
import { deviceStateSchema, type DeviceState, type EnergyMeter } from '@core/backend'
import { nameOf, wordsOf } from '../gpu/adapter'
import type { Gpu } from '../gpu/gpu'

/** What preload/webgpu.ts offers to look at the card behind the adapter. Answers are unchecked. */
export interface HostWatch {
  /** Whether the one card of this name can be watched. */
  open(name: string): Promise<unknown>
  /** A batch of samples begins. `long`: long enough for the card's energy counter. */
  begin(long: boolean): void
  /** It ended: the state of the card since `begin`. */
  end(): Promise<unknown>
  /** The energy of the card is counted from now on: true, or why not. */
  startEnergy(): Promise<unknown>
  /** What the counter said since, or why not. */
  stopEnergy(): Promise<unknown>
}

/** Longest wait for the watch of a device, once, while its first case is made ready. */
const OPEN_MS = 3000
/** Longest wait for one state. */
const END_MS = 1000
/** Longest wait for the energy counter: the first one starts NVIDIA's management library. */
const ENERGY_MS = 10_000
/** The energy counter moves about ten times a second and takes milliseconds to read: shorter batches go without, as for CUDA. */
const LONG_SECONDS = 0.2

/**
 * Samples taken by `take` (about `count`), and the state of the card meanwhile: empty where nobody can tell it. It is on its
 * way while the page does the rest of its work for the batch, and never rejects.
 */
export type Watched = <T extends { samplesNs: Float64Array }>(count: number, take: () => Promise<T>) => Promise<T & { state: Promise<DeviceState> }>

/** The watch of one case on this device. It never fails a batch, and asks nobody unless the adapter is a real NVIDIA card. */
export function watchCase(gpu: Gpu, host: HostWatch | undefined): Watched {
  const card = cardOf(gpu, host)
  let secondsPerSample = 0
  return async (count, take) => {
    await card?.begin(secondsPerSample * count >= LONG_SECONDS)
    const from = performance.now()
    let taken
    try {
      taken = await take()
    } catch (error) {
      card?.leave()
      throw error
    }
    secondsPerSample = (performance.now() - from) / 1000 / taken.samplesNs.length
    return { ...taken, state: card?.end() ?? Promise.resolve({}) }
  }
}

/** The energy counter of the card that a page computes on, read in the process beside it; or why there is none to read. */
export function watchEnergy(gpu: Gpu, host: HostWatch | undefined): EnergyMeter | { reason: string } {
  return cardOf(gpu, host)?.meter ?? { reason: 'Beside WebGPU the energy counter of NVIDIA GPUs alone can be read.' }
}

interface Card {
  meter: EnergyMeter
  begin(long: boolean): Promise<void>
  end(): Promise<DeviceState>
  /** Ends a window whose state nobody wants. */
  leave(): void
}

const cards = new WeakMap<Gpu, Card>()

function cardOf(gpu: Gpu, host: HostWatch | undefined): Card | undefined {
  const words = wordsOf(gpu.adapter)
  if (!host || gpu.software || words.vendor !== 'nvidia') return undefined
  const card = cards.get(gpu) ?? watchCard(nameOf(words), host)
  cards.set(gpu, card)
  return card
}

/** Opens the watch and keeps it for the life of the device. What failed once (silence, nonsense) is not asked again: every batch would wait for it. */
function watchCard(name: string, host: HostWatch): Card {
  let works = true
  const opened = within(OPEN_MS, () => host.open(name)).then((answer) => {
    works &&= answer === true
  })
  return {
    async begin(long) {
      await opened
      if (works) works = attempt(() => host.begin(long))
    },
    async end() {
      if (!works) return {}
      const state = deviceStateSchema.safeParse(await within(END_MS, () => host.end()))
      works = state.success
      return state.success ? state.data : {}
    },
    meter: {
      graphs: false,
      async start() {
        await opened
        if (!works) throw new Error('the GPU cannot be watched from beside the page')
        const answer = await within(ENERGY_MS, () => host.startEnergy())
        if (answer !== true) throw new Error(reasonOf(answer))
      },
      async stop() {
        const answer = await within(ENERGY_MS, () => host.stopEnergy())
        const trace = traceSchema.safeParse(answer)
        if (!trace.success) throw new Error(reasonOf(answer))
        return trace.data
      },
    },
    leave() {
      if (works) void within(END_MS, () => host.end())
    },
  }
}

const readings = z.array(z.number()).max(1e6).transform((values) => Float64Array.from(values))
const traceSchema = z.object({ source: z.string().max(80), tickMs: readings, joules: readings, powerMs: readings, watts: readings })
const refusedSchema = z.object({ reason: z.string().max(1000) })

function reasonOf(answer: unknown): string {
  const refused = refusedSchema.safeParse(answer)
  return refused.success ? refused.data.reason : 'the process that reads the energy counter did not answer'
}

function attempt(work: () => void): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}

/** What `work` gives, or undefined where it fails or takes longer. */
async function within(ms: number, work: () => Promise<unknown>): Promise<unknown> {
  let late: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<undefined>((resolve) => (late = setTimeout(() => resolve(undefined), ms)))
  try {
    return await Promise.race([work(), silence])
  } catch {
    return undefined
  } finally {
    clearTimeout(late)
  }
}
