/** npm run conformance: every operation on every implementation here, with every size, variant and thread count; arguments go to vitest. */
process.env.OPSCOPE_CONFORMANCE = 'all'
process.argv.splice(2, 0, '--project', 'conformance')
await import('./test.mjs')
