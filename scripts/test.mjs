/** npm test: set-up, lint, imports, types, then every test; arguments go to vitest. The last line counts what passed and failed. */
import { readFileSync, rmSync } from 'node:fs'
import { at, nodeBinary, packageScript } from './lib/paths.mjs'
import { LINTERS } from './lint.mjs'
import { electronEnvironment, setUp } from './lib/setup.mjs'
import { main, run, runAttached, say, step } from './lib/steps.mjs'

const REPORT = at('.cache', 'vitest.json')

const CHECKS = [...LINTERS, { title: 'types', program: ['vue-tsc', 'bin', 'vue-tsc.js'], args: ['--noEmit', '-p', 'tsconfig.json'] }]

/** Runs the checks side by side, as each uses one core, and prints what those that fail have to say. Returns their titles. */
async function failedChecks() {
  const failures = await step(CHECKS.map(({ title }) => title).join(', '), () => Promise.all(CHECKS.map(({ title, program, args }) => run(nodeBinary(), [packageScript(...program), ...args], { what: title }).then(() => undefined, (error) => ({ title, error })))))
  return failures.filter(Boolean).map(({ title, error }) => {
    say(`${title}:\n${error.detail || error.message}`)
    return title
  })
}

function counts() {
  try {
    const report = JSON.parse(readFileSync(REPORT, 'utf8'))
    for (const { fullName, status, failureMessages } of report.testResults.flatMap((file) => file.assertionResults))
      if (status === 'passed' && failureMessages.length > 0) say(`passed only when tried again: ${fullName} (${failureMessages[0].split('\n')[0]})`)
    // A file that fails to load, or in what it does before its tests, has no failed test of its own to count.
    const broken = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.every(({ status }) => status !== 'failed')).length
    return { passed: report.numPassedTests, failed: report.numFailedTests + broken, skipped: report.numPendingTests + report.numTodoTests }
  } catch {
    return { passed: 0, failed: 1, skipped: 0 }
  }
}

await main(async () => {
  const { electron } = await setUp('test')
  if ('reason' in electron) say(`opscope: the end-to-end tests will fail, because there is no Electron: ${electron.reason}`)
  const unclean = await failedChecks()
  rmSync(REPORT, { force: true })
  const status = await runAttached(nodeBinary(), [packageScript('vitest', 'vitest.mjs'), 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`, ...process.argv.slice(2)], { env: electronEnvironment(electron) })
  const { passed, failed, skipped } = counts()
  if (unclean.length > 0) say(`failed (see above): ${unclean.join(', ')}`)
  process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
  return status === 0 && failed === 0 && unclean.length === 0 ? 0 : 1
})
