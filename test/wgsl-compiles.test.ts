import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { create, globals } from 'webgpu'
import { OPS } from '@core/ops/registry'
import { KERNELS } from '../renderer/webgpu/kernels/registry'
import type { SubgroupMatrices } from '../renderer/webgpu/kernels/types'
import { withConstants } from '../renderer/webgpu/wgsl/constants'
import { drawCases } from './bench/fuzz/draw'

/**
 * WGSL that no adapter of the test run can compile: `shader-f16` and subgroup matrices. Dawn, which is WebGPU in Chromium, has a device that computes
 * nothing and has every feature: it checks texts as Chromium does before a driver sees them.
 */
const FEATURES = ['shader-f16', 'subgroups', 'chromium-experimental-subgroup-matrix']

/** As an H200 offers them, and as other devices may: one product alone. */
const ALL: readonly SubgroupMatrices[] = [[16, 16, 16], [16, 8, 16], [16, 8, 8]].map(([m, n, k]) => ({ component: 'f16' as const, result: 'f32' as const, m: m!, n: n!, k: k! }))
const MATRICES = { many: [...ALL, { component: 'i8', result: 'i32', m: 16, n: 16, k: 32 }], few: [ALL[1]!, { component: 'i8', result: 'i32', m: 16, n: 8, k: 32 }] } satisfies Record<string, readonly SubgroupMatrices[]>

const BOUNDS = { elements: 2 ** 26, flops: 2 ** 36 }
const half = OPS.filter(({ id, family }) => family !== 'composite' && KERNELS.get(id)?.dtypes.includes('f16')).map((op) => ({ op, dtypes: ['f16'] as const }))
/** Sides of products and heads that matrices multiply: whole vectors and words, and odd ones. */
const SIDES = [64, 100, 129, 250, 1023, 4096]
const products = SIDES.flatMap((m, i) => [0, 1].flatMap((transA) => [0, 1].map((transB) => ({ op: 'matmul', dtype: 'f16' as const, dims: [1 + i, m, SIDES.at(-1 - i)!, SIDES[(i + 2) % 6]!, transA, transB] }))))
const scaled = SIDES.map((m, i) => ({ op: 'scaled_matmul', dtype: 'i8' as const, dims: [m, SIDES.at(-1 - i)!, Math.max(130, SIDES[(i + 2) % 6]!)] }))
/** So large that rows which are no whole vectors are padded first. */
const padded = [...[[4098, 4099, 4101, 0, 0], [4101, 4096, 4098, 1, 1]].map((dims) => ({ op: 'matmul', dtype: 'f16' as const, dims: [1, ...dims] })), { op: 'scaled_matmul', dtype: 'i8' as const, dims: [4097, 4099, 4101] }, { op: 'scaled_matmul', dtype: 'i8' as const, dims: [4097, 4099, 4102] }]

// Dawn's device does not outlive the object that it came from.
let dawn: { gpu: GPU; device: GPUDevice }
beforeAll(async () => {
  Object.assign(globalThis, globals)
  const gpu = create(['backend=null', 'enable-dawn-features=allow_unsafe_apis'])
  const adapter = await gpu.requestAdapter()
  dawn = { gpu, device: await adapter!.requestDevice({ requiredFeatures: FEATURES as GPUFeatureName[] }) }
})
afterAll(() => dawn.device.destroy())

/** Compiles texts that were not compiled before; what is wrong with the first bad one. */
const compiled = new Set<string>()
async function problemIn(wgsl: string): Promise<string | undefined> {
  if (compiled.has(wgsl)) return undefined
  compiled.add(wgsl)
  const { device } = dawn
  device.pushErrorScope('validation')
  const { messages } = await device.createShaderModule({ code: wgsl }).getCompilationInfo()
  await device.popErrorScope()
  return messages.filter(({ type }) => type === 'error').map(({ message, lineNum }) => `${message}: ${wgsl.split('\n')[lineNum - 1] ?? ''}`)[0]
}

describe('WGSL of shader-f16', () => {
  it('compiles in every operation that has it, for drawn shapes', async () => {
    const seen = new Set<string>()
    for (const { op: id, params } of drawCases(16, 1200, half, BOUNDS)) {
      const op = OPS.find((one) => one.id === id)!
      for (const shape of [{}, { subgroups: 32, threads: 1024, workgroupBytes: 49_152, matrices: MATRICES.many }]) {
        const { steps } = withConstants(KERNELS.get(id)!.build({ dtype: 'f16', dims: op.dims(op.params.parse(params)), scalars: op.scalars?.(params) ?? [], ...shape }))
        for (const { wgsl } of steps) expect(await problemIn(wgsl), `${id} ${JSON.stringify(params)}\n${wgsl}`).toBeUndefined()
      }
      seen.add(id)
    }
    expect(seen.size).toBe(half.length)
  })
})

describe.each(['many', 'few'] as const)('WGSL of subgroup matrices, %s of them', (of) => {
  it.each([49_152, 16_384])('compiles with %s bytes of workgroup memory, within which it stays', async (workgroupBytes) => {
    for (const { op, dtype, dims } of [...products, ...scaled, ...padded]) {
      const { steps } = KERNELS.get(op)!.build({ dtype, dims, scalars: [], subgroups: 32, threads: 1024, workgroupBytes, matrices: MATRICES[of] })
      const name = `${op} ${dims.join(' ')}`
      const product = steps.find(({ wgsl }) => wgsl.includes('subgroupMatrixMultiplyAccumulate'))
      const [, type, count] = /var<workgroup> memory: array<(vec4<u32>|u32), (\d+)>/.exec(product!.wgsl)!
      expect(Number(count) * (type === 'u32' ? 4 : 16), name).toBeLessThanOrEqual(workgroupBytes)
      for (const { wgsl } of steps) expect(await problemIn(wgsl), `${name}\n${wgsl}`).toBeUndefined()
    }
  })

  it('compiles in attention, heads of any length and with parts of the keys', async () => {
    for (const headDim of [1, 40, 64, 65, 80, 128, 129, 256]) for (const causal of [0, 1]) for (const [batch, queries, keys] of [[16, 1024, 1024], [9, 333, 1001], [1, 200, 20_000]] as const) {
      const { steps } = KERNELS.get('scaled_dot_product_attention')!.build({ dtype: 'f16', dims: [batch, 8, 4, queries, keys, headDim, causal], scalars: [], subgroups: 32, threads: 1024, workgroupBytes: 49_152, matrices: MATRICES[of] })
      if (headDim > 32 && batch > 1) expect(steps.map(({ wgsl }) => wgsl).join(), `heads of ${headDim}`).toContain('subgroupMatrixMultiplyAccumulate')
      for (const { wgsl } of steps) expect(await problemIn(wgsl), `heads of ${headDim}\n${wgsl}`).toBeUndefined()
    }
  })
})
