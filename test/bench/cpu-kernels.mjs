// What each CPU kernel reaches: times against scalar, bytes per second against copy, matmul against peak_fma.
//   node test/bench/cpu-kernels.mjs [--out FILE.json] [--ops a,b] [--rounds N]
// Kernels alternate over the rounds and the fastest sample of each counts: what else the machine does only ever adds
// time, and the kernel's own speed is wanted here, not the spread that a session shows. The load is kept with the result.
import { createRequire } from 'node:module'
import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

const { values: options } = parseArgs({ options: { out: { type: 'string' }, ops: { type: 'string' }, rounds: { type: 'string', default: '7' } } })
const addonPath = process.env.OPSCOPE_ADDON ?? resolve(import.meta.dirname, '../../native/build/opscope.node')
const addon = createRequire(import.meta.url)(resolve(addonPath))

const UNIT = Math.fround(1 / Math.sqrt((65536 * 65536 - 1) / 3))
const MEGA = 1 << 20
const vector = (n, inputs = 1) => ({ dims: [n], inputs: Array(inputs).fill(n), output: n, bytes: 4 * n * (inputs + 1) })
const rows = (r, c) => ({ dims: [r, c], inputs: [r * c], output: r * c, bytes: 8 * r * c })

/** Sizes within the second-level cache and beyond the last. */
const cases = [
  { op: 'copy', label: '16M', ...vector(16 * MEGA) },
  { op: 'copy', label: '64K', ...vector(65536) },
  { op: 'add', label: '16M', ...vector(16 * MEGA, 2) },
  { op: 'add', label: '64K', ...vector(65536, 2) },
  { op: 'mul', label: '16M', ...vector(16 * MEGA, 2) },
  { op: 'exp', label: '16M', ...vector(16 * MEGA) },
  { op: 'exp', label: '64K', ...vector(65536) },
  { op: 'gelu', label: '16M', ...vector(16 * MEGA) },
  { op: 'gelu', label: '64K', ...vector(65536) },
  { op: 'sum', label: 'all 16M', dims: [1, 16 * MEGA, 1], inputs: [16 * MEGA], output: 1, bytes: 64 * MEGA },
  { op: 'sum', label: 'last 4096x4096', dims: [4096, 4096, 1], inputs: [16 * MEGA], output: 4096, bytes: 64 * MEGA },
  { op: 'sum', label: 'first 4096x4096', dims: [1, 4096, 4096], inputs: [16 * MEGA], output: 4096, bytes: 64 * MEGA },
  { op: 'softmax', label: '4096x4096', ...rows(4096, 4096) },
  { op: 'softmax', label: '64x1024', ...rows(64, 1024) },
  { op: 'layer_norm', label: '4096x4096', ...rows(4096, 4096), inputs: [16 * MEGA, 4096, 4096] },
  { op: 'layer_norm', label: '64x1024', ...rows(64, 1024), inputs: [65536, 1024, 1024] },
  ...[256, 512, 1024].map((n) => ({ op: 'matmul', label: `${n}^3`, dims: [1, n, n, n, 0, 0], inputs: [n * n, n * n], output: n * n, flops: 2 * n ** 3 })),
  { op: 'peak_fma', label: '4096 x 1000', dims: [4096, 1000], inputs: [4096], output: 4096, flops: 16 * 4096 * 1000 },
].filter((c) => !options.ops || options.ops.split(',').includes(c.op) || c.op === 'copy' || c.op === 'peak_fma')

const fastest = (list) => Math.min(...list)
const [device] = addon.devices('cpu')
const impls = device.impls.filter((impl) => impl.available.ok).map((impl) => impl.id)

function time(c, impl, threads) {
  const opened = new addon.Case({
    backend: 'cpu', op: c.op, impl, device: 0, dtype: 'f32', threads, rotated: false, dims: c.dims, scalars: [],
    tensors: [
      ...c.inputs.map((elements, i) => ({ name: `in${i}`, elements, storage: 'f32', role: 'in', fill: { kind: 0, key0: i + 1, key1: 77, factor: UNIT, low: 0, below: 0 } })),
      { name: 'out', elements: c.output, storage: 'f32', role: 'out' },
    ],
  })
  try {
    const once = opened.sample('hot', 2, 1).samplesNs[1]
    const inner = Math.max(1, Math.round(5e5 / once))
    const count = Math.max(2, Math.min(30, Math.round(6e7 / (once * inner))))
    return fastest(opened.sample('hot', count, inner).samplesNs)
  } finally {
    opened.dispose()
  }
}

const rounds = Number(options.rounds)
const found = new Map()
for (let round = 0; round < rounds; round++)
  for (const c of cases)
    for (const threads of device.threads)
      for (const impl of impls) {
        const key = `${c.op}|${c.label}|${impl}|${threads}`
        if (!found.has(key)) found.set(key, [])
        found.get(key).push(time(c, impl, threads))
      }

const ratio = (above, below) => fastest(above) / fastest(below)
const results = cases.flatMap((c) =>
  device.threads.flatMap((threads) =>
    impls.map((impl) => {
      const of = (op, label, which = impl) => found.get(`${op}|${label}|${which}|${threads}`)
      const ns = of(c.op, c.label)
      const copy = cases.find((other) => other.op === 'copy' && (c.label === '64K' || c.label === '64x1024') === (other.label === '64K'))
      const peak = cases.find((other) => other.op === 'peak_fma')
      const row = { op: c.op, size: c.label, impl, threads, fastestNs: Math.round(fastest(ns)), timesScalar: ratio(of(c.op, c.label, 'scalar'), ns) }
      if (c.bytes) {
        row.gigabytesPerSecond = c.bytes / fastest(ns)
        row.shareOfCopy = ratio(of('copy', copy.label), ns) * (c.bytes / copy.bytes)
      } else {
        row.gigaflops = c.flops / fastest(ns)
        row.shareOfPeak = ratio(of('peak_fma', peak.label), ns) * (c.flops / peak.flops)
      }
      return row
    }),
  ),
)

const percent = (x) => `${(100 * x).toFixed(0)} %`
console.log(`${device.name}, threads ${device.threads.join(' and ')}, fastest of ${rounds} rounds, load ${loadavg()[0].toFixed(1)}`)
for (const r of results)
  console.log(
    [r.op.padEnd(11), r.size.padEnd(16), r.impl.padEnd(7), String(r.threads).padStart(2), `${(r.fastestNs / 1e3).toFixed(1)} us`.padStart(13), `${r.timesScalar.toFixed(2)}x scalar`.padStart(14),
      r.gigaflops ? `${r.gigaflops.toFixed(1)} GFLOP/s  ${percent(r.shareOfPeak)} of peak_fma` : `${r.gigabytesPerSecond.toFixed(1)} GB/s  ${percent(r.shareOfCopy)} of copy`].join('  '),
  )
if (options.out) writeFileSync(options.out, `${JSON.stringify({ device: device.name, facts: device.facts, rounds, loadAverage: Number(loadavg()[0].toFixed(1)), results }, null, 1)}\n`)
