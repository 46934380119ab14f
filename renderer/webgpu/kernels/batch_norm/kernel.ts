import { mapped } from '../../wgsl/mapped'
import { joinPrograms, rowSteps } from '../../wgsl/row-op/steps'
import type { RowOp } from '../../wgsl/row-op/types'
import { ROW_DIMS } from '../../wgsl/row-op/text'
import { FOLDS } from '../reduction/fold'
import { FoldSteps } from '../reduction/steps'
import { entry, header, step, storage, THREADS, widthFor, working } from '../../wgsl/header'
import { exchange, reduction, sumOf } from '../../wgsl/rows'
import { byParts } from './parts'
import { dimOf, type BufferName, type Kernel, type KernelShape, type Program } from '../types'

/** Elements of planes that are no whole vectors from which on a thread takes four: of up to two planes, whose numbers it reads once, or of a plane each. */
const MANY_SINGLES = 2 ** 20

/** As if all elements were vectors, whatever the planes are. Sizes are constants: divisions by them are multiplications. */
function normalisedAcross(shape: KernelShape, mean: BufferName, spread: BufferName, rstd: string): Program {
  const [batch, channels, plane] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
  const two = plane >= 4
  const places = [0, 1, 2, 3].slice(0, two ? 2 : 4)
  const of = (field: string) => (two ? `select(vec4<f32>(of_1.${field}), vec4<f32>(of_0.${field}), own)` : `vec4<f32>(${places.map((j) => `of_${j}.${field}`).join(', ')})`)
  return mapped({
    tensors: [{ name: 'x', at: { input: 0 }, type: 'own4' }, { name: 'weight', at: { input: 1 }, type: 'f32' }, { name: 'bias', at: { input: 2 }, type: 'f32' }, { name: 'mean', at: mean, type: 'f32' }, { name: 'spread', at: spread, type: 'f32' }, { name: 'out', at: 'output', type: 'own4', write: true }],
    functions: `fn of_channel(channel: u32) -> vec3<f32> {
  let rstd = ${rstd};
  return vec3<f32>(mean[channel], rstd * weight[channel], bias[channel]);
}
`,
    body: `  let value = vec4<f32>(x[i]);
  let first = 4u * i / ${plane}u;
${places.map((j) => `  let of_${j} = of_channel(${two ? `(first + ${j}u)` : `(4u * i + ${j}u) / ${plane}u`} % ${channels}u);`).join('\n')}
${two ? `  let own = vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>((first + 1u) * ${plane}u - 4u * i);\n` : ''}  out[i] = own4((value - ${of('x')}) * ${of('y')} + ${of('z')});`,
    scalars: shape.scalars,
  }, shape.dtype, Math.ceil((batch * channels * plane) / 4))
}

/** Places of batch, channels and plane of the op's dims among those of a mapped kernel. */
const PLACE = 'i / dim(2u) % dim(1u)'

function normalised(shape: KernelShape, mean: BufferName, spread: BufferName, rstd: string): Program {
  const [batch, channels, plane] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
  const wide = plane % 4 === 0
  if (!wide && batch * channels * plane >= MANY_SINGLES) return normalisedAcross(shape, mean, spread, rstd)
  const type = wide ? 'own4' : 'own'
  const working = wide ? 'vec4<f32>' : 'f32'
  return mapped({
    tensors: [{ name: 'x', at: { input: 0 }, type }, { name: 'weight', at: { input: 1 }, type: 'f32' }, { name: 'bias', at: { input: 2 }, type: 'f32' }, { name: 'mean', at: mean, type: 'f32' }, { name: 'spread', at: spread, type: 'f32' }, { name: 'out', at: 'output', type, write: true }],
    body: `  let channel = ${PLACE};
  let rstd = ${rstd};
  out[i] = ${type}((${working}(x[i]) - mean[channel]) * (rstd * weight[channel]) + bias[channel]);`,
    dims: [channels, plane / (wide ? 4 : 1)],
    scalars: shape.scalars,
  }, shape.dtype, (batch * channels * plane) / (wide ? 4 : 1))
}

/** Sums over each plane into scratch 0, then over the batch into one value for each channel. */
function perChannel(shape: KernelShape, sum: string, before: string, tensors: RowOp['tensors'], target: BufferName, finish: (total: string, count: string) => string): Program {
  const [batch, channels, plane] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
  const planes = rowSteps({ tensors: [{ name: 'x', from: { input: 0 }, by: 'row' }, ...tensors], before, passes: [{ sums: { part: sum } }], result: { once: 'part', to: { scratch: 0 }, type: 'f32' }, dims: [channels] }, shape, batch * channels, plane, 1)
  const scratchBytes = [4 * batch * channels, ...planes.scratchBytes]
  const folded = new FoldSteps(shape, { ...FOLDS['sum']!, finish }, 'f32', batch * plane, target, scratchBytes.length)
  folded.columns({ from: { scratch: 0 }, type: 'f32' }, 1, batch, channels, true)
  // The epsilon of the last step is a scalar beside the count.
  const steps = folded.steps.map((one) => ({ ...one, scalars: [...(one.scalars ?? []), ...shape.scalars] }))
  return { scratchBytes: [...scratchBytes, ...folded.scratchBytes], steps: [...planes.steps, ...steps] }
}

/** Elements, or vectors of four, of a channel that a thread keeps in registers. */
const MAX_KEPT = { 1: 40, 4: 16 }
/** The same of larger workgroups, for channels that are enough to fill a device. */
const LARGE = { lanes: 512, kept: { 1: 56, 4: 14 }, channels: 264 }
/** Elements of all planes shorter than a sector of memory that are read by channel: caches hold them. */
const SHORT_PLANE = 8
const CACHED_ELEMENTS = 2 ** 20

/** Training of channels that fit the registers of a workgroup: statistics and output in one dispatch, where seven would follow each other. */
function byChannel(shape: KernelShape): Program | undefined {
  const [batch, channels, plane] = [dimOf(shape, 0), dimOf(shape, 1), dimOf(shape, 2)]
  const width = widthFor(plane)
  const row = plane / width
  const isLarge = batch * row > MAX_KEPT[width] * THREADS && channels >= LARGE.channels && (shape.threads ?? THREADS) >= LARGE.lanes
  const lanes = isLarge ? LARGE.lanes : THREADS
  const kept = Math.ceil((batch * row) / lanes)
  if (kept > (isLarge ? LARGE.kept : MAX_KEPT)[width] || (plane < SHORT_PLANE && batch * plane * channels > CACHED_ELEMENTS)) return undefined
  const [type, vector] = [storage(shape.dtype, width), working(width)]
  const each = (text: (k: number) => string) => Array.from({ length: kept }, (_, k) => text(k)).join('\n')
  const at = (k: number) => (batch === 1 ? `channel * ${row}u + e_${k}` : `(e_${k} / ${row}u * channels + channel) * ${row}u + e_${k} % ${row}u`)
  const bindings = [{ name: 'x', type }, { name: 'weight', type: 'f32' }, { name: 'bias', type: 'f32' }, { name: 'out', type, write: true }, { name: 'mean_out', type: 'f32', write: true }, { name: 'rstd_out', type: 'f32', write: true }]
  const wgsl = `${header(bindings, shape.dtype === 'f16', shape.subgroups !== undefined)}${exchange(lanes)}${reduction('sum', lanes, (a, b) => `${a} + ${b}`, shape.subgroups)}
${entry(`  let channels = dim(1u);
  let n = dim(0u) * ${row}u;
  let count = f32(${width}u * n);
  let channel = min(group, channels - 1u);
  let live = group < channels;
  let factor = weight[channel];
  let shift = bias[channel];
${each((k) => `  let e_${k} = lane + ${k * lanes}u; let has_${k} = live && e_${k} < n;
  var x_${k} = ${vector}(0.0); if (has_${k}) { x_${k} = ${vector}(x[${at(k)}]); }`)}
  var sum = ${vector}(0.0);
${each((k) => `  sum += x_${k};`)}
  let mean = reduce_sum(${sumOf('sum', width)}, lane) / count;
  // Around the mean, so that the variance cannot cancel.
  var squares = ${vector}(0.0);
${each((k) => `  if (has_${k}) { squares += (x_${k} - mean) * (x_${k} - mean); }`)}
  let rstd = inverseSqrt(reduce_sum(${sumOf('squares', width)}, lane) / count + scalar(0u));
${each((k) => `  if (has_${k}) { out[${at(k)}] = ${type}((x_${k} - mean) * (rstd * factor) + shift); }`)}
  if (live && lane == 0u) { mean_out[channel] = mean; rstd_out[channel] = rstd; }`, lanes)}`
  const buffers: BufferName[] = [{ input: 0 }, { input: 1 }, { input: 2 }, 'output', { output: 1 }, { output: 2 }]
  return { scratchBytes: [], steps: [step(wgsl, buffers, [batch, channels, plane], channels, shape.scalars)] }
}

const kernel: Kernel = {
  dtypes: ['f32', 'f16'],
  build: (shape) => {
    if (dimOf(shape, 3) === 0) return normalised(shape, { input: 3 }, { input: 4 }, 'inverseSqrt(spread[channel] + scalar(0u))')
    const whole = byChannel(shape) ?? byParts(shape)
    if (whole) return whole
    const [mean, rstd] = [{ output: 1 }, { output: 2 }]
    return joinPrograms([
      perChannel(shape, 'x', '', [], mean, (total, count) => `${total} / ${count}`),
      // Around the mean, so that the variance cannot cancel.
      perChannel(shape, '(x - centre) * (x - centre)', `  let centre = mean_of[row % dim(${ROW_DIMS}u)];`, [{ name: 'mean_of', from: mean, by: 'raw', type: 'f32' }], rstd, (total, count) => `inverseSqrt(${total} / ${count} + scalar(1u))`),
      normalised(shape, mean, rstd, 'spread[channel]'),
    ])
  },
}
export default kernel
