import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const layers = ['core', 'main', 'preload', 'renderer', 'native'] as const

interface Source {
  path: string
  text: string
}

function below(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith('native/build/'))
}

const sources: Source[] = layers.flatMap(below).filter((path) => /\.(ts|vue|cpp|cc|h|hpp|cu|cuh|inc|wgsl|css|html)$/.test(path)).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
const scripts = sources.filter(({ path }) => /\.(ts|vue)$/.test(path))
const shipped = scripts.filter(({ path }) => !path.endsWith('.test.ts'))

/** Where an import leads: a path in the repository (`core/units`), or a package (`zod`, `node:fs`). */
function importsOf({ path, text }: Source): string[] {
  const forms = /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]|\b(?:import|require)\(\s*['"]([^'"]+)['"]/gm
  const specifiers = [...text.matchAll(forms)].map((match) => (match[1] ?? match[2] ?? match[3])!)
  return specifiers.map((specifier) => {
    if (specifier.startsWith('@core/')) return `core/${specifier.slice('@core/'.length)}`
    if (specifier.startsWith('.')) return relative(root, resolve(root, dirname(path), specifier))
    return specifier
  })
}

const inRepository = (target: string) => layers.some((layer) => target === layer || target.startsWith(`${layer}/`))

function offenders(files: readonly Source[], allowed: (target: string, from: string) => boolean): string[] {
  return files.flatMap((file) => importsOf(file).filter((target) => !allowed(target, file.path)).map((target) => `${file.path} imports ${target}`))
}

const layer = (name: (typeof layers)[number]) => shipped.filter(({ path }) => path.startsWith(`${name}/`))

/** Packages that core may import: each runs in Node and in a page, without a process, a file or a document. */
const CORE_PACKAGES = new Set(['zod', '@noble/hashes/sha2.js', 'papaparse', 'jsonc-parser', 'echarts/core', 'echarts/charts', 'echarts/components', 'echarts/renderers'])

describe('import layers', () => {
  it('finds imports in every form', () => {
    const text = `import a from '@core/units'\nimport { type B,\n c } from "../x"\nexport * from './y'\nimport './style.css'\nconst d = await import('node:fs')`
    expect(importsOf({ path: 'main/app/file.ts', text })).toEqual(['core/units', 'main/x', 'main/app/y', 'main/app/style.css', 'node:fs'])
  })

  it('core imports only core and the packages listed above', () => {
    expect(offenders(layer('core'), (target) => target.startsWith('core/') || CORE_PACKAGES.has(target))).toEqual([])
  })

  it('the page imports core, itself and packages, never main, preload, Node or Electron', () => {
    const allowed = (target: string) => (inRepository(target) ? /^(core|renderer)\//.test(target) : !/^(node:|electron$|fs$|path$|child_process$)/.test(target))
    expect(offenders(layer('renderer'), allowed)).toEqual([])
  })

  it('the preload imports its contracts and Electron, nothing else', () => {
    expect(offenders(layer('preload'), (target) => target === 'electron' || /^core\/(ipc(\/names)?|measure\/protocol)$/.test(target) || target.startsWith('preload/'))).toEqual([])
  })

  it('main never imports the page or the preload', () => {
    expect(offenders(layer('main'), (target) => !/^(renderer|preload)\//.test(target))).toEqual([])
  })

  it('native code is loaded in one place, and that is not Electron main', () => {
    const loaders = shipped.filter(({ text }) => /process\.dlopen|require\([^)]*\.node['"`]|opscope\.node/.test(text)).map(({ path }) => path)
    for (const path of loaders) expect(path).toMatch(/^main\/(backends\/native|measurement|paths)/)
    const direct = shipped.filter(({ text }) => /process\.dlopen/.test(text) || (/createRequire/.test(text) && /addon|\.node\b/.test(text))).map(({ path }) => path)
    expect(direct).toEqual(['main/backends/native/addon.ts'])
  })

  it('only the Electron shell and the WebGPU host import Electron', () => {
    const importers = layer('main').filter((file) => importsOf(file).includes('electron')).map(({ path }) => path)
    expect(importers.filter((path) => !/^main\/(index\.ts$|app\/|windows\/|menu\/|ipc\/|maintenance\/|measurement\/|backends\/webgpu\/|environment)/.test(path))).toEqual([])
  })
})

/** Each list of files that import one another in a ring, directly or through others; `import type` counts as well. */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  // Strongly connected components (Tarjan 1972).
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []
  const visit = (node: string): void => {
    low.set(node, index.size)
    index.set(node, index.size)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next)
      if (stack.includes(next)) low.set(node, Math.min(low.get(node)!, low.get(next)!))
    }
    if (low.get(node) !== index.get(node)) return
    const ring = stack.splice(stack.indexOf(node))
    if (ring.length > 1 || graph.get(node)?.includes(node)) found.push(ring.sort())
  }
  for (const node of graph.keys()) if (!index.has(node)) visit(node)
  return found
}

/** The files that each of these imports among them: `core/units` is core/units.ts, `core/compare` is core/compare/index.ts. */
function graphOf(files: readonly Source[]): Map<string, string[]> {
  const known = new Set(files.map(({ path }) => path))
  return new Map(files.map((file) => [file.path, importsOf(file).flatMap((target) => [target, `${target}.ts`, `${target}/index.ts`].find((path) => known.has(path)) ?? [])]))
}

/**
 * The rooms of core, each a folder or a file: a room imports those before it and none after it. docs/architecture.md says what
 * belongs in each.
 */
const ROOMS = ['units', 'csv', 'backends', 'case', 'values', 'ops', 'case-words', 'backend', 'result', 'stats', 'measure', 'session', 'commands', 'roofline', 'sweep', 'fleet', 'compare', 'analysis', 'suites', 'formats', 'settings', 'ipc']

const roomOf = (path: string): string => path.split('/')[1]!.replace(/\.ts$/, '')

/** Imports from a room to a later one. */
const upward = (graph: ReadonlyMap<string, readonly string[]>, rooms: readonly string[]): string[] =>
  [...graph].flatMap(([from, targets]) => targets.filter((target) => rooms.indexOf(roomOf(target)) > rooms.indexOf(roomOf(from))).map((target) => `${from} imports ${target}`))

describe('no import runs in a circle', () => {
  it('finds circles of two, of three, of one, and those through others', () => {
    const graph = new Map(Object.entries({ a: ['b'], b: ['c', 'd'], c: ['a'], d: ['e'], e: ['d'], f: ['f'], g: ['a', 'h'], h: [] }))
    expect(circles(graph).sort()).toEqual([['a', 'b', 'c'], ['d', 'e'], ['f']])
  })

  it('follows files made to import each other', () => {
    const files = [
      { path: 'core/x/index.ts', text: "import { two } from './two'" },
      { path: 'core/x/two.ts', text: "import type { X } from '../x'" },
      { path: 'main/y.ts', text: "export { two } from '@core/x/two'" },
    ]
    expect(circles(graphOf(files))).toEqual([['core/x/index.ts', 'core/x/two.ts']])
  })

  it('there is none among the shipped files', () => {
    expect(circles(graphOf(shipped))).toEqual([])
  })

  it('finds an import from a room to a later one', () => {
    const graph = graphOf([
      { path: 'core/low/a.ts', text: "import { b } from '../high/b'" },
      { path: 'core/high/b.ts', text: "import { c } from '../low/c'" },
      { path: 'core/low/c.ts', text: '' },
    ])
    expect(upward(graph, ['low', 'high'])).toEqual(['core/low/a.ts imports core/high/b.ts'])
  })

  it('rooms of core import only rooms before them', () => {
    const core = layer('core').filter(({ path }) => !/(^|\/)testing/.test(path))
    expect(core.map(({ path }) => roomOf(path)).filter((room) => !ROOMS.includes(room))).toEqual([])
    expect(upward(graphOf(core), ROOMS)).toEqual([])
  })
})

describe('backends are described in one place', () => {
  // Formats of other tools and published suites name what was measured there.
  it('no other file of core, the command line or the window lists or compares them', () => {
    const shared = shipped.filter(({ path }) => /^(core|main\/(cli|runner|app|environment|compare|history)|renderer\/(components|stores|views|charts|lib))\//.test(path) && path !== 'core/backends.ts' && !/^core\/(formats|suites)\//.test(path))
    const naming = shared.filter(({ text }) => /backend\s*[!=]==?\s*'(cpu|cuda|webgpu|python)'|\[\s*'cpu',\s*'cuda'/.test(text)).map(({ path }) => path)
    expect(naming).toEqual([])
  })
})

describe('units stay small', () => {
  it('no file is over 350 lines', () => {
    expect(sources.filter(({ text }) => text.split('\n').length > 351).map(({ path }) => path)).toEqual([])
  })
})

/** Lines that half of the files have at least. */
const MEDIAN = 65

describe('the house stays in order', () => {
  const units = [...scripts, ...below('test').filter((path) => /\.(ts|vue)$/.test(path)).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))].filter(({ path }) => !path.endsWith('.d.ts'))
  const lines = ({ text }: Source) => text.split('\n').length - 1

  it('few files have fewer than 25 lines, and the median is not small', () => {
    const lengths = units.map(lines).sort((a, b) => a - b)
    expect(lengths.filter((length) => length < 25).length / lengths.length).toBeLessThan(0.1)
    expect(lengths[Math.floor(lengths.length / 2)]).toBeGreaterThanOrEqual(MEDIAN)
  })

  it('a folder has at most a dozen files beside their tests', () => {
    const folders = new Map<string, number>()
    for (const { path } of units) if (!/\.test\.ts$|\.bench\.ts$/.test(path)) folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1)
    expect([...folders].filter(([, count]) => count > 12).map(([folder, count]) => `${folder}: ${count}`)).toEqual([])
  })
})

describe('operations are discovered', () => {
  // forms are how sizes are written, not operations.
  const folders = readdirSync(join(root, 'core/ops'), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() && entry.name !== 'forms' ? [entry.name] : []))

  it('every folder in core/ops is an op or a table of them, with its tests', () => {
    expect(folders.length).toBeGreaterThan(0)
    for (const folder of folders) {
      const unit = existsSync(join(root, 'core/ops', folder, 'op.ts')) ? 'op' : 'table'
      expect(existsSync(join(root, 'core/ops', folder, `${unit}.ts`)), `core/ops/${folder}/${unit}.ts`).toBe(true)
      // core/ops/torch.test.ts compares what has a fixture with PyTorch's own results.
      const tested = existsSync(join(root, 'core/ops', folder, `${unit}.test.ts`)) || existsSync(join(root, 'test/fixtures/torch', `${folder}.json`))
      expect(tested, `core/ops/${folder}: a test of its own, or PyTorch's results for it`).toBe(true)
    }
  })

  it('nothing lists them', () => {
    // Ids as the definitions write them; element-wise operations and reductions, whose ids are common words, have the test below.
    const ids = folders.filter((folder) => !['elementwise', 'reduction'].includes(folder)).flatMap((folder) => ['op.ts', 'table.ts'].flatMap((unit) => {
      const path = join(root, 'core/ops', folder, unit)
      return existsSync(path) ? [...readFileSync(path, 'utf8').matchAll(/^ {2}id: '(\w+)'/gm)].map((match) => match[1]!) : []
    }))
    expect(ids.length).toBeGreaterThan(25)
    // renderer/dev is a page of invented data for looking at components; core/ops/types.ts names families, some of which are called like their one op; core/suites/data has the cases of published suites.
    const outside = shipped.filter(({ path }) => !/^(renderer\/dev|core\/suites\/data)\//.test(path) && path !== 'core/ops/types.ts' && !folders.some((folder) => path.startsWith(`core/ops/${folder}/`)))
    const lists = outside.filter(({ text }) => ids.filter((id) => new RegExp(`['"\`]${id}['"\`]`).test(text)).length > 4).map(({ path }) => path)
    expect(lists).toEqual([])
  })

  // One expression per language: what the README's section "Add an operation" promises.
  const languages = layers.flatMap(below).filter((path) => !path.startsWith('core/suites/data/') && /\.(ts|vue|cpp|cc|h|hpp|cu|cuh|inc|wgsl|py)$/.test(path) && !/\.test\.ts$|(^|\/)test\//.test(path)).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
  const TABLES = [
    'core/ops/elementwise/table.ts',
    'native/cpu/kernels/elementwise.cc',
    'native/cuda/kernels/elementwise/table.h',
    'renderer/webgpu/kernels/elementwise/table.ts',
    'main/backends/python/worker/implementations/torch_table.py',
    'main/backends/python/worker/implementations/numpy_/table.py',
    'main/backends/python/worker/implementations/triton_/elementwise_table.py',
  ]

  it.each(['relu', 'hardswish'])('%s stands in the tables of element-wise operations, one for each language, and nowhere else', (op) => {
    expect(languages.length).toBeGreaterThan(700)
    // `F.relu` and `relu6` are other names; a comment may hold the first.
    expect(languages.flatMap(({ path, text }) => (new RegExp(`(?<![\\w.])${op}(?!\\w)`).test(text) ? [path] : [])).sort()).toEqual([...TABLES].sort())
  })
})

describe('what pages say', () => {
  it('the README is short, and every file that pages link to or show exists', () => {
    expect(readFileSync(join(root, 'README.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(150)
    const pages = ['README.md', ...below('docs').filter((path) => path.endsWith('.md'))]
    const links = pages.flatMap((path) => [...readFileSync(join(root, path), 'utf8').matchAll(/\]\(([^)#:]+?)(?:#[^)]*)?\)|(?:src|srcset)="([^"]+)"/g)].map((found) => ({ path, target: join(root, path, '..', found[1] ?? found[2]!) })))
    expect(links.length).toBeGreaterThan(10)
    expect(links.filter(({ target }) => !existsSync(target))).toEqual([])
  })

  it('none claims that Linux checks the integrity of the packed archive, which Electron does on macOS and Windows alone', () => {
    const pages = ['README.md', ...below('docs').filter((path) => path.endsWith('.md')), ...below('renderer').filter((path) => path.endsWith('.vue'))].map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    const claims = pages.flatMap(({ path, text }) => text.split('\n\n').filter((paragraph) => /archive[^]*integrity|asar/i.test(paragraph)).map((paragraph) => ({ path, paragraph })))
    expect(claims).toHaveLength(1)
    expect(claims.filter(({ paragraph }) => !/no such check on Linux/.test(paragraph))).toEqual([])
  })
})
