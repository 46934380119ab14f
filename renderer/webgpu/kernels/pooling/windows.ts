/** Elements of the longest of `outputs` adaptive windows along an axis of `size`: windows begin at whole elements and end behind the last that they touch. */
export function longestWindow(size: number, outputs: number): number {
  const rest = size % outputs
  if (rest === 0) return size / outputs
  return Math.floor(size / outputs) + (rest > commonDivisor(rest, outputs) ? 2 : 1)
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b))

/** The first product that a u32 does not hold. */
const TOO_LARGE = 2 ** 32

/**
 * WGSL `first_<axis>(o)` and `end_<axis>(o)`, where output `o`'s adaptive window begins and ends: floor(o size / outputs) and ceil((o + 1) size / outputs).
 * Sizes are constants, so that divisions are multiplications. Where the product does not fit a u32, it is divided bit by bit.
 */
export function adaptiveWindows(axis: string, size: number, outputs: number): string {
  if ((outputs + 1) * size + outputs < TOO_LARGE)
    return `fn first_${axis}(o: u32) -> u32 { return o * ${size}u / ${outputs}u; }
fn end_${axis}(o: u32) -> u32 { return ((o + 1u) * ${size}u + ${outputs - 1}u) / ${outputs}u; }
`
  return `fn scaled_${axis}(o: u32) -> vec2<u32> {
  var whole = 0u;
  var rest = 0u;
  for (var bit = 32u; bit > 0u; bit--) {
    rest = 2u * rest + select(0u, ${size % outputs}u, ((o >> (bit - 1u)) & 1u) == 1u);
    let fits = rest / ${outputs}u;
    whole = 2u * whole + fits;
    rest -= fits * ${outputs}u;
  }
  return vec2<u32>(o * ${Math.floor(size / outputs)}u + whole, rest);
}
fn first_${axis}(o: u32) -> u32 { return scaled_${axis}(o).x; }
fn end_${axis}(o: u32) -> u32 { let at = scaled_${axis}(o + 1u); return at.x + select(0u, 1u, at.y > 0u); }
`
}

/** WGSL that finds output `i` of planes of `outHeight` x `outWidth` adaptive windows: its `plane`, and where its window lies, `top` to `bottom` and `left` to `right`. */
export const adaptiveWindowOf = (outHeight: number, outWidth: number): string => `  let o_column = i % ${outWidth}u;
  let o_row = i / ${outWidth}u % ${outHeight}u;
  let plane = i / ${outWidth * outHeight}u;
  let top = first_h(o_row);
  let bottom = end_h(o_row);
  let left = first_w(o_column);
  let right = end_w(o_column);
`
