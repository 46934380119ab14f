/**
 * What may import what. `npm run lint` checks it; docs/architecture.md says what belongs in each room.
 *
 * The rooms of core, each a folder or a file, in order: a room imports those before it and none after it.
 */
const ROOMS = ['units', 'csv', 'backends', 'case', 'values', 'ops', 'case-words', 'backend', 'result', 'stats', 'measure', 'session', 'commands', 'roofline', 'sweep', 'fleet', 'compare', 'analysis', 'suites', 'formats', 'settings', 'ipc']

/** Packages that core may import: each runs in Node and in a page, without a process, a file or a document. */
const CORE_PACKAGES = ['zod', '@noble/hashes', 'papaparse', 'jsonc-parser', 'echarts']

const TESTS = '\\.test\\.ts$|(^|/)testing(/|\\.)'
const anyOf = (names) => `(${names.join('|')})`
const room = (names) => `^core/${anyOf(names)}(/|\\.ts$)`

export default {
  forbidden: [
    { name: 'no-circle', severity: 'error', comment: 'No file imports itself through others; `import type` counts as well.', from: {}, to: { circular: true } },
    { name: 'resolvable', severity: 'error', comment: 'An import leads to a file or a package.', from: {}, to: { couldNotResolve: true, pathNot: '\\?|^virtual:' } },
    ...ROOMS.slice(0, -1).map((name, i) => ({ name: `room-${name}`, severity: 'error', comment: `core/${name} imports only the rooms before it.`, from: { path: room([name]), pathNot: TESTS }, to: { path: room(ROOMS.slice(i + 1)) } })),
    { name: 'room-unknown', severity: 'error', comment: 'A new room of core takes its place in ROOMS.', from: { pathNot: TESTS }, to: { path: '^core/', pathNot: room(ROOMS) } },
    { name: 'core-is-pure', severity: 'error', comment: 'core imports core and the packages listed here.', from: { path: '^core/', pathNot: TESTS }, to: { pathNot: ['^core/', `(^|/)node_modules/${anyOf(CORE_PACKAGES)}/`] } },
    { name: 'page', severity: 'error', comment: 'The page imports core, itself and packages.', from: { path: '^renderer/', pathNot: TESTS }, to: { path: '^(main|preload)/|(^|/)node_modules/electron/' } },
    { name: 'page-without-node', severity: 'error', comment: 'The page has no Node.', from: { path: '^renderer/', pathNot: TESTS }, to: { dependencyTypes: ['core'] } },
    { name: 'preload', severity: 'error', comment: 'The preload imports its contracts and Electron.', from: { path: '^preload/', pathNot: TESTS }, to: { pathNot: ['^core/(ipc(/names)?|measure/protocol)(/index)?\\.ts$', '^preload/', '(^|/)node_modules/electron/'] } },
    { name: 'main', severity: 'error', comment: 'main never imports the page or the preload.', from: { path: '^main/', pathNot: TESTS }, to: { path: '^(renderer|preload)/' } },
    { name: 'electron', severity: 'error', comment: 'Only the Electron shell and the WebGPU host import Electron; the rest of main runs under plain Node as well.', from: { path: '^main/', pathNot: ['^main/(index\\.ts$|app/|windows/|menu/|ipc/|maintenance/|measurement/|backends/webgpu/|environment)', TESTS] }, to: { path: '(^|/)node_modules/electron/' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(out|dist)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
  },
}
