import type { Dtype } from '../case'
import { ceilingKind } from './ceilings/kinds'

/** Published peaks of one product. Dense rates (no sparsity) with accumulation in f32, at boost clock. */
export interface Datasheet {
  /** The product as its maker names it. */
  title: string
  bytesPerSecond: number
  /** FLOP/s by dtype: f32 of the plain units, the others of tensor cores. Absent where the device has none. */
  flops: Partial<Record<Dtype, number>>
}

interface Entry extends Datasheet {
  /** Matches the device's name as driver and browser give it, without the maker. */
  match: RegExp
}

/** GB/s and TFLOP/s as the documents print them. */
const entry = (title: string, match: RegExp, gigabytesPerSecond: number, teraflops: Partial<Record<Dtype, number>>): Entry => ({
  title,
  match,
  bytesPerSecond: gigabytesPerSecond * 1e9,
  flops: Object.fromEntries(Object.entries(teraflops).map(([dtype, value]) => [dtype, value * 1e12])),
})
/** Tensor cores have one rate for both 16-bit types. */
const tensor = (f32: number, tf32: number, half: number) => ({ f32, tf32, f16: half, bf16: half })

const ENTRIES: readonly Entry[] = [
  // NVIDIA Blackwell Architecture technical brief (2024), HGX B200: what documents print for f32 and tf32 differs (75 or 80, 1100 or 1125), so neither is here.
  entry('B200', /^B200\b/, 8000, { f16: 2250, bf16: 2250 }),
  // NVIDIA H200 Tensor Core GPU datasheet (2024), sparse figures halved; SXM f32 and tensor rates as of H100.
  entry('H200 NVL', /^H200 NVL\b/, 4800, tensor(60, 417.5, 835.5)),
  entry('H200 SXM', /^H200\b/, 4800, tensor(66.9, 494.7, 989.4)),
  // NVIDIA H100 Tensor Core GPU Architecture whitepaper (v1.04), table "H100 Tensor Core GPU performance"; NVL: H100 datasheet (2024).
  entry('H100 NVL', /^H100 NVL\b/, 3938, tensor(60, 417.5, 835.5)),
  entry('H100 PCIe', /^H100 PCIe\b/i, 2039, tensor(51.2, 378, 756)),
  entry('H100 SXM', /^H100( SXM5?| 80GB HBM3)\b/, 3352, tensor(66.9, 494.7, 989.4)),
  // NVIDIA A100 Tensor Core GPU datasheet (2021).
  entry('A100 80GB SXM', /^A100[- ]SXM4?[- ]80GB\b/, 2039, tensor(19.5, 156, 312)),
  entry('A100 80GB PCIe', /^A100 (80GB PCIe|PCIe 80GB)\b/i, 1935, tensor(19.5, 156, 312)),
  entry('A100 40GB', /^A100[- ](SXM4?|PCIe)[- ]40GB\b/i, 1555, tensor(19.5, 156, 312)),
  // NVIDIA V100 Tensor Core GPU datasheet (2020).
  entry('V100S PCIe', /^V100S[- ]PCIe\b/i, 1134, { f32: 16.4, f16: 130 }),
  entry('V100 SXM2', /^V100[- ]SXM2\b/, 900, { f32: 15.7, f16: 125 }),
  entry('V100 PCIe', /^V100[- ]PCIe\b/i, 900, { f32: 14, f16: 112 }),
  // NVIDIA Turing GPU Architecture whitepaper (2018), table "Tesla T4".
  entry('T4', /^T4\b/, 320, { f32: 8.1, f16: 65 }),
  // NVIDIA A30 datasheet (2021), A10 datasheet (2021), A40 datasheet (2021).
  entry('A30', /^A30\b/, 933, tensor(10.3, 82, 165)),
  entry('A10', /^A10\b/, 600, tensor(31.2, 62.5, 125)),
  entry('A40', /^A40\b/, 696, tensor(37.4, 74.8, 149.7)),
  // NVIDIA L4 datasheet (2023), sparse figures halved; NVIDIA L40S datasheet (2023); NVIDIA L40 datasheet (2022).
  entry('L4', /^L4\b/, 300, tensor(30.3, 60, 121)),
  entry('L40S', /^L40S\b/, 864, tensor(91.6, 183, 362.05)),
  entry('L40', /^L40\b/, 864, tensor(90.5, 90.5, 181.05)),
  // NVIDIA Ada GPU Architecture whitepaper, professional edition (2023), table "RTX 6000 Ada Generation".
  entry('RTX 6000 Ada', /^RTX 6000 Ada\b/, 960, tensor(91.1, 182.1, 364.2)),
  // NVIDIA Ampere GA102 GPU Architecture whitepaper (v2.1): RTX A6000, GeForce RTX 3090; rates with f32 accumulation.
  entry('RTX A6000', /^RTX A6000\b/, 768, tensor(38.7, 77.4, 154.8)),
  entry('GeForce RTX 3090', /^RTX 3090$/, 936, tensor(35.6, 35.6, 71)),
  // NVIDIA Ada GPU Architecture whitepaper (v2.1): rates with f32 accumulation.
  entry('GeForce RTX 4090', /^RTX 4090$/, 1008, tensor(82.6, 82.6, 165.2)),
  entry('GeForce RTX 4080', /^RTX 4080$/, 716.8, tensor(48.7, 48.7, 97.5)),
  // NVIDIA RTX Blackwell GPU Architecture whitepaper (2025): rates with f32 accumulation.
  entry('GeForce RTX 5090', /^RTX 5090$/, 1792, tensor(104.8, 104.8, 209.5)),
]

/** Parts of a card, and chips of the same name at other clocks, are not what the datasheet is about. */
const NOT_THE_WHOLE = /\bMIG\b|\blaptop\b|\bmobile\b|max-q|\bvGPU\b/i

/** The name as the table has it: no maker, no product line, no API in parentheses. */
const bare = (name: string) =>
  name
    .replace(/\(.*?\)/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^NVIDIA /i, '')
    .replace(/^(Tesla|GeForce) /i, '')

/** The published figures of a device, by its name; undefined where they are not known for sure. */
export function datasheetOf(deviceName: string): Datasheet | undefined {
  if (NOT_THE_WHOLE.test(deviceName)) return undefined
  const found = ENTRIES.find(({ match }) => match.test(bare(deviceName)))
  return found && { title: found.title, bytesPerSecond: found.bytesPerSecond, flops: found.flops }
}

/** The published figure for a kind of ceiling, in its unit: memory bandwidth for `copy`, the peak for `flops:*`; undefined for all others. */
export function datasheetValue(deviceName: string, kind: string): number | undefined {
  const read = ceilingKind(kind)
  if (read.is === 'copy') return datasheetOf(deviceName)?.bytesPerSecond
  return read.is === 'flops' ? datasheetOf(deviceName)?.flops[read.dtype as Dtype] : undefined
}
