import { operationText, shapeText } from '@core/case-words'
import type { BenchmarkCase } from '@core/case'
import { groupsOf } from './groups'
import { remembered, type ChartPoint } from './points'

/** A way of computing something: what stands against others in a speedup. */
export interface Variant {
  id: string
  /** `cpu avx2`, with the device or threads where a session has several. */
  title: string
  backend: string
  impl: string
  device: string
}

export interface Variants {
  variants: Variant[]
  of(c: BenchmarkCase): string
}

/** The variants of these points in the order first met, and the one of each case. */
export const variantsOf = (points: readonly ChartPoint[]): Variants => remembered(points, 'variants', () => findVariants(points))

function findVariants(points: readonly ChartPoint[]): Variants {
  const devices = new Map<string, Set<string>>()
  const threads = new Map<string, Set<number | undefined>>()
  const cases = groupsOf(points).map(({ first }) => first.case)
  for (const c of cases) {
    devices.set(c.backend, (devices.get(c.backend) ?? new Set()).add(c.device))
    threads.set(c.backend, (threads.get(c.backend) ?? new Set()).add(c.threads))
  }
  const of = (c: BenchmarkCase) => {
    const where = (devices.get(c.backend)?.size ?? 0) > 1 ? c.device : c.backend
    const several = (threads.get(c.backend)?.size ?? 0) > 1 && c.threads !== undefined
    return `${where} ${c.impl}${several ? ` ${c.threads} ${c.threads === 1 ? 'thread' : 'threads'}` : ''}`
  }
  const variants = new Map<string, Variant>()
  for (const c of cases) {
    const id = of(c)
    if (!variants.has(id)) variants.set(id, { id, title: id, backend: c.backend, impl: c.impl, device: c.device })
  }
  return { variants: [...variants.values()], of }
}

/** Words that name a problem among these: op, variant and shape, and dtype and mode where they differ. */
export function problemNames(points: readonly ChartPoint[]): (c: BenchmarkCase) => string {
  const [dtypes, modes] = [new Set(points.map((p) => p.case.dtype)), new Set(points.map((p) => p.case.mode))]
  return (c) => [operationText(c), shapeText(c), dtypes.size > 1 ? c.dtype : '', modes.size > 1 ? c.mode : ''].filter(Boolean).join(' ')
}
