import { CaseError } from '@core/backend'
import { hasOnnx, onnxModel } from './onnx-model'
import type { Library, LibraryCase, LibraryProblem } from './types'

const PACKAGE = 'onnxruntime-web'

interface OrtTensor {
  dispose(): void
}

interface OrtSession {
  run(feeds: Readonly<Record<string, OrtTensor>>, fetches: Readonly<Record<string, OrtTensor>>): Promise<unknown>
  release(): Promise<void>
}

/** What is used of the module. */
interface Ort {
  env: { wasm: { numThreads: number; wasmPaths: string }; logLevel: string }
  Tensor: { fromGpuBuffer(buffer: GPUBuffer, options: { dataType: string; dims: readonly number[] }): OrtTensor }
  InferenceSession: { create(model: Uint8Array, options: object): Promise<OrtSession> }
}

let loaded: Promise<Ort> | undefined

/** The library, once for the page. */
function load(address: (name: string) => string): Promise<Ort> {
  loaded ??= (async () => {
    const folder = `${address(PACKAGE)}/dist/`
    const ort = (await import(/* @vite-ignore */ `${folder}ort.webgpu.min.mjs`)) as Ort
    ort.env.wasm.numThreads = 1
    ort.env.wasm.wasmPaths = new URL(folder, location.href).href
    ort.env.logLevel = 'error'
    return ort
  })()
  loaded.catch(() => (loaded = undefined))
  return loaded
}

async function open(device: GPUDevice, { shape, op, inputs, output }: LibraryProblem, address: (name: string) => string): Promise<LibraryCase> {
  const node = op.onnx!(shape)
  if (!node) throw new CaseError('unsupported', 'ONNX Runtime Web has no operator for this variant.')
  const ort = await load(address)
  const session = await ort.InferenceSession.create(onnxModel(node, inputs, output), { executionProviders: [{ name: 'webgpu', device, preferredLayout: 'NCHW' }], graphOptimizationLevel: 'all' })
  const tensor = ({ buffer, shape: dims, type }: LibraryProblem['output']) => ort.Tensor.fromGpuBuffer(buffer, { dataType: type, dims })
  const feeds = Object.fromEntries(inputs.map((input, i) => [`x${i}`, tensor(input)]))
  const fetches = { y: tensor(output) }
  return {
    call: async () => void (await session.run(feeds, fetches)),
    dispose: () => session.release(),
  }
}

export const onnxruntime: Library = { id: 'onnxruntime-web', title: 'ONNX Runtime Web', packages: [PACKAGE], has: hasOnnx, open }
