/** The hues of series (core/backends.ts has their values). */
export type Hue = 'green' | 'blue' | 'purple' | 'orange' | 'sky' | 'vermilion' | 'olive' | 'indigo' | 'brown' | 'rose' | 'teal' | 'violet' | 'lime' | 'grey'

/** The processes and pages that measure; each serves the backends that name it. */
export type HostId = 'native' | 'webgpu' | 'python'

/** What the rest of the app needs to know of a backend. */
export interface BackendDescriptor {
  id: string
  title: string
  /** Which host serves it. */
  host: HostId
  /** Id of its first device, also where none could be found. */
  device: string
  /** Measured by `opscope run` where no backend is named. */
  byDefault: boolean
  /**
   * True where the libraries of another program compute, on the hardware of other backends: its devices are named
   * `<id>:<device>`, are picked by the user, and its implementations are known by their own names.
   */
  library: boolean
  /** Colour of each implementation; one that is not listed gets one of the remaining hues. Neighbours in one chart are far apart. */
  hues: Readonly<Record<string, Hue>>
}

/**
 * Every backend, in the order users see them. One more is an entry here, its code in main/backends/<id> (or a page in
 * renderer/<id>), and its kernels. The scripted backend of tests is not among them.
 */
export const BACKENDS: readonly BackendDescriptor[] = [
  { id: 'cpu', title: 'CPU', host: 'native', device: 'cpu', byDefault: true, library: false, hues: { scalar: 'grey', sse2: 'sky', avx2: 'orange', avx512: 'vermilion', neon: 'lime', openblas: 'teal', onednn: 'rose' } },
  { id: 'cuda', title: 'CUDA', host: 'native', device: 'cuda:0', byDefault: true, library: false, hues: { kernel: 'green', cublaslt: 'teal', cudnn: 'sky' } },
  { id: 'webgpu', title: 'WebGPU', host: 'webgpu', device: 'webgpu:0', byDefault: false, library: false, hues: { wgsl: 'blue', 'wgsl-f16-emulated': 'teal', 'onnxruntime-web': 'violet', tfjs: 'orange' } },
  { id: 'python', title: 'Python', host: 'python', device: 'python:0', byDefault: false, library: true, hues: { torch: 'purple', 'torch.compile': 'indigo', triton: 'olive', numpy: 'brown', jax: 'violet', cupy: 'lime' } },
]

const byId = new Map(BACKENDS.map((backend) => [backend.id, backend]))

/** The backend with this id; undefined for those of other tools and of tests. */
export const findBackend = (id: string): BackendDescriptor | undefined => byId.get(id)

/** Whether a backend computes with the libraries of another program. */
export const isLibrary = (id: string): boolean => byId.get(id)?.library ?? false

/** Ids of the backends that a host serves. */
export const backendsOf = (host: HostId): string[] => BACKENDS.filter((backend) => backend.host === host).map(({ id }) => id)

/**
 * One colour per implementation, the same in every chart, table chip and report. Any two of them differ by a CIEDE2000
 * distance of at least 9 under normal vision and under simulated deuteranopia, protanopia and tritanopia: lightness
 * differs where hue cannot be told. A 2 px line keeps a contrast of at least 3:1 against the chart's surface.
 */
export type Theme = 'light' | 'dark'

const HUES = {
  green: { light: '#025936', dark: '#23a567' },
  blue: { light: '#2279fb', dark: '#628bfc' },
  purple: { light: '#690e4a', dark: '#ac4e7d' },
  orange: { light: '#d57905', dark: '#ecb03a' },
  sky: { light: '#036f8a', dark: '#37bfe8' },
  vermilion: { light: '#a20f06', dark: '#f74644' },
  olive: { light: '#856f00', dark: '#ebf483' },
  indigo: { light: '#9373b7', dark: '#9880b3' },
  brown: { light: '#ad8780', dark: '#fed8c4' },
  rose: { light: '#b72d5a', dark: '#fe759c' },
  teal: { light: '#21a19d', dark: '#a3fdfd' },
  violet: { light: '#6123bd', dark: '#9244da' },
  lime: { light: '#709d57', dark: '#638202' },
  grey: { light: '#6e6f72', dark: '#b6b9bf' },
} as const satisfies Record<Hue, Record<Theme, string>>

/** What an implementation that its backend's descriptor does not name may have. */
const FREE: readonly Hue[] = ['rose', 'teal', 'sky', 'grey', 'olive', 'brown', 'violet', 'lime', 'orange', 'indigo', 'blue', 'green', 'vermilion', 'purple']

/** The key of a case's series colour. */
export const seriesKey = (c: { backend: string; impl: string }): string => `${c.backend}/${c.impl}`

/** Hues of implementations that no descriptor names, by series key, in the order in which they were first asked for. */
const given = new Map<string, Hue>()

/** The hue of an implementation that no descriptor names: no other one of its backend has it while any is left. */
function givenHue(key: string, backend: string): Hue {
  const before = given.get(key)
  if (before) return before
  let hash = 0
  for (let i = 0; i < key.length; i++) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) >>> 0
  const named = Object.values(findBackend(backend)?.hues ?? {})
  const taken = new Set([...named, ...[...given].flatMap(([other, hue]) => (other.startsWith(`${backend}/`) ? [hue] : []))])
  const inOrder = FREE.map((_, i) => FREE[(hash + i) % FREE.length]!)
  const hue = inOrder.find((one) => !taken.has(one)) ?? inOrder[0]!
  // Files may name any number of them.
  if (given.size < MAX_GIVEN) given.set(key, hue)
  return hue
}

const MAX_GIVEN = 1000

/** CSS colour of a series key such as `cpu/avx2`: the same wherever it is asked for. */
export function seriesColor(key: string, theme: Theme): string {
  const [backend = '', impl = ''] = key.split('/')
  return HUES[findBackend(backend)?.hues[impl] ?? givenHue(key, backend)][theme]
}

/** Neighbours are far apart. */
const PLACES: readonly Hue[] = ['blue', 'orange', 'green', 'purple', 'vermilion', 'sky', 'indigo', 'olive', 'rose', 'teal', 'brown', 'violet', 'lime', 'grey']

/** CSS colour of the device or host with this number, where charts are coloured by them; the fifteenth has that of the first. */
export const placeColor = (index: number, theme: Theme): string => HUES[PLACES[index % PLACES.length]!][theme]

/** The page and exported reports share one palette. */
