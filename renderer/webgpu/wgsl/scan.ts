import { THREADS } from './header'

/** Threads whose numbers one of them adds up: as many as there are such groups, because workgroups are squares of powers of two. */
const sideOf = (threads: number): number => Math.sqrt(threads)

/** The workgroup memory that `sumsBefore` uses: `sums` of all threads, which each has written, and `tops`. */
export const scanMemory = (threads = THREADS): string => `var<workgroup> sums: array<u32, ${threads}>;\nvar<workgroup> tops: array<u32, ${sideOf(threads)}>;\n`
export const scanWords = (threads = THREADS): number => threads + sideOf(threads)

/** WGSL of the u32 `name`: `start`, and what the threads before this one have in `sums`. Of 256 or 1,024 threads. */
export const sumsBefore = (name: string, start: string, threads = THREADS): string => {
  const side = sideOf(threads)
  return `  workgroupBarrier();
  if (lane < ${side}u) { var top = 0u; for (var j = 0u; j < ${side}u; j++) { top += sums[lane * ${side}u + (lane + j) % ${side}u]; } tops[lane] = top; }
  workgroupBarrier();
  var ${name} = ${start};
  for (var j = 0u; j < lane / ${side}u; j++) { ${name} += tops[j]; }
  for (var j = lane - lane % ${side}u; j < lane; j++) { ${name} += sums[j]; }`
}
