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

// What may import what is checked by lint (.dependency-cruiser.mjs).
describe('native code', () => {
  it('is loaded in one place, and that is not Electron main', () => {
    const loaders = shipped.filter(({ text }) => /process\.dlopen|require\([^)]*\.node['"`]|opscope\.node/.test(text)).map(({ path }) => path)
    for (const path of loaders) expect(path).toMatch(/^main\/(backends\/native|measurement|paths)/)
    const direct = shipped.filter(({ text }) => /process\.dlopen/.test(text) || (/createRequire/.test(text) && /addon|\.node\b/.test(text))).map(({ path }) => path)
    expect(direct).toEqual(['main/backends/native/addon.ts'])
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
    'renderer/webgpu/libraries/table.ts',
    'main/backends/python/worker/implementations/jax_/table.py',
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
