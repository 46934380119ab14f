/** npm run sanitize [-- level]: conformance of the CPU kernels with AddressSanitizer and UndefinedBehaviorSanitizer, on every level of this processor or one. */
process.env.OPSCOPE_SANITIZE = process.argv[2] ?? ''
process.argv.splice(2, 1, '--project', 'conformance', 'sanitizers')
await import('./test.mjs')
