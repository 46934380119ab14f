/** npm run lint: style and bugs (eslint), and what may import what (.dependency-cruiser.mjs), with the Node that set-up fetched. */
import { nodeBinary, packageScript } from './lib/paths.mjs'
import { installDependencies } from './lib/dependencies.mjs'
import { main, runAttached } from './lib/steps.mjs'

/** Programs with their arguments; `npm test` runs them too. */
export const LINTERS = [
  { title: 'lint', program: ['eslint', 'bin', 'eslint.js'], args: ['.'] },
  { title: 'imports', program: ['dependency-cruiser', 'bin', 'dependency-cruiser.mjs'], args: ['--config', '.dependency-cruiser.mjs', 'core', 'main', 'preload', 'renderer'] },
]

if (import.meta.filename === process.argv[1]) {
  await main(async () => {
    await installDependencies()
    for (const { program, args } of LINTERS) {
      const status = await runAttached(nodeBinary(), [packageScript(...program), ...args])
      if (status !== 0) return status
    }
    return 0
  })
}
