import { MAX_STEP_DIMS, uniformWords, type Program, type Step } from '../kernels/types'

/** Workgroups of a call up to which its time is mostly that of waiting: for the uniform first, then for what the uniform says to read. */
const FEW_GROUPS = 1056
/** Characters of a text that takes long to compile, for each size again; what is written out for so long is not waited for. */
const LONG_TEXT = 8000
/** Workgroups that fit the first dimension of a dispatch (header.ts). */
const ONE_DIMENSION = 65535

/**
 * The program with its numbers in the text where it is short: then no thread waits for the uniform, and divisions are by constants. Such a text
 * is compiled once for each size. The numbers are results of functions, because WGSL refuses constant expressions that divide by zero, also in
 * branches that are never taken.
 */
export const withConstants = (program: Program): Program =>
  program.steps.reduce((sum, { groups }) => sum + groups, 0) > FEW_GROUPS ? program : { ...program, steps: program.steps.map(constantStep) }

function constantStep(step: Step): Step {
  if (step.wgsl.length > LONG_TEXT) return step
  const words = uniformWords(step)
  const functions = new Map<string, string>()
  const named = (name: string, index: number, type: string, value: string): string => {
    functions.set(`${name}_${index}`, `fn ${name}_${index}() -> ${type} { return ${value}; }\n`)
    return `${name}_${index}()`
  }
  const body = step.wgsl
    .replaceAll(/\bdim\((\d+)u\)/g, (all, index: string) => (Number(index) === step.seedAt ? all : named('dim', Number(index), 'u32', `${words[Number(index)]}u`)))
    .replaceAll(/\bscalar\((\d+)u\)/g, (_, index: string) => named('scalar', Number(index), 'f32', `bitcast<f32>(${words[MAX_STEP_DIMS + Number(index)]}u)`))
  const short = step.groups <= ONE_DIMENSION ? body.replace('return id.y * count.x + id.x;', 'return id.x;') : body
  const at = short.indexOf('fn group_index(')
  return { ...step, wgsl: `${short.slice(0, at)}${[...functions.values()].join('')}${short.slice(at)}` }
}
