/** npm run setup: everything needed to run, built and fetched once. */
import { setUp } from './lib/setup.mjs'
import { main, say } from './lib/steps.mjs'

await main(async () => {
  const started = Date.now()
  const { electron, addon } = await setUp('cli')
  if ('reason' in electron) say(`opscope: the window and WebGPU are not available, the command line works: ${electron.reason}`)
  say(`Set-up is ready (${((Date.now() - started) / 1000).toFixed(1)} s): ${'path' in electron ? `${electron.source} Electron` : 'no Electron'}, ${addon ? 'native addon' : 'no native addon'}.`)
})
