import { runCli } from './run-cli'

/** Entry of the command line, built to out/main/cli.js. */

// A reader that has seen enough (`| head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

// Told here rather than by a run that fails in its middle. By what is missing: Electron's Node is older and has it.
if (!('groupBy' in Map)) {
  process.stderr.write(`opscope: Node 22 or newer is needed, this is Node ${process.versions.node}; \`npm start\` and the packaged program bring their own\n`)
  process.exit(1)
}

const status = await runCli(process.argv.slice(2), { out: process.stdout, err: process.stderr, env: process.env }, {
  onStop: (listener) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, listener)
  },
})

// Exiting before a pipe has taken everything would cut the output.
process.exitCode = status
process.stdout.write('', () => process.exit(status))
