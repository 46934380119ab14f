import { CaseError } from '@core/backend'
import type { Library, LibraryCase, LibraryProblem, Tf, TfTensor } from './types'

const CORE = '@tensorflow/tfjs-core'
const BACKEND = '@tensorflow/tfjs-backend-webgpu'

/** What is used of the backend beside the functions of `tf`. */
interface WebGpuBackend {
  /** The buffer of a tensor; `readToGPU`, the public way, gives a copy. */
  tensorMap: { get(dataId: object): { resource: GPUBuffer } | undefined }
  endComputePassEncoder(): void
  submitQueue(): void
  dispose(): void
}

interface TfGlobal {
  WebGPUBackend?: new (device: GPUDevice, info: GPUAdapterInfo) => WebGpuBackend
  webgpu?: { WebGPUBackend: new (device: GPUDevice, info: GPUAdapterInfo) => WebGpuBackend }
  registerBackend(name: string, make: () => WebGpuBackend): boolean
  removeBackend(name: string): void
  setBackend(name: string): Promise<boolean>
  env(): { set(flag: string, value: number): void }
}

/** Dispatches that may wait for one submission: after the last of a call its buffers hold what each of them reads. */
const DISPATCHES_PER_SUBMISSION = 1024

function loadScript(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = url
    script.onload = () => resolve()
    script.onerror = () => reject(new Error(`${url} could not be loaded`))
    document.head.append(script)
  })
}

let loaded: Promise<TfGlobal> | undefined

/** The library, once for the page. */
function load(address: (name: string) => string): Promise<TfGlobal> {
  loaded ??= (async () => {
    await loadScript(`${address(CORE)}/dist/tf-core.min.js`)
    await loadScript(`${address(BACKEND)}/dist/tf-backend-webgpu.min.js`)
    return (globalThis as unknown as { tf: TfGlobal }).tf
  })()
  loaded.catch(() => (loaded = undefined))
  return loaded
}

async function open(device: GPUDevice, { shape, op, inputs }: LibraryProblem, address: (name: string) => string): Promise<LibraryCase> {
  const tf = await load(address)
  const Backend = tf.webgpu?.WebGPUBackend ?? tf.WebGPUBackend
  if (!Backend) throw new Error('this version of TensorFlow.js has no WebGPUBackend')
  const backend = new Backend(device, device.adapterInfo)
  // One backend for each case: it keeps every buffer that it ever had.
  tf.removeBackend('webgpu')
  tf.registerBackend('webgpu', () => backend)
  if (!(await tf.setBackend('webgpu'))) throw new Error('TensorFlow.js refused its WebGPU backend')
  tf.env().set('WEBGPU_DEFERRED_SUBMIT_BATCH_SIZE', DISPATCHES_PER_SUBMISSION)
  const functions = tf as unknown as Tf
  const given = inputs.map(({ buffer, shape: extents, type }) => functions['tensor']!({ buffer, zeroCopy: true }, extents, type))
  let results: readonly TfTensor[] = []
  return {
    async call() {
      for (const result of results) result.dispose()
      const made = (functions['tidy'] as unknown as <T>(work: () => T) => T)(() => op.tf!(functions, given, shape))
      if (!made) throw new CaseError('unsupported', 'TensorFlow.js has no such variant.')
      results = 'dataId' in made ? [made] : made
      backend.endComputePassEncoder()
      backend.submitQueue()
    },
    outputs: () => results.map(({ dataId }) => {
      const held = backend.tensorMap.get(dataId)
      if (!held) throw new Error('TensorFlow.js left its result in no buffer')
      return held.resource
    }),
    dispose: async () => backend.dispose(),
  }
}

export const tfjs: Library = { id: 'tfjs', title: 'TensorFlow.js', packages: [CORE, BACKEND], has: (op) => op.tf !== undefined, open }
