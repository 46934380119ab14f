import { existsSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { shapeText, variantText } from '@core/case-words'
import { capturedShapes, readSweep, sweepFileOf, type SweepFile } from '@core/sweep/capture'
import { runScript } from '../../backends/python/capture'
import { oneLine } from '../../printable'
import { writeFileAtomic } from '../../write-file'
import type { Context } from '../context'
import { readName, UsageError } from '../options/choices'
import { table } from '../output/tables'

/** Lines of a table that are printed; the file has all. */
const MAX_LINES = 40

/** `opscope capture -- python train.py`: runs the script and writes what it called as a sweep. */
export async function capture(context: Context, command: readonly string[], options: { out?: string; name?: string; json?: boolean }): Promise<number> {
  const [first = '', ...rest] = command
  const isScript = first.endsWith('.py')
  const [python, script] = isScript ? ['python3', [...command]] : [first, rest]
  if (script.length === 0 || !/^python[\d.w]*(\.exe)?$/i.test(isScript ? 'python' : basename(first))) throw new UsageError('capture expects a Python and a script, such as: opscope capture -- python train.py')
  if (!script[0]!.startsWith('-') && !existsSync(script[0]!)) throw new UsageError(`there is no script ${script[0]!}`)
  const name = readName(options.name) ?? `Shapes of ${basename(script[0] === '-m' ? (script[1] ?? '') : script[0]!)}`
  const out = resolve(options.out ?? `${basename(script[0] === '-m' ? (script[1] ?? 'module') : script[0]!, '.py')}.sweep.json`)
  // Ctrl+C is for the script, which then ends; what it called until then is kept.
  const ignore = () => undefined
  process.on('SIGINT', ignore)
  const { capture: found, status, problem } = await runScript({ python, arguments: script, terminal: 'inherit' }).done.finally(() => process.off('SIGINT', ignore))
  if (!found) throw new Error(problem)
  const shapes = capturedShapes(found)
  const file = sweepFileOf(name, found, shapes)
  writeFileAtomic(out, [`${JSON.stringify(file, undefined, 1)}\n`])
  if (options.json) context.printJson(file)
  else print(context, file)
  if (found.dropped > 0) context.remark(`opscope: ${found.dropped} calls had more distinct shapes than are kept and are left out`)
  if (found.end?.problem !== undefined) context.remark(`opscope: the script ended with an error: ${oneLine(found.end.problem)}; what it called until then is kept`)
  context.remark(shapes.cases.length > 0 ? `Wrote ${out}; measure it with: opscope run --plan ${out}` : `Wrote ${out}, which has no operation of the catalogue`)
  return status === 0 ? 0 : 1
}

function print(context: Context, { captured }: SweepFile): void {
  if (!captured) return
  const { cases, outside, calls, views } = captured
  const asCase = (one: (typeof cases)[number]) => ({ ...one, backend: '', impl: '', device: '', mode: 'hot' as const })
  const some = <T>(all: readonly T[]) => all.slice(0, MAX_LINES)
  const more = (count: number) => (count > MAX_LINES ? `\nand ${count - MAX_LINES} more in the file` : '')
  const sum = (all: readonly { calls: number }[]) => all.reduce((total, one) => total + one.calls, 0)
  context.print(`${calls} calls: ${sum(cases)} calls of ${cases.length} ${cases.length === 1 ? 'case' : 'cases'} in the catalogue, ${sum(outside)} calls of ${outside.length} other operations, ${views} views`)
  if (cases.length > 0) context.print(`\n${table(some(cases), [{ title: 'operation', cell: (one) => [one.op, variantText(asCase(one))].filter(Boolean).join(' ') }, { title: 'shape', cell: (one) => shapeText(asCase(one)) }, { title: 'dtype', cell: (one) => one.dtype }, { title: 'calls', align: 'right', cell: (one) => String(one.calls) }])}${more(cases.length)}`)
  if (outside.length > 0) context.print(`\nOutside the catalogue:\n${table(some(outside), [{ title: 'operation', cell: (one) => one.op }, { title: 'calls', align: 'right', cell: (one) => String(one.calls) }, { title: 'reason', cell: (one) => one.reason ?? '' }])}${more(outside.length)}`)
}

/** The file at a path as a captured sweep; undefined where it is another kind of file. Throws where it is one that is not valid. */
export function readSweepFile(path: string): SweepFile | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
  try {
    return readSweep(text)
  } catch (error) {
    throw new Error(`cannot read the sweep ${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
