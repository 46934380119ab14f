import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Files of a package that hold its licence or what it asks to be named. */
const LICENCE_FILE = /^(licen[cs]e|copying|notice)(\.|-|$)/i

/** The package that a module of a bundle comes from: its folder, or undefined for sources of ours. */
function packageFolder(module) {
  const path = module.replace(/^\0/, '').split('?')[0]
  const at = path.lastIndexOf('/node_modules/')
  if (at < 0) return undefined
  const [first, second] = path.slice(at + '/node_modules/'.length).split('/')
  return join(path.slice(0, at), 'node_modules', first.startsWith('@') ? join(first, second) : first)
}

/** What a package states of itself, and the texts of its licence files. */
export function licenceOf(folder) {
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder).filter((name) => LICENCE_FILE.test(name)).sort()
  return {
    name: about.name,
    version: about.version,
    licence: typeof about.license === 'string' ? about.license : (about.license?.type ?? 'see text'),
    text: files.map((name) => readFileSync(join(folder, name), 'utf8').trim()).join('\n\n'),
  }
}

/**
 * Collects the licences of every package whose code is in a bundle, over all bundles of one build, and writes them as
 * JSON for the licences page when each is done. `also`: packages that are shipped without being bundled.
 * @param {{ file: string, also: readonly string[], root: string }} options
 */
export function collectLicences({ file, also, root }) {
  const folders = new Set(also.map((name) => join(root, 'node_modules', name)))
  return {
    name: 'opscope:licences',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        const modules = chunk.type === 'chunk' ? chunk.moduleIds : (chunk.originalFileNames ?? [])
        for (const module of modules) {
          const folder = packageFolder(module)
          if (folder && existsSync(join(folder, 'package.json'))) folders.add(folder)
        }
      }
    },
    closeBundle() {
      const byName = new Map([...folders].map(licenceOf).map((one) => [`${one.name}@${one.version}`, one]))
      const all = [...byName.values()].sort((a, b) => a.name.localeCompare(b.name, 'en'))
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, JSON.stringify(all))
    },
  }
}
