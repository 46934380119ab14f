import type { Device, Interpreter } from '@core/backend'
import { FORMATS, formatInfo } from '@core/formats/registry'
import { presetSettings } from '@core/measure/settings'
import { OPS } from '@core/ops/registry'
import { suitePlan, SUITES } from '@core/suites'
import { SIZE_FORMS } from '@core/ops/forms'
import { SIZE_PRESETS } from '@core/sweep/defaults'
import { estimateSeconds } from '@core/sweep/estimate'
import { planSweep } from '@core/sweep/plan'
import { picksText } from '@core/sweep/summary'
import { aboutDuration } from '@core/units'
import { pickOne } from '../options/choices'
import type { Context } from '../context'
import { table, deviceTable, kernelColumns, opTable } from '../output/tables'

export const LISTS = ['ops', 'sizes', 'suites', 'sweeps', 'backends', 'devices', 'formats'] as const

interface ListOptions {
  json?: boolean
  backends?: string
}

/** `opscope list ops|sizes|suites|sweeps|backends|devices|formats`. */
export async function list(context: Context, what: string, options: ListOptions): Promise<number> {
  switch (pickOne('list', what, LISTS)) {
    case 'ops':
      return listOps(context, options)
    case 'sizes':
      if (options.json) context.printJson(SIZE_PRESETS)
      else
        context.print(sizeTables())
      return 0
    case 'suites':
      return listSuites(context, options)
    case 'sweeps':
      listSweeps(context, options)
      return 0
    case 'backends':
      return listBackends(context, options)
    case 'devices':
      return listDevices(context, options)
    case 'formats':
      listFormats(context, options)
      return 0
  }
}

/** The presets, and below them what each one is for every form of sizes. */
export function sizeTables(): string {
  const sizes = SIZE_FORMS.flatMap((form) => SIZE_PRESETS.map((preset, i) => ({ form: i === 0 ? form.id : '', preset: preset.id, text: preset.sizes[form.id] ?? '' })))
  const presets = table(SIZE_PRESETS, [{ title: 'preset', cell: (p) => p.id }, { title: 'what', cell: (p) => p.summary }])
  return `${presets}\n\n${table(sizes, [{ title: 'form', cell: (s) => s.form }, { title: 'preset', cell: (s) => s.preset }, { title: 'sizes', cell: (s) => s.text }])}`
}

/** Every operation, and for which dtypes each implementation here has it. */
async function listOps(context: Context, options: ListOptions): Promise<number> {
  const devices = await findDevices(context, options)
  const columns = kernelColumns(devices)
  if (options.json) {
    context.printJson(OPS.map(({ id, family, summary, torch, size, dtypes, attributes }) => ({ id, family, summary, torch, sizes: size.id, extents: size.extents.map(({ name }) => name), dtypes, attributes, kernels: Object.fromEntries(columns.map(({ title, kernels }) => [title, kernels.get(id) ?? []])) })))
    return 0
  }
  context.print(opTable(OPS, columns))
  for (const backend of new Set(devices.map((device) => device.backend))) {
    const own = devices.filter((device) => device.backend === backend)
    const reason = own.map(({ available }) => (available.ok ? '' : available.reason)).find((text) => text !== '')
    if (reason !== undefined && !own.some(({ available }) => available.ok)) context.remark(`opscope: ${backend}: ${reason}`)
  }
  return 0
}

/** What each suite comes to on this machine, in full and in its quick form, and what it lacks here. */
async function listSuites(context: Context, options: ListOptions): Promise<number> {
  const devices = await findDevices(context, options)
  const suites = SUITES.map((suite) => {
    const extent = (quick: boolean) => {
      const { spec, missing } = suitePlan(suite, devices, quick)
      const { cases } = planSweep(spec, devices)
      return { cases: cases.length, seconds: estimateSeconds(cases, presetSettings(spec.preset, context.settings.presets), context.history.ceilings(), devices), missing }
    }
    return { id: suite.id, title: suite.title, about: suite.about, full: extent(false), quick: extent(true) }
  })
  if (options.json) context.printJson(suites)
  else {
    const about = ({ cases, seconds }: { cases: number; seconds: number }) => `${cases} cases, ${aboutDuration(seconds)}`
    context.print(table(suites, [{ title: 'suite', cell: (s) => s.id }, { title: 'full', cell: (s) => about(s.full) }, { title: 'quick', cell: (s) => about(s.quick) }, { title: 'what', cell: (s) => s.about }]))
    const lacking = new Map<string, string[]>()
    for (const { id, full } of suites) for (const reason of full.missing) lacking.set(reason, [...(lacking.get(reason) ?? []), id])
    for (const [reason, ids] of lacking) context.print(`Missing here for ${ids.length === suites.length ? 'every suite' : ids.join(', ')}: ${reason}`)
  }
  return 0
}

/** The sweeps that the user has saved in the app, with what they pick. */
function listSweeps(context: Context, options: ListOptions): void {
  const saved = context.settings.savedSweeps ?? []
  if (options.json) context.printJson(saved)
  else if (saved.length === 0) context.print('No saved sweep. Save one in the Run view of the app.')
  else context.print(table(saved, [{ title: 'sweep', cell: ({ name }) => name }, { title: 'what', cell: ({ spec }) => picksText(spec) }]))
}

function listFormats(context: Context, options: ListOptions): void {
  const formats = FORMATS.map(formatInfo)
  if (options.json) context.printJson(formats)
  else
    context.print(
      table(formats, [
        { title: 'format', cell: (f) => f.id },
        { title: 'import', cell: (f) => (f.importable ? 'yes' : '') },
        { title: 'export', cell: (f) => (f.exportable ? 'yes' : '') },
        { title: 'file', cell: (f) => `.${f.extension}` },
        { title: 'what', cell: (f) => f.description },
      ]),
    )
}

async function findDevices(context: Context, { backends }: ListOptions) {
  const wanted = backends?.split(',').map((id) => pickOne('backend', id.trim(), context.backends()))
  const devices = await context.runner(wanted, new Set([undefined, ...context.remotes.store.list().map(({ name }) => name)])).devices(false)
  return wanted ? devices.filter((device) => wanted.includes(device.backend)) : devices
}

async function listBackends(context: Context, options: ListOptions): Promise<number> {
  const devices = await findDevices(context, options)
  const backends = [...new Set(devices.map((device) => device.backend))].map((id) => {
    const own = devices.filter((device) => device.backend === id)
    const ready = own.filter((device) => device.available.ok)
    const reason = own.map((device) => (device.available.ok ? '' : device.available.reason)).find((text) => text !== '')
    const pythons = pythonsOf(own)
    return { id, ok: ready.length > 0, devices: ready.map((device) => device.name), ...(ready.length === 0 && reason ? { reason } : {}), ...(pythons.length > 0 ? { pythons } : {}) }
  })
  if (options.json) {
    context.printJson(backends)
    return 0
  }
  context.print(
    table(backends, [
      { title: 'backend', cell: (b) => b.id },
      { title: 'usable', cell: (b) => (b.ok ? 'yes' : 'no') },
      { title: 'devices', cell: (b) => b.devices.join(', ') },
      { title: 'why not', cell: (b) => b.reason ?? '' },
    ]),
  )
  for (const python of backends.flatMap(({ pythons = [] }) => pythons)) context.print(pythonText(python))
  return 0
}

async function listDevices(context: Context, options: ListOptions): Promise<number> {
  const devices = await findDevices(context, options)
  if (options.json) context.printJson(devices)
  else context.print(deviceTable(devices))
  return 0
}

/** A Python that was found, and whether it is measured with. */
export interface ListedPython extends Interpreter {
  used: boolean
  /** Why it is not. */
  reason?: string
}

/** The Pythons of devices, each once, in the order listed. */
function pythonsOf(devices: readonly Device[]): ListedPython[] {
  const byPath = new Map<string, ListedPython>()
  for (const { interpreter, available } of devices) {
    if (!interpreter || byPath.get(interpreter.path)?.used) continue
    const known = byPath.get(interpreter.path)
    if (available.ok) byPath.set(interpreter.path, { ...interpreter, used: true })
    else if (!known) byPath.set(interpreter.path, { ...interpreter, used: false, reason: available.reason })
  }
  return [...byPath.values()]
}

/** Lines that say what a Python is, what it has, and the commands that install what it lacks. */
function pythonText({ path, source, version, packages, used, reason }: ListedPython): string {
  const width = Math.max(0, ...packages.map(({ name }) => name.length))
  const lines = packages.map(({ name, version: of, detail, problem, install }) => {
    const has = of === undefined ? (problem ?? 'not installed') : `${of}${detail ? ` (${detail})` : ''}${problem ? `: ${problem}` : ''}`
    return `  ${name.padEnd(width)}  ${has}${install ? `; install it with: ${install}` : ''}`
  })
  return ['', `Python ${version ?? 'of unknown version'}, ${path} (${source}): ${used ? 'used' : (reason ?? 'not used')}`, ...lines].join('\n')
}
