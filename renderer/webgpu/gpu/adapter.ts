/** What the adapter says about itself. Chromium leaves most of it empty without its developer features. */
interface AdapterWords {
  vendor: string
  architecture: string
  device: string
  description: string
  driver?: string
  backend?: string
  type?: string
  isFallbackAdapter?: boolean
  memoryHeaps?: readonly { size: number; properties: number }[]
}

const RETRY_MS = 500
const RETRY_FOR_MS = 10_000
/** GPUHeapProperty.DEVICE_LOCAL */
const DEVICE_LOCAL = 1

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** An adapter that a page can ask for; each is a device where the browser has another one for it. */
export interface AdapterChoice {
  /** Of the device in cases. */
  id: string
  /** For the facts of the device: `high-performance`. */
  title: string
  request: GPURequestAdapterOptions
}

/** The first one is there wherever WebGPU is. */
export const ADAPTER_CHOICES: readonly [AdapterChoice, ...AdapterChoice[]] = [
  { id: 'webgpu:0', title: 'high-performance', request: { powerPreference: 'high-performance' } },
  { id: 'webgpu:low-power', title: 'low-power', request: { powerPreference: 'low-power' } },
  { id: 'webgpu:fallback', title: 'fallback, computed in software', request: { forceFallbackAdapter: true } },
]

/** The adapter, or why there is none. Just after the start Chromium may answer null at first, hence the retries. */
export async function findAdapter({ request }: AdapterChoice = ADAPTER_CHOICES[0]): Promise<GPUAdapter | { reason: string }> {
  // Typed as always present; a page outside a secure context has none.
  const gpu = navigator.gpu as GPU | undefined
  if (!gpu) return { reason: 'This Chromium has no WebGPU: it was switched off, or the page is not in a secure context.' }
  const until = performance.now() + RETRY_FOR_MS
  let problem = ''
  for (;;) {
    try {
      const adapter = await gpu.requestAdapter(request)
      if (adapter) return adapter
    } catch (error) {
      problem = ` (${error instanceof Error ? error.message : String(error)})`
    }
    if (performance.now() >= until) return { reason: `Chromium found no WebGPU adapter in ${RETRY_FOR_MS / 1000} s${problem}: the graphics driver may be missing or blocked.` }
    await wait(RETRY_MS)
  }
}

/** What tells adapters apart; cards of one model are one to a page. */
export const identityOf = ({ vendor, architecture, device, description, driver, backend, type }: AdapterWords): string => JSON.stringify([vendor, architecture, device, description, driver, backend, type])

/** The choices that lead to an adapter which no choice before them leads to: the first in any case, and the others without waiting. */
export async function distinctChoices(): Promise<AdapterChoice[]> {
  const [first, ...others] = ADAPTER_CHOICES
  const adapter = await findAdapter(first)
  if ('reason' in adapter) return [first]
  const known = new Set([identityOf(wordsOf(adapter))])
  const found = [first]
  for (const choice of others) {
    const other = await navigator.gpu.requestAdapter(choice.request).catch(() => null)
    const identity = other && identityOf(wordsOf(other))
    if (identity === null || known.has(identity)) continue
    known.add(identity)
    found.push(choice)
  }
  return found
}

/** Matrix units in shaders: an experiment under the browser's own prefix, with another text of WGSL in each version (wgsl/matrices/words.ts). */
export const SUBGROUP_MATRIX = 'chromium-experimental-subgroup-matrix'

/** Optional features the kernels and the timing use when they are there. */
const WANTED_FEATURES = ['timestamp-query', 'shader-f16', 'subgroups', SUBGROUP_MATRIX] as const

/** Limits of buffers, and of compute shaders: some of ours use larger workgroups, libraries use more of the others. */
const WANTED_LIMITS = [
  'maxStorageBufferBindingSize', 'maxBufferSize', 'maxStorageBuffersPerShaderStage', 'maxComputeWorkgroupStorageSize', 'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX', 'maxComputeWorkgroupSizeY', 'maxComputeWorkgroupSizeZ', 'maxComputeWorkgroupsPerDimension',
] as const

/** How a device is opened; tests force what an adapter would decide. */
export interface DeviceOptions {
  /** `off`: no kernel uses subgroups, nor their matrices. `on`: a device without them is refused. */
  subgroups?: 'on' | 'off'
  /** `off`: no kernel uses subgroup matrices. */
  matrices?: 'off'
  /** Only the limits that the specification promises: 8 storage buffers, 256 threads and 16 KiB of memory a workgroup, 128 MiB a binding. */
  defaultLimits?: boolean
  /** Most bytes of a tensor that are bound at once, where less than the device allows. */
  bindingBytes?: number
}

/** A device with everything the adapter allows of what matters here, or with default limits. Rejects with the browser's words. */
export async function openDevice(adapter: GPUAdapter, { subgroups, matrices, defaultLimits = false }: DeviceOptions = {}): Promise<GPUDevice> {
  const { limits } = adapter
  const unwanted: readonly string[] = [...(subgroups === 'off' ? ['subgroups'] : []), ...(subgroups === 'off' || matrices === 'off' ? [SUBGROUP_MATRIX] : [])]
  return adapter.requestDevice({
    requiredFeatures: WANTED_FEATURES.filter((feature) => adapter.features.has(feature) && !unwanted.includes(feature)) as GPUFeatureName[],
    requiredLimits: defaultLimits ? {} : Object.fromEntries(WANTED_LIMITS.map((name) => [name, limits[name]])),
  })
}

/** More threads of a workgroup would have too few registers each. */
const MAX_THREADS = 1024

type WorkgroupLimits = Pick<GPUSupportedLimits, 'maxComputeInvocationsPerWorkgroup' | 'maxComputeWorkgroupSizeX' | 'maxComputeWorkgroupStorageSize'>

/** The largest power of two that a workgroup may have of threads in a row, up to MAX_THREADS: each may keep four f32 in its memory, beside 16 bytes for all. */
export const largestWorkgroup = ({ maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX, maxComputeWorkgroupStorageSize }: WorkgroupLimits): number =>
  2 ** Math.floor(Math.log2(Math.min(MAX_THREADS, maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX, maxComputeWorkgroupStorageSize / 16 - 1)))

export const wordsOf = (adapter: GPUAdapter): AdapterWords => adapter.info

/** Name to show: the driver's own where it is given, else vendor and architecture. */
export function nameOf({ vendor, architecture, device, description }: AdapterWords): string {
  if (description) return description
  const made = [vendor, architecture || device].filter(Boolean).join(' ')
  return made ? `${made[0]!.toUpperCase()}${made.slice(1)}` : 'WebGPU adapter'
}

/** Whether the adapter computes on the CPU. */
export const isSoftware = (words: AdapterWords): boolean =>
  words.isFallbackAdapter === true || words.type === 'CPU' || /swiftshader|llvmpipe|lavapipe|basic render|software/i.test(`${words.architecture} ${words.description} ${words.device}`)

/** Bytes a case may take: nine tenths of the device-local heap where Chromium tells it, else an estimate that errs low. */
export function memoryOf(words: AdapterWords, limits: GPUSupportedLimits, software: boolean): { bytes: number; known: boolean } {
  const local = (words.memoryHeaps ?? []).filter((heap) => heap.properties & DEVICE_LOCAL).map((heap) => heap.size)
  if (local.length > 0 && !software) return { bytes: Math.floor(0.9 * Math.max(...local)), known: true }
  // A quarter of the machine's memory, which the page is told in GiB and only up to a limit.
  const machineGib = (navigator as { deviceMemory?: number }).deviceMemory ?? 4
  return { bytes: software ? (machineGib / 4) * 2 ** 30 : 4 * limits.maxBufferSize, known: false }
}
