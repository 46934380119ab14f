/** The hues of series (core/series-colors.ts has their values). */
export type Hue = 'green' | 'blue' | 'purple' | 'orange' | 'sky' | 'vermilion' | 'olive' | 'indigo' | 'brown' | 'rose' | 'teal' | 'grey'

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
  { id: 'cpu', title: 'CPU', host: 'native', device: 'cpu', byDefault: true, library: false, hues: { scalar: 'grey', sse2: 'sky', avx2: 'orange', avx512: 'vermilion' } },
  { id: 'cuda', title: 'CUDA', host: 'native', device: 'cuda:0', byDefault: true, library: false, hues: { kernel: 'green' } },
  { id: 'webgpu', title: 'WebGPU', host: 'webgpu', device: 'webgpu:0', byDefault: false, library: false, hues: { wgsl: 'blue' } },
  { id: 'python', title: 'Python', host: 'python', device: 'python:0', byDefault: false, library: true, hues: { torch: 'purple', 'torch.compile': 'indigo', triton: 'olive', numpy: 'brown' } },
]

const byId = new Map(BACKENDS.map((backend) => [backend.id, backend]))

/** The backend with this id; undefined for those of other tools and of tests. */
export const findBackend = (id: string): BackendDescriptor | undefined => byId.get(id)

/** Whether a backend computes with the libraries of another program. */
export const isLibrary = (id: string): boolean => byId.get(id)?.library ?? false

/** Ids of the backends that a host serves. */
export const backendsOf = (host: HostId): string[] => BACKENDS.filter((backend) => backend.host === host).map(({ id }) => id)
