import { z } from 'zod'
import type { Implementation } from '../kernels/registry'
import { onnxruntime } from './onnxruntime'
import { LIBRARY_OPS } from './table'
import { tfjs } from './tfjs'
import type { Library } from './types'

const LIBRARIES: readonly Library[] = [onnxruntime, tfjs]

/** What main found (main/backends/webgpu/libraries.ts): the folder that npm installs into, and the versions of the packages there. */
const listSchema = z.object({ folder: z.string(), versions: z.record(z.string(), z.string()) })

const ADDRESS = '/libraries'

/** The libraries as implementations, f32 alone: usable, or with the command that installs them. None where nothing serves them. */
export async function findLibraries(): Promise<Implementation[]> {
  const answer = await fetch(`${ADDRESS}/index.json`).catch(() => undefined)
  const list = listSchema.safeParse(answer?.ok ? await answer.json().catch(() => undefined) : undefined)
  if (!list.success) return []
  const { folder, versions } = list.data
  return LIBRARIES.map((library): Implementation => {
    const { id, title, packages } = library
    const missing = packages.some((name) => versions[name] === undefined)
    const kernels = new Map(Object.entries(LIBRARY_OPS).flatMap(([op, entry]) => (library.has(entry) ? [[op, { dtypes: ['f32'] as const, build: () => ({ scratchBytes: [], steps: [] }) }] as const] : [])))
    const about = { id, title: missing ? title : `${title} ${versions[packages[0]!]}`, preferred: () => false, kernels }
    if (missing) return { ...about, available: { ok: false, reason: `${title} is not installed: npm install --prefix "${folder}" ${packages.join(' ')}` } }
    return { ...about, library: { library, address: (name) => `${ADDRESS}/${name}` } }
  })
}
