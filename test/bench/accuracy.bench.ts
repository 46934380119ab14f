import { nativeBackends } from '../../main/backends/native'
import { LIMITS, SUM_ELEMENTS, SUM_LIMIT, sumErrors, worstOf } from '../conformance/accuracy'
import { pipedBackend } from '../conformance/piped'
import type { Bench, Figure } from './bench'

/**
 * Errors of the CPU kernels in f32 against float64, on every level of this processor: the largest over samples=N inputs (2^24) of each
 * function, and of sums of 2^24 elements. impls=avx2,scalar: of these only. program="qemu-aarch64 -L /usr/aarch64-linux-gnu
 * .cache/native-arm64/opscope_native_test": of the levels of that build.
 */
const bench: Bench = async ({ args, say }) => {
  const [program, ...words] = args['program']?.split(' ') ?? []
  const piped = program === undefined ? undefined : await pipedBackend('native test program', [program, ...words])
  const cpu = piped?.backend ?? nativeBackends().backends.find(({ id }) => id === 'cpu')
  const [device] = (await cpu?.devices()) ?? []
  if (!cpu || !device) throw new Error('the addon has no CPU backend')
  const samples = Number(args['samples'] ?? 2 ** 24), seed = Number(args['seed'] ?? 1)
  const wanted = args['impls']?.split(',') ?? ['scalar', 'sse2', 'avx2', 'avx512', 'neon']
  const figures: Figure[] = []
  const rows: Record<string, string | number>[] = []
  for (const impl of device.impls.filter(({ id, available }) => available.ok && wanted.includes(id))) {
    for (const rule of LIMITS) {
      const worst = await worstOf(cpu, device, impl, rule, samples, seed)
      const unit = rule.unit === 'ULP' ? 'ULP' : ''
      figures.push({ name: `${rule.op} ${impl.id}${rule.above === undefined ? '' : `, x > ${rule.above}`}: largest ${rule.unit === 'ULP' ? 'error' : 'relative error'}`, value: worst.error, unit, aim: rule.limit, better: 'less' })
      rows.push({ op: rule.op, impl: impl.id, unit: rule.unit, error: worst.error, at: worst.at, samples: worst.samples })
      say(`${rule.op} ${impl.id}: ${worst.error.toPrecision(4)} ${rule.unit} at ${worst.at} of ${worst.samples} inputs`)
    }
    for (const threads of new Set([1, device.threads.at(-1)!])) {
      const [positive, signed] = await sumErrors(cpu, device, impl, seed, threads)
      figures.push({ name: `sum of ${SUM_ELEMENTS} positive elements, ${impl.id}, ${threads} threads: relative error`, value: positive!, unit: '', aim: SUM_LIMIT, better: 'less' })
      figures.push({ name: `sum of ${SUM_ELEMENTS} elements of both signs, ${impl.id}, ${threads} threads: error by the sum of magnitudes`, value: signed!, unit: '', aim: SUM_LIMIT, better: 'less' })
      rows.push({ op: 'sum', impl: impl.id, unit: 'relative', threads, error: positive!, signed: signed!, samples: SUM_ELEMENTS })
      say(`sum ${impl.id}, ${threads} threads: ${positive!.toExponential(2)}, both signs ${signed!.toExponential(2)}`)
    }
  }
  piped?.end()
  return { figures, rows, devices: [device] }
}
export default bench
