import type { Device, Impl } from '../../backend'
import { DTYPE_BYTES, type Params } from '../../case'
import { factBytes } from '../../session/environment'
import type { CacheAccess, ProcessorChoice } from './kinds'

/** The op that passes over a cache for each access. */
export const STREAM_OPS: Readonly<Record<CacheAccess, string>> = { copy: 'stream_copy', read: 'stream_read', write: 'stream_write' }

/** Bytes that one thread moves in a call: tens to hundreds of microseconds, against which waking a team is little. */
const CALL_BYTES = 2 ** 22
/** Least part of a cache that is passed over: a page for each thread. */
const PAGE = 2 ** 12

/** Whether an implementation is an instruction set of ours, whose ceilings are its own; libraries compute on the best of these. */
const isLevel = (impl: Impl): boolean => impl.available.ok && impl.kernels[STREAM_OPS.copy] !== undefined

/** Instruction sets of a processor with ceilings of their own; none on other devices. */
export const levelsOf = ({ impls, threads }: Device): string[] => (threads.length > 0 ? impls.filter(isLevel).map(({ id }) => id) : [])

/** The choice that stands for the whole processor: the preferred level (else the last) on all threads. Undefined for other devices. */
export function wholeChoice(device: Device): ProcessorChoice | undefined {
  const threads = device.threads.at(-1)
  const levels = device.impls.filter(isLevel)
  const impl = levels.find(({ preferred }) => preferred) ?? levels.at(-1)
  return impl && threads !== undefined ? { impl: impl.id, threads } : undefined
}

export const sameChoice = (a: ProcessorChoice | undefined, b: ProcessorChoice | undefined): boolean => a?.impl === b?.impl && a?.threads === b?.threads

/** Which ceilings of a processor to measure: `all` levels on all thread counts, else the preferred level on one and on all threads and these choices; `only` these choices. */
export interface CeilingScope {
  all?: boolean
  choices?: readonly ProcessorChoice[]
  only?: boolean
}

/** The choices of a scope beside the whole processor, each once, those of no level of the device as the preferred level. */
export function choicesOf(device: Device, { all, choices = [], only }: CeilingScope): ProcessorChoice[] {
  const whole = wholeChoice(device)
  if (!whole) return []
  const levels = levelsOf(device)
  const wanted = all ? levels.flatMap((impl) => device.threads.map((threads) => ({ impl, threads }))) : [...(only ? [] : [{ ...whole, threads: 1 }]), ...choices]
  const known = wanted.filter(({ threads }) => device.threads.includes(threads)).map(({ impl, threads }) => ({ impl: levels.includes(impl) ? impl : whole.impl, threads }))
  return known.filter((choice, i) => !sameChoice(choice, whole) && known.findIndex((other) => sameChoice(other, choice)) === i)
}

const factOf = (device: Device, name: string) => device.facts.find((fact) => fact.name === name)?.value

/** Cores of a processor: one thread is on each before any has two. */
const coresOf = (device: Device): number => Number(factOf(device, 'Physical cores') ?? device.threads.at(-1) ?? 1)

/** Bytes of a cache that a team of so many threads reaches; caches are shared by neighbouring cores. */
function reached(device: Device, cache: { name: string; bytes: number }, threads: number): number {
  const cores = coresOf(device)
  const one = factBytes(factOf(device, cache.name.endsWith('d') ? `${cache.name.slice(0, -1)} data cache` : `${cache.name} cache`) ?? '', 1)
  const instances = one === undefined ? 1 : Math.max(1, Math.round(cache.bytes / one))
  return (cache.bytes / instances) * Math.min(instances, Math.ceil((Math.min(threads, cores) * instances) / cores))
}

/** Passes over half of a cache that these threads reach. */
export interface CacheCase {
  name: string
  access: CacheAccess
  op: string
  params: Params
}

/** What measures the caches of a processor for so many threads: half of each, where that is more than the cache before it holds. */
export function cacheCases(device: Device, threads: number): CacheCase[] {
  let before = 0
  return (device.caches ?? []).flatMap((cache) => {
    const bytes = reached(device, cache, threads)
    const set = Math.floor(bytes / 2 / (2 * PAGE * threads)) * 2 * PAGE * threads
    const fits = set > before
    before = bytes
    if (!fits) return []
    return (['copy', 'read', 'write'] as const).map((access) => ({
      name: cache.name, access, op: STREAM_OPS[access], params: { n: set / DTYPE_BYTES.f32 / (access === 'copy' ? 2 : 1), iterations: Math.max(1, Math.round((CALL_BYTES * threads) / set)) },
    }))
  })
}

/** Bytes of the memory that a case of one of the stream ops passes over; undefined for other ops. */
export function passedBytes(op: string, params: Params): number | undefined {
  const access = (Object.keys(STREAM_OPS) as CacheAccess[]).find((one) => STREAM_OPS[one] === op)
  return access && Number(params['n']) * DTYPE_BYTES.f32 * (access === 'copy' ? 2 : 1)
}
