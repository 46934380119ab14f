const AXES = ['d', 'h', 'w'] as const

/** WGSL of the outputs of all images beside each other, some of which a thread has: what it reads of x where it lies. */
export interface Columns {
  /** Declares where each column begins in x, `column_<c>` of `batch * outputs`; `product` is the group of channels. */
  origins: string
  /** Declares of tap `t` what the columns meet with it. */
  tap: string
  /** The element that a column meets with the tap in a channel whose plane begins at `in_plane`; 0 in the padding. */
  met(c: number, inPlane: string): string
}

/** `count` columns of a thread, `apart` from each other; `paddings` are those of depth, height and width: without any, every element lies in x. */
export function columnsText(count: number, apart: number, paddings: readonly number[]): Columns {
  const columns = Array.from({ length: count }, (_, c) => c)
  const padded = AXES.filter((_, i) => paddings[i]! > 0)
  return {
    origins: columns.map((c) => `  let column_${c} = min(first_column + ${c * apart}u, batch * outputs - 1u);
  let d_${c} = column_${c} % outputs / (h_output * w_output) * stride - d_padding;
  let h_${c} = column_${c} / w_output % h_output * stride - h_padding;
  let w_${c} = column_${c} % w_output * stride - w_padding;
  let origin_${c} = (column_${c} / outputs * channels + product * per_group) * plane + (d_${c} * h_input + h_${c}) * w_input + w_${c};`).join('\n'),
    tap: `    let d = t / (h_kernel * w_kernel) * dilation;
    let h = t / w_kernel % h_kernel * dilation;
    let w = t % w_kernel * dilation;
    let met_first = (d * h_input + h) * w_input + w;
${columns.map((c) => `    let at_${c} = origin_${c} + met_first;${padded.length === 0 ? '' : ` let in_${c} = ${padded.map((axis) => `${axis}_${c} + ${axis} < ${axis}_input`).join(' && ')};`}`).join('\n')}`,
    met: (c, inPlane) => (padded.length === 0 ? `f32(x[at_${c} + ${inPlane}])` : `select(0.0, f32(x[select(0u, at_${c} + ${inPlane}, in_${c})]), in_${c})`),
  }
}
