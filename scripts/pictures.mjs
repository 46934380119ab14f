// Takes pictures of the window: node scripts/pictures.mjs [FOLDER] [WIDTHxHEIGHT ...] [--only=PATTERN]. Needs a display and a build.
// Without a size: the pictures of the README and docs/figures.md, at 1440x900, into docs. With sizes: every screen of scripts/pictures/, in both themes. Exit status 1: a scene failed, and was reported.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { dismissMessages } from '../test/e2e/ui.ts'
import { errors } from './pictures/errors.mjs'
import { fleet } from './pictures/fleet.mjs'
import { live } from './pictures/live.mjs'
import { recorded } from './pictures/recorded.mjs'
import { remote } from './pictures/remote.mjs'
import { suites } from './pictures/suites.mjs'

const only = process.argv.find((word) => word.startsWith('--only='))?.slice('--only='.length)
const [folder = 'docs', ...sizes] = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const README = /^(view-(session|roofline|compare)|chart-speedup-python)$/
const wanted = (name) => (only ? new RegExp(only).test(name) : sizes.length > 0 || README.test(name))
mkdirSync(folder, { recursive: true })

/** Takes the picture of what the window shows, in each size and theme. */
async function take(name, scenes, { app, page }) {
  // Neither a message of the scene before nor a button under the pointer belongs in the picture.
  if (!scenes.messages?.test(name)) await dismissMessages(page)
  await page.mouse.move(700, 5)
  for (const size of sizes.length > 0 ? sizes : ['1440x900']) {
    const [width, height] = size.split('x').map(Number)
    await app.evaluate(({ BrowserWindow }, [w, h]) => BrowserWindow.getAllWindows().find((one) => one.isVisible())?.setContentSize(w, h), [width, height])
    for (const theme of ['light', 'dark']) {
      // The app follows the system.
      await app.evaluate(({ nativeTheme }, next) => void (nativeTheme.themeSource = next), theme)
      await page.waitForTimeout(scenes.settleMs)
      const path = join(folder, `${name}${sizes.length > 0 ? `-${size}` : ''}${theme === 'dark' ? '-dark' : ''}.png`)
      await page.screenshot({ path })
      process.stdout.write(`${path}\n`)
    }
  }
}

/** Does one step. A step that fails is reported, and the others follow: on a loaded machine a window may miss a time limit. */
async function attempt(what, step) {
  try {
    return await step()
  } catch (error) {
    process.exitCode = 1
    process.stdout.write(`${what}: ${String(error).split('\n')[0]}\n`)
    return undefined
  }
}

for (const scenes of [recorded, suites, live, errors, fleet, remote]) {
  const names = Object.keys(scenes.views).filter(wanted)
  if (names.length === 0) continue
  const opened = await attempt(names.join(', '), scenes.start)
  if (!opened) continue
  for (const [name, go] of Object.entries(scenes.views)) {
    // A scene that leaves something for later ones runs in any case.
    if (!wanted(name) && !scenes.inOrder) continue
    await attempt(name, async () => {
      await go(opened)
      if (wanted(name)) await take(name, scenes, opened)
    })
  }
  await attempt(`closing after ${names.at(-1)}`, opened.close)
}
// What a scene that did not start has left running, such as a server, would hold this process.
process.exit()
