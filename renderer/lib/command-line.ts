import type { BenchmarkCase } from '@core/case'
import { findOp } from '@core/ops/registry'
import { SIZE_PARAMS } from '@core/ops/types'
import { measureOptionTexts } from '@core/sweep/measure-options'
import type { SweepSpec } from '@core/sweep/types'

const quoted = (text: string) => (/^[\w.:,=+@/%-]+$/.test(text) ? text : `'${text}'`)

/** How the cases of a sweep are measured. */
export type How = Pick<SweepSpec, 'preset' | 'measure' | 'repeats'>

/** The command that measures this case again in the same way: options of `opscope run`. */
export function commandLineOf(c: BenchmarkCase, how: How): string {
  const op = findOp(c.op)
  const kind = op?.sizeKind ?? 'vector'
  const names = op?.sizeParams ?? SIZE_PARAMS[kind]
  const size = names.map((name) => String(c.params[name] ?? 1)).join('x')
  const variants = Object.keys(op?.variants ?? {}).map((name) => `:${name}=${String(c.params[name])}`).join('')
  const options = [['ops', `${c.op}${variants}`], ['sizes', size], ['dtypes', c.dtype], ['devices', c.device], ['impls', c.impl], ['modes', c.mode]]
  if (c.threads !== undefined) options.push(['threads', String(c.threads)])
  options.push(['preset', how.preset], ...measureOptionTexts(how))
  return `npm run opscope -- run ${options.map(([name, value]) => `--${name} ${quoted(value!)}`).join(' ')}`
}
