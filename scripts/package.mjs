/**
 * npm run package: sets up, builds and packs the app as a folder in dist/, then checks that folder.
 * --test makes a build that Playwright can drive, in dist/test/; --installer makes installers, too. --agent makes instead the
 * archive that is copied to remote machines.
 */
import { packAgent } from './lib/agent-archive.mjs'
import { packApp } from './lib/packager.mjs'
import { at, nodeBinary } from './lib/paths.mjs'
import { setUp } from './lib/setup.mjs'
import { SetupError, main, run, say, step } from './lib/steps.mjs'

const KNOWN = ['--test', '--installer', '--agent']

await main(async () => {
  const args = process.argv.slice(2)
  const unknown = args.find((arg) => !KNOWN.includes(arg))
  if (unknown) throw new SetupError(`npm run package knows ${KNOWN.join(', ')}, not "${unknown}"`)
  const test = args.includes('--test')
  // What is handed on must run on GPUs that this machine has not.
  if (!test) process.env.OPSCOPE_CUDA_ARCHS ??= 'all'
  if (args.includes('--agent')) {
    if (!(await setUp('cli')).addon) throw new SetupError('an agent without the native addon could measure nothing')
    const { file, bytes } = await packAgent()
    return say(`Packed: ${file} (${(bytes / 1e6).toFixed(1)} MB)`)
  }
  const { electron, addon } = await setUp('app')
  if ('reason' in electron) throw new SetupError(`the app cannot be packed without Electron: ${electron.reason}`)
  if (!addon) say('opscope: the packed app will have no native addon, so it measures WebGPU only')
  const program = await packApp(electron.path, { test, installer: args.includes('--installer') })
  await step('checking the packed app', () => run(nodeBinary(), [at('scripts', 'lib', 'package-check.mjs'), program, ...(test ? ['--test'] : [])], { what: 'the check' }))
  say(`Packed${test ? ' a test build, not to be handed on' : ''}: ${program}`)
})
