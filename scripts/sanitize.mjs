/**
 * npm run sanitize [-- level [memory|threads]]: conformance of the CPU kernels on every level of this processor ('' or none), or one: with AddressSanitizer and
 * UndefinedBehaviorSanitizer (memory, unless another is named), or with ThreadSanitizer.
 */
const [level = '', of = 'memory'] = process.argv.slice(2)
if (!['memory', 'threads'].includes(of)) {
  console.error(`npm run sanitize -- [level [memory|threads]]: ${of} is neither memory nor threads.`)
  process.exit(2)
}
process.env.OPSCOPE_SANITIZE = level
process.env.OPSCOPE_SANITIZE_OF = of
process.argv.splice(2, Infinity, '--project', 'conformance', 'sanitizers')
await import('./test.mjs')
