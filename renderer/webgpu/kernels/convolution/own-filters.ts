import { entry, header, numbers, step, storage, THREADS } from '../../wgsl/header'
import type { Program } from '../types'
import type { FewTermsShape } from './few-terms'

/** Outputs of a plane up to which neighbouring filters, not neighbouring positions, are what threads write beside each other; terms whose weights stay in registers; and filters of a group, which read the same elements of x. */
const MOST_OUTPUTS = 8
const MOST_TERMS = 16
const FEWEST_FILTERS = 16
/** Workgroups that leave no multiprocessor idle, images of a thread at most, and terms of several images that are on their way together. */
const ENOUGH_GROUPS = 528
const MOST_IMAGES = 32
const TOGETHER = 32

/** Images of a thread, those that are on their way together, and workgroups: for `filters` of all groups at `outputs` positions of each of `batch` images. */
export interface OwnFiltersPlan {
  images: number
  together: number
  /** Workgroups of an image, and runs of images. */
  beside: number
  runs: number
}

/** Undefined where sums are long, or planes so large that positions lie beside each other. */
export function planOwnFilters(groups: number, filters: number, batch: number, outputs: number, terms: number): OwnFiltersPlan | undefined {
  if (outputs > MOST_OUTPUTS || terms > MOST_TERMS || filters < FEWEST_FILTERS) return undefined
  const beside = Math.ceil((groups * filters * outputs) / THREADS)
  // More images of a thread read the weights less often.
  const wanted = Math.min(batch, Math.max(1, Math.ceil(ENOUGH_GROUPS / beside)))
  const images = Math.min(MOST_IMAGES, Math.ceil(batch / wanted))
  return { images, together: Math.max(1, Math.min(images, Math.floor(TOGETHER / terms))), beside, runs: Math.ceil(batch / images) }
}

/**
 * A convolution of short sums and tiny planes: a thread has the weights of a filter in registers, for one position of some images, and neighbours
 * write neighbouring outputs. `extents` is WGSL of the op's dims as constants.
 */
export function ownFilters(dtype: 'f32' | 'f16', { images, together, beside, runs }: OwnFiltersPlan, extents: string, { terms, batch, taps }: Pick<FewTermsShape, 'terms'> & { batch: number; taps: number }): Program {
  const type = storage(dtype, 1)
  const [own, several] = [numbers(terms), numbers(together)]
  const axes = ['d', 'h', 'w'] as const
  // Where the taps meet a plane is the same for all images.
  const tap = (t: number) => `  let d_${t} = o / (h_output * w_output) * stride + ${t}u / (h_kernel * w_kernel) * dilation - d_padding; let h_${t} = o / w_output % h_output * stride + ${t}u / w_kernel % h_kernel * dilation - h_padding; let w_${t} = o % w_output * stride + ${t}u % w_kernel * dilation - w_padding;
  let in_${t} = ${axes.map((axis) => `(${axis}_${t} < ${axis}_input)`).join(' & ')}; let at_${t} = base_x + select(0u, (d_${t} * h_input + h_${t}) * w_input + w_${t}, in_${t});`
  const wgsl = `${header([{ name: 'x', type }, { name: 'weight', type }, { name: 'out', type, write: true }], dtype === 'f16')}
${extents}const of_group = filters / groups;
${entry(`  let i = group % ${beside}u * ${THREADS}u + lane;
  if (i >= filters * outputs) { return; }
  let filter_at = i / outputs;
  let o = i % outputs;
  let base_x = filter_at / of_group * per_group * plane;
  let base_w = filter_at * ${terms}u;
${own.map((t) => `  let weight_${t} = f32(weight[base_w + ${t}u]);`).join('\n')}
${numbers(taps).map(tap).join('\n')}
  let first = group / ${beside}u * ${images}u;
  let end = min(first + ${images}u, ${batch}u);
  for (var image = first; image < end; image += ${together}u) {
${several.map((u) => `    let image_${u} = ${u === 0 ? 'image' : `min(image + ${u}u, end - 1u)`}; let base_${u} = image_${u} * (channels * plane); ${own.map((t) => `let x_${u}_${t} = select(0.0, f32(x[base_${u} + ${Math.floor(t / taps)}u * plane + at_${t % taps}]), in_${t % taps});`).join(' ')}`).join('\n')}
${several.map((u) => `    { var sum = weight_0 * x_${u}_0; ${own.slice(1).map((t) => `sum = fma(weight_${t}, x_${u}_${t}, sum);`).join(' ')} ${u === 0 ? '' : `if (image + ${u}u < end) `}{ out[image_${u} * (filters * outputs) + i] = ${type}(sum); } }`).join('\n')}
  }`)}`
  return { scratchBytes: [], steps: [step(wgsl, [{ input: 0 }, { input: 1 }, 'output'], [], beside * runs)] }
}
