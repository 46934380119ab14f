import { runCli } from './run-cli'

/** Entry of the command line, built to out/main/cli.js. */

// A reader that has seen enough (`| head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

const status = await runCli(process.argv.slice(2), { out: process.stdout, err: process.stderr, env: process.env }, {
  onStop: (listener) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, listener)
  },
})

// Exiting before a pipe has taken everything would cut the output.
process.exitCode = status
process.stdout.write('', () => process.exit(status))
